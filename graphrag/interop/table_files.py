"""The tables in a folder: found by name, read whole, in the shapes of shapes.py.

`entities.parquet`, `create_final_entities.parquet` (0.x and 1.x) and `entities.csv` are the same table; a folder
`output` inside is looked into, too. A folder that `graphrag export --format graphrag` wrote holds our own tables beside
them: these are read as they are. Other files are left alone and named.

Does not: check ids across tables (imported_graph.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from graphrag import tables
from graphrag.errors import InputError, TableError, shown_path
from graphrag.interop.shapes import SHAPES, shape_table

OURS = ("evidence", "entity_mentions", "relationship_mentions")
"""Tables that only an export of ours holds."""
MAX_NAMED = 5


class TableFiles(NamedTuple):
    """`frames` by table, in the shapes of shapes.py, absent tables left out; `names` the file of each."""

    folder: Path
    frames: dict[str, pl.DataFrame]
    names: dict[str, str]
    others: list[str]


def read_table_files(folder: Path) -> TableFiles:
    """Raises InputError that names the file and what is missing or wrong in it."""
    place = find_tables_folder(folder)
    found = {name: path for name in SHAPES if (path := _find_file(place, name))}
    if not found.keys() & {"text_units", "entities", "relationships"}:
        here = ", ".join(sorted(path.name for path in place.iterdir())[:MAX_NAMED]) or "nothing"
        raise InputError(
            f"{shown_path(place)}: no entities, relationships or text_units as .parquet or .csv. It holds: {here}."
        )
    frames = {name: shape_table(name, _read(path), path=shown_path(path)) for name, path in found.items()}
    _check_missing(place, frames, {name: path.name for name, path in found.items()})
    others = sorted(path.name for path in place.iterdir() if path not in found.values())
    return TableFiles(place, frames, {name: path.name for name, path in found.items()}, others)


def find_tables_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{shown_path(folder)}: no such folder.")
    inner = folder / "output"
    has_tables = any(_find_file(folder, name) for name in ("entities", "relationships", "text_units"))
    return inner if not has_tables and inner.is_dir() else folder


def is_our_export(folder: Path) -> bool:
    """Also of one of which a table is missing: read_our_tables names it."""
    return any((folder / f"{name}.parquet").is_file() for name in OURS)


def read_our_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of an export of ours, logs and vectors left out. Raises InputError that names the file."""
    frames = {}
    for name, table in tables.TABLES.items():
        if (table.is_log and name != "relationship_events") or name == "embeddings":
            continue
        path = folder / f"{name}.parquet"
        if not path.is_file():
            raise InputError(f"{shown_path(path)}: is missing. Export again.")
        try:
            frames[name] = table.conform(_read(path).select(pl.col(table.names)))
        except (TableError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{shown_path(path)}: {_one_line(error)}. Export again with this release.") from error
    return frames


def _find_file(folder: Path, name: str) -> Path | None:
    places = (folder / f"{stem}{end}" for stem in (name, f"create_final_{name}") for end in (".parquet", ".csv"))
    return next((path for path in places if path.is_file()), None)


def _read(path: Path) -> pl.DataFrame:
    try:
        if path.suffix == ".csv":
            return pl.read_csv(path, infer_schema=False, encoding="utf8-lossy")
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        kind = "CSV" if path.suffix == ".csv" else "Parquet"
        raise InputError(f"{shown_path(path)}: is no whole {kind} file ({_one_line(error)}). Copy it again.") from error


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__


def _check_missing(folder: Path, frames: dict[str, pl.DataFrame], names: dict[str, str]) -> None:
    """Raises InputError where one table needs another that is not there, as after a copy that was cut short."""

    def lists(name: str, column: str) -> bool:
        return name in frames and frames[name][column].list.len().fill_null(0).sum() > 0

    needs: Sequence[tuple[bool, str, str]] = (
        ("communities" in frames, "entities", "communities"),
        ("relationships" in frames and "text_units" in frames, "entities", "relationships"),
        (lists("entities", "text_unit_ids"), "text_units", "entities"),
        (lists("relationships", "text_unit_ids"), "text_units", "relationships"),
        ("community_reports" in frames, "communities", "community_reports"),
        ("covariates" in frames, "text_units", "covariates"),
        ("communities" in frames and not lists("communities", "entity_ids"), "nodes", "communities"),
    )
    for is_needed, name, by in needs:
        if is_needed and name not in frames:
            end = Path(names[by]).suffix
            prefix = "create_final_" if names[by].startswith("create_final_") or name == "nodes" else ""
            raise InputError(f"{shown_path(folder / f'{prefix}{name}{end}')}: is missing; {names[by]} refers to it.")
