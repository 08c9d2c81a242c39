"""The index as a Prefect flow, on a real server: the tables of `graphrag index`, retries, a held run, the report."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag import pipeline
from graphrag.errors import ModelError
from graphrag.pipeline import PIPELINE
from graphrag.runs.run import Run

from ..llm.fake_server import Reply, serve

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.usefixtures("prefect_server")]


def read_runs(name: str) -> tuple[Any, list[Any], dict[str, Any]]:
    """The newest flow run of that name, its task runs and its artifacts by key, as the server has them."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, FlowRunFilter
    from prefect.client.schemas.sorting import FlowRunSort
    from prefect.events.worker import EventsWorker

    EventsWorker.instance().wait_until_empty()
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC)
        flow_run = next(run for run in runs if run.name == name)
        its = FlowRunFilter.model_validate({"id": {"any_": [flow_run.id]}})
        tasks = client.read_task_runs(flow_run_filter=its)
        found = client.read_artifacts(
            artifact_filter=ArtifactFilter.model_validate({"flow_run_id": {"any_": [flow_run.id]}})
        )
    return flow_run, tasks, {artifact.key: artifact for artifact in found}


def break_stage(monkeypatch: pytest.MonkeyPatch, name: str, error: Exception, *, times: int) -> None:
    """The stage raises `error` the first `times` times."""
    left = [error] * times

    def build(run: Run) -> Any:
        if left:
            raise left.pop()
        return next(stage for stage in PIPELINE if stage.name == name).build(run)

    stages = tuple(dataclasses.replace(s, build=build) if s.name == name else s for s in PIPELINE)
    monkeypatch.setattr(pipeline, "PIPELINE", stages)


def test_a_run_publishes_and_its_report_is_on_the_server(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from flows import index

    assert index.main([str(project), "--set", "search.top=3"]) == 0
    printed = capsys.readouterr().out
    assert "published" in printed.splitlines()[0]
    flow_run, tasks, artifacts = read_runs("index handbook")
    assert flow_run.state_name == "Completed"
    assert set(flow_run.tags) == {"graphrag", "handbook"}
    assert {stage.name for stage in PIPELINE} <= {run.name.split(" of ")[0] for run in tasks}
    assert "extraction of 2 text_units" in {run.name for run in tasks}
    assert printed.strip() in artifacts["graphrag-index"].data
    assert '"table":"entities","rows":4' in artifacts["graphrag-index-counts"].data.replace(", ", ",").replace(
        ": ", ":"
    )
    assert "extraction" in artifacts["graphrag-index-seconds"].data
    relationships = pl.read_parquet(project / "data" / "output" / "current" / "relationships.parquet")
    stated = relationships.filter(pl.col("origin") == "extracted").select("source", "predicate", "target")
    assert set(stated.rows()) == {("Billing", "depends_on", "Redis"), ("Auth Service", "owned_by", "Platform Team")}
    assert index.index_flow(str(project))["status"] == "unchanged"
    assert index.index_flow(str(project), full=True)["status"] == "published"
    assert read_runs("full index handbook")[0].state_name == "Completed"


def test_a_stage_that_the_disk_failed_is_tried_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import index

    break_stage(monkeypatch, "graph", OSError(5, "Input/output error"), times=2)
    summary = index.index_flow(str(project), set=["flow.retry_seconds=0"])
    assert summary["status"] == "published"
    counts = {run.name.split(" of ")[0]: run.run_count for run in read_runs("index handbook")[1]}
    assert (counts["graph"], counts["extraction"]) == (3, 1)


def test_a_stage_that_will_fail_again_is_not_tried_again(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flows import index

    break_stage(monkeypatch, "graph", ModelError("The model is damaged. Reinstall it."), times=1)
    assert index.main([str(project), "--set", "flow.retry_seconds=0"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "The model is damaged. Reinstall it."
    flow_run, tasks, artifacts = read_runs("index handbook")
    assert {run.run_count for run in tasks} == {1}
    assert (flow_run.state_name, "The model is damaged." in flow_run.state.message) == ("Failed", True)
    assert "failed\n\nThe model is damaged. Reinstall it." in artifacts["graphrag-index"].data


def test_a_held_run_is_a_failed_flow_run_with_the_reason(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from flows import index

    index.index_flow(str(project))
    (project / "data" / "input" / "empty.md").write_text("", encoding="utf-8")
    (project / "data" / "input" / "c.md").write_text("Search depends on Kafka.", encoding="utf-8")
    assert index.main([str(project), "--set", "gates.failed_share=0.1"]) == 4
    reason = "1 of 4 files could not be read whole (empty_document 1)"
    assert reason in capsys.readouterr().err
    flow_run, _, artifacts = read_runs("index handbook")
    assert flow_run.state_name == "Failed"
    assert reason in flow_run.state.message
    assert ": held" in artifacts["graphrag-index"].data.splitlines()[0]
    assert reason in artifacts["graphrag-index"].data
    assert "empty_document" in artifacts["graphrag-index-failures"].data
    assert "| entities | added | 2 |" in artifacts["graphrag-index"].data


def test_a_model_is_asked_in_the_flow_until_the_budget_is_spent(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flows import index

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with serve(lambda question, attempt: Reply("NONE")) as server:
        model = ["llm.model=openai/fake", f"llm.api_base={server.url}", "embeddings.model=none"]
        options = [str(project), *(f"--set={override}" for override in model)]
        assert index.main([*options, "--max-tokens", "10"]) == 5
        reason = capsys.readouterr().err.splitlines()[-1]
        flow_run, _, artifacts = read_runs("index handbook")
        assert "is incomplete and publishes nothing" in reason
        assert flow_run.state_name == "Failed" and "BudgetSpent" in flow_run.state.message
        assert ": incomplete" in artifacts["graphrag-index"].data.splitlines()[0]
        assert index.main(options) == 0
    artifacts = read_runs("index handbook")[2]
    assert '"stage": "extraction"' in artifacts["graphrag-index-calls"].data
    assert "sk-test" not in "".join(artifact.data for artifact in artifacts.values())
