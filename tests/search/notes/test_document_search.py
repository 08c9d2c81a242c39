"""Documents search over the sample: where it enters, what it reads, and what a model's names are worth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag.errors import NothingFound
from graphrag.llm import ScriptedLlm
from graphrag.prompts import load_prompt
from graphrag.search.model_answer import SearchModel, answer_with_model
from graphrag.search.notes.document_search import UNSURE, Routing, search_documents
from graphrag.search.notes.linked_notes import load_notes
from graphrag.search.notes.note_entries import find_entries
from graphrag.search.ranking import prepare_question
from graphrag.store import Index, open_index

from .test_note_neighborhood import vault17 as vault17

QUESTIONS = Path(__file__).resolve().parents[3] / "data" / "sample" / "document_questions.jsonl"
CERTIFICATES = "How did the expired certificate incident lead to the way we issue certificates today?"
MAP = "notes/map-of-content.md"


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Iterator[Index]:
    with open_index(sample_index) as opened:
        yield opened


@pytest.mark.parametrize("model", ["", "none"], ids=["vectors", "words"])
def test_nine_of_ten_questions_enter_at_the_right_note(index: Index, model: str) -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    notes, missed = load_notes(index), []
    for row in rows:
        question, _ = prepare_question(index, row["question"], model=model)
        paths = [notes.paths[note] for note in find_entries(index, notes, question, hub_candidates=3).ids]
        assert paths != [MAP]
        missed += [] if row["entry"] in paths else [(row["question"], paths)]
    assert len(rows) == 10 and len(missed) <= 1, missed


@pytest.mark.parametrize("mode", ["depth", "synthesis", "hybrid"])
def test_whole_notes_stand_between_tags_within_the_budget(index: Index, mode: str) -> None:
    answer = search_documents(index, CERTIFICATES, routing=Routing(mode=mode, max_notes=5, max_tokens=2500))
    texts = dict(index.frame("select path, text from documents").iter_rows())
    first = answer.sources[0]
    assert answer.answered and answer.mode == "documents" and len(answer.sources) <= 5
    assert f"<!-- SOURCE: [[{first.title}]] -->\n{texts[first.path]}\n<!-- /SOURCE -->" in answer.context
    for citation in answer.citations:
        assert texts[citation.path][citation.start : citation.end] == citation.quote
        assert citation.ref in answer.text and citation.quote in answer.context


def test_the_map_of_contents_is_one_line(index: Index) -> None:
    notes = load_notes(index)
    note = next(note for note, path in notes.paths.items() if path == MAP)
    question = "What does the map of the knowledge base say of incident reviews?"
    answer = search_documents(index, question, routing=Routing(mode="synthesis"))
    assert f"[[{notes.names[note]}]] (hub, {notes.degrees[note]} links, not expanded)" in answer.context


@pytest.mark.shared
@pytest.mark.parametrize("mode", ["depth", "synthesis", "hybrid"])
def test_without_any_vectors_links_are_followed_and_hubs_are_lines(vault17: Index, mode: str) -> None:
    question = "Which four folders does the PARA method have?"
    answer = search_documents(vault17, question, routing=Routing(mode=mode))
    assert answer.sources[0].path == "PARA Method.md" and 1 < len(answer.sources) <= 12
    assert "[[MOC - All Posts]] (hub, 16 links, not expanded)" in answer.context
    assert not any("unscored" in notice for notice in answer.notices)
    texts = dict(vault17.frame("select title, text from documents").iter_rows())
    assert all(
        f"<!-- SOURCE: [[{note.title}]] -->\n{texts[note.title]}\n<!-- /SOURCE -->" in answer.context
        for note in answer.sources
        if note.title != "MOC - All Posts"
    )


def test_an_entry_larger_than_the_budget_is_cut(index: Index) -> None:
    answer = search_documents(index, CERTIFICATES, routing=Routing(mode="depth", max_tokens=150))
    assert "(cut)" in answer.context and any("shown in part" in line for line in answer.notices)


def test_a_note_can_be_named_and_an_unknown_one_has_nearest(index: Index) -> None:
    answer = search_documents(index, CERTIFICATES, routing=Routing(note="MOC", mode="depth"))
    assert answer.sources[0].path == MAP
    with pytest.raises(NothingFound, match=r'No note "Certificate Isuer"\. Nearest: Certificate Issuer'):
        search_documents(index, CERTIFICATES, routing=Routing(note="Certificate Isuer"))


def test_what_no_note_is_about_is_searched_in_passages(index: Index) -> None:
    answer = search_documents(index, "Who won the world cup in 1998?", routing=Routing())
    assert UNSURE in answer.notices and not answer.answered


def test_names_in_a_models_answer_are_checked(index: Index) -> None:
    draft = search_documents(index, CERTIFICATES, routing=Routing(mode="depth"))
    name = draft.sources[0].title
    reply = f"Certificates are renewed by the issuer [[{name}]] [[No such note]]. Elephants sing opera [[Nowhere]]."
    model = SearchModel(lambda: ScriptedLlm(lambda _: reply), {"document_search": load_prompt("document_search")})
    answer = answer_with_model(index, draft, model)
    assert answer.text.startswith(f"Certificates are renewed by the issuer [[{name}]].")
    assert "[unsupported]" in answer.text and "No such note" not in answer.text
    assert [citation.ref for citation in answer.citations] == [f"[[{name}]]"]
    assert "2 citations were not in the context and were removed." in answer.notices
