"""One index run as a Prefect flow: `python -m flows.index [ROOT]`.

Walks the same PIPELINE as `graphrag index`, one task a stage. Tasks are handed the name of their stage; the frames stay
in the run, so that Prefect neither copies nor stores them. The run's report becomes a Markdown artifact.
Does not: schedule (flows/nightly.py), or know what a stage does.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from graphrag.errors import GraphragError
from graphrag.pipeline import PIPELINE, walk_pipeline
from graphrag.progress import QuietProgress
from graphrag.render import render_summary
from graphrag.run import Run, RunSummary, open_run
from graphrag.settings import find_root, load_settings
from graphrag.stages import Stage, run_stage


class FlowProgress(QuietProgress):
    """The stages' closing lines go to the log of the flow run."""

    def __init__(self) -> None:
        self._log = get_run_logger()

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        self._log.info("%s: %s (%.1f s)", stage, outcome, seconds)


@task(cache_policy=NO_CACHE, persist_result=False)
def run_named_stage(name: str, run: Run) -> tuple[str, ...]:
    """Run the stage and return the names of the tables it wrote."""
    stage = next(stage for stage in PIPELINE if stage.name == name)
    run_stage(stage, run)
    return stage.writes


def call_stage(stage: Stage, run: Run) -> None:
    run_named_stage.with_options(name=stage.name, task_run_name=stage.name)(stage.name, run)


@flow(name="graphrag-index", persist_result=False)
def index_flow(root: str = ".", full: bool = False) -> dict[str, Any]:
    """Index the project at `root`; returns the run's summary as a dict. Raises GateHeld when a gate holds the run."""
    folder = find_root(Path(root).resolve())
    settings, _ = load_settings(folder)
    with open_run(settings, folder, progress=FlowProgress()) as run:
        return _publish_report(walk_pipeline(run, full=full, call_stage=call_stage))


def _publish_report(summary: RunSummary) -> dict[str, Any]:
    create_markdown_artifact(
        key="graphrag-index", markdown=f"```\n{render_summary(summary)}\n```", description=f"Run {summary.run_id}"
    )
    return asdict(summary)


if __name__ == "__main__":
    try:
        index_flow(sys.argv[1] if len(sys.argv) > 1 else ".")
    except GraphragError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
