"""A whole run over the sample: what it publishes holds together, is cited to the letter, and comes out equal again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag import vectors
from graphrag.errors import GateHeld
from graphrag.onnx_models import find_minilm_files
from graphrag.pipeline import PIPELINE, run_pipeline
from graphrag.project import create_project
from graphrag.search.ranking import prepare_question
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity, open_index
from graphrag.store.runs import read_manifest, read_runs
from graphrag.tables import TABLES

from .conftest import ROOT

SAMPLE = ROOT / "data" / "sample"


def read_tables(output_dir: Path) -> dict[str, pl.DataFrame]:
    return {name: pl.read_parquet(output_dir / "current" / f"{name}.parquet") for name in TABLES}


def settings_of(root: Path, *overrides: str) -> Settings:
    return load_settings(root, overrides=overrides, environ={})[0]


@pytest.fixture(scope="module")
def sample_tables(sample_index: Path) -> dict[str, pl.DataFrame]:
    return read_tables(sample_index)


def test_every_table_a_stage_reads_was_written_before() -> None:
    written: set[str] = set()
    for stage in PIPELINE:
        assert set(stage.reads) <= written, stage.name
        assert not stage.per or stage.per in stage.reads
        written |= set(stage.writes)


def test_published_tables_conform_and_hold_together(sample_tables: dict[str, pl.DataFrame]) -> None:
    for name, table in TABLES.items():
        assert table.conform(sample_tables[name]).schema == table.schema
    assert check_integrity(sample_tables) == []


def test_every_relationship_has_evidence_that_slices_back_to_its_quote(sample_tables: dict[str, pl.DataFrame]) -> None:
    texts = dict(sample_tables["documents"].select("id", "text").iter_rows())
    evidence = sample_tables["evidence"]
    placed = evidence.filter(pl.col("text_unit_id").is_not_null())
    for document_id, start, end, quote in placed.select("document_id", "start_char", "end_char", "quote").iter_rows():
        assert texts[document_id][start:end] == quote
    notes = sample_tables["entry_relations"].filter(pl.col("origin") == "authored")["note"]
    assert sorted(evidence.filter(pl.col("text_unit_id").is_null())["quote"]) == sorted(notes)
    assert set(evidence["relationship_id"]) == set(sample_tables["relationships"]["id"])
    assert evidence.height > 300


def test_every_entity_is_in_one_community_a_level_down_to_its_leaf(sample_tables: dict[str, pl.DataFrame]) -> None:
    communities = sample_tables["communities"]
    members = {row["community"]: set(row["entity_ids"]) for row in communities.iter_rows(named=True)}
    everyone = set(sample_tables["entities"]["id"])
    top = communities.filter(pl.col("level") == 0)["community"].to_list()
    assert set().union(*(members[number] for number in top)) == everyone
    assert sum(len(members[number]) for number in top) == len(everyone)
    for number, children in communities.select("community", "children").iter_rows():
        if children:
            assert set().union(*(members[child] for child in children)) == members[number]
            assert sum(len(members[child]) for child in children) == len(members[number])


def test_two_fresh_runs_give_equal_tables_row_for_row(sample_index: Path, tmp_path: Path) -> None:
    """Another folder, files written in another order, another hash seed, one process instead of two."""
    other = tmp_path / "another folder"
    create_project(other)
    files = sorted((SAMPLE / "docs").rglob("*.md"), reverse=True)
    for path in files:
        target = other / "data" / "input" / path.relative_to(SAMPLE / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    aliases = "data/sample/aliases.toml"  # aliases tell their place by this path
    (other / aliases).parent.mkdir(parents=True)
    shutil.copyfile(SAMPLE / "aliases.toml", other / aliases)
    shutil.copyfile(SAMPLE / "relations.jsonl", other / "relations.jsonl")
    command = [sys.executable, "-m", "graphrag", "index", "--root", str(other)]
    command += ["--set", "extraction.processes=1", "--set", f"disambiguation.aliases={aliases}"]
    environ = os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    first, second = read_tables(sample_index), read_tables(other / "data" / "output")
    for name, table in TABLES.items():
        if not table.is_log:
            assert_frame_equal(first[name], second[name], check_exact=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    create_project(tmp_path)
    (tmp_path / "data" / "input" / "a.md").write_text("Billing depends on Redis.\n", encoding="utf-8")
    return tmp_path


def test_an_unchanged_folder_publishes_nothing(project: Path) -> None:
    settings = settings_of(project)
    first = run_pipeline(settings, project)
    again = run_pipeline(settings, project)
    assert (first.status, again.status) == ("published", "unchanged")
    assert again.counts == first.counts
    manifest = read_manifest(project / "data" / "output")
    assert manifest is not None and manifest["run_id"] == first.run_id
    assert run_pipeline(settings, project, full=True).status == "published"


def test_a_failure_of_a_later_stage_does_not_publish_every_night(project: Path) -> None:
    (project / "aliases.toml").write_text('[[never]]\nnames = ["Nobody", "Nothing"]\n', encoding="utf-8")
    settings = settings_of(project)
    assert run_pipeline(settings, project).failures_by_reason == {"unknown_alias": 2}
    again = run_pipeline(settings, project)
    assert (again.status, again.failures_by_reason) == ("unchanged", {"unknown_alias": 2})
    assert read_runs(project / "data" / "output")["status"].to_list() == ["published", "unchanged"]


def test_a_run_without_its_database_is_made_again(project: Path) -> None:
    settings = settings_of(project)
    run_pipeline(settings, project)
    (project / "data" / "output" / "current" / "graphrag.duckdb").unlink()
    assert run_pipeline(settings, project).status == "published"


def test_an_edit_shows_and_numbers_stay_with_their_rows(project: Path) -> None:
    settings = settings_of(project)
    output = project / "data" / "output"
    run_pipeline(settings, project)
    numbers = dict(read_tables(output)["entities"].select("title", "human_readable_id").iter_rows())
    (project / "data" / "input" / "b.md").write_text("Auth Service is owned by Identity Team.\n", encoding="utf-8")
    assert run_pipeline(settings, project).status == "published"
    later = dict(read_tables(output)["entities"].select("title", "human_readable_id").iter_rows())
    assert {"Billing", "Redis", "Auth Service", "Identity Team"} <= set(later)
    assert {title: later[title] for title in numbers} == numbers


def test_a_run_with_too_many_unread_files_is_held(project: Path) -> None:
    settings = settings_of(project)
    published = run_pipeline(settings, project)
    for number in range(3):
        (project / "data" / "input" / f"{number}.txt").write_bytes(b"\x00\xff\xfe\x00binary" * 40)
    with pytest.raises(GateHeld, match=r"3 of 4 files could not be read whole \(binary_content 3\)"):
        run_pipeline(settings, project)
    manifest = read_manifest(project / "data" / "output")
    assert manifest is not None and manifest["run_id"] == published.run_id


@pytest.mark.skipif(bool(vectors.is_available("embedded")), reason="the local model is not installed")
def test_a_model_folder_is_found_from_the_project_wherever_the_command_runs(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project / "models" / "mini"
    folder.mkdir(parents=True)
    for path in find_minilm_files():
        assert path is not None
        shutil.copyfile(path, folder / path.name)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    settings = settings_of(project, "embeddings.model=onnx:models/mini")
    assert run_pipeline(settings, project).counts["embeddings"] > 0
    assert read_tables(project / "data" / "output")["embeddings"]["model"].unique().to_list() == ["onnx:models/mini"]
    with open_index(project / "data" / "output") as index:
        model = vectors.locate_model("onnx:models/mini", project)
        _, notices = prepare_question(index, "What does Billing depend on?", model=model)
    assert notices == []


def test_a_text_without_entities_and_one_without_relations_succeed(tmp_path: Path) -> None:
    create_project(tmp_path)
    source = tmp_path / "data" / "input"
    (source / "a.txt").write_text("hello, world\n", encoding="utf-8")
    summary = run_pipeline(settings_of(tmp_path), tmp_path)
    assert (summary.counts["documents"], summary.counts["text_units"], summary.counts["entities"]) == (1, 1, 0)
    (source / "a.txt").write_text("Redis. Kafka. Postgres.\n", encoding="utf-8")
    summary = run_pipeline(settings_of(tmp_path), tmp_path)
    tables = read_tables(tmp_path / "data" / "output")
    assert sorted(tables["entities"]["title"]) == ["Kafka", "Postgres", "Redis"]
    assert tables["communities"]["title"].to_list() == ["Unconnected entities"]
    assert tables["community_reports"]["method"].to_list() == ["template"]
