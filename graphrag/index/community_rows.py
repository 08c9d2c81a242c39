"""The rows of each community as lines for a prompt, most important first.

Relationships that are stated before co-occurrences, then by the degrees of their two ends inside the community, weight
and names; each brings the entities at its ends and up to two of the sentences that state it. Then claims, then entities
without a relationship inside.
Nothing here depends on an id, a number, a path, or anything outside of the community: the same community gives the same
lines every night.

A neighbour of reports.py. Does not: pack the lines (report_context.py), or know reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from graphrag.context import cut_text, escape_cell
from graphrag.digest import rate_readability, trim_span
from graphrag.index.report_context import CLAIMS, ENTITIES, RELATIONSHIPS, SOURCES, Group, Row
from graphrag.index.report_wording import say_predicate
from graphrag.names import name_key
from graphrag.tokens import TokenCounter

MAX_QUOTES = 2  # a relationship; what stands in more sentences than that is seldom said in another way
MAX_QUOTE_TOKENS, MAX_DESCRIPTION_TOKENS = 120, 160
SHORT = 100  # characters that are surely below both limits


class Place(NamedTuple):
    """Where a quote stands. `text_unit_id` and `document_id` are null for what no document says."""

    text_unit_id: str | None
    document_id: str | None
    start: int | None
    end: int | None
    quote: str


@dataclass(frozen=True)
class RowCorpus:
    """Lines by id of their row. `quotes_of`: the Sources rows of each relationship; `places`: where a quote stands
    (by the id of its Sources row), the first by path and offset; `claims_of`: claims by the id of their subject."""

    entities: dict[str, Row]
    relationships: dict[str, dict[str, Any]]
    keys: dict[str, str]
    quotes_of: dict[str, tuple[Row, ...]]
    places: dict[str, Place]
    claims_of: dict[str, tuple[Row, ...]]


def read_row_corpus(
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    documents: pl.DataFrame,
    covariates: pl.DataFrame,
    *,
    count: TokenCounter,
) -> RowCorpus:
    quotes_of, places = _choose_quotes(evidence, documents, count)
    titles = dict(entities.select("id", "title").iter_rows())
    claims_of: dict[str, list[Row]] = {}
    subjects = {title: entity for entity, title in titles.items()}
    for row in covariates.sort("subject_id", "type", "description", "id").to_dicts():
        if (subject := subjects.get(row["subject_id"])) is not None:
            said = _cut(row["description"], MAX_DESCRIPTION_TOKENS, count)
            cells = (row["subject_id"], row["type"], row["status"], said)
            claims_of.setdefault(subject, []).append(Row(CLAIMS, row["id"], _join(cells)))
    described = entities.select("id", "title", "type", "description").iter_rows()
    return RowCorpus(
        entities={
            entity: Row(ENTITIES, entity, _join((title, kind, _cut(said, MAX_DESCRIPTION_TOKENS, count))))
            for entity, title, kind, said in described
        },
        relationships={row["id"]: row for row in relationships.drop("text_unit_ids").to_dicts()},
        keys={entity: f"{name_key(title)}\x1f{title}" for entity, title in titles.items()},
        quotes_of=quotes_of,
        places=places,
        claims_of={subject: tuple(rows) for subject, rows in claims_of.items()},
    )


def list_groups(row: Mapping[str, Any], corpus: RowCorpus) -> list[Group]:
    """The groups of one row of `communities`."""
    inside = [corpus.relationships[relationship] for relationship in row["relationship_ids"]]
    degrees = _count_neighbours(row["entity_ids"], inside)

    def importance(fact: dict[str, Any]) -> tuple[bool, int, float, str, str, str]:
        source, target = fact["source_id"], fact["target_id"]
        names = corpus.keys[source], fact["predicate"], corpus.keys[target]
        return fact["origin"] == "cooccurrence", -degrees[source] - degrees[target], -fact["weight"], *names

    groups = [_group_relationship(fact, corpus) for fact in sorted(inside, key=importance)]
    members = sorted(row["entity_ids"], key=lambda entity: (-degrees[entity], corpus.keys[entity]))
    groups += [(corpus.entities[member], claim) for member in members for claim in corpus.claims_of.get(member, ())]
    return groups + [(corpus.entities[member],) for member in members if not degrees[member]]


def _count_neighbours(entity_ids: Sequence[str], inside: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    neighbours: dict[str, set[str]] = {entity: set() for entity in entity_ids}
    for fact in inside:
        neighbours[fact["source_id"]].add(fact["target_id"])
        neighbours[fact["target_id"]].add(fact["source_id"])
    return {entity: len(others) for entity, others in neighbours.items()}


def _group_relationship(fact: dict[str, Any], corpus: RowCorpus) -> Group:
    quotes = corpus.quotes_of.get(fact["id"], ())
    text = _join((fact["source"], say_predicate(fact), fact["target"], "" if quotes else fact["description"]))
    relationship = Row(RELATIONSHIPS, fact["id"], text, tuple(quote.id for quote in quotes))
    return corpus.entities[fact["source_id"]], corpus.entities[fact["target_id"]], *quotes, relationship


def _choose_quotes(
    evidence: pl.DataFrame, documents: pl.DataFrame, count: TokenCounter
) -> tuple[dict[str, tuple[Row, ...]], dict[str, Place]]:
    """Of each relationship the sentences that read best by themselves, the shorter first, each once."""
    texts = {row[0]: row[1:] for row in documents.select("id", "path", "text").iter_rows()}
    found: dict[str, set[str]] = {}
    places: dict[str, tuple[str, Place]] = {}
    columns = ("relationship_id", "text_unit_id", "document_id", "start_char", "end_char", "quote")
    trimmed = {quote: trim_span(quote, 0, len(quote)) for quote in evidence["quote"].unique()}
    for relationship, unit, document, start, end, quote in evidence.select(columns).iter_rows():
        first, last = trimmed[quote]
        if not (said := quote[first:last] or quote):
            continue
        path, text = texts.get(document, ("", ""))
        place = Place(None, None, None, None, "")
        if text[start:end] == quote:
            place = Place(unit, document, start + first, start + first + len(said), said)
        found.setdefault(relationship, set()).add(said)
        # a text unit to cite is worth more than an earlier path
        order = f"{place.document_id is None:d}{unit is None:d}\x1f{path}\x1f{start:012d}"
        if said not in places or order < places[said][0]:
            places[said] = (order, place)
    rate = {said: rate_readability(said) for said in places}
    lines = {said: Row(SOURCES, said, _join((_cut(said, MAX_QUOTE_TOKENS, count),))) for said in places}
    chosen = {
        relationship: tuple(
            lines[said] for said in sorted(quotes, key=lambda said: (-rate[said], len(said), said))[:MAX_QUOTES]
        )
        for relationship, quotes in found.items()
    }
    return chosen, {said: place for said, (_, place) in places.items()}


def _join(cells: Sequence[str]) -> str:
    return "|".join(escape_cell(cell) for cell in cells)


def _cut(text: str, max_tokens: int, count: TokenCounter) -> str:
    return text if len(text) <= SHORT else cut_text(text, budget=max_tokens, count=count)
