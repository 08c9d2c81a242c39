"""The runs that are kept: which there are, what differs between two, and how one of them goes live by hand.

Reads and writes: the output folder through graphrag.store. Does not: run stages, or print (render/runs.py).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import polars as pl

from graphrag import store
from graphrag.errors import NoIndex, StoreError, did_you_mean, shown_path
from graphrag.runs.changes import compare_runs, read_rows
from graphrag.store import RunTables

LIVE, KEPT = "live", "kept"


class RunDiff(NamedTuple):
    """`changes`: rows of run_changes, as if `after` had followed `before`."""

    before: str
    after: str
    changes: pl.DataFrame


def list_history(output_dir: Path) -> pl.DataFrame:
    """The runs table of all runs ever, newest first, with `place`: live, kept (can be published again) or empty."""
    runs = store.read_runs(output_dir).reverse()
    published = store.open_published_tables(output_dir)
    place = dict.fromkeys(store.list_runs(output_dir), KEPT) | ({published.run_id: LIVE} if published else {})
    return runs.with_columns(place=pl.Series([place.get(run_id, "") for run_id in runs["run_id"]], dtype=pl.String))


def diff_runs(output_dir: Path, run_a: str = "", run_b: str = "") -> RunDiff:
    """What differs from run A to run B. B is the live run where it is not named, A the one that was live before B.

    Raises NoIndex where nothing is live, StoreError where a run is not kept.
    """
    live = store.open_published_tables(output_dir)
    if live is None and not (run_a and run_b):
        raise NoIndex(f'No index in {shown_path(output_dir)}. Run "graphrag index" first.')
    after = _open(output_dir, run_b) if run_b or live is None else live
    before = _open(output_dir, run_a) if run_a else _find_before(output_dir, after)
    return RunDiff(before.run_id, after.run_id, compare_runs(read_rows(before), read_rows(after), after.run_id))


def publish_by_hand(output_dir: Path, run_id: str) -> str:
    """Make a kept run the live one: one that a gate held, or an older one; the run that was live before, or empty.

    Under the lock of the output folder. Raises StoreError where the run is not kept, another run holds the folder, or
    the run's row numbers have been given to other rows since (store.publish_run).
    """
    run = _open(output_dir, run_id)
    with store.lock_output(output_dir):
        live = store.open_published_tables(output_dir)
        store.publish_run(output_dir, run.run_id)
        if run.manifest.get("status") != "published":
            known = {row["run_id"]: row for row in store.read_runs(output_dir).iter_rows(named=True)}
            if row := known.get(run.run_id):
                now = datetime.now(UTC).isoformat(timespec="seconds")
                store.append_run(output_dir, {**row, "status": "published", "finished_at": now})
    return live.run_id if live else ""


def _open(output_dir: Path, run_id: str) -> RunTables:
    kept = store.list_runs(output_dir)
    if run_id not in kept:
        raise StoreError(
            f'No run "{run_id}" is kept in {shown_path(output_dir / "runs")}.'
            f'{did_you_mean(run_id, kept)} See "graphrag runs".'
        )
    return store.open_run_tables(output_dir, run_id)


def _find_before(output_dir: Path, after: RunTables) -> RunTables:
    kept = store.list_runs(output_dir)
    named = str(after.manifest.get("published_before", ""))
    if named in kept:
        return store.open_run_tables(output_dir, named)
    older = [run_id for run_id in kept if run_id < after.run_id]
    if not older:
        raise StoreError(f"No run older than {after.run_id} is kept to compare it with (output.keep_runs).")
    return store.open_run_tables(output_dir, older[-1])
