"""What the last run read out of each file: a file whose stamp is the same is not opened again.

A stamp is device, inode, size, time of change of the content and of the entry. A file that has changed within two
seconds before the run began gets none kept: on a coarse clock it could change again under the same stamp. The rows
themselves are taken from the published run, and only where their hash is the one kept here: a list that is out of date
costs a second reading, never a wrong row. The list is a cache (JSON lines in the cache folder) and may be deleted.

Does not: list or open documents (folders.py, index/documents.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag.ids import content_sha256
from graphrag.reading.folders import File, FileFault

SETTLED_NS = 2_000_000_000
NEVER_KNOWN = frozenset({"unreadable_file", "duplicate_id", "missing_text", "needs_documents_extra"})
"""Failures that hang on more than the file: on rights, on other files, on what is installed."""
MADE_LATER = ("human_readable_id", "text_unit_ids")
"""Columns of documents that other stages fill."""


class KnownFile(NamedTuple):
    path: str
    stamp: str  # empty where the file must be read again
    rows_sha256: str  # of the documents that the file gave
    failures: list[dict[str, str | None]]

    @property
    def content(self) -> tuple[str, str, list[dict[str, str | None]]]:
        """What decides the tables."""
        return self.path, self.rows_sha256, self.failures


def know_file(
    file: File, rows: Sequence[Mapping[str, Any]], failures: Sequence[dict[str, str | None]], *, started_ns: int
) -> KnownFile:
    """What is kept of a file that was read in a run that began at `started_ns` (Unix time)."""
    is_settled = file.changed_ns < started_ns - SETTLED_NS
    is_its_own = not any(failure["reason"] in NEVER_KNOWN for failure in failures)
    return KnownFile(file.path, file.stamp if is_settled and is_its_own else "", hash_rows(rows), list(failures))


def know_fault(fault: FileFault) -> KnownFile:
    """A file that the listing refused: never known, but part of what decides the tables."""
    return KnownFile(fault.path, "", "", [{"reason": fault.reason, "detail": fault.detail}])


def hash_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Of the documents of a file, without what other stages fill; content_sha256 stands for the text."""
    left_out = {"text", *MADE_LATER}
    in_order = sorted(rows, key=lambda row: str(row["path"]))
    parts = [[value for name, value in row.items() if name not in left_out] for row in in_order]
    return content_sha256(orjson.dumps(parts))


def hash_files(files: Iterable[KnownFile]) -> str:
    """Of all that a run reads."""
    return content_sha256(orjson.dumps(sorted((file.content for file in files), key=lambda content: content[0])))


class PublishedRows:
    """The documents of the published run by the file that they came from."""

    def __init__(self, documents: pl.DataFrame | None) -> None:
        self._documents = documents
        self._places: dict[str, list[int]] = {}
        for place, path in enumerate(documents["path"] if documents is not None else ()):
            self._places.setdefault(path.partition("#")[0], []).append(place)

    def of_file(self, path: str) -> list[dict[str, Any]]:
        """Rows as a reader makes them; of a path with # in its name there are none, and it is read again."""
        if self._documents is None or path not in self._places:
            return []
        return [self._clean(self._documents.row(place, named=True)) for place in self._places[path]]

    def below(self, path: str) -> list[dict[str, Any]]:
        """Rows of the file of that path, or of all files in the folder of that path; "." is the input folder."""
        inside = "" if path == "." else f"{path}/"
        found = [file for file in self._places if file == path or file.startswith(inside)]
        return [row for file in sorted(found) for row in self.of_file(file)]

    def _clean(self, row: dict[str, Any]) -> dict[str, Any]:
        return row | {"human_readable_id": 0, "text_unit_ids": []}


def read_known_files(path: Path, *, knobs_sha256: str) -> dict[str, KnownFile]:
    """By path; empty where there is no list, or it was made with other settings. A damaged line is left out."""
    try:
        first, *lines = path.read_bytes().splitlines() or [b""]
    except OSError:
        return {}
    if first.decode("utf-8", "replace") != knobs_sha256:
        return {}
    known = {}
    for line in lines:
        with suppress(ValueError, TypeError):
            file = KnownFile(*orjson.loads(line))
            known[file.path] = file
    return known


def write_known_files(path: Path, files: Iterable[KnownFile], *, knobs_sha256: str) -> None:
    """Replace the list; what two projects that share a cache folder write at once is anyone's. Raises OSError."""
    lines = [orjson.dumps(list(file)) for file in sorted(files) if file.stamp]
    aside = path.with_name(f"{path.name}.new")  # one name, so that kills leave one file at most
    aside.write_bytes(b"\n".join([knobs_sha256.encode(), *lines]) + b"\n")
    with suppress(FileNotFoundError):
        aside.replace(path)
