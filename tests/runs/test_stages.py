"""Fingerprints and versions: what makes a stage run again, and what does not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.pipeline import PIPELINE, run_pipeline
from graphrag.progress import QuietProgress
from graphrag.project import create_project
from graphrag.prompts import load_prompt
from graphrag.runs.run import open_run
from graphrag.runs.stages import WITHOUT_EFFECT, Unrepeatable, Walk, hash_frame, list_knobs, run_stage
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from graphrag.tables import TABLES

OVERRIDES = ("embeddings.model=none", "extraction.nlp=lite")
# Sections that decide how a run is made, published or asked, but no row of a table.
BESIDE_THE_TABLES = {
    "output",
    "cache",
    "llm",
    "search",
    "gates",
    "schedule",
    "impact",
    "learn",
    "fold",
    "routing",
    "drift",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    create_project(tmp_path)
    (tmp_path / "data" / "input" / "a.md").write_text("Billing depends on Redis.\n", encoding="utf-8")
    return tmp_path


def settings_of(root: Path, *more: str) -> Settings:
    return load_settings(root, overrides=[*OVERRIDES, *more], environ={})[0]


def test_every_setting_that_decides_a_row_belongs_to_a_stage() -> None:
    """A section that no stage names would be changed without effect."""
    named = {name for stage in PIPELINE for name in stage.settings}
    whole = {name for name in named if "." not in name} | BESIDE_THE_TABLES
    single = named | WITHOUT_EFFECT | {"embeddings.api_base"}
    for section, values in Settings().model_dump(by_alias=True).items():
        missing = [f"{section}.{key}" for key in values if section not in whole and f"{section}.{key}" not in single]
        if section not in {"flow"}:  # how a flow runs, nothing of what comes out
            assert missing == []


def test_prompts_of_the_stages_are_there() -> None:
    for stage in PIPELINE:
        for name in stage.prompts:
            assert load_prompt(name).sha256
        assert bool(stage.prompts) == bool(stage.roles), stage.name


def test_a_stage_is_given_the_tables_that_it_names_and_no_other(project: Path) -> None:
    """Else its fingerprint would miss what it reads."""
    seen: dict[str, set[str]] = {}

    def call(stage: object, run: object) -> None:
        seen[stage.name] = set(run.frames)  # type: ignore[attr-defined]
        run_stage(stage, run)  # type: ignore[arg-type]

    with open_run(settings_of(project), project, progress=QuietProgress()) as run:
        walk = Walk(run, None, call)
        for stage in PIPELINE:
            walk.take(stage)
    assert seen == {stage.name: set(stage.reads) for stage in PIPELINE}


ROWS = st.lists(
    st.tuples(st.text(max_size=5), st.none() | st.floats(allow_nan=False), st.lists(st.text(max_size=2), max_size=2))
)
SCHEMA = {"a": pl.String(), "b": pl.Float64(), "c": pl.List(pl.String())}


@given(ROWS, st.integers(0, 5))
def test_hash_of_rows_follows_values_not_memory(rows: list[tuple[str, float | None, list[str]]], cut: int) -> None:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    pieces = pl.concat([frame.head(cut), frame.slice(cut)], rechunk=False)
    assert hash_frame(pieces) == hash_frame(frame) == hash_frame(frame.rechunk().clone())
    if rows:
        assert hash_frame(frame.head(len(rows) - 1)) != hash_frame(frame)
        other = frame.with_columns(a=pl.col("a") + "x")
        assert hash_frame(other) != hash_frame(frame)
    if rows != rows[::-1]:
        assert hash_frame(frame.reverse()) != hash_frame(frame)


def test_hash_of_vectors_follows_every_number() -> None:
    table = TABLES["embeddings"]
    row = {"owner_table": "entities", "owner_id": "e", "model": "m", "dim": 2, "content_sha256": "c"}
    one, two = (table.from_rows([row | {"vector": vector}]) for vector in ([0.6, 0.8], [0.6, 0.80000001]))
    three = table.from_rows([row | {"vector": [0.6, 0.8000002]}])
    assert hash_frame(one) == hash_frame(two)  # equal as float32
    assert hash_frame(one) != hash_frame(three)
    assert hash_frame(table.empty()) == hash_frame(table.empty())


def test_a_changed_stage_runs_and_those_behind_it_only_where_its_rows_differ(project: Path) -> None:
    run_pipeline(settings_of(project), project)
    ran: list[str] = []

    def walk(*more: str) -> list[str]:
        ran.clear()
        with open_run(settings_of(project, *more), project, progress=QuietProgress()) as run:
            made = Walk(run, run.published, lambda stage, run: (ran.append(stage.name), run_stage(stage, run)))
            for stage in PIPELINE:
                made.take(stage)
            assert set(made.gather_frames()) == set(TABLES)
        return [name for name in ran if name != "documents"]

    assert walk() == []
    assert walk("extraction.processes=1", "search.top=3") == []
    assert walk("text_units.max_tokens=200") == ["text_units"]
    assert walk("reports.max_findings=2") == ["reports"]
    assert walk("summaries.min_tokens=100")[:1] != ["reports"]
    assert walk("extraction.cooccurrence=false")[:2] == ["text_units", "extraction"]


def test_a_stage_that_gives_other_rows_than_it_did_is_not_trusted(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_pipeline(settings_of(project), project)
    (source,) = (project / "data" / "input").iterdir()
    from graphrag.index import text_units

    real = text_units.build_text_units

    def other(*frames: pl.DataFrame, **knobs: object) -> pl.DataFrame:
        return real(*frames, **knobs).with_columns(n_tokens=pl.lit(9, dtype=pl.Int64))  # type: ignore[arg-type]

    monkeypatch.setattr(text_units, "build_text_units", other)
    with open_run(settings_of(project, "extraction.cooccurrence=false"), project, progress=QuietProgress()) as run:
        walk = Walk(run, run.published)
        with pytest.raises(Unrepeatable, match="text_units"):
            for stage in PIPELINE:
                walk.take(stage)
    summary = run_pipeline(settings_of(project, "extraction.cooccurrence=false"), project)
    assert any("everything was made again" in line for line in summary.notices)
    assert source.exists() and summary.status == "published"


def test_knobs_name_what_can_change(project: Path) -> None:
    with open_run(settings_of(project), project, progress=QuietProgress()) as run:
        knobs = {stage.name: list_knobs(stage, run) for stage in PIPELINE}
    assert {"extraction.nlp", "the reader of texts", "aliases.toml"} <= set(knobs["extraction"])
    assert "extraction.processes" not in knobs["extraction"]
    assert knobs["summaries"]["the model of role summarize"] == "embedded"
    assert all("this release" in found for found in knobs.values())
    assert knobs["documents"]["files"] == ""  # nothing is known yet
