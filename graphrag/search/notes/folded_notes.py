"""The notes of documents search folded by the relations between them: in what order they are read, which are listed.

What stands for a group is read in the group's place, and all results before what hangs on them: places and tokens go to
several topics first. Then the other notes in their order, at last those that another one corrects or supersedes. A hub
is a line only: the note in whose place it stands is read there too. What hangs on the results is told in a line each,
as far as tokens are left; related notes that the search had not found are not read.

Does not: choose notes (note_walk.py), or load relations and fold (folded_entries.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphrag.context import TokenCounter
from graphrag.search.answer import FoldedEntry, Source
from graphrag.search.entries.folded_entries import Fold, FoldedEntries, fold_ranked
from graphrag.search.notes.linked_notes import LinkedNotes
from graphrag.search.notes.note_walk import Reached

if TYPE_CHECKING:
    from graphrag.store import Index


@dataclass(frozen=True)
class FoldedNotes:
    """`notes`: in the order to read them. `marks`: by note, `corrected by NAME`. `folded`: None where all is as it was
    found."""

    notes: list[Reached]
    marks: Mapping[str, str] = field(default_factory=dict)
    folded: FoldedEntries | None = None

    @property
    def refused(self) -> frozenset[str]:
        """Notes not to quote."""
        return self.folded.refused if self.folded else frozenset()

    def list_sources(
        self, taken: Sequence[Reached], notes: LinkedNotes, scores: Mapping[str, float], *, top: int
    ) -> tuple[Source, ...]:
        """The results, whether there was room to read them or not; `rank` is the place of their group. Where nothing
        was folded, the notes that were read."""
        rows: list[tuple[int, str, FoldedEntry | None]]
        if self.folded is None:
            rows = [(rank, note.id, None) for rank, note in enumerate(taken[:top], start=1)]
        else:
            rows = [(result.rank, result.id, self.folded.describe(result)) for result in self.folded.results[:top]]
        return tuple(
            Source(rank, note, note, notes.names[note], notes.paths[note], scores.get(note, 0.0), entry)
            for rank, note, entry in rows
        )

    def tell_related(self, names: Mapping[str, str], *, budget: int, count: TokenCounter) -> str:
        """What hangs on each result, `- NAME <- corrects NAME: NOTE | SUMMARY`, as many lines as fit; may be empty."""
        if self.folded is None:
            return ""
        names = {entry.id: entry.title for entry in self.folded.entries.values()} | dict(names)
        lines = ["Related:"]
        for result in self.folded.results:
            lines += [f"- {names[result.id]} {each.render(names)}" for each in self.folded.describe(result).related]
        while len(lines) > 1 and count("\n".join(lines)) > budget:
            lines.pop()
        return "\n".join(lines) if len(lines) > 1 else ""


def fold_notes(index: Index, found: Sequence[Reached], names: Mapping[str, str], *, fold: Fold | None) -> FoldedNotes:
    """All as it was found, best first, where no relation touches it. names: of every document."""
    ranked = [note.id for note in found]
    folded = fold_ranked(index, ranked, fold=fold, rank_more=lambda: ranked)
    if folded is None:
        return FoldedNotes(list(found))
    known = {note.id: note for note in found}
    ordered: dict[str, Reached] = {}
    for result in folded.results:
        place = folded.ranked[result.rank - 1]
        for id_ in (result.id, place) if known[result.id].is_stub else (result.id,):
            ordered.setdefault(id_, known[id_])
    for note in sorted(found, key=lambda note: note.id in folded.refused):
        ordered.setdefault(note.id, note)
    return FoldedNotes(list(ordered.values()), folded.mark_dominated(names), folded)
