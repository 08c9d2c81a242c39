"""Publishing is one switch, leftovers are cleaned, and one run at a time writes."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import threading
from pathlib import Path

import polars as pl
import pytest

from graphrag import store
from graphrag.errors import StoreError
from graphrag.tables import TABLES

Frames = dict[str, pl.DataFrame]


def write(output_dir: Path, run_id: str, frames: Frames) -> None:
    store.write_run(output_dir, run_id, store.number_rows(frames, output_dir / "ids.jsonl"), manifest={"run": run_id})


def test_publish_points_everything_at_the_run(tmp_path: Path, frames: Frames) -> None:
    assert store.read_manifest(tmp_path) is None
    write(tmp_path, "r1", frames)
    assert store.read_manifest(tmp_path) is None
    store.publish_run(tmp_path, "r1")
    store.publish_run(tmp_path, "r1")
    assert (tmp_path / "current").readlink() == Path("runs/r1")
    assert (tmp_path / "graphrag.duckdb").readlink() == Path("current/graphrag.duckdb")
    assert (tmp_path / "graphrag.duckdb").resolve() == (tmp_path / "runs/r1/graphrag.duckdb").resolve()
    manifest = store.read_manifest(tmp_path)
    assert manifest is not None
    assert (manifest["run"], manifest["run_id"], manifest["format"]) == ("r1", "r1", store.FORMAT)
    write(tmp_path, "r2", frames)
    store.publish_run(tmp_path, "r2")
    assert (tmp_path / "current").readlink() == Path("runs/r2")
    store.publish_run(tmp_path, "r1")  # rolls back
    assert (tmp_path / "current").readlink() == Path("runs/r1")
    with pytest.raises(StoreError, match=r"No whole run 'r9' .*Newest: r1, r2\."):
        store.publish_run(tmp_path, "r9")


def test_prune_keeps_the_newest_and_the_current_run(tmp_path: Path, frames: Frames) -> None:
    for run_id in ("r1", "r2", "r3", "r4"):
        write(tmp_path, run_id, frames)
    store.publish_run(tmp_path, "r1")
    assert store.prune_runs(tmp_path, 2) == ["r2"]
    assert store.prune_runs(tmp_path, 0) == ["r3", "r4"]
    assert store.list_runs(tmp_path) == ["r1"]
    assert store.prune_runs(tmp_path / "absent", 1) == []


def test_what_a_killed_run_left_is_cleaned(tmp_path: Path, frames: Frames) -> None:
    assert store.clean_runs(tmp_path) == []
    write(tmp_path, "r1", frames)
    store.publish_run(tmp_path, "r1")
    (tmp_path / "runs" / "r2" / "vectors").mkdir(parents=True)
    (tmp_path / "runs" / "r2" / "entities.parquet").write_bytes(b"cut")
    (tmp_path / "current.new-1").symlink_to("runs/r2")
    assert store.list_runs(tmp_path) == ["r1"]
    assert store.clean_runs(tmp_path) == ["r2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current", "graphrag.duckdb", "ids.jsonl", "runs"]


def test_runs_are_logged_for_ever_and_a_cut_line_is_ignored(tmp_path: Path) -> None:
    row: dict[str, object] = {name: 0 for name in TABLES["runs"].names if name.startswith("n_")}
    row |= {"run_id": "r1", "started_at": "t", "status": "running", "settings_sha256": "", "llm_calls": 0}
    row |= {"cost_usd": 0.0, "seconds": 0.0}
    assert store.read_runs(tmp_path).height == 0
    store.append_run(tmp_path, row)
    store.append_run(tmp_path, row | {"status": "published"})
    with (tmp_path / "runs.jsonl").open("a") as handle:
        handle.write('{"run_id": "r2", "sta')
    store.append_run(tmp_path, row | {"run_id": "r3", "status": "held"})
    assert store.read_runs(tmp_path).select("run_id", "status").rows() == [("r1", "published"), ("r3", "held")]
    with pytest.raises(StoreError, match="unknown columns"):
        store.append_run(tmp_path, row | {"colour": 1})


def test_the_second_run_is_refused_with_pid_and_time(tmp_path: Path) -> None:
    with (
        store.lock_output(tmp_path),
        pytest.raises(StoreError, match=rf"^Another run holds .* \(pid {os.getpid()}, since \d{{4}}-.*\)\.$"),
        store.lock_output(tmp_path),
    ):
        raise AssertionError
    with store.lock_output(tmp_path) as notice:
        assert notice == ""


class Killed(BaseException):
    """Stands for kill -9: nothing of ours may catch it and tidy up."""


def test_killed_at_any_moment_readers_see_a_whole_run(
    tmp_path: Path, frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wait for the disk is a moment; the run is killed at one of them, then made again."""
    after = {**frames, "failures": frames["failures"].clear()}
    write(tmp_path, "r0", frames)
    store.publish_run(tmp_path, "r0")
    real_sync = os.fsync
    moments: list[int] = []
    for number, kill_at in enumerate([0, 5, 17, *range(24, 60)], start=1):
        left = [kill_at]

        def sync(handle: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            real_sync(handle)

        was = store.open_index(tmp_path).run_id
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", sync)
            patch.setattr("shutil.rmtree", lambda *_, **__: None)  # a killed process removes nothing
            try:
                write(tmp_path, f"r{number}", after)
                store.publish_run(tmp_path, f"r{number}")
            except Killed:
                moments.append(kill_at)
        with store.open_index(tmp_path) as index:
            assert index.run_id in (was, f"r{number}")
            expected = 1 if index.run_id == "r0" else 0
            assert index.frame("select count(*) from failures").item() == expected
        store.clean_runs(tmp_path)
        assert f"r{number}" in [*store.list_runs(tmp_path), "r0"] or not (tmp_path / f"runs/r{number}").exists()
        if left[0] >= 0:
            break
    assert left[0] >= 0, "the last run was not killed"
    assert len(moments) > 5
    assert store.open_index(tmp_path).run_id == f"r{number}"


def test_readers_see_the_old_or_the_new_run_during_many_publishes(tmp_path: Path, frames: Frames) -> None:
    for run_id in ("r1", "r2"):
        write(tmp_path, run_id, {**frames, "failures": frames["failures"].with_columns(run_id=pl.lit(run_id))})
    store.publish_run(tmp_path, "r1")
    stop, seen, faults = threading.Event(), set(), []

    def read() -> None:
        while not stop.is_set():
            with store.open_index(tmp_path) as index:
                inside = index.frame("select run_id from failures").item()
                seen.add(inside)
                if inside != index.run_id:
                    faults.append((inside, index.run_id))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        store.publish_run(tmp_path, ("r2", "r1")[number % 2])
    stop.set()
    reader.join()
    assert faults == []
    assert seen <= {"r1", "r2"}


def _hold_and_die(folder: Path) -> None:
    context = store.lock_output(folder)
    context.__enter__()
    os._exit(9)


def test_the_lock_of_a_dead_run_is_taken_over(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_hold_and_die, args=(tmp_path,))
    process.start()
    process.join()
    written = json.loads((tmp_path / ".lock").read_text())
    assert written["pid"] == process.pid
    assert written["host"] == socket.gethostname()
    with store.lock_output(tmp_path) as notice:
        assert notice.startswith(f"The last run ended without finishing (pid {process.pid}, since 2")
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


def test_an_output_folder_that_cannot_be_is_one_line(tmp_path: Path, frames: Frames) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="Cannot write"), store.lock_output(tmp_path / "file" / "output"):
        raise AssertionError
    with pytest.raises(StoreError, match="Cannot write the run"):
        store.write_run(tmp_path / "file" / "output", "r1", frames, manifest={})
