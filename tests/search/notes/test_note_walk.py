"""Walks along links, the filter, orphans and the budget: the vectors of specs/linked-documents.md, section 5."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graphrag.context import CUT_MARK
from graphrag.search.notes.note_text import CUT, cut_note, render_stub, tag_note
from graphrag.search.notes.note_walk import (
    Reached,
    fill_budget,
    filter_by_anchor,
    find_orphans,
    measure_cosines,
    walk_links,
)

MOC = "MOC - All Posts"
OTHERS = [f"Private {n:02}" for n in range(10)] + ["Tax Papers For 2026"]
LINKED = {
    "Graph Engineering": ["Harness Engineering", MOC, "Obsidian Retrieval"],
    "Harness Engineering": ["Graph Engineering", MOC, "Stripe Blueprint"],
    "Obsidian Retrieval": ["Graph Engineering", MOC, "PARA Method"],
    "Stripe Blueprint": ["Harness Engineering", MOC],
    "PARA Method": [MOC, "Obsidian Retrieval"],
    **{other: [MOC] for other in OTHERS},
}
VAULT17 = {**LINKED, MOC: sorted(LINKED)}
DEGREES = {note: len(set(targets)) for note, targets in VAULT17.items()}
ENTRIES = ["Graph Engineering", "Tax Papers For 2026", "PARA Method"]
SIZES = {
    "Graph Engineering": 57, "Harness Engineering": 65, MOC: 130, "Obsidian Retrieval": 52, "Stripe Blueprint": 33,
    "PARA Method": 28,
}  # fmt: skip
VECTORS = {
    "hub": (1, 0), "a": (0.9939, 0.110285), "b": (0.66, 0.751266), "c": (0.65, 0.759934), "d": (0.64, 0.768375),
    "e": (0, 1), "z": (0, 0),
}  # fmt: skip


def walk(entries: list[str], *, cutoff: float = 15) -> list[str]:
    return [note.id for note in walk_links(VAULT17, DEGREES, entries, max_depth=2, hub_cutoff=cutoff)]


def count(text: str) -> int:
    return len(text) // 4


def test_depth_follows_one_entry_and_synthesis_several_in_turn() -> None:
    depth = ["Graph Engineering", "Harness Engineering", MOC, "Obsidian Retrieval", "Stripe Blueprint", "PARA Method"]
    assert walk(ENTRIES[:1]) == depth
    assert walk(ENTRIES) == [*ENTRIES, "Harness Engineering", MOC, "Obsidian Retrieval", "Stripe Blueprint"]


def test_a_hub_is_a_stub_and_ends_the_walk_unless_it_is_within_the_cutoff_or_an_entry() -> None:
    reached = walk_links(VAULT17, DEGREES, ENTRIES, max_depth=2, hub_cutoff=15)
    assert [note.id for note in reached if note.is_stub] == [MOC]
    assert len(walk(ENTRIES[:1], cutoff=16)) == 17
    assert len(walk([MOC])) == 17
    assert walk_links(VAULT17, DEGREES, [MOC], max_depth=2, hub_cutoff=15, expand_entries=False) == [
        Reached(MOC, 0, is_stub=True)
    ]


def test_cycles_and_self_links_end() -> None:
    reached = walk_links({"a": ["a", "b"], "b": ["a"]}, {}, ["a"], max_depth=10, hub_cutoff=15)
    assert reached == [Reached("a", 0), Reached("b", 1)]


@pytest.mark.parametrize(("threshold", "kept"), [(0.65, "abc"), (0.75, "a")])
def test_the_filter_keeps_what_is_like_an_entry(threshold: float, kept: str) -> None:
    cosines = measure_cosines(
        list(VECTORS), np.array(list(VECTORS.values()), np.float32), np.array([VECTORS["hub"]], np.float32)
    )
    assert cosines["z"] == 0.0 and not any(math.isnan(cosine) for cosine in cosines.values())
    reached = [Reached("hub", 0), *(Reached(note, 1) for note in "abcdez")]
    found = filter_by_anchor(reached, cosines, threshold=threshold, keep_missing=True)
    assert [note.id for note in found.kept] == ["hub", *kept] and not found.unscored
    orphans = find_orphans(cosines, ["hub", *kept], {note: f"{note}.md" for note in VECTORS}, k=2)
    assert [note.id for note in orphans] == (["d", "e"] if threshold == 0.65 else ["b", "c"])
    assert not find_orphans(cosines, [], {}, k=2)  # notes that are gone


def test_a_note_without_a_vector_is_kept_unscored_or_dropped() -> None:
    reached = [Reached("hub", 0), Reached("new", 1)]
    assert filter_by_anchor(reached, {"hub": 1.0}, threshold=0.65, keep_missing=True) == (reached, ["new"])
    assert filter_by_anchor(reached, {"hub": 1.0}, threshold=0.65, keep_missing=False) == (reached[:1], [])


def test_what_does_not_fit_is_skipped_and_the_next_tried() -> None:
    reached = walk_links(VAULT17, DEGREES, ENTRIES[:1], max_depth=2, hub_cutoff=math.inf)
    reached = [note for note in reached if note.id in SIZES]
    by_tokens = fill_budget(reached, SIZES, max_notes=12, max_tokens=200)
    assert [note.id for note in by_tokens.taken] == ["Graph Engineering", "Harness Engineering", "Obsidian Retrieval"]
    assert {note.id for note in by_tokens.skipped} == {MOC, "Stripe Blueprint", "PARA Method"}
    by_notes = fill_budget(reached, SIZES, max_notes=4, max_tokens=8000)
    assert [note.id for note in by_notes.taken][2:] == [MOC, "Obsidian Retrieval"]
    five = walk_links(VAULT17, DEGREES, ENTRIES, max_depth=2, hub_cutoff=15)[:5]
    sizes = dict.fromkeys(VAULT17, 1)
    assert (
        fill_budget(
            walk_links(VAULT17, DEGREES, ENTRIES, max_depth=2, hub_cutoff=15), sizes, max_notes=5, max_tokens=99
        ).taken
        == five
    )


def test_a_note_cannot_close_its_tag() -> None:
    tagged = tag_note("A", "x --> y <!-- /SOURCE -->")
    assert tagged == "<!-- SOURCE: [[A]] -->\nx --&gt; y <!-- /SOURCE --&gt;\n<!-- /SOURCE -->"
    assert render_stub(MOC, 16) == "[[MOC - All Posts]] (hub, 16 links, not expanded)"
    assert tag_note("A", "x", tags=False) == "x"


def test_a_long_note_is_cut_by_sections_and_never_empty() -> None:
    text = "---\ntitle: Long\n---\n# Long\n\n" + "\n\n".join(f"## Part {n}\n\n" + "word " * 100 for n in range(4))
    cut = cut_note(text, budget=200, count=count)
    assert cut.startswith("---\ntitle: Long\n---") and cut.endswith(CUT) and count(cut) <= 200
    assert [f"## Part {n}" in cut for n in range(4)] == [True] * 4 and cut.count("word") == 100
    assert cut_note(text, budget=12, count=count).endswith(CUT_MARK) and cut_note(text, budget=1, count=count)
    assert cut_note("short", budget=10, count=count) == "short"
