"""Batches of parses and vectors as tasks: on processes of this machine, or on a Dask cluster.

`[flow] task_runner` chooses. Workers get texts and give back parses or vectors; they open no file of the run. The
driver takes the results in order and writes each into the memo as it comes, so that a run that is killed has lost no
more than the batches in flight. Where there is little to do, the stages hand nothing out and no worker is started.

Does not: cut the work into batches (nlp/parsing.py, vectors.py), or run a stage.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextvars import copy_context
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner

from graphrag.errors import ModelError, SettingsError
from graphrag.settings import Settings

Result = TypeVar("Result")
# Batches handed out and not yet taken back: enough to keep a large cluster busy, about 60 MB of texts.
MAX_IN_FLIGHT = 256


def choose_task_runner(settings: Settings) -> TaskRunner[Any]:
    """The task runner that the settings name; its workers start with the first batch and end when its context ends.

    Raises SettingsError where Dask is asked for and not installed.
    """
    n_processes = settings.extraction.processes or os.cpu_count() or 1
    if settings.flow.task_runner == "processes":
        return ProcessPoolTaskRunner(max_workers=n_processes, initializer=end_with_parent)
    if find_spec("prefect_dask") is None:
        raise SettingsError(
            'flow.task_runner is "dask", which needs prefect-dask. Get it with: pip install "graphrag-batch[dask]".'
        )
    from prefect_dask.task_runners import DaskTaskRunner

    if settings.flow.dask_address:
        return DaskTaskRunner(address=settings.flow.dask_address)
    # One thread a worker: neither model gains from more, and spaCy's is not made for it.
    local = {"n_workers": n_processes, "threads_per_worker": 1, "dashboard_address": None}
    return DaskTaskRunner(cluster_kwargs=local)


def end_with_parent() -> None:
    """A pool whose parent was killed would wait for work for ever."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    import multiprocessing

    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


@task(cache_policy=NO_CACHE, persist_result=False)
def run_batch(work: Callable[[], Any]) -> Any:
    return work()


class BatchTasks:
    """A MapBatches over a task runner, made in the body of the flow. `stage` names the runs of its tasks."""

    def __init__(self, task_runner: TaskRunner[Any]) -> None:
        self._task_runner, self.stage = task_runner, ""
        # The flow's, not the stage's: with each batch Prefect sends the task around it, which holds the whole run.
        self._context = copy_context()

    def __call__(self, work: Callable[[list[str]], Result], batches: Sequence[list[str]]) -> Iterator[Result]:
        """The results in order. Raises what a batch raised; ModelError where workers die over it again and again."""
        waiting: deque[PrefectFuture[Any]] = deque()
        for number, batch in enumerate(batches, start=1):
            name = f"{self.stage}: batch {number} of {len(batches)}, {len(batch)} texts"
            named = run_batch.with_options(name=f"{self.stage} batch", task_run_name=name)
            # One opaque argument: Prefect and Dask would walk through a list of texts.
            arguments = {"work": partial(work, batch)}
            waiting.append(self._context.run(self._task_runner.submit, named, arguments))
            if len(waiting) == MAX_IN_FLIGHT:
                yield self._take(waiting.popleft())
        while waiting:
            yield self._take(waiting.popleft())

    def _take(self, future: PrefectFuture[Any]) -> Any:
        try:
            return future.result()
        except Exception as error:  # what a batch raised goes on up; a lost worker is told in our words
            if not _is_dead_worker(error):
                raise
            raise ModelError(
                f"{self.stage}: a worker process ended over a batch. Out of memory? Set extraction.processes lower, or "
                "give the workers more memory, and run again; what was done is in the memo."
            ) from error


def _is_dead_worker(error: Exception) -> bool:
    """Of Dask's error (three workers died) only the name is known here: the package may not be installed."""
    return isinstance(error, BrokenProcessPool) or type(error).__name__ == "KilledWorker"
