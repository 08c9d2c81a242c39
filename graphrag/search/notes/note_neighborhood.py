"""The notes within some hops of a note, along the links that people wrote, and what they would cost to read.

specs/linked-documents.md, rules 7 to 11: breadth first, neighbours by title, hubs listed and not walked through but for
the anchor. Reads documents, links (linked_notes.py); the walk is that of note_walk.py, along links, against, or both.

Does not: answer a question (document_search.py), or print (render/notes.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.errors import UsageError
from graphrag.search.notes.linked_notes import LinkedNotes, load_notes
from graphrag.search.notes.note_entries import resolve_note
from graphrag.search.notes.note_text import render_stub
from graphrag.search.notes.note_walk import walk_links
from graphrag.search.walks.edges import Direction

if TYPE_CHECKING:
    from graphrag.store import Index

CHARACTERS_A_TOKEN = 4


class NearNote(NamedTuple):
    """`name`: title, or path where several have the title. is_stub: a hub that was not expanded."""

    name: str
    path: str
    hops: int
    degree: int
    is_stub: bool


class NoteNeighborhood(NamedTuple):
    """`notes`: the anchor first. n_tokens, n_all_tokens: of their texts and of all documents, characters // 4."""

    notes: list[NearNote]
    n_tokens: int
    n_all_tokens: int
    hops: int
    direction: Direction
    hub_cutoff: float
    stubs: bool

    @property
    def reduction(self) -> int:
        """Percent of the whole that need not be read."""
        return 100 - 100 * self.n_tokens // max(self.n_all_tokens, 1)


def find_note_neighborhood(
    index: Index, name: str, *, hops: int, direction: Direction, hub_cutoff: str, stubs: bool
) -> NoteNeighborhood:
    """The neighbourhood of the note of that path, title or alias. stubs: a hub costs its line in place of its text.

    hub_cutoff: auto, off, or the most neighbours that are walked through. Raises NothingFound for an unknown note,
    UsageError for a name of several, or another cutoff.
    """
    notes = load_notes(index)
    anchor = resolve_note(notes, name)
    cutoff = _read_cutoff(notes, hub_cutoff)
    links = _turn_links(notes, direction)
    reached = walk_links(links, notes.degrees, [anchor], max_depth=hops, hub_cutoff=cutoff)
    sizes = dict(index.frame("select id, length(text) from documents").rows())
    near = [
        NearNote(notes.names[n.id], notes.paths[n.id], n.hops, notes.degrees.get(n.id, 0), n.is_stub) for n in reached
    ]
    lengths = [
        len(render_stub(note.name, note.degree)) if stubs and note.is_stub else sizes[n.id]
        for n, note in zip(reached, near, strict=True)
    ]
    n_tokens, n_all = (sum(each) // CHARACTERS_A_TOKEN for each in (lengths, sizes.values()))
    return NoteNeighborhood(near, n_tokens, n_all, hops, direction, cutoff, stubs)


def _turn_links(notes: LinkedNotes, direction: Direction) -> dict[str, Sequence[str]]:
    """Note -> the notes it is walked to, by title in code point order, then path."""
    order = {note: n for n, note in enumerate(notes.documents.sort("title", "path")["id"])}
    near: dict[str, set[str]] = {}
    for source, target in notes.edges.iter_rows():
        if direction != "in":
            near.setdefault(source, set()).add(target)
        if direction != "out":
            near.setdefault(target, set()).add(source)
    return {note: sorted(others, key=lambda other: order[other]) for note, others in near.items()}


def _read_cutoff(notes: LinkedNotes, asked: str) -> float:
    if asked in ("auto", "off"):
        return notes.hub_cutoff if asked == "auto" else math.inf
    if asked.isdecimal() and len(asked) <= 18:
        return int(asked)
    raise UsageError(f'--hub-cutoff must be auto, off or a number of 0 or more, got "{asked}".')
