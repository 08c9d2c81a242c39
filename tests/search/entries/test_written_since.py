"""What was related or learned since the run: read when the log or the notes say more than the tables, else not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag.ids import content_sha256, document_id
from graphrag.relations.changes import Stamp, create_relation
from graphrag.relations.relation_log import append_events
from graphrag.search import answer_question
from graphrag.search.entries.folded_entries import Fold
from graphrag.search.entries.written_since import load_new_notes, load_written
from graphrag.store import Index

TEXTS = {f"e{n}.md": f"E{n} is an entry about quotas. " + "quota " * (9 - n) for n in range(1, 6)}


@pytest.fixture
def index(make_index: Callable[..., Index]) -> Any:
    made = make_index(TEXTS, [], relations=[("e3.md", "corrects", "e4.md", "")])
    knobs = {"data/relations.jsonl": content_sha256("")}
    made.manifest["stages"] = [{"name": "relations", "knobs": knobs}]
    made.manifest["counts"] = {"entry_relations": 1}
    return made


def _ask(index: Index, fold: Fold) -> dict[str, list[str]]:
    answer = answer_question(index, "quota", mode="basic", level=0, top=8, budget_tokens=500, model="none", fold=fold)
    return {s.path: [each.path for each in s.folded.related] if s.folded else [] for s in answer.sources}


def test_nothing_is_read_where_the_tables_say_it_all(index: Index, tmp_path: Path) -> None:
    assert load_written(index, tmp_path / "relations.jsonl", load_new_notes(index, tmp_path, "learned")) is None
    index.manifest["stages"] = []
    (tmp_path / "relations.jsonl").write_text("whatever\n", encoding="utf-8")
    assert load_written(index, tmp_path / "relations.jsonl", load_new_notes(index, None, "learned")) is None, (
        "a run of an older release"
    )


def test_relations_of_the_log_stand_in_place_of_those_of_the_tables(index: Index, tmp_path: Path) -> None:
    log = tmp_path / "relations.jsonl"
    stamp = Stamp("tester", "author", "2026-01-01T00:00:00+00:00")
    triple = ("e5.md", "clarifies", "e3.md")
    append_events(log, lambda known: [create_relation(known.state(), triple, stamp, note="How")])
    written = load_written(index, log, load_new_notes(index, None, "learned"))
    assert written is not None
    assert written.relations.rows() == [(document_id("e5.md"), document_id("e3.md"), "clarifies", "How")]
    assert _ask(index, Fold())["e3.md"] == ["e4.md"]
    assert _ask(index, Fold(written=written)) == {"e1.md": [], "e2.md": [], "e5.md": ["e3.md"], "e4.md": []}


def test_a_new_note_hangs_on_what_it_pertains_to(index: Index, tmp_path: Path) -> None:
    log = tmp_path / "relations.jsonl"
    (tmp_path / "learned").mkdir()
    (tmp_path / "learned" / "retry.md").write_text("---\ntitle: Retries\n---\nRetries count too.\n", encoding="utf-8")
    stamp = Stamp("tester", "author", "2026-01-01T00:00:00+00:00")
    for triple in (("learned/retry.md", "clarifies", "e1.md"), ("gone.md", "clarifies", "e1.md")):
        append_events(log, lambda known, t=triple: [create_relation(known.state(), t, stamp)])  # type: ignore[misc]
    written = load_written(index, log, load_new_notes(index, tmp_path, "learned"))
    assert written is not None
    assert written.notes[document_id("learned/retry.md")][1:] == ("Retries", "learned/retry.md", "Retries count too.")
    assert _ask(index, Fold(written=written))["e1.md"] == ["learned/retry.md"], "what has gone is not shown"
