"""`graphrag search` from the command line, without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphrag.cli.main import main

from ..conftest import ROOT

MODES = (["--local"], ["--basic"], ["--global"], ["--global", "--dynamic"], [])


def run(capsys: pytest.CaptureFixture[str], output: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as caught:
        main(["search", *arguments, "--root", str(ROOT), "--set", f"output.dir={output}"])
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err


def answer(capsys: pytest.CaptureFixture[str], output: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(run(capsys, output, *arguments, "--json")[1])


@pytest.mark.parametrize("mode", MODES, ids=" ".join)
@pytest.mark.parametrize("question", ["What happened to Mercury?", "What are the main themes?"])
def test_where_leaves_only_matching_documents(
    mode: list[str], question: str, sample_index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, sample_index, question, *mode, "--where", "type = 'incident'")
    assert "8 of 60 documents match --where." in found["notices"]
    paths = {citation["path"] for citation in found["citations"]} | {source["path"] for source in found["sources"]}
    assert paths and all(path.startswith("incidents/") for path in paths)
    _, context, _ = run(capsys, sample_index, question, *mode, "--where", "type = 'incident'", "--context-only")
    assert "furniture" not in context  # of customers/osterhaus.md, which much of the graph rests on


def test_where_that_cannot_be_is_one_line(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for where, code, said in (
        ("severty = 1", 2, '--where: no column or metadata key "severty" in documents. Nearest: severity.\n'),
        ("severity = 9", 3, "No document matches --where severity = 9. severity is one of: 1, 2, 3.\n"),
        ("type = (select 1)", 2, ""),
    ):
        got, out, err = run(capsys, sample_index, "What broke?", "--where", where)
        assert (got, out) == (code, "") and err.count("\n") == 1 and said in err
