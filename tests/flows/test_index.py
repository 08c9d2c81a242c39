"""The index as a Prefect flow, run for real once against a temporary server, gives the tables of `graphrag index`."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

from graphrag.pipeline import PIPELINE
from graphrag.project import create_project

FACTS = {"a.md": "Billing depends on Redis.", "b.md": "The Auth Service is owned by the Platform Team."}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_flow_runs_every_stage_and_publishes(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from prefect.client.orchestration import get_client
        from prefect.client.schemas.sorting import TaskRunSort
        from prefect.testing.utilities import prefect_test_harness

        from flows.index import index_flow
    create_project(tmp_path)
    for name, text in FACTS.items():
        (tmp_path / "data" / "input" / name).write_text(text, encoding="utf-8")
    with prefect_test_harness(server_startup_timeout=120):
        summary = index_flow(str(tmp_path))
        again = index_flow(str(tmp_path))
        with get_client(sync_client=True) as client:
            names = {task.name for task in client.read_task_runs(sort=TaskRunSort.EXPECTED_START_TIME_ASC)}
    assert summary["status"] == "published"
    assert again["status"] == "unchanged"
    assert {stage.name for stage in PIPELINE} <= names
    relationships = pl.read_parquet(tmp_path / "data" / "output" / "current" / "relationships.parquet")
    stated = relationships.filter(pl.col("origin") == "extracted").select("source", "predicate", "target")
    assert set(stated.rows()) == {
        ("Billing", "depends_on", "Redis"),
        ("Auth Service", "owned_by", "Platform Team"),
    }
