"""Notes that the index does not hold yet: found by their words, and by meaning where the index has vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag import vectors
from graphrag.memo import Memo
from graphrag.reading.new_notes import NewNote, read_note
from graphrag.search.answer import Answer
from graphrag.search.entries.new_notes import HEADING, add_new_notes, find_near_notes
from graphrag.store import Index

QUORUM = read_note(
    "learned/quorum.md",
    "---\ntitle: Two Sentinels cannot elect a leader\n---\n"
    "A quorum of two on two machines stops when one machine dies. Keep a third Sentinel where no data lies.\n",
)
LUNCH = read_note("learned/soup.md", "# Soup\n\nOn Fridays the kitchen serves fish soup with bread.\n")
NOTES = [QUORUM, LUNCH]
BY_MEANING = "Can two nodes agree who leads?"  # the note has too few of its words


def near(index: Index, notes: list[NewNote], question: str, memo: Memo | None = None) -> dict[str, float]:
    return find_near_notes(index, notes, question, model="", memo=memo)


def test_a_note_is_found_by_meaning_alone(r8: Index, tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        found = near(r8, NOTES, BY_MEANING, memo)
        assert near(r8, NOTES, BY_MEANING, memo) == found, "now from the memo"
    assert list(found) == [QUORUM.document_id]
    draft = Answer("basic", BY_MEANING, "What the index says.", True)
    assert add_new_notes(draft, NOTES, top=5) == draft, "not by words"
    answer = add_new_notes(draft, NOTES, top=5, nearness=found)
    assert answer.text == (
        f"{HEADING}\n- A quorum of two on two machines stops when one machine dies. (learned/quorum.md)\n\n"
        "What the index says."
    )
    assert [(source.rank, source.title) for source in answer.sources] == [(1, QUORUM.title)]


def test_what_the_index_says_better_is_not_said_by_a_note(r8: Index) -> None:
    assert near(r8, NOTES, "What does the login flow depend on?") == {}
    assert near(r8, NOTES, "Which whales live in the Pacific?") == {}


def test_without_notes_or_vectors_no_model_is_loaded(
    r8: Index, make_r8: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> vectors.Embedder:
        raise AssertionError(f"{name} was loaded")

    plain = make_r8()
    monkeypatch.setattr(vectors, "load_embedder", refuse)
    assert near(r8, [], BY_MEANING) == {}
    assert near(plain, NOTES, BY_MEANING) == {}
