"""Run folders: where a run's files lie, which run is current, and who may write.

    data/output/runs/<run_id>/            one run: *.parquet, vectors/ (npy), graphrag.duckdb; manifest.json comes last
    data/output/current                   symlink to the published run; switched by one rename
    data/output/graphrag.duckdb           symlink through current
    data/output/runs.jsonl, ids.jsonl     one line a run; one line a numbered row (ledger.py); both only grow
    data/output/.lock                     pid, host and start of the run that writes

A folder without manifest.json is not a run: it is what a killed run left, ignored by readers, removed by the next run.

Does not: write tables (run_files.py) or decide whether a run may be published (pipeline.py).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from graphrag import tables
from graphrag.errors import StoreError, shown_path
from graphrag.store.ledger import append_ledger, append_lines

MANIFEST, DATABASE, POINTER = "manifest.json", "graphrag.duckdb", "current"
RUNS_LOG, LEDGER, LOCK = "runs.jsonl", "ids.jsonl", ".lock"


def run_folder(output_dir: Path, run_id: str) -> Path:
    return output_dir / "runs" / run_id


@contextmanager
def disk_errors(doing: str, path: Path) -> Iterator[None]:
    """An OSError inside becomes a StoreError that says what could not be done, where and why."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"Cannot {doing} {shown_path(path)}: {reason}. The published index is as it was.") from error


