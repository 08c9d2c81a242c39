"""Batches on other processes and on a Dask cluster of two: the tables of a run in one process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import polars as pl
import pytest

from graphrag import vectors
from graphrag.errors import ModelError, SettingsError
from graphrag.nlp import parsing
from graphrag.pipeline import run_pipeline
from graphrag.settings_file import load_settings
from graphrag.tables import TABLES

from .test_index import read_runs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("prefect_server")]

SERVICES = ("Billing", "Checkout", "Search", "Mail Gateway", "Ledger", "Audit Log")
needs_models = pytest.mark.skipif(
    bool(parsing.missing_parts() or vectors.is_available("embedded")), reason="needs spaCy and MiniLM"
)


def write_documents(project: Path) -> None:
    for number, name in enumerate(SERVICES):
        lines = [f"{name} depends on Redis.", f"{name} is owned by the Platform Team.", f"{name} writes to Kafka."]
        text = "\n\n".join(lines[: 2 + number % 2])
        (project / "data" / "input" / f"{number}.md").write_text(text, encoding="utf-8")


def read_tables(output_dir: Path) -> dict[str, pl.DataFrame]:
    names = [name for name, table in TABLES.items() if not table.is_log]
    return {name: pl.read_parquet(output_dir / "current" / f"{name}.parquet") for name in names}


@needs_models
@pytest.mark.parametrize(("task_runner", "n_workers"), [("processes", 1), ("dask", 2)])
def test_workers_give_the_tables_of_one_process(
    project: Path, monkeypatch: pytest.MonkeyPatch, task_runner: str, n_workers: int
) -> None:
    from flows import index

    if task_runner == "dask" and importlib.util.find_spec("prefect_dask") is None:
        pytest.skip("prefect-dask is not installed")
    write_documents(project)
    settings, _ = load_settings(project, overrides=["output.dir=one/output", "cache.dir=one/cache"], environ={})
    run_pipeline(settings, project)
    monkeypatch.setattr(parsing, "POOL_FROM_CHARACTERS", 0)
    monkeypatch.setattr(parsing, "SENTENCES_PER_TASK", 6)
    monkeypatch.setattr(vectors, "PARALLEL_CHARACTERS", 0)
    monkeypatch.setattr(vectors, "CHUNK_ELSEWHERE", 20)
    index.index_flow(str(project), set=[f"flow.task_runner={task_runner}", f"extraction.processes={n_workers}"])
    alone, spread = read_tables(project / "one" / "output"), read_tables(project / "data" / "output")
    assert [name for name in alone if not alone[name].equals(spread[name])] == []
    assert alone["relationships"].height > len(SERVICES)
    names = sorted(run.name for run in read_runs("index handbook")[1] if "batch" in run.name)
    assert [name for name in names if name.startswith("extraction")] == [
        "extraction: batch 1 of 3, 6 texts", "extraction: batch 2 of 3, 6 texts", "extraction: batch 3 of 3, 4 texts",
    ]  # fmt: skip
    assert sum(name.startswith("embeddings: batch") for name in names) > 1


def test_a_worker_that_dies_is_one_line() -> None:
    import os

    from prefect import flow
    from prefect.task_runners import ProcessPoolTaskRunner

    from flows.batches import BatchTasks

    def end_worker(batch: list[str]) -> None:
        os._exit(len(batch))

    @flow
    def lose_a_worker() -> None:
        with ProcessPoolTaskRunner(max_workers=1) as runner:
            list(BatchTasks(runner)(end_worker, [["Text."]]))

    with pytest.raises(ModelError, match="a worker process ended over a batch"):
        lose_a_worker()


def test_dask_that_is_not_installed_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import batches

    monkeypatch.setattr(batches, "find_spec", lambda _: None)
    settings, _ = load_settings(project, overrides=["flow.task_runner=dask"], environ={})
    with pytest.raises(SettingsError, match=r'needs prefect-dask\. Get it with: pip install "graphrag-batch\[dask\]"'):
        batches.choose_task_runner(settings)
