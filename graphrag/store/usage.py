"""How often a document was listed by a search: one line a search in usage.jsonl, beside the runs it reads.

A line holds the time, the mode and the paths of the documents that were listed, no question. The file only grows; a
reader of published runs that may not write there counts nothing.

Does not: rank by it, or open the index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import orjson
import polars as pl

USAGE_LOG = "usage.jsonl"
SCHEMA = {"path": pl.String(), "n_listed": pl.Int64(), "last": pl.String()}


def append_usage(output_dir: Path, paths: Sequence[str], *, mode: str) -> None:
    """Add one line for what a search has listed; a path that comes twice counts once. Nothing listed, nothing added."""
    if not paths:
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = orjson.dumps({"at": now, "mode": mode, "paths": list(dict.fromkeys(paths))}) + b"\n"
    with suppress(OSError):  # a share that is mounted to be read only, a full disk: the search itself is done
        handle = os.open(output_dir / USAGE_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)  # one write to an appending handle: searches beside each other do not mix
        finally:
            os.close(handle)


def read_usage(output_dir: Path) -> pl.DataFrame:
    """Columns of SCHEMA: documents by how often they were listed, most first; a damaged line is left out."""
    path = output_dir / USAGE_LOG
    found: dict[str, list[str]] = {}
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        for document in row["paths"]:
            found.setdefault(document, []).append(row["at"])
    rows = [(document, len(times), max(times)) for document, times in found.items()]
    return pl.DataFrame(sorted(rows, key=lambda row: (-row[1], row[0])), schema=SCHEMA, orient="row")
