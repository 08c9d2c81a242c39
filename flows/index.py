"""One index run as a Prefect flow: `python -m flows.index [ROOT]`, with the options of `graphrag index`.

Walks the same PIPELINE: each stage is a task. Parses and vectors are handed out in batches, each a task too
(flows/batches.py); a stage that asks a model is one task with one event loop, so that limiter, budget and memo stay
shared. The frames stay in this process: no result travels through Prefect or is stored by it, the memo does that.
A stage is tried again only where the machine failed it (RETRIED); a setting, a budget, a gate or a key that is refused
will not be better in half a minute. Every run ends with its report as artifacts (flows/report.py), and
a run that is held or stopped ends as a failed flow run with the reason.

Does not: schedule (flows/nightly.py), tell anyone (flows/alerts.py), or know what a stage does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
from prefect import State, Task, flow, get_run_logger, tags, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import TaskRun
from prefect.runtime import flow_run

from flows.batches import BatchTasks, choose_task_runner
from flows.report import publish_report
from graphrag.errors import BudgetSpent, GateHeld, GraphragError, MirrorFailed, StoreError
from graphrag.pipeline import walk_pipeline
from graphrag.progress import PlainProgress
from graphrag.render.index_run import render_summary
from graphrag.runs.changes import count_changes
from graphrag.runs.run import Frames, Run, RunSummary, count_rows, open_run, summarise_run
from graphrag.runs.stages import Stage, run_stage
from graphrag.settings import Settings
from graphrag.settings_file import find_root, load_settings
from graphrag.tables import TABLES

# Disks, shares and sockets; the output folder or the memo, which say so in words. Not a provider: the llm door has
# asked again for as long as that helps, and what it gave up on is asked by the next run.
RETRIED = (OSError, StoreError)


class FlowProgress(PlainProgress):
    """The lines of the stages go to the log of the flow run."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._log = get_run_logger()

    def say(self, line: str) -> None:
        self._log.info("%s", line.strip())

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        self.say(f"{stage}: {outcome} ({seconds:.1f} s)")


def is_infrastructure(_: Task[..., Any], __: TaskRun, state: State[Any]) -> bool:
    """Whether a stage that failed is worth another try."""
    return isinstance(state.result(raise_on_failure=False), RETRIED)


class StageTasks:
    """Runs each stage of a run as a task, its batches as tasks of the task runner."""

    def __init__(self, settings: Settings, batches: BatchTasks) -> None:
        self._knobs, self._batches = settings.flow, batches
        self._made = {name: table.empty() for name, table in TABLES.items()}

    def call(self, stage: Stage, run: Run) -> None:
        self._batches.stage = stage.name

        # A closure: what is handed to a task as an argument is walked through by Prefect, and `run` holds all frames.
        @task(
            name=stage.name,
            task_run_name=name_stage_run(stage, run),
            retries=self._knobs.retries,
            retry_delay_seconds=self._knobs.retry_seconds,
            retry_condition_fn=is_infrastructure,
            cache_policy=NO_CACHE,
            persist_result=False,
        )
        def run_it() -> None:
            run_stage(stage, run)

        run_it()
        self._made |= run.frames

    def gather_frames(self, run: Run) -> Frames:
        """The tables of a run that ends early, as far as they were made."""
        failures = pl.concat([TABLES["failures"].empty(), *run.failures.values()])
        return self._made | run.frames | {"failures": failures}


def name_stage_run(stage: Stage, run: Run) -> str:
    """`extraction of 1,385 text_units`."""
    table = stage.per or (stage.reads[0] if stage.reads else "")
    return f"{stage.name} of {run.frames[table].height:,} {table}" if table else f"{stage.name} of {run.root.name}"


def name_flow_run() -> str:
    """`index handbook`, `full index handbook`: the folder's name is the project's."""
    parameters = flow_run.parameters
    return f"{'full ' if parameters.get('full') else ''}index {Path(parameters.get('root') or '.').resolve().name}"


@flow(name="graphrag-index", flow_run_name=name_flow_run, persist_result=False)
def index_flow(
    root: str = ".",
    full: bool = False,
    budget: float | None = None,
    max_tokens: int | None = None,
    set: list[str] | None = None,
) -> dict[str, Any]:
    """Index the project at `root`; returns the run's summary as a dict.

    full: recompute even when nothing has changed. budget: USD, stop before the call that may pass it. max_tokens: the
    same for the tokens of all calls. set: SECTION.KEY=VALUE, each overrides a setting.
    Raises GateHeld when a gate holds the run, BudgetSpent, and any other GraphragError with one line for a person.
    """
    folder = find_root(Path(root).resolve())
    settings, warnings = load_settings(folder, overrides=[*(set or ()), *_as_override("llm.budget_usd", budget)])
    for line in warnings:
        get_run_logger().warning("%s", line)
    with (
        open_run(settings, folder, progress=FlowProgress(), max_tokens=max_tokens) as run,
        choose_task_runner(settings) as task_runner,
    ):
        run.map_batches = batches = BatchTasks(task_runner)
        stages = StageTasks(settings, batches)
        try:
            summary = walk_pipeline(run, full=full, call_stage=stages.call)
        except GraphragError as error:
            run.frames = stages.gather_frames(run)
            summary = summarise_run(run, name_status(error), count_rows(run.frames))
            would_change = count_changes(run.frames["run_changes"])
            publish_report(replace(summary, changes=would_change), str(error))
            raise
        publish_report(summary)
        return asdict(summary)


def name_status(error: GraphragError) -> str:
    """The run's status in the table `runs` after this error."""
    if isinstance(error, GateHeld):
        return "held"
    if isinstance(error, MirrorFailed):
        return "published"
    return "incomplete" if isinstance(error, BudgetSpent) else "failed"


def _as_override(key: str, value: object) -> list[str]:
    return [] if value is None else [f"{key}={value}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the flow once; the exit code of `graphrag index`."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.index", description="Index a project as one Prefect flow run."
    )
    parser.add_argument("root", nargs="?", default=".", help="project folder, or a folder below it")
    parser.add_argument("--full", action="store_true", help="recompute even when nothing has changed")
    parser.add_argument("--budget", type=float, metavar="USD", help="stop before the call that may pass it")
    parser.add_argument("--max-tokens", type=int, help="stop before the call that may pass it; all calls count")
    parser.add_argument("--set", action="append", metavar="SECTION.KEY=VALUE", help="override a setting; repeatable")
    options = parser.parse_args(arguments)
    try:
        with tags("graphrag", Path(options.root).resolve().name):
            summary = index_flow(**vars(options))
    except GraphragError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("Interrupted. The live index is as it was; what was computed is kept in the memo.", file=sys.stderr)
        return 130
    print(render_summary(RunSummary(**summary)))
    return 0


if __name__ == "__main__":
    from flows import index  # Dask's workers find the flow by its module's name, which is not __main__

    sys.exit(index.main())
