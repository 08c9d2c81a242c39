"""The Python API gives what the commands print, of one run, and loads nothing before it is used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from graphrag import Index
from graphrag.errors import NothingFound, SettingsError, TableError, UnknownEntity, UsageError
from graphrag.tables import TABLES

from .cli.test_main import run
from .conftest import ROOT


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Index:
    return Index.open(ROOT, overrides=[f"output.dir={sample_index}"])


@pytest.mark.parametrize(
    ("command", "ask"),
    [
        (["impact", "Redis"], lambda index: index.impact("Redis")),
        (["impact", "--all", "--top", "3"], lambda index: index.risks(top=3)),
        (["path", "login flow", "Redis", "--all", "2"], lambda index: index.path("login flow", "Redis", n=2)),
        (
            ["neighborhood", "Auth Service", "--direction", "both"],
            lambda index: index.neighborhood("Auth Service", direction="both"),
        ),
        (["chains", "login flow"], lambda index: index.chains("login flow")),
    ],
)
def test_methods_return_what_the_commands_print(
    index: Index, command: list[str], ask: Callable[[Index], object], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--root", str(ROOT), "--set", f"output.dir={index.settings.output.dir}"]
    found = ask(index)
    assert run(*command, "--json", *options) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_json()))  # type: ignore[attr-defined]
    assert run(*command, *options) == 0
    assert capsys.readouterr().out == found.render() + "\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", ["auto", "local", "global", "basic"])
def test_search_is_that_of_the_command_line(index: Index, mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--root", str(ROOT), "--set", f"output.dir={index.settings.output.dir}"]
    answer = index.search("What depends on Redis?", mode=mode)
    assert answer.answered
    assert answer.citations
    assert run("search", "--mode", mode, "What depends on Redis?", "--json", *options) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["answer"] == answer.text
    assert printed["citations"] == answer.to_json()["citations"]


def test_tables_are_polars_frames_of_the_declared_columns(index: Index) -> None:
    for name, table in TABLES.items():
        assert index.table(name).schema == table.schema
    assert index.sql("select title from entities order by degree desc limit 1").columns == ["title"]
    assert index.report(0)["community"] == 0
    assert {row["level"] for row in index.communities(level=0)} == {0}


def test_what_cannot_be_asked_is_an_error_of_ours(index: Index, tmp_path: Path) -> None:
    for error, ask in (
        (UsageError, lambda: index.search(" \x00 ")),
        (UsageError, lambda: index.search("Redis", mode="locl")),
        (UsageError, lambda: index.search("Redis", mode="local", dynamic=True)),
        (UsageError, lambda: index.search("Redis", top=0)),
        (UsageError, lambda: index.impact("Redis", rels=["dpends_on"])),
        (UsageError, lambda: index.path("Redis", "redis")),
        (NothingFound, lambda: index.path("Redis", "login flow")),
        (UnknownEntity, lambda: index.impact("Reddis")),
        (TableError, lambda: index.table("entity")),
        (SettingsError, lambda: Index.open(ROOT, overrides=["search.tpo=1"])),
    ):
        with pytest.raises(error):
            ask()


def test_where_restricts_all_that_is_asked(index: Index) -> None:
    with Index.open(
        ROOT, overrides=[f"output.dir={index.settings.output.dir}"], where="path like 'services/%'"
    ) as restricted:
        assert set(restricted.table("documents")["path"].str.starts_with("services/")) == {True}
        for name, table in TABLES.items():
            assert restricted.table(name).schema == table.schema
        reports = restricted.table("community_reports")
        assert reports.height < index.table("community_reports").height
        columns = set(index.report(0))
        for row in restricted.communities(level=0):
            found = restricted.report(row["community"])
            assert set(found) == columns
            assert all(cited["path"].startswith("services/") for cited in found["citations"] if cited["document"])
        assert "documents match --where" in restricted.search("What depends on Redis?", mode="local").notices[0]
    assert index.table("documents").height > 20
    assert isinstance(index.sql("from documents"), pl.DataFrame)


def test_the_package_loads_nothing_heavy_before_the_index_is_asked_for() -> None:
    code = "import sys, graphrag; print([m for m in ('polars', 'duckdb', 'litellm', 'prefect') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert told.stdout == "[]\n"
