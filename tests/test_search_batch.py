"""Many questions in one process: order, bad rows, and a model whose calls are under way together."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphrag.cli.main import main
from graphrag.errors import BudgetSpent, UsageError
from graphrag.search.answer import Answer
from graphrag.search_batch import BatchRow, answer_batch, read_batch

from .conftest import ROOT
from .llm.fake_server import FakeServer, Reply, serve
from .test_search_model import options

QUESTIONS = [
    "What breaks if Redis goes down?",
    "Who leads the Platform Team?",
    "What themes recur?",
    "What is Mercury?",
]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, the lines of stdout, and stderr."""
    with pytest.raises(SystemExit) as caught:
        main(["search", *arguments])
    captured = capsys.readouterr()
    return int(caught.value.code or 0), [json.loads(line) for line in captured.out.splitlines()], captured.err


def test_each_line_is_a_row_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "q", '\ufeff{"id": "a", "question": "x"}', "", '{"question": "y"}', "nope", "[1]", '{"id": 5}'
    )
    rows = read_batch(path)
    assert rows[:2] == [BatchRow(1, "a", "x"), BatchRow(3, 3, "y")]
    assert [(row.line, row.id, row.problem[:8]) for row in rows[2:]] == [
        (4, 4, "not JSON"), (5, 5, "not a JS"), (6, 5, "no text ")
    ]  # fmt: skip
    with pytest.raises(UsageError, match="holds no question"):
        read_batch(write(tmp_path / "empty", "", " "))
    with pytest.raises(UsageError, match="Cannot read --batch"):
        read_batch(tmp_path)


def test_answers_keep_the_order_of_questions_that_are_under_way_together() -> None:
    barrier = threading.Barrier(4, timeout=10)
    done: list[str] = []

    def ask(question: str) -> Answer:
        barrier.wait()
        while question == "0" and len(done) < 3:
            threading.Event().wait(0.001)
        done.append(question)
        return Answer("local", question, "x", True)

    rows = [BatchRow(n + 1, n, str(n)) for n in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert [found["id"] for found in answer_batch(rows, ask, map_many=threads.map)] == [0, 1, 2, 3]
    assert done[-1] == "0"


def test_what_no_question_survives_is_raised_when_its_turn_comes() -> None:
    def ask(question: str) -> Answer:
        if question == "1":
            raise BudgetSpent("spent")
        if question == "0":
            raise UsageError("odd")
        return Answer("local", question, "x", True)

    found = answer_batch([BatchRow(n + 1, n, str(n)) for n in range(3)], ask)
    assert next(found) == {"id": 0, "line": 1, "error": "odd"}
    with pytest.raises(BudgetSpent):
        next(found)


def test_a_batch_without_a_model(sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"id": number, "question": question}) for number, question in enumerate(QUESTIONS)]
    path = write(tmp_path / "q.jsonl", *lines, '{"id": "bad"}')
    here = ["--root", str(ROOT), "--set", f"output.dir={sample_index}"]
    code, found, err = run(capsys, "--batch", str(path), *here)
    assert code == 1 and [row["id"] for row in found] == [0, 1, 2, 3, "bad"]
    assert found[4] == {"id": "bad", "line": 5, "error": 'no text under "question"'}
    assert "4 of 5 answered, 1 with an error" in err
    assert [row["mode"] for row in found[:4]] == ["local", "local", "global", "local"]
    alone = run(capsys, QUESTIONS[1], "--json", *here)[1][0]
    for row in (alone, found[1]):
        row["usage"].pop("seconds")
    assert {"id": 1, **alone} == found[1]
    _, with_context, _ = run(capsys, "--batch", str(path), "--context-only", "--mode", "basic", *here)
    assert all("-----Sources-----" in with_context[number]["context"] for number in (0, 1, 3))
    assert run(capsys, "x", "--batch", str(path), *here)[::2] == (2, "Ask a question or give --batch, not both.\n")


def answer(question: str, _attempt: int) -> Reply:
    source = re.search(r"^(\d+)\|", question.partition("-----Sources-----")[2], re.MULTILINE)
    asked = question.rpartition("Question:\n")[2].splitlines()[1]
    assert source
    return Reply(f"Of {asked} this [Data: Sources ({source[1]})].", delay=0.6)


def test_calls_of_a_batch_are_under_way_together_and_each_answer_has_its_own_usage(
    sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [f"What does the token cache depend on, number {n}?" for n in range(8)]
    lines = [json.dumps({"id": n, "question": question}) for n, question in enumerate(questions)]
    path = write(tmp_path / "q.jsonl", *lines)

    def here(server: FakeServer) -> list[str]:
        more = ["llm.max_concurrency=4", "search.count_usage=false"]
        return ["--local", "--batch", str(path), *options(sample_index, tmp_path, server, *more)]

    with serve(answer) as server:
        code, found, err = run(capsys, *here(server))
        assert code == 0 and 2 <= server.peak <= 4 and "8 of 8 answered" in err
        assert [f"number {n}" in row["answer"] for n, row in enumerate(found)] == [True] * 8
        assert [(row["usage"]["calls"], row["usage"]["prompt_tokens"]) for row in found] == [(1, 10)] * 8
        again = run(capsys, *here(server))[1]
        assert [(row["usage"]["calls"], row["usage"]["from_memo"]) for row in again] == [(0, 1)] * 8
        assert len(server.bodies) == 8
    with serve(lambda _question, _attempt: Reply(status=401)) as server:
        path.write_text(path.read_text().replace("number", "no."))
        code, found, err = run(capsys, *here(server))
        assert code == 1 and found == [] and "401 from openai/fake-search" in err.splitlines()[-1]


def test_paid_calls_of_a_search_are_rows_of_the_ledger_and_the_budget_holds(
    sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = sample_index / "llm_calls.jsonl"
    log.unlink(missing_ok=True)
    with serve(answer) as server:
        here = options(sample_index, tmp_path, server)
        assert run(capsys, "--local", "What does the token cache depend on?", "--json", *here)[0] == 0
        assert run(capsys, "--local", "What does the token cache depend on?", "--json", *here)[0] == 0
        (row,) = [json.loads(line) for line in log.read_text().splitlines()]
        assert row["run_id"].startswith("search-") and (row["stage"], row["status"]) == ("search", "ok")
        assert row["cost_usd"] == pytest.approx(2e-05)
        code, found, err = run(capsys, "--local", "Who owns the token cache?", "--budget", "0.0000001", *here)
        assert (code, found, len(server.bodies)) == (5, [], 1) and err.count("\n") == 1
    log.unlink()
