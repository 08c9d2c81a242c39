"""The entries that a search ranked, folded by the relations between them, with what hangs on the results.

One statement reads the relations among the ranked entries (a second one where folding leaves too few results and the
next twenty are fetched), one the neighbors (entry_relations.py).

Does not: rank, decide what folds (folding.py), or arrange passages (folded_passages.py) or notes (folded_notes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from graphrag.search.answer import Answer, FoldedEntry, RelatedEntry
from graphrag.search.entries.entry_relations import Entry, has_relations, load_around, load_relations_among
from graphrag.search.entries.folding import Related, Result, attach_neighbors, fold_entries
from graphrag.search.entries.written_since import Written

if TYPE_CHECKING:
    import polars as pl

    from graphrag.settings import Fold as FoldSettings
    from graphrag.store import Index

REFUSING = ("corrects", "supersedes")  # what is said of an entry by them is no longer true of it, or no longer used
WORDS = {"corrects": "corrected by", "supersedes": "superseded by", "clarifies": "clarified by"}


@dataclass(frozen=True)
class Fold:
    """Knobs of folding, as settings [fold] describes them; and what was related since the index was made."""

    pool: int = 20
    results: int = 8
    protect: int = 2
    neighbors: int = 3
    origins: str = "authored"
    written: Written | None = None


def choose_fold(knobs: FoldSettings, *, is_on: bool | None = None, top: int | None = None) -> Fold | None:
    """The knobs of the settings; None where `is_on`, or without one the setting, says not to. top: list as many."""
    return read_fold(knobs, top=top) if (knobs.enabled if is_on is None else is_on) else None


def read_fold(knobs: FoldSettings, *, top: int | None = None) -> Fold:
    return Fold(max(knobs.pool, top or 0), top or knobs.results, knobs.protect, knobs.neighbors, knobs.origins)


@dataclass(frozen=True)
class FoldedEntries:
    """`ranked`: the pool, best first; `relations` among it (RELATION_SCHEMA); `entries`: what hangs on a result."""

    ranked: Sequence[str]
    relations: pl.DataFrame
    results: Sequence[Result]
    entries: Mapping[str, Entry]

    @cached_property
    def refused(self) -> frozenset[str]:
        """What another ranked entry corrects or supersedes and is no result: it is not to be quoted."""
        shown = {result.id for result in self.results}
        return frozenset(row[1] for row in self._dominations() if row[2] in REFUSING and row[1] not in shown)

    def mark_dominated(self, titles: Mapping[str, str]) -> dict[str, str]:
        """By entry: `corrected by New limits`."""
        marks: dict[str, list[str]] = {}
        for source, target, type_ in self._dominations():
            marks.setdefault(target, []).append(f"{WORDS[type_]} {titles[source]}")
        return {entry: ", ".join(said) for entry, said in marks.items()}

    def describe(self, result: Result) -> FoldedEntry:
        related = tuple(_describe_related(each, self.entries[each.id]) for each in result.related)
        return FoldedEntry(related, result.corrected_by, result.superseded_by, result.clarified_by)

    def _dominations(self) -> list[tuple[str, str, str]]:
        """(what dominates, what is dominated, type), for the types that say that something is no longer as it was."""
        rows = self.relations.iter_rows()
        return sorted((source, target, type_) for source, target, type_, _ in rows if type_ in WORDS)


def fold_ranked(
    index: Index, ranked: Sequence[str], *, fold: Fold | None, rank_more: Callable[[], Sequence[str]]
) -> FoldedEntries | None:
    """None where nothing is to be folded, or no relation touches what was found.

    ranked: ids of documents, best first. rank_more: a longer list that begins with it, for a second pool when folding
    leaves too few results.
    """
    if fold is None or not has_relations(index, origins=fold.origins, written=fold.written):
        return None
    found = _fold_pool(index, ranked, fold, size=fold.pool)
    if found.relations.height and len(found.results) < fold.results:
        found = _fold_pool(index, rank_more(), fold, size=2 * fold.pool)
    around = load_around(
        index,
        [result.id for result in found.results],
        ranked=found.ranked,
        shown=[pointer.id for result in found.results for pointer in result.pointers],
        origins=fold.origins,
        written=fold.written,
    )
    if not found.relations.height and not around.relations.height:
        return None
    results = attach_neighbors(found.results, found.ranked, around.relations, neighbors=fold.neighbors)
    return replace(found, results=results, entries=around.entries)


def tell_refused(answer: Answer, marks: Mapping[str, str], titles: Mapping[str, str]) -> Answer:
    """The answer with a notice for each cited document that another one corrects, supersedes or clarifies."""
    cited = dict.fromkeys(citation.document for citation in answer.citations)
    told = [f"{titles[document]} is {marks[document]}." for document in cited if document in marks]
    return replace(answer, notices=(*answer.notices, *told))


def _fold_pool(index: Index, ranked: Sequence[str], fold: Fold, *, size: int) -> FoldedEntries:
    pool = list(ranked)[:size]
    relations = load_relations_among(index, pool, origins=fold.origins, written=fold.written)
    results = fold_entries(pool, relations, results=fold.results, protect=fold.protect)
    return FoldedEntries(pool, relations, results, {})


def _describe_related(related: Related, entry: Entry) -> RelatedEntry:
    return RelatedEntry(
        related.id, entry.title, entry.path, related.relation, related.direction, related.note, entry.summary,
        related.via, related.kind,
    )  # fmt: skip
