"""Which notes a search over linked documents reads: a walk along links, a filter by likeness, orphans, a budget.

specs/linked-documents.md, rules 7, 8 and 13 to 17. A walk starts at entry notes, follows links outward, and lists hubs
without walking through them. Several entries take turns hop by hop, so that none eats the budget. Pure functions over
ids: the caller gives links sorted as they are to be walked.

Does not: choose entries (note_entries.py), read texts (document_search.py), or know settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLERANCE = 1e-6  # of a cosine that should equal the threshold


class Reached(NamedTuple):
    """A note on the list of what may be read. `hops` from an entry, -1 for an orphan; `is_stub`: a hub that was not
    expanded, one line instead of its text."""

    id: str
    hops: int
    is_stub: bool = False


class Filled(NamedTuple):
    """What a budget holds, in order, and what it did not."""

    taken: list[Reached]
    skipped: list[Reached]


class Filtered(NamedTuple):
    """`unscored` are the kept notes without a vector."""

    kept: list[Reached]
    unscored: list[str]


def walk_links(
    links: Mapping[str, Sequence[str]],
    degrees: Mapping[str, int],
    entries: Sequence[str],
    *,
    max_depth: int,
    hub_cutoff: float,
    expand_entries: bool = True,
) -> list[Reached]:
    """The entries, then what they link to, hop by hop; within a hop entry by entry, in the order of `links`.

    A note with a degree above hub_cutoff is listed as a stub and ends the walk; an entry does not if expand_entries.
    A note belongs to the entry that reaches it first: another that comes as late would find nothing new behind it.
    """
    found = {
        entry: Reached(entry, 0, is_stub=not expand_entries and degrees.get(entry, 0) > hub_cutoff) for entry in entries
    }
    fronts = [[note.id] for note in found.values() if not note.is_stub]
    for hops in range(1, max_depth + 1):
        fronts = [_step(links, degrees, front, found, hops=hops, hub_cutoff=hub_cutoff) for front in fronts]
    return list(found.values())


def _step(
    links: Mapping[str, Sequence[str]],
    degrees: Mapping[str, int],
    front: Sequence[str],
    found: dict[str, Reached],
    *,
    hops: int,
    hub_cutoff: float,
) -> list[str]:
    """Adds to `found` what a front links to; the new notes that are not hubs."""
    following = []
    for note in front:
        for other in links.get(note, ()):
            if other in found:
                continue
            found[other] = Reached(other, hops, is_stub=degrees.get(other, 0) > hub_cutoff)
            if not found[other].is_stub:
                following.append(other)
    return following


def measure_cosines(ids: Sequence[str], matrix: NDArray[np.float32], anchors: NDArray[np.float32]) -> dict[str, float]:
    """Cosine of each note with the anchors, the best of them counts; 0.0 for a vector without direction.

    matrix: (len(ids), dim); anchors: (n, dim). Without notes or anchors: nothing.
    """
    import numpy as np

    if not len(ids) or not len(anchors):
        return {}
    cosines = (_normalise(matrix) @ _normalise(anchors).T).max(axis=1)
    return dict(zip(ids, np.round(cosines.astype(np.float64), 6).tolist(), strict=True))


def _normalise(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    rows: NDArray[np.float32] = np.where(usable, matrix / np.where(usable, lengths, 1), 0).astype(np.float32)
    return rows


def filter_by_anchor(
    reached: Iterable[Reached], cosines: Mapping[str, float], *, threshold: float, keep_missing: bool
) -> Filtered:
    """Entries stay; a linked note stays if its cosine reaches the threshold, or without one if keep_missing."""
    kept, unscored = [], []
    for note in reached:
        cosine = cosines.get(note.id)
        if note.hops > 0 and cosine is None and keep_missing:
            unscored.append(note.id)
        if note.hops == 0 or (keep_missing if cosine is None else cosine >= threshold - TOLERANCE):
            kept.append(note)
    return Filtered(kept, unscored)


def find_orphans(
    cosines: Mapping[str, float], loaded: Iterable[str], paths: Mapping[str, str], *, k: int
) -> list[Reached]:
    """The k notes nearest to the anchors that are not loaded, linked or not; ties by path. Notes without a path, which
    are deleted, are none."""
    inside = set(loaded)
    candidates = sorted((-cosine, paths[note], note) for note, cosine in cosines.items() if note in paths)
    return [Reached(note, -1) for _, _, note in candidates if note not in inside][:k]


def fill_budget(notes: Iterable[Reached], sizes: Mapping[str, int], *, max_notes: int, max_tokens: int) -> Filled:
    """The notes in order while they fit; one that does not fit is skipped and the next is tried.

    sizes: tokens by id, of what will be shown: the text, a cut one, or the line of a stub.
    """
    taken: list[Reached] = []
    skipped: list[Reached] = []
    left = max_tokens
    for note in notes:
        if len(taken) < max_notes and sizes[note.id] <= left:
            taken.append(note)
            left -= sizes[note.id]
        else:
            skipped.append(note)
    return Filled(taken, skipped)
