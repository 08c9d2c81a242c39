"""The passages of a search folded by the relations between their documents: which are listed, in what order, and what
hangs on them.

An entry stands where its best passage stands. What stands for its group comes to the group's place; what was corrected
or superseded by another ranked entry is no longer quoted, unless it is one of the best, which say so. Entries that hang
on a result are read behind all others.

Reads what entry_relations.py and rows.py read. Does not: rank, or decide what folds (folding.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.answer import Answer, FoldedEntry, RelatedEntry, Source
from graphrag.search.entry_relations import (
    Entry,
    has_relations,
    load_around,
    load_relations_among,
)
from graphrag.search.folding import Related, Result, attach_neighbors, fold_entries
from graphrag.search.rows import Passage
from graphrag.search.sections import list_sources
from graphrag.search.written_since import Written

if TYPE_CHECKING:
    import polars as pl

    from graphrag.settings import Fold as FoldSettings
    from graphrag.store import Index

REFUSING = ("corrects", "supersedes")  # what is said of an entry by them is no longer true of it, or no longer used
N_REFILL = 200  # passages that a second pool of entries is filled from
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
class FoldedPassages:
    """`passages`: in the order to read them, those of related entries at the end; `scores` of those that were ranked.

    `refused`: ids of passages not to quote; `lifted`: what stands for a group -> the passage in whose place; `marks`:
    by document, what to say beside its title. Without `results` nothing was folded: all is as it was ranked.
    """

    passages: list[Passage]
    scores: dict[str, float]
    refused: frozenset[str] = frozenset()
    lifted: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    results: Sequence[Result] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def quotable(self) -> list[Passage]:
        """What was ranked and may be quoted, best first."""
        return [passage for passage in self.passages if passage.id in self.scores and passage.id not in self.refused]

    def list_sources(self, *, top: int) -> tuple[Source, ...]:
        """Every result's best passage, and further ones of the results up to `top`, in order. `rank` is the result's:
        the place of its group among the ranked entries."""
        return _list_sources(self, top=top) if self.results else list_sources(self.passages, self.scores, top=top)


class _Pool(NamedTuple):
    passages: list[Passage]
    documents: list[str]
    relations: pl.DataFrame
    results: list[Result]


def fold_passages(
    index: Index,
    passages: Sequence[Passage],
    scores: Mapping[str, float],
    *,
    fold: Fold | None,
    rank_more: Callable[[int], Sequence[Passage]],
) -> FoldedPassages:
    """All as it was ranked, where no relation touches what was found.

    passages: best first. fold: None leaves everything as it is. rank_more: ranks at least that many passages, for a
    second pool when folding leaves too few results.
    """
    flat = FoldedPassages(list(passages), dict(scores))
    if fold is None or not has_relations(index, origins=fold.origins, written=fold.written):
        return flat
    pool = _fold_pool(index, passages, fold, size=fold.pool)
    if pool.relations.height and len(pool.results) < fold.results:
        known = {passage.id for passage in passages}
        more = [*passages, *(passage for passage in rank_more(N_REFILL) if passage.id not in known)]
        pool = _fold_pool(index, more, fold, size=2 * fold.pool)
    results = [result.id for result in pool.results]
    pointers = [pointer.id for result in pool.results for pointer in result.pointers]
    around = load_around(
        index, results, ranked=pool.documents, shown=pointers, origins=fold.origins, written=fold.written
    )
    if not pool.relations.height and not around.relations.height:
        return flat
    attached = attach_neighbors(pool.results, pool.documents, around.relations, neighbors=fold.neighbors)
    return _arrange(pool._replace(results=attached), scores, around.entries)


def tell_refused(answer: Answer, folded: FoldedPassages) -> Answer:
    """The answer with a notice for each cited document that another one corrects, supersedes or clarifies."""
    cited = dict.fromkeys(citation.document for citation in answer.citations)
    titles = {passage.document: passage.title for passage in folded.passages}
    told = [f"{titles[document]} is {folded.marks[document]}." for document in cited if document in folded.marks]
    return replace(answer, notices=(*answer.notices, *told))


def _fold_pool(index: Index, passages: Sequence[Passage], fold: Fold, *, size: int) -> _Pool:
    documents = list(dict.fromkeys(passage.document for passage in passages))[:size]
    found = load_relations_among(index, documents, origins=fold.origins, written=fold.written)
    results = fold_entries(documents, found, results=fold.results, protect=fold.protect)
    return _Pool(list(passages), documents, found, results)


def _arrange(pool: _Pool, scores: Mapping[str, float], entries: Mapping[str, Entry]) -> FoldedPassages:
    """Passages in flat order; but what stands for a group at its place, refused ones and new related ones behind."""
    first: dict[str, Passage] = {}
    for passage in pool.passages:
        first.setdefault(passage.document, passage)
    heads = {pool.documents[result.rank - 1]: result for result in pool.results}
    marks = _mark_dominated(pool, {document: passage.title for document, passage in first.items()})
    shown = {result.id for result in pool.results}
    refusing = {row[1] for row in _dominations(pool) if row[2] in REFUSING}
    refused = {document for document in refusing if document not in shown}
    ordered: dict[str, Passage] = {}
    lifted: dict[str, str] = {}
    for passage in pool.passages:
        result = heads.pop(passage.document, None)
        if result is not None and result.id != passage.document:
            head = first[result.id]
            ordered.setdefault(head.id, head)
            lifted[head.id] = passage.id
        if passage.document not in refused:
            ordered.setdefault(passage.id, passage)
    behind = [passage for passage in pool.passages if passage.document in refused]
    neighbors = [entries[related.id].passage for result in pool.results for related in result.neighbors]
    for related in [*behind, *(passage for passage in neighbors if passage)]:
        ordered.setdefault(related.id, related)
    quiet = frozenset(passage.id for passage in behind)
    own = {**scores, **{head: scores[place] for head, place in lifted.items() if place in scores}}
    return FoldedPassages(list(ordered.values()), own, quiet, lifted, marks, pool.results, entries)


def _dominations(pool: _Pool) -> list[tuple[str, str, str]]:
    """(what dominates, what is dominated, type), for the types that say that something is no longer true as it was."""
    rows = pool.relations.iter_rows()
    return sorted((source, target, type_) for source, target, type_, _ in rows if type_ in WORDS)


def _mark_dominated(pool: _Pool, titles: Mapping[str, str]) -> dict[str, str]:
    """By document: `corrected by New limits`."""
    marks: dict[str, list[str]] = {}
    for source, target, type_ in _dominations(pool):
        marks.setdefault(target, []).append(f"{WORDS[type_]} {titles[source]}")
    return {document: ", ".join(said) for document, said in marks.items()}


def _list_sources(folded: FoldedPassages, *, top: int) -> tuple[Source, ...]:
    results = {result.id: result for result in folded.results}
    best: dict[str, str] = {}
    for passage in folded.passages:
        if passage.document in results:
            best.setdefault(passage.document, passage.id)
    room = top - len(best)
    sources: list[Source] = []
    for passage in folded.passages:
        result = results.get(passage.document)
        is_best = best.get(passage.document) == passage.id
        if result is None or passage.id in folded.refused or not (is_best or room > 0):
            continue
        room -= not is_best
        score = round(folded.scores.get(passage.id, 0.0), 6)
        entry = _describe(result, folded.entries) if is_best else None
        sources.append(Source(result.rank, passage.id, passage.document, passage.title, passage.path, score, entry))
    return tuple(sources)


def _describe(result: Result, entries: Mapping[str, Entry]) -> FoldedEntry:
    related = tuple(_describe_related(each, entries) for each in result.related)
    return FoldedEntry(related, result.corrected_by, result.superseded_by, result.clarified_by)


def _describe_related(related: Related, entries: Mapping[str, Entry]) -> RelatedEntry:
    entry = entries[related.id]
    return RelatedEntry(
        related.id, entry.title, entry.path, related.relation, related.direction, related.note, entry.summary,
        related.via, related.kind,
    )  # fmt: skip
