"""The passages of a search folded by the relations between their documents: which are listed, in what order, and what
hangs on them.

An entry stands where its best passage stands. What stands for its group comes to the group's place; what was corrected
or superseded by another ranked entry is no longer quoted, unless it is one of the best, which say so. Entries that hang
on a result are read behind all others.

Does not: rank, or load relations and fold (folded_entries.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphrag.search.answer import Source
from graphrag.search.entries.folded_entries import Fold, FoldedEntries, fold_ranked
from graphrag.search.rows import Passage
from graphrag.search.sections import list_sources

if TYPE_CHECKING:
    from graphrag.store import Index

N_REFILL = 200  # passages that a second pool of entries is filled from


@dataclass(frozen=True)
class FoldedPassages:
    """`passages`: in the order to read them, those of related entries at the end; `scores` of those that were ranked.

    `refused`: ids of passages not to quote; `lifted`: what stands for a group -> the passage in whose place; `marks`:
    by document, what to say beside its title. `folded`: None where all is as it was ranked.
    """

    passages: list[Passage]
    scores: dict[str, float]
    refused: frozenset[str] = frozenset()
    lifted: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    folded: FoldedEntries | None = None

    @property
    def quotable(self) -> list[Passage]:
        """What was ranked and may be quoted, best first."""
        return [passage for passage in self.passages if passage.id in self.scores and passage.id not in self.refused]

    @property
    def titles(self) -> dict[str, str]:
        """By document."""
        return {passage.document: passage.title for passage in self.passages}

    def list_sources(self, *, top: int) -> tuple[Source, ...]:
        """Every result's best passage, and further ones of the results up to `top`, in order. `rank` is the result's:
        the place of its group among the ranked entries."""
        if self.folded is None:
            return list_sources(self.passages, self.scores, top=top)
        return _list_results(self, self.folded, top=top)


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
    found = list(passages)

    def rank_documents() -> list[str]:
        known = {passage.id for passage in found}
        found.extend(passage for passage in rank_more(N_REFILL) if passage.id not in known)
        return _list_documents(found)

    folded = fold_ranked(index, _list_documents(found), fold=fold, rank_more=rank_documents)
    if folded is None:
        return FoldedPassages(list(passages), dict(scores))
    return _arrange(found, folded, scores)


def _list_documents(passages: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(passage.document for passage in passages))


def _arrange(passages: Sequence[Passage], folded: FoldedEntries, scores: Mapping[str, float]) -> FoldedPassages:
    """Passages in flat order; but what stands for a group at its place, refused ones and new related ones behind."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.document, passage)
    heads = {folded.ranked[result.rank - 1]: result for result in folded.results}
    marks = folded.mark_dominated({document: passage.title for document, passage in first.items()})
    ordered: dict[str, Passage] = {}
    lifted: dict[str, str] = {}
    for passage in passages:
        result = heads.pop(passage.document, None)
        if result is not None and result.id != passage.document:
            head = first[result.id]
            ordered.setdefault(head.id, head)
            lifted[head.id] = passage.id
        if passage.document not in folded.refused:
            ordered.setdefault(passage.id, passage)
    behind = [passage for passage in passages if passage.document in folded.refused]
    neighbors = [folded.entries[related.id].passage for result in folded.results for related in result.neighbors]
    for related in [*behind, *(passage for passage in neighbors if passage)]:
        ordered.setdefault(related.id, related)
    quiet = frozenset(passage.id for passage in behind)
    own = {**scores, **{head: scores[place] for head, place in lifted.items() if place in scores}}
    return FoldedPassages(list(ordered.values()), own, quiet, lifted, marks, folded)


def _list_results(listed: FoldedPassages, folded: FoldedEntries, *, top: int) -> tuple[Source, ...]:
    results = {result.id: result for result in folded.results}
    best: dict[str, str] = {}
    for passage in listed.passages:
        if passage.document in results:
            best.setdefault(passage.document, passage.id)
    room = top - len(best)
    sources: list[Source] = []
    for passage in listed.passages:
        result = results.get(passage.document)
        is_best = best.get(passage.document) == passage.id
        if result is None or passage.id in listed.refused or not (is_best or room > 0):
            continue
        room -= not is_best
        score = round(listed.scores.get(passage.id, 0.0), 6)
        entry = folded.describe(result) if is_best else None
        sources.append(Source(result.rank, passage.id, passage.document, passage.title, passage.path, score, entry))
    return tuple(sources)
