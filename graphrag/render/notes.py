"""The neighbourhood of a note as people and programs read it (specs: linked documents 11).

Does not: walk (search/notes/note_neighborhood.py).
"""

from __future__ import annotations

import math
from typing import Any

from graphrag.search.notes.note_neighborhood import NoteNeighborhood


def render_notes(found: NoteNeighborhood, *, top: int, show_tokens: bool) -> str:
    """One line a note, up to `top`; with show_tokens what it would cost to read them."""
    n, hops = len(found.notes), found.hops
    limit = "off" if math.isinf(found.hub_cutoff) else f"{found.hub_cutoff:g}"
    lines = [
        f"Neighborhood: {n:,} {'note' if n == 1 else 'notes'} ({hops} {'hop' if hops == 1 else 'hops'}, "
        f"hub-cutoff={limit})"
    ]
    for note in found.notes[:top]:
        mark = "" if note.hops else " (anchor)"
        mark = f" (hub, {note.degree:,} links, not expanded)" if note.is_stub else mark
        lines.append(f"  - {note.name}{mark}")
    if n > top:
        lines.append(f"... and {n - top:,} more")
    if found.notes[0].degree > found.hub_cutoff:
        lines.append("anchor is a hub")
    if show_tokens:
        lines.append(f"Approx tokens for this neighborhood: {found.n_tokens}")
        lines.append(f"Approx tokens for the whole vault:    {found.n_all_tokens}")
        lines.append(f"Reduction: {found.reduction}%")
    return "\n".join(lines)


def describe_notes(found: NoteNeighborhood) -> dict[str, Any]:
    return {
        "mode": "neighborhood", "document": found.notes[0].name, "answered": True, "direction": found.direction,
        "hub_cutoff": None if math.isinf(found.hub_cutoff) else int(found.hub_cutoff), "n_notes": len(found.notes),
        "notes": [note._asdict() for note in found.notes], "tokens": found.n_tokens, "tokens_all": found.n_all_tokens,
        "reduction": found.reduction,
    }  # fmt: skip
