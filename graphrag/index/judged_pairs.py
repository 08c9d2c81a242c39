"""Open pairs of names as a judge sees them: type, other names, descriptions and a sentence or two of each, neighbours
that both have, and what the documents state between them.

Every value is one line and quoted, so that no text of a document can look like another pair. Tables read:
alias_candidates, clusters, entity_mentions, relationship_mentions, documents.

Does not: ask (judgement.py) or choose which pairs are worth it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson
import polars as pl

MAX_NAME, MAX_DESCRIPTION = 120, 200  # characters
AROUND = 110  # characters of a sentence kept on either side of a name
MAX_SENTENCES, MAX_OTHER_NAMES, MAX_NEIGHBOURS, MAX_STATEMENTS = 2, 4, 5, 2
# A line end alone is a blank; an empty line, or a line that begins a list item, heading, quote, table row or rule, is
# an end.
_MARKER = r"(?:(?:[-*+>#|]+|\d+\.)[ \t]|---+[ \t]*\n)"
_SENTENCE_START = re.compile(rf".*(?:[.!?]\s|[。！？]|\n[ \t]*\n|\n[ \t]*{_MARKER})", re.DOTALL)
_SENTENCE_END = re.compile(rf"[.!?](?=\s|$)|[。！？]|\n[ \t]*(?=\n|{_MARKER})")


class Pair(NamedTuple):
    """A row of alias_candidates and its lines for the judge."""

    surface_a: str
    surface_b: str
    entity_id_a: str
    entity_id_b: str
    text: str


class _Place(NamedTuple):
    surface: str
    document_id: str
    start: int
    end: int


def describe_pairs(
    pairs: pl.DataFrame,
    clusters: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    documents: pl.DataFrame,
) -> list[Pair]:
    """The pairs (rows of alias_candidates) in order of names, with what is known of both. Mentions carry entity_id."""
    wanted = pl.concat([pairs["entity_id_a"], pairs["entity_id_b"]]).unique()
    mentions = (
        entity_mentions.filter(pl.col("entity_id").is_in(wanted.implode()))
        .join(documents.select(pl.col("id").alias("document_id"), "path"), on="document_id", how="left")
        .sort("path", "start_char", "id")
    )
    texts = dict(
        documents.filter(pl.col("id").is_in(mentions["document_id"].unique().implode()))
        .select("id", "text")
        .iter_rows()
    )
    known = _Known(clusters, mentions, entity_mentions, relationship_mentions)
    columns = ("surface_a", "surface_b", "entity_id_a", "entity_id_b")
    rows = pairs.select(columns).sort(columns).iter_rows()
    return [Pair(a, b, id_a, id_b, known.describe(a, b, id_a, id_b, texts)) for a, b, id_a, id_b in rows]


class _Known:
    """What is known of the entities of the pairs, looked up by id."""

    def __init__(
        self,
        clusters: pl.DataFrame,
        mentions: pl.DataFrame,
        entity_mentions: pl.DataFrame,
        relationship_mentions: pl.DataFrame,
    ) -> None:
        self._cluster = {
            row[0]: row[1:] for row in clusters.select("entity_id", "title", "type", "surfaces").iter_rows()
        }
        self._places: dict[str, list[_Place]] = defaultdict(list)
        first = mentions.unique(["entity_id", "surface", "document_id"], keep="first", maintain_order=True)
        columns = ("entity_id", "surface", "document_id", "start_char", "end_char")
        for entity, *place in first.select(columns).iter_rows():
            self._places[entity].append(_Place(*place))
        self._descriptions: dict[str, list[str]] = defaultdict(list)
        said = mentions.filter(pl.col("description") != "").select("entity_id", "description")
        for entity, description in said.unique(maintain_order=True).iter_rows():
            self._descriptions[entity].append(description)
        self._neighbours: dict[str, set[str]] = defaultdict(set)
        self._stated: dict[frozenset[str], list[str]] = defaultdict(list)
        for source, subject, predicate, object_, target in _resolve(relationship_mentions, entity_mentions).iter_rows():
            self._neighbours[source].add(target)
            self._neighbours[target].add(source)
            self._stated[frozenset((source, target))].append(f"{subject} {predicate.replace('_', ' ')} {object_}")

    def describe(self, surface_a: str, surface_b: str, id_a: str, id_b: str, texts: dict[str, str]) -> str:
        lines = [f"{_quote(surface_a, MAX_NAME)} and {_quote(surface_b, MAX_NAME)}"]
        for label, surface, entity in (("first", surface_a, id_a), ("second", surface_b, id_b)):
            lines.append(f"   {label}: {self._describe_side(surface, entity, texts)}")
        shared = sorted(self._cluster[i][0] for i in self._neighbours[id_a] & self._neighbours[id_b])
        if shared:
            lines.append(f"   both are related to: {_quote_all(shared[:MAX_NEIGHBOURS])}")
        if stated := list(dict.fromkeys(self._stated[frozenset((id_a, id_b))])):
            lines.append(f"   stated between them: {_quote_all(stated[:MAX_STATEMENTS])}")
        return "\n".join(lines)

    def _describe_side(self, surface: str, entity: str, texts: dict[str, str]) -> str:
        title, type_name, surfaces = self._cluster[entity]
        parts = [f"type {type_name.replace('_', ' ')}"]
        if others := [name for name in (title, *surfaces) if name != surface]:
            parts.append(f"also called {_quote_all(others[:MAX_OTHER_NAMES])}")
        if descriptions := self._descriptions[entity]:
            parts.append(f"described as {_quote(' '.join(descriptions), MAX_DESCRIPTION)}")
        sentences = [_sentence_around(texts[p.document_id], p) for p in self._choose_places(surface, entity)]
        if sentences := list(dict.fromkeys(sentences)):
            parts.append(f"in the text {_quote_all(sentences)}")
        return "; ".join(parts)

    def _choose_places(self, surface: str, entity: str) -> list[_Place]:
        """Of this very surface first, then one a document."""
        places = sorted(self._places[entity], key=lambda place: place.surface != surface)
        by_document: dict[str, _Place] = {}
        for place in places:
            by_document.setdefault(place.document_id, place)
        return list(by_document.values())[:MAX_SENTENCES]


def _resolve(relationship_mentions: pl.DataFrame, entity_mentions: pl.DataFrame) -> pl.DataFrame:
    """Stated relations with the entities that their document means: source, subject, predicate, object, target."""
    names = entity_mentions.sort("document_id", "start_char", "id").unique(
        ["document_id", "surface"], keep="first", maintain_order=True
    )
    frame = relationship_mentions.filter(pl.col("origin") != "cooccurrence")
    for end, name in (("source", "subject"), ("target", "object")):
        found = names.select("document_id", pl.col("surface").alias(name), pl.col("entity_id").alias(end))
        frame = frame.join(found, on=["document_id", name])
    columns = ("source", "subject", "predicate", "object", "target")
    return frame.filter(pl.col("source") != pl.col("target")).select(columns).unique().sort(columns)


def _sentence_around(text: str, place: _Place) -> str:
    """The sentence with the name, or as much of it as fits, with marks where it is cut."""
    before = text[max(0, place.start - AROUND) : place.start]
    start = _SENTENCE_START.match(before)
    is_cut = start is None and place.start > AROUND
    left = ("… " + before.partition(" ")[2]) if is_cut else before[start.end() if start else 0 :]
    after = text[place.end : place.end + AROUND]
    end = _SENTENCE_END.search(after)
    is_cut = end is None and len(text) > place.end + AROUND
    right = (after.rpartition(" ")[0] + " …") if is_cut else after[: end.end() if end else None]
    return " ".join(f"{left}{text[place.start : place.end]}{right}".split())


def _quote(text: str, max_characters: int) -> str:
    """One line between double quotes, quotes and line ends inside escaped."""
    line = " ".join(text.split())
    cut = line if len(line) <= max_characters else line[: max_characters - 1] + "…"
    return orjson.dumps(cut).decode()


def _quote_all(texts: Iterable[str]) -> str:
    return ", ".join(_quote(text, 2 * AROUND + MAX_NAME) for text in texts)


def number_pairs(pairs: Sequence[Pair]) -> str:
    """The lines of some pairs, numbered from 1."""
    return "\n".join(f"{number}. {pair.text}" for number, pair in enumerate(pairs, 1))
