"""Two `graphrag index` on one root, as processes: the second one stops with one line, the first is not disturbed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from graphrag.project import create_project
from graphrag.store import open_published_tables, read_runs

from .conftest import ROOT
from .llm.fake_server import Reply, serve

TIMEOUT_SECONDS = 60


@pytest.mark.slow
def test_a_second_run_on_the_same_root_stops_with_one_line(tmp_path: Path) -> None:
    create_project(tmp_path)
    (tmp_path / "data" / "input" / "a.md").write_text("# Alpha\n\nAlpha depends on Beta.\n", encoding="utf-8")
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer_late(question: str, attempt: int) -> Reply:
        is_asked.set()
        may_answer.wait(TIMEOUT_SECONDS)
        return Reply(
            '["E","Alpha","service","A."]\n["E","Beta","service","B."]\n["R","Alpha","depends_on","Beta","",7,[2]]'
        )

    with serve(answer_late) as server:
        command = [sys.executable, "-m", "graphrag", "index", "--quiet", "--root", str(tmp_path)]
        for setting in ("llm.model=openai/fake", f"llm.api_base={server.url}", "embeddings.model=none"):
            command += ["--set", setting]
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "unused"}
        with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
            try:
                assert is_asked.wait(TIMEOUT_SECONDS)
                second = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
                is_first_running = first.poll() is None
            finally:
                may_answer.set()
            _, said = first.communicate(timeout=TIMEOUT_SECONDS)
    assert is_first_running and first.returncode == 0, said
    assert second.returncode == 1 and second.stdout == ""
    assert second.stderr.count("\n") == 1
    assert second.stderr.startswith("Another run holds ") and f"(pid {first.pid}, since " in second.stderr
    assert read_runs(tmp_path / "data" / "output")["status"].to_list() == ["published"]
    published = open_published_tables(tmp_path / "data" / "output")
    assert published is not None and published.frame("relationships")["predicate"].to_list() == ["depends_on"]
