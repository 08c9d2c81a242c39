"""The tables of one run on disk, read back from its Parquet files: what a later run compares itself with.

Does not: follow readers' questions (database.py), or know which stage made a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from graphrag.errors import StoreError, shown_path
from graphrag.store.runs import current_run, list_runs, read_run_manifest, run_folder
from graphrag.tables import TABLES

IMPORT = "import"
"""The one stage of a run of `graphrag import`."""


@dataclass(frozen=True)
class RunTables:
    """A whole run: its manifest, and its tables when they are asked for."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def run_id(self) -> str:
        return self.folder.name

    @property
    def is_imported(self) -> bool:
        """Whether `graphrag import` made it: the input folder does not hold what it was made of."""
        return any(stage["name"] == IMPORT for stage in self.manifest.get("stages") or ())

    def has_columns(self, name: str, columns: Sequence[str]) -> bool:
        """Whether the run's release wrote these columns."""
        path = self._path(name)
        return path.is_file() and set(columns) <= set(pl.read_parquet_schema(path))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def frame(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """A table as it was written, or some of its columns. Raises StoreError where the file is gone or damaged."""
        path = self._path(name)
        try:
            frame = pl.read_parquet(path, columns=list(columns) if columns is not None else None)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise StoreError(
                f'Cannot read {shown_path(path)}: {str(error).splitlines()[0]}. Run "graphrag index --full".'
            ) from error
        return frame if columns is not None else TABLES[name].conform(frame)


def open_published_tables(output_dir: Path) -> RunTables | None:
    """Of the published run; None if nothing has been published."""
    folder = current_run(output_dir)
    manifest = read_run_manifest(folder) if folder else None
    return RunTables(folder, manifest) if folder and manifest else None


def open_run_tables(output_dir: Path, run_id: str) -> RunTables:
    """Of the run of that id, published or held. Raises StoreError if there is no such whole run."""
    folder = run_folder(output_dir, run_id)
    manifest = read_run_manifest(folder) if run_id else None
    if manifest is None:
        known = ", ".join(list_runs(output_dir)[-3:]) or "none"
        raise StoreError(f"No whole run {run_id!r} in {shown_path(output_dir / 'runs')}. Newest: {known}.")
    return RunTables(folder, manifest)
