"""The sentences that an import rests on: of rows that a report of the files cites, in the numbers of this run, and of
evidence.

Files name whole text units as evidence. Of the units of a cited row, the sentence that shares most words with what
cites it, and with the row's own name, is quoted: a place that a reader can check.

Reads text_units, entities, relationships, covariates. Does not: change the words of a report (imported_communities.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import polars as pl

from graphrag.citations import KINDS, CheckedText, Cited
from graphrag.search.resolve import list_claims
from graphrag.search.support import choose_span, list_statements, narrow_quote, stem_words

MAX_UNITS = 8  # of a cited row that are looked through
NOWHERE: dict[str, Any] = {"document_id": None, "start": None, "end": None, "quote": ""}


class Citable(NamedTuple):
    """A row that reports cite: its dataset, number and id here, its name, and the text units that it stands in."""

    dataset: str
    number: int
    id: str
    name: str
    units: tuple[str, ...]


class Citables:
    """`numbers`: what the files call a row -> what this run calls it."""

    def __init__(
        self, files: Mapping[str, Iterable[tuple[int | None, str]]], frames: Mapping[str, pl.DataFrame]
    ) -> None:
        """`files`: by dataset, the number in the files and the id of the row here."""
        self.numbers: dict[Cited, Cited] = {}
        self._rows: dict[Cited, Citable] = {}
        self._units = {row["id"]: row for row in frames["text_units"].to_dicts()}
        said = _list_rows(frames)
        for dataset, rows in files.items():
            here = dict(frames[KINDS[dataset]].select("id", "human_readable_id").iter_rows())
            for old, identity in rows:
                if old is not None and identity in here:
                    key = (dataset, here[identity])
                    self.numbers[dataset, old] = key
                    self._rows[key] = Citable(*key, identity, *said[dataset, identity])
        self._choose = cache(self._choose_place)

    def cite(self, text: CheckedText) -> list[dict[str, Any]]:
        """Rows of the column community_reports.citations for a report's text; reports that it cites are left out."""
        known: dict[str, list[int]] = {}
        for dataset, number in text.cited:
            known.setdefault(dataset, []).append(number)
        claims = list_claims(list_statements(text.text), known)
        return [
            self._cite_row(self._rows[key], " ".join(claims.get(key, ()))) for key in text.cited if key in self._rows
        ]

    def _cite_row(self, row: Citable, claim: str) -> dict[str, Any]:
        return {
            "ref": f"{row.dataset} ({row.number})", "kind": KINDS[row.dataset], "id": row.id,
            "human_readable_id": row.number, **self._choose(row.units, f"{row.name} {claim}"),
        }  # fmt: skip

    def _choose_place(self, units: Sequence[str], claim: str) -> dict[str, Any]:
        """The place of the sentence; the earliest among equals."""
        wanted, best, place = stem_words(claim), -1, NOWHERE
        for unit in units[:MAX_UNITS]:
            row = self._units[unit]
            if span := choose_span(row["text"], claim):
                quote = row["text"][slice(*span)]
                start, end = (row["start_char"] + offset for offset in span)
                if (n_shared := len(stem_words(quote) & wanted)) > best:
                    best = n_shared
                    place = {"document_id": row["document_id"], "start": start, "end": end, "quote": quote}
        return place


def narrow_evidence(evidence: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    """Rows of evidence; the quote of a whole text unit is cut to the sentence nearest to its relationship."""
    ends = pl.concat_str("source", "target", "description", separator=" ").alias("claim")
    claims = dict(relationships.select("id", ends).iter_rows())
    columns = ("quote", "start_char", "end_char")
    rows = [
        (quote, start, end) if start is None else narrow_quote(quote, start, claims.get(relationship) or "")
        for relationship, quote, start, end in evidence.select("relationship_id", *columns).iter_rows()
    ]
    narrow = pl.DataFrame(rows, schema={name: evidence.schema[name] for name in columns}, orient="row")
    return evidence.with_columns(narrow[name] for name in columns)


def _list_rows(frames: Mapping[str, pl.DataFrame]) -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Dataset and id -> the row's name and its text units."""
    found: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}
    for unit in frames["text_units"]["id"]:
        found["Sources", unit] = ("", (unit,))
    for identity, title, units in frames["entities"].select("id", "title", "text_unit_ids").iter_rows():
        found["Entities", identity] = (title, tuple(units))
    ends = frames["relationships"].select("id", "source", "target", "text_unit_ids")
    for identity, source, target, units in ends.iter_rows():
        found["Relationships", identity] = (f"{source} {target}", tuple(units))
    for identity, subject, said, unit in (
        frames["covariates"].select("id", "subject_id", "source_text", "text_unit_id").iter_rows()
    ):
        found["Claims", identity] = (f"{subject} {said}", (unit,))
    return found
