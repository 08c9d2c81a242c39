"""The hop lab: what is a task, that nothing leaks, and that folding reaches what the flat list does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag.errors import NothingFound
from graphrag.render.evaluation import describe_hop_lab, render_hop_lab
from graphrag.search.entries.folded_entries import Fold
from graphrag.search.evaluation.hop_lab import HopLab, run_hop_lab
from graphrag.store import Index
from graphrag.tokens import split_search_terms

TEXTS = {f"harbour {n}.md": f"harbour {n} is a quay with {n} cranes for the harbour boats." for n in range(10, 30)}
TEXTS |= {
    "login recipe.md": "Log in to the session store with a cookie jar.",
    "curl pitfall.md": "The call needs --http1.1 behind proxy 8443.",
    "copy.md": "Log in to the session store with a cookie jar. This login recipe says the same.",
    "silent.md": "Both are by the sea.",
}
RELATIONS = [
    ("curl pitfall.md", "clarifies", "login recipe.md", "One more condition for the call in this recipe."),
    ("copy.md", "see_also", "login recipe.md", ""),
    ("silent.md", "see_also", "harbour 11.md", "Both are by the sea, say the boats."),
]


@pytest.fixture(scope="module")
def lab(make_index: Callable[..., Index]) -> HopLab:
    return run_hop_lab(make_index(TEXTS, [], relations=RELATIONS), fold=Fold(), model="none")


def test_a_task_needs_an_entry_that_the_flat_list_lacks(lab: HopLab) -> None:
    assert lab.n_relations == 3
    assert len(lab.tasks) == 6
    why = {(task.found, task.needed): task.left_out for task in lab.tasks}
    assert why["login recipe.md", "curl pitfall.md"] == ""
    assert why["login recipe.md", "copy.md"] == "the flat list has it"
    assert why["harbour 11.md", "silent.md"] == "no proof token", (
        "all its words stand in the question's entry or a note"
    )


def test_folding_reaches_what_the_flat_list_does_not(lab: HopLab) -> None:
    assert [(task.needed, task.flat, task.folded) for task in lab.hop_tasks if task.found == "login recipe.md"] == [
        ("curl pitfall.md", False, "neighbor")
    ]
    described = describe_hop_lab(lab)
    assert (described["flat"], described["folded"]) == (0.0, 1.0)
    text = render_hop_lab(lab, show=True)
    assert f"| folded | 1.00 ({len(lab.hop_tasks)} of {len(lab.hop_tasks)}) |" in text
    assert '"login recipe" -> curl pitfall.md' in text


def test_proof_tokens_stand_in_no_note_and_not_in_the_entry_asked_about(lab: HopLab) -> None:
    in_notes = {term for *_, note in RELATIONS for term in split_search_terms(note)}
    for task in lab.hop_tasks:
        assert task.proof in split_search_terms(TEXTS[task.needed])
        assert task.proof not in {*in_notes, *split_search_terms(TEXTS[task.found] + " " + task.question)}


def test_a_bank_without_relations_says_so(make_index: Callable[..., Index]) -> None:
    with pytest.raises(NothingFound, match="graphrag relate"):
        run_hop_lab(make_index(TEXTS, []), fold=Fold(), model="none")


def test_the_sample_is_reached_whole_by_folding_and_not_by_the_flat_list(sample_index: Path) -> None:
    from graphrag.store import open_index

    with open_index(sample_index) as index:
        for mode in ("basic", "local"):
            described = describe_hop_lab(run_hop_lab(index, mode=mode, fold=Fold()))
            assert described["n_tasks"] >= 10
            assert (described["flat"], described["folded"]) == (0.0, 1.0)
