"""Which rows the vectors of a table belong to, memory-mapped beside them: half a million ids cost a question nothing.

    vectors/owners/<table>.npy           ids as bytes; id i belongs to row i of vectors/<table>.npy
    vectors/owners/<table>.order.npy     numbers of the rows in the order of their ids, to find an id by

Does not: hold vectors, or know what changed since they were written (a reader restricts both alike).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrag.store.runs import sync_path

FOLDER = "owners"


class Owners:
    """The ids of a matrix's rows, by row and by id. ids: bytes (UTF-8), each once; order: their argsort."""

    def __init__(self, ids: NDArray[np.bytes_], order: NDArray[np.integer[Any]] | None = None) -> None:
        self._ids = ids
        self._order = np.argsort(ids, kind="stable") if order is None else order

    def __len__(self) -> int:
        return len(self._ids)

    def list_ids(self, rows: Sequence[int]) -> list[str]:
        """The id of each row."""
        return [bytes(self._ids[row]).decode() for row in rows]

    def find_rows(self, ids: Collection[str]) -> dict[str, int]:
        """The row of each id that has one, by id, in the order of the rows."""
        size = self._ids.dtype.itemsize
        wanted = {owner: owner.encode() for owner in ids}
        known = [owner for owner, written in wanted.items() if len(written) <= size]
        if not known or not len(self):
            return {}
        sought = np.array([wanted[owner] for owner in known], dtype=self._ids.dtype)
        places = np.searchsorted(self._ids, sought, sorter=self._order)
        rows = self._order[np.minimum(places, len(self) - 1)]
        pairs = sorted(zip(rows.tolist(), known, strict=True))
        return {owner: row for row, owner in pairs if bytes(self._ids[row]) == wanted[owner]}


def make_owners(ids: Sequence[str]) -> Owners:
    """From ids in memory, row by row."""
    return Owners(np.array([owner.encode() for owner in ids], dtype=np.bytes_ if ids else "S1"))


def write_owners(ids: Sequence[str], vectors: Path, owner_table: str) -> None:
    """The two files of a table, on disk when it returns. vectors: the folder that holds the vectors."""
    folder = vectors / FOLDER
    folder.mkdir(exist_ok=True)
    written = np.array([owner.encode() for owner in ids], dtype=np.bytes_)
    order = np.argsort(written, kind="stable").astype(np.int32)
    for name, array in ((f"{owner_table}.npy", written), (f"{owner_table}.order.npy", order)):
        with (folder / name).open("wb") as handle:
            np.save(handle, array, allow_pickle=False)
            handle.flush()
            os.fsync(handle.fileno())
    sync_path(folder)


def open_owners(vectors: Path, owner_table: str) -> Owners | None:
    """None for an index that an earlier release made."""
    path, order = (vectors / FOLDER / f"{owner_table}{end}" for end in (".npy", ".order.npy"))
    if not path.is_file() or not order.is_file():
        return None
    return Owners(*(np.load(file, mmap_mode="r", allow_pickle=False) for file in (path, order)))
