"""The input folder of a run beside what the last run read: which files need not be opened, and whether any differs.

Reads and writes files.jsonl in the cache folder (graphrag/reading/known_files.py says why it can be trusted).
Does not: read documents (index/documents.py).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import orjson

from graphrag.ids import content_sha256
from graphrag.reading.known_files import (
    KnownFile,
    hash_files,
    know_fault,
    read_known_files,
    write_known_files,
)
from graphrag.reading.objects import list_input
from graphrag.runs.run import Run
from graphrag.store.runs import disk_errors

KNOWN_FILES = "files.jsonl"


def recall_files(run: Run) -> dict[str, KnownFile]:
    """What the last run read, by path; nothing where this run is to read everything again."""
    if run.is_full:
        return {}
    return read_known_files(run.cache_dir / KNOWN_FILES, knobs_sha256=_hash_knobs(run))


def hash_input(run: Run) -> str:
    """Of what all files give, whether they were read in this run or are known; empty where that is not known."""
    if run.files is None:
        known = recall_files(run)
        place = run.input_dir
        if not known or (isinstance(place, Path) and not place.is_dir()):
            return ""
        listing = list_input(
            place, ignore=run.settings.input.ignore, exclude=[run.output_dir, run.cache_dir, run.relations_path]
        )
        files = [known[file.path] for file in listing.files if file.path in known]
        stamps = [file.stamp for file in listing.files]
        if "" in stamps or [file.stamp for file in files] != stamps:
            return ""
        run.files = [*(know_fault(fault) for fault in listing.faults), *files]
    is_readable = not any(row["reason"] == "unreadable_file" for file in run.files for row in file.failures)
    return hash_files(run.files) if is_readable else ""


def keep_files(run: Run, files: Sequence[KnownFile]) -> None:
    """After the documents were read: for this run, and for the next."""
    run.files = list(files)
    path = run.cache_dir / KNOWN_FILES
    with disk_errors("write", path):
        write_known_files(path, files, knobs_sha256=_hash_knobs(run))


def _hash_knobs(run: Run) -> str:
    """Of what decides how a file is read."""
    knobs = run.settings.input.model_dump(exclude={"dir"})
    has_office = importlib.util.find_spec("kreuzberg") is not None
    office = importlib.metadata.version("kreuzberg") if has_office else ""
    return content_sha256(orjson.dumps([knobs, office, run.code], option=orjson.OPT_SORT_KEYS))