def sync_path(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_manifest(folder: Path, manifest: Mapping[str, object]) -> None:
    """Write manifest.json whole or not at all; the folder is a run from here on. Keys are sorted."""
    aside = folder / (MANIFEST + ".new")
    text = json.dumps(manifest, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    with aside.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    aside.replace(folder / MANIFEST)
    for parent in (folder, folder.parent, folder.parent.parent):
        sync_path(parent)


def renew_manifest(folder: Path, entries: Mapping[str, object]) -> bool:
    """Give entries of a whole run's manifest new values, by one rename; whether any differed. Its tables stay."""
    manifest = read_run_manifest(folder) or {}
    renewed = manifest | json.loads(json.dumps(entries))
    if not manifest or renewed == manifest:
        return False
    with disk_errors("renew the manifest of", folder):
        write_manifest(folder, renewed)
    return True


def read_run_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run folder; None if there is none or it is no JSON object (a half-copied folder)."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def current_run(output_dir: Path) -> Path | None:
    """The folder of the published run, or of the newest published run that is whole if the current one is not."""
    pointer = output_dir / POINTER
    if pointer.exists() and _is_whole(folder := pointer.resolve()):
        return folder
    published = [row["run_id"] for row in read_log(output_dir) if row.get("status") == "published"]
    for run_id in sorted({str(run_id) for run_id in published}, reverse=True):
        folder = run_folder(output_dir, run_id)
        if _is_whole(folder):
            return folder.resolve()
    return None


def _is_whole(folder: Path) -> bool:
    return read_run_manifest(folder) is not None and (folder / DATABASE).is_file()


def read_manifest(output_dir: Path) -> dict[str, Any] | None:
    """The manifest of the published run; None if nothing has been published."""
    folder = current_run(output_dir)
    return read_run_manifest(folder) if folder else None


def list_runs(output_dir: Path) -> list[str]:
    """Ids of the whole runs on disk, oldest first (ids begin with the time)."""
    folders = sorted((output_dir / "runs").glob("*")) if (output_dir / "runs").is_dir() else []
    return [folder.name for folder in folders if (folder / MANIFEST).is_file()]


def publish_run(output_dir: Path, run_id: str) -> None:
    """Make a whole run the current one, by one rename; its new row numbers go to the ledger just before.

    Publishing an older run again rolls back. Raises StoreError if there is no such whole run, if its numbers have been
    given to other rows meanwhile, or if the folder cannot be written; then `current` is as it was.
    """
    folder = run_folder(output_dir, run_id)
    if not _is_whole(folder):
        known = ", ".join(list_runs(output_dir)[-3:]) or "none"
        raise StoreError(f"No whole run {run_id!r} in {shown_path(output_dir / 'runs')}. Newest: {known}.")
    with disk_errors("publish the run in", output_dir):
        append_ledger(output_dir / LEDGER, read_numbered_frames(folder))
        _point(output_dir / POINTER, Path("runs") / run_id)
        _point(output_dir / DATABASE, Path(POINTER) / DATABASE)
        sync_path(output_dir)


def read_numbered_frames(folder: Path) -> dict[str, pl.DataFrame]:
    """The columns of a run's tables that the ledger keeps."""
    columns = {
        "documents": ["id", "human_readable_id", "path"],
        "text_units": ["id", "human_readable_id", "document_id"],
        "entities": ["id", "human_readable_id", "title"],
        "relationships": ["id", "human_readable_id", "source", "predicate", "target"],
        "covariates": ["id", "human_readable_id", "subject_id", "type", "object_id"],
        "communities": ["id", "human_readable_id", "community", "title"],
        "community_reports": ["id", "human_readable_id", "community", "title"],
    }
    return {name: pl.read_parquet(folder / f"{name}.parquet", columns=wanted) for name, wanted in columns.items()}


def _point(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    aside = link.with_name(f"{link.name}.new-{os.getpid()}")
    aside.unlink(missing_ok=True)
    aside.symlink_to(target)
    aside.replace(link)
    sync_path(link.parent)


def prune_runs(output_dir: Path, keep: int) -> list[str]:
    """Remove all whole runs but these: the newest `keep` that were published, the newest one that a gate holds, and the
    current one. Returns the ids removed, oldest first.

    A reader that has opened a removed run keeps its files.
    """
    current = current_run(output_dir)
    runs = list_runs(output_dir)
    published = {str(row["run_id"]) for row in read_log(output_dir) if row.get("status") == "published"}
    held = [run_id for run_id in runs if run_id not in published and _is_held(run_folder(output_dir, run_id))]
    others = [run_id for run_id in runs if run_id not in held]
    spared = {*others[len(others) - max(keep, 0) :], *held[-1:]} | ({current.name} if current else set())
    return [run_id for run_id in runs if run_id not in spared and _remove_run(run_folder(output_dir, run_id))]


def _is_held(folder: Path) -> bool:
    return (read_run_manifest(folder) or {}).get("status") == "held"


def clean_runs(output_dir: Path) -> list[str]:
    """Remove what killed runs left: run folders without manifest, pointers half made. Only under `lock_output`.

    Returns the names of the folders removed.
    """
    removed = []
    for folder in sorted((output_dir / "runs").glob("*")) if (output_dir / "runs").is_dir() else []:
        if folder.is_dir() and not (folder / MANIFEST).is_file() and _remove_run(folder):
            removed.append(folder.name)
    for leftover in sorted(output_dir.glob("*.new-*")):
        if leftover.is_symlink():
            leftover.unlink()
    return removed


def _remove_run(folder: Path) -> bool:
    with disk_errors("remove the old run", folder):
        (folder / MANIFEST).unlink(missing_ok=True)  # first: half a removed run is no run
        shutil.rmtree(folder)
    return True


def append_run(output_dir: Path, row: Mapping[str, object]) -> None:
    """Add one row of the `runs` table to runs.jsonl, for ever."""
    if unknown := [name for name in row if name not in tables.RUNS.schema]:
        raise StoreError(f"runs.jsonl: unknown columns {unknown} in a row.")
    with disk_errors("write", output_dir / RUNS_LOG):
        output_dir.mkdir(parents=True, exist_ok=True)
        append_lines(output_dir / RUNS_LOG, [json.dumps(dict(row), ensure_ascii=False)])


def read_runs(output_dir: Path) -> pl.DataFrame:
    """The `runs` table of all runs ever, oldest first; the last line of a run_id stands."""
    by_id = {str(row["run_id"]): row for row in read_log(output_dir)}
    known = tables.RUNS.schema
    rows = [{name: value for name, value in by_id[run_id].items() if name in known} for run_id in by_id]
    return tables.RUNS.from_rows(rows)


def read_log(output_dir: Path) -> list[dict[str, Any]]:
    """The rows of runs.jsonl in order; a cut or damaged line is left out."""
    path = output_dir / RUNS_LOG
    rows = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and "run_id" in row:
            rows.append(row)
    return rows


@contextmanager
def lock_output(output_dir: Path) -> Iterator[str]:
    """Hold the output folder for one run. Raises StoreError if another run holds it or it cannot be written.

    The kernel drops the lock with the process, so what a killed run left is taken over; the value of the context is
    then one line that says so, else an empty string.
    """
    with disk_errors("write", output_dir):
        output_dir.mkdir(parents=True, exist_ok=True)
        handle = (output_dir / LOCK).open("a+", encoding="utf-8")
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            handle.seek(0)
            holder = _name_holder(handle.read())
            raise StoreError(f"Another run holds {shown_path(output_dir)} ({holder}).") from error
        handle.seek(0)
        stale = handle.read()
        handle.truncate(0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        handle.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}))
        handle.flush()
        try:
            yield (
                f"The last run ended without finishing ({_name_holder(stale)}); its lock was taken over."
                if stale
                else ""
            )
        finally:
            handle.truncate(0)


def _name_holder(written: str) -> str:
    try:
        holder = json.loads(written)
        where = "" if holder["host"] == socket.gethostname() else f" on {holder['host']}"
        return f"pid {holder['pid']}{where}, since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "it has just begun"
