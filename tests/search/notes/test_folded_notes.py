"""Folding in documents search: the vectors over notes, and over the sample nothing of the flat list is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphrag.ids import document_id
from graphrag.search.answer import Answer
from graphrag.search.entries.folded_entries import Fold
from graphrag.search.notes.document_search import Routing, search_documents
from graphrag.search.notes.folded_notes import FoldedNotes, fold_notes
from graphrag.search.notes.note_walk import Reached
from graphrag.store import Index, open_index

from ..test_folded_search import NAMES, V1, _relations

QUESTIONS = Path(__file__).resolve().parents[3] / "data" / "sample" / "document_questions.jsonl"
RANKED = NAMES[:40]


@pytest.fixture(scope="module")
def make_bank(make_index: Callable[..., Index]) -> Callable[[str], Index]:
    texts = {f"{name}.md": f"{name.upper()} tells a short story of the sea." for name in NAMES}
    return lambda written: make_index(texts, [], relations=_relations(written))


@pytest.fixture(scope="module")
def sample(sample_index: Path) -> Iterator[Index]:
    with open_index(sample_index) as opened:
        yield opened


def _fold(index: Index, *, stubs: tuple[str, ...] = (), fold: Fold | None) -> FoldedNotes:
    found = [Reached(document_id(f"{name}.md"), 0, is_stub=name in stubs) for name in RANKED]
    return fold_notes(index, found, {document_id(f"{name}.md"): name for name in NAMES}, fold=fold)


def _read(notes: FoldedNotes) -> list[str]:
    names = {document_id(f"{name}.md"): name for name in NAMES}
    return [names[note.id] for note in notes.notes]


def test_vector_1_results_are_read_first_and_what_was_superseded_last(make_bank: Callable[[str], Index]) -> None:
    folded = _fold(make_bank(V1), fold=Fold())
    read = _read(folded)
    assert read[:8] == ["e01", "e02", "e15", "e11", "e06", "e08", "e10", "e14"]
    assert set(read[-3:]) == {"e09", "e12", "e13"}, "what a ranked one corrects or supersedes, e01 says so itself"
    assert read[8:-3] == [name for name in RANKED if name not in read[:8] and name not in read[-3:]]
    assert folded.marks[document_id("e01.md")] == "corrected by e03"
    told = folded.tell_related({document_id(f"{n}.md"): n for n in NAMES}, budget=10_000, count=len)
    lines = told.split("\n")
    assert lines[:2] == [
        "Related:",
        "- e01 <- corrects e03: How e03 bears on e01. | E03 tells a short story of the sea.",
    ]
    assert "- e15 -> clarifies e04 (via e09): How e09 bears on e04. | E04 tells a short story of the sea." in lines
    assert "- e02 <- conflicts_with x4 (neighbor): How x4 bears on e02. | X4 tells a short story of the sea." in lines
    few = folded.tell_related({document_id(f"{n}.md"): n for n in NAMES}, budget=200, count=len)
    assert few and len(few) <= 200 and told.startswith(few)
    assert folded.tell_related({document_id(f"{n}.md"): n for n in NAMES}, budget=20, count=len) == ""


def test_without_folding_or_relations_everything_is_as_it_was_found(make_bank: Callable[[str], Index]) -> None:
    assert _read(_fold(make_bank(V1), fold=None)) == RANKED
    unrelated = _fold(make_bank("x1 corrects x2"), fold=Fold())
    assert _read(unrelated) == RANKED and unrelated.folded is None and not unrelated.marks


def test_where_a_hub_stands_for_a_group_its_best_note_is_read_too(make_bank: Callable[[str], Index]) -> None:
    folded = _fold(make_bank("e05 part_of e11; e06 part_of e11"), stubs=("e11",), fold=Fold())
    assert _read(folded)[:7] == ["e01", "e02", "e03", "e04", "e11", "e05", "e07"]


def test_a_list_that_folding_made_short_is_filled_from_the_next_twenty(make_bank: Callable[[str], Index]) -> None:
    chain = "; ".join(f"e{n:02d} see_also e{n + 1:02d}" for n in range(1, 20))
    assert _read(_fold(make_bank(chain), fold=Fold()))[:8] == ["e01", "e02", *[f"e{n}" for n in range(21, 27)]]


def _ask(index: Index, question: str, *, fold: Fold | None, routing: Routing | None = None) -> Answer:
    return search_documents(index, question, routing=routing or Routing(), fold=fold)


@pytest.mark.parametrize("mode", ["depth", "synthesis", "hybrid"])
def test_nothing_of_the_flat_list_is_lost_on_the_sample(sample: Index, mode: str) -> None:
    routing, n_folded = Routing(mode=mode), 0
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)["question"]
        flat, folded = (_ask(sample, question, fold=fold, routing=routing) for fold in (None, Fold()))
        if not folded.sources or all(source.folded is None for source in folded.sources):
            assert [source.id for source in folded.sources] == [source.id for source in flat.sources]
            continue
        n_folded += 1
        related = [each for source in folded.sources if source.folded for each in source.folded.related]
        results = list(dict.fromkeys(source.document for source in folded.sources))
        shown = [*results, *(each.id for each in related if each.kind == "folded")]
        near = {each.id for each in related if each.kind == "neighbor"}
        assert set(list(dict.fromkeys(source.document for source in flat.sources))[:8]) <= set(shown)
        assert len(shown) == len(set(shown)) and not near & set(shown)
        ranks = list(dict.fromkeys(source.rank for source in folded.sources))
        assert ranks == sorted(ranks)
        assert folded.usage.context_tokens <= routing.max_tokens + 50 * routing.max_notes  # the tags
    assert n_folded >= 5


def test_what_was_superseded_is_not_quoted_and_an_entry_that_is_says_so(make_index: Callable[..., Index]) -> None:
    texts = {
        "quota of the desk.md": "The export quota is what the export desk exports.",
        "quota.md": "Ask the desk about the export quota of exports.",
        "old limit.md": "The export quota is 250 parcels a minute for export.",
        "new limit.md": "The export quota of the desk was raised to 400 parcels.",
    }
    question = "What is the export quota of parcels?"
    index = make_index(texts, [], relations=[("new limit.md", "supersedes", "old limit.md", "")])
    flat = _ask(index, question, fold=None)
    assert "250" in flat.text and not flat.sources[0].folded
    by_name = {source.title: source for source in _ask(index, question, fold=Fold()).sources}
    assert "old limit" in by_name, "protected"
    assert by_name["old limit"].marks[1] == ("superseded by", (document_id("new limit.md"),))
    said = _ask(index, question, fold=Fold())
    assert "old limit is superseded by new limit." in said.notices
    assert "(old limit is superseded by new limit.)" in said.context
    unprotected = _ask(index, question, fold=Fold(protect=0))
    assert "250" not in unprotected.text
    assert "old limit" not in {source.title for source in unprotected.sources}
