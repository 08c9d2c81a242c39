"""The command line as a person meets it: exit codes, one-line errors, and what it does not load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.cli.main import main

from ..conftest import ROOT


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


@pytest.fixture
def sample(sample_index: Path) -> list[str]:
    """Options that point a command at the sample's index."""
    return ["--root", str(ROOT), "--set", f"output.dir={sample_index}"]


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys\n"
        "from graphrag.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'litellm', 'prefect', 'polars', 'spacy', 'duckdb', 'igraph', 'numpy', 'pydantic'}\n"
        "sys.exit(f'loaded {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("init", "index", "search", "sql", "tables", "failures", "check", "version"):
        assert f" {command} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["serch"], 2, "No such command 'serch'. Did you mean 'search'?"),
        (["search"], 2, "Missing argument 'question'."),
        (["search", "  "], 2, "The question is empty."),
        (["search", "--mode", "globl", "x"], 2, 'Unknown mode "globl". Did you mean "global"? Use one of: '),
        (["search", "--local", "--global", "x"], 2, "Choose one mode, got global, local."),
        (["search", "--top", "0", "x"], 2, "Invalid value for '--top'"),
        (["index", "--set", "text_units.max_tokenz=3"], 1, 'unknown key "text_units.max_tokenz". Did you mean'),
        (["index", "--set", "input.dir=nowhere"], 1, "No input folder nowhere."),
        (["search", "--set", "output.dir=nowhere", "x"], 1, 'No index in nowhere. Run "graphrag index" first.'),
        (["sql", "--set", "output.dir=nowhere", "select 1"], 1, 'Run "graphrag index" first.'),
        (["index", "--root", "nowhere"], 1, "No settings.toml in nowhere."),
    ],
)
def test_bad_use_is_one_line_that_says_what_to_do(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init") == 0
    capsys.readouterr()
    assert run(*arguments) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_empty_input_folder_says_where_documents_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("init")
    assert run("index", "--quiet") == 1
    assert "No documents in data/input." in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_output_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init", str(tmp_path))
    (tmp_path / "locked").mkdir(mode=0o500)
    assert run("index", "--root", str(tmp_path), "--set", "output.dir=locked/output") == 1
    assert "Cannot write" in capsys.readouterr().err


def test_output_that_is_a_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("init", str(tmp_path))
    (tmp_path / "data" / "output").write_text("")
    (tmp_path / "data" / "input" / "a.md").write_text("Billing depends on Redis.")
    assert run("index", "--quiet", "--root", str(tmp_path)) == 1
    error = capsys.readouterr().err
    assert error.startswith("Cannot write") and error.count("\n") == 1


def test_init_writes_a_project_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", str(tmp_path / "wiki")) == 0
    assert (tmp_path / "wiki" / "data" / "input").is_dir()
    assert run("init", str(tmp_path / "wiki")) == 1
    assert "exists already" in capsys.readouterr().err


def test_search_prints_an_answer_with_citations_and_sources(
    sample: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("search", "--local", "What does the token cache depend on?", "--show-sources", *sample) == 0
    out = capsys.readouterr().out
    assert "Redis" in out
    assert "[Data: " in out
    assert "Sources\n" in out


def test_search_json_is_the_documented_object(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "--local", "Who owns Billing?", "--json", *sample) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"mode", "question", "answer", "answered", "citations", "sources", "entities", "relationships"} <= set(
        answer
    )
    assert {"reports", "usage"} <= set(answer)
    assert answer["answered"] is True
    assert answer["citations"]
    for citation in answer["citations"]:
        assert set(citation) >= {"ref", "kind", "id", "human_readable_id", "document", "path", "start", "end", "quote"}
    assert set(answer["usage"]) == {
        "calls", "prompt_tokens", "completion_tokens", "cost_usd", "context_tokens", "seconds",
    }  # fmt: skip
    assert answer["usage"]["calls"] == 0


def test_nothing_found_exits_with_3(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "--local", "zzyzx quux frobnicate", *sample) == 3
    assert "Nothing in the index answers this question." in capsys.readouterr().out


def test_context_only_prints_the_context(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "--local", "What depends on Redis?", "--context-only", *sample) == 0
    assert "-----" in capsys.readouterr().out


def test_sql_reads_tables_and_nothing_else(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sql", "select count(*) as n from documents", *sample) == 0
    assert "(1 row)" in capsys.readouterr().out
    assert run("sql", "select * from read_csv('/etc/passwd')", *sample) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert run("sql", "drop table documents", *sample) == 1


def test_tables_and_failures_list(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tables", *sample) == 0
    assert "relationships" in capsys.readouterr().out
    assert run("tables", "evidence", *sample) == 0
    assert "quote" in capsys.readouterr().out
    assert run("tables", "evidense", *sample) == 1
    assert 'Did you mean "evidence"?' in capsys.readouterr().err
    assert run("failures", *sample) == 0


def test_check_says_what_a_run_would_meet(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", *sample) == 0
    assert "is live" in capsys.readouterr().out


def test_a_reader_that_leaves_is_no_error(sample: list[str]) -> None:
    command = f"{sys.executable} -m graphrag tables {' '.join(sample)} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""


def test_debug_shows_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHRAG_DEBUG", "")
    monkeypatch.chdir(tmp_path)
    assert run("--debug", "index") == 1
    assert "Traceback" in capsys.readouterr().err


def test_microsofts_package_of_the_same_import_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "graphrag-3.3.0.dist-info"
    site.mkdir()
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: graphrag\nVersion: 3.3.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run("init", "wiki")
    assert run("index", "--root", "wiki") == 1
    error = capsys.readouterr().err
    assert "Use a fresh virtual environment" in error and error.count("\n") == 1
