"""A reader that asks all night long sees one whole run at a time, through publishes and the pruning of old runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from graphrag.errors import GraphragError
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.search import answer_question
from graphrag.settings_file import load_settings
from graphrag.store import list_runs, open_index

N_NIGHTS = 20


@pytest.mark.slow
def test_a_reader_through_twenty_publishes(tmp_path: Path) -> None:
    create_project(tmp_path)
    source, output = tmp_path / "data" / "input", tmp_path / "data" / "output"
    overrides = ["embeddings.model=none", "extraction.nlp=lite", "output.keep_runs=1"]
    settings, _ = load_settings(tmp_path, overrides=overrides, environ={})

    def night(number: int) -> None:
        (source / "a.md").write_text(f"Billing depends on Store{number}.\n", encoding="utf-8")
        (source / "b.md").write_text(f"Store{number} is owned by the Core Team.\n", encoding="utf-8")
        assert run_pipeline(settings, tmp_path).status == "published"

    faults: list[object] = []
    seen: set[str] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.wait(0.05):
            try:
                with open_index(output) as index:
                    (run_id,) = index.table("runs")["run_id"]
                    (store,) = index.frame("select title from entities where title like 'Store%'")["title"]
                    said = "".join(index.table("documents")["text"])
                    answer = answer_question(
                        index,
                        "What does Billing depend on?",
                        mode="local",
                        level=0,
                        top=5,
                        budget_tokens=500,
                        model="none",
                    )
                    quotes = {citation.quote for citation in answer.citations}
            except (GraphragError, ValueError) as error:
                faults.append(error)
                continue
            seen.add(run_id)
            if run_id != index.run_id or said.count(store) != 2 or not all(quote in said for quote in quotes):
                faults.append((run_id, store, said, quotes))

    night(0)
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, N_NIGHTS + 1):
        night(number)
    stop.set()
    reader.join()
    assert faults == []
    assert len(seen) > 5
    assert len(list_runs(output)) == 1
