"""Relations that documents state already: links and named ids are `cites`, front matter gives its own types.

A note of a citation is the sentence that cites. What somebody wrote or removed is left alone (specs: folding 11).
Reads documents, links, the state of the log. Does not: write, or read relations out of prose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import regex

from graphrag.blocks import plain_title
from graphrag.digest import trim_span
from graphrag.relations.changes import Stamp
from graphrag.relations.entries import Entry, read_entry
from graphrag.relations.events import RELATION_TYPES, Event, State, Triple
from graphrag.relations.leaks import find_leak
from graphrag.sentences import sentence_spans

CITES = "cites"
_ID = regex.compile(r"\p{L}[\p{L}\d]*(?:[-_. ]?\d+)+")  # ADR-025, RFC 9110, e01: what stands for one entry in a text


def plan_backfill(state: State, documents: pl.DataFrame, links: pl.DataFrame, stamp: Stamp) -> list[Event]:
    """A create event for each relation that documents state and the log does not know, by path and place.

    documents needs id, path, title, text, metadata, human_readable_id; links the columns of its table.
    """
    rows = documents.sort("path").to_dicts()
    entries = {row["path"]: read_entry(row) for row in rows}
    texts = {row["path"]: row["text"] for row in rows}
    paths = {row["id"]: row["path"] for row in rows}
    found: dict[Triple, tuple[str, str]] = {}  # -> source, sentence
    for triple, source, sentence in [*_read_links(texts, paths, links), *_read_ids(texts, entries.values())]:
        found.setdefault(triple, (source, sentence))
    events = []
    for triple in sorted(found):
        if triple in state.relations or triple in state.refused:
            continue
        source, sentence = found[triple]
        target, note = entries[triple[2]], plain_title(sentence[slice(*trim_span(sentence, 0, len(sentence)))])
        own = texts[triple[0]].replace(sentence or "\0", " ")  # what the citing sentence alone says is not its own
        leak = find_leak(note, from_text=own, to_text=texts[target.path], to_names=target.names)
        payload: dict[str, Any] = {"leaks": True} if leak else {}
        events.append(replace(stamp, source=source).event("create", triple, note=note, payload=payload))
    return events


def _read_links(
    texts: Mapping[str, str], paths: Mapping[str, str], links: pl.DataFrame
) -> Iterator[tuple[Triple, str, str]]:
    spans: dict[str, list[tuple[int, int]]] = {}
    for link in links.sort("document_id", "ordinal").iter_rows(named=True):
        path, to = paths[link["document_id"]], paths.get(link["target_document_id"] or "")
        if to is None or to == path or link["source_document_id"] != link["document_id"]:
            continue  # an arrow on a canvas is no citation of the canvas
        if link["predicate"] in RELATION_TYPES:
            if link["syntax"] == "frontmatter":
                yield (path, link["predicate"], to), "metadata_backfill", ""
            continue  # a typed link in the text is a relation without the log
        if path not in spans:
            spans[path] = sentence_spans(texts[path])
        yield (path, CITES, to), "citation_backfill", _quote(texts[path], spans[path], link["start_char"])


def _read_ids(texts: Mapping[str, str], entries: Collection[Entry]) -> Iterator[tuple[Triple, str, str]]:
    """Ids are what entries declare, or are filed as, that one entry alone has and that looks like an id."""
    owners: dict[str, set[str]] = {}
    for entry in entries:
        for name in {entry.stem, *entry.declared}:
            if _ID.fullmatch(name):
                owners.setdefault(name, set()).add(entry.path)
    ids = {name: next(iter(paths)) for name, paths in owners.items() if len(paths) == 1}
    if not ids:
        return
    names = "|".join(regex.escape(name) for name in sorted(ids, key=len, reverse=True))
    pattern = regex.compile(rf"(?<![\p{{L}}\d/_-])(?:{names})(?![\p{{L}}\d_]|[-.]\d)")
    for path, text in texts.items():
        spans: list[tuple[int, int]] | None = None
        for match in pattern.finditer(text):
            if (to := ids[match.group()]) != path:
                spans = sentence_spans(text) if spans is None else spans
                yield (path, CITES, to), "citation_backfill", _quote(text, spans, match.start())


def _quote(text: str, spans: list[tuple[int, int]], offset: int) -> str:
    """The sentence around an offset; empty in front matter."""
    number = bisect_right(spans, (offset, len(text))) - 1
    if number < 0 or not spans[number][0] <= offset < spans[number][1]:
        return ""
    return text[slice(*spans[number])]
