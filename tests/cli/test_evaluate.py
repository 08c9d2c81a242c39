"""`graphrag evaluate` on the sample, as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import ROOT
from ..gold import load_gold
from ..llm.fake_server import FakeServer, Reply, serve
from .test_main import run

QUESTIONS = ROOT / "data" / "sample" / "questions.jsonl"


@pytest.fixture
def sample(sample_index: Path) -> list[str]:
    return ["--root", str(ROOT), "--set", f"output.dir={sample_index}"]


def test_the_questions_of_the_sample_are_those_of_its_gold() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    gold = load_gold(ROOT / "data" / "sample" / "gold.json")["questions"]
    assert rows == [
        {"id": q["id"], "question": q["question"], "gold_documents": q["documents"], "answers": q["answer_contains"]}
        for q in gold
    ]


def test_a_table_of_all_methods(sample: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    some = tmp_path / "some.jsonl"
    some.write_text("".join(QUESTIONS.read_text(encoding="utf-8").splitlines(keepends=True)[:4]), encoding="utf-8")
    assert run("evaluate", str(some), "--modes", "basic, local,global", "--k", "3", "--json", *sample) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["k"] == 3
    methods = {row["method"]: row for row in found["methods"]}
    assert list(methods) == ["bm25", "vectors", "fusion", "basic", "local", "global"]
    assert {row["questions"] for row in methods.values()} == {4}
    for mode in ("basic", "local", "global"):
        assert methods[mode]["valid_citations"] == 1.0
        assert 0 < methods[mode]["context_tokens"] <= 4000
    assert found["baseline"] in ("bm25", "vectors", "fusion")
    assert len(found["results"]) == 24
    assert run("evaluate", str(some), "--modes", "basic", "--set", "embeddings.model=none", *sample) == 0
    assert "| basic | " in capsys.readouterr().out


def judge_in_the_middle(question: str, _attempt: int) -> Reply:
    """The first source cited; a judge that likes what it sees first, and once says nothing of use."""
    if "First answer:" in question:
        return Reply('{"reason": "it came first", "better": "first"}')
    if "Quotes:" in question:
        return Reply('{"reason": "fine", "faithfulness": 3, "grounding": 3, "relevancy": 2}')
    if question.startswith("Your last answer"):
        return Reply("no")
    number = question.partition("-----Sources-----")[2].partition("\n")[2].partition("\n")[2].partition("|")[0]
    return Reply(f"It is said there [Data: Sources ({number})].")


def with_model(sample: list[str], server: FakeServer, cache: Path, *more: str) -> list[str]:
    pairs = [
        f"cache.dir={cache}", "llm.model=openai/fake", "llm.judge_model=openai/fake-judge",
        f"llm.api_base={server.url}", "llm.price=[1.0, 2.0]", "llm.max_retries=0", *more,
    ]  # fmt: skip
    return [*sample, *(word for pair in pairs for word in ("--set", pair))]


@pytest.fixture
def four(tmp_path: Path) -> str:
    path = tmp_path / "four.jsonl"
    path.write_text("".join(QUESTIONS.read_text(encoding="utf-8").splitlines(keepends=True)[:4]), encoding="utf-8")
    return str(path)


def test_a_model_answers_and_another_judges_over_http(
    sample: list[str], four: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(judge_in_the_middle) as server:
        here = with_model(sample, server, tmp_path / "cache")
        assert run("evaluate", four, "--judge", *here) == 0
        out = capsys.readouterr().out
        assert "| local | " in out and "| basic again | " in out
        # One of the four is beyond basic search: what neither answers is a tie that asks nobody.
        assert "A/A run, basic against itself: 0 of 4 decided though nothing differs; 4 tied, 3 of them" in out
        assert "Place: 14 of 14 verdicts (1.00) prefer the answer shown first" in out and "favours a place" in out
        asked = [body["model"] for body in server.bodies]
        assert f"search (openai/fake): {asked.count('fake')} calls; " in out and asked.count("fake") == 10
        assert f"Total: {len(asked)} calls, $" in out and asked.count("fake-judge") > 10 + 6
        assert run("evaluate", four, "--judge", "--json", *here) == 0
        found = json.loads(capsys.readouterr().out)
        assert len(server.bodies) == len(asked), "all from the memo"
        assert found["judged"]["position"]["is_biased"] and len(found["judged"]["scores"]) == 10
        assert run("evaluate", four, "--judge", "--no-llm", "--modes", "basic", *here) == 0
        assert "search (" not in capsys.readouterr().out


def test_a_budget_ends_the_judgement_in_one_line(
    sample: list[str], four: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(judge_in_the_middle) as server:
        assert (
            run("evaluate", four, "--judge", "--budget", "0.005", *with_model(sample, server, tmp_path / "cache")) == 5
        )
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "The budget of $0.0050 is spent" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["evaluate", str(QUESTIONS), "--judge"], 2, '--judge asks a model, and llm.model is "embedded".'),
        (["evaluate", "q.jsonl", "--budget", "1"], 2, "--budget is for --judge."),
        (["evaluate", "q.jsonl", "--no-llm"], 2, "--no-llm is for --judge."),
        (["evaluate"], 2, "Missing argument 'QUESTIONS.jsonl'."),
        (["evaluate", "q.jsonl", "--modes", "locl"], 2, 'Unknown mode "locl". Did you mean "local"? Use: basic, local'),
        (["evaluate", "q.jsonl", "--modes", ","], 2, "--modes names no mode."),
        (["evaluate", "q.jsonl", "--k", "0"], 2, "Invalid value for '--k'"),
        (["evaluate", "no/such.jsonl"], 1, "Cannot read the questions in no/such.jsonl: No such file or directory."),
    ],
)
def test_errors_are_one_line(
    sample: list[str], arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments, *sample) == code
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and out == ""


def test_a_document_that_is_not_there_is_named(
    sample: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "Who owns Billing?", "gold_documents": ["teams/platform-tem.md"]}', encoding="utf-8")
    assert run("evaluate", str(path), *sample) == 1
    err = capsys.readouterr().err
    assert 'no such document in the index: "teams/platform-tem.md". Did you mean "teams/platform-team.md"?' in err
