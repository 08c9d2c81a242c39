"""`graphrag evaluate` on the sample, as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..conftest import ROOT
from ..gold import load_gold
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


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
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
