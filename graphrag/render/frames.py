"""What commands print of tables: any frame for people or as JSON, the list of tables and the columns of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import polars as pl

from graphrag.errors import TableError, did_you_mean
from graphrag.tables import TABLES

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_CELL = 80


def describe_tables(index: Index) -> pl.DataFrame:
    rows = [
        {
            "table": table.name,
            "rows": index.frame(f"select count(*) as n from {table.name}").item(),
            "meaning": table.meaning,
        }
        for table in TABLES.values()
    ]
    return pl.DataFrame(rows)


def describe_table(name: str) -> pl.DataFrame:
    if name not in TABLES:
        raise TableError(f'No table "{name}".{did_you_mean(name, TABLES)} Tables: {", ".join(TABLES)}.')
    rows = [{"column": c.name, "dtype": str(c.dtype), "meaning": c.meaning} for c in TABLES[name].columns]
    return pl.DataFrame(rows)


def render_frame(frame: pl.DataFrame) -> str:
    """A Markdown table; long cells are cut with a mark, bars and line ends in cells are escaped."""
    rows = [frame.columns, *([_cell(value) for value in row] for row in frame.iter_rows())]
    widths = [max(2, *(len(row[i]) for row in rows)) for i in range(len(frame.columns))]
    is_number = [dtype.is_numeric() for dtype in frame.dtypes]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            cell.rjust(width) if right and number else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ]
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            rules = ["-" * (w - 1) + ":" if right else "-" * w for w, right in zip(widths, is_number, strict=True)]
            lines.append("| " + " | ".join(rules) + " |")
    lines.append(f"({frame.height} row{'s' if frame.height != 1 else ''})")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = ", ".join(map(str, value)) if isinstance(value, list | pl.Series) else str(value)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def render_frame_json(frame: pl.DataFrame) -> str:
    """One JSON array of objects."""
    return orjson.dumps(frame.to_dicts(), default=str).decode()


def render_json(value: object) -> str:
    """Anything of dicts, lists, numbers and text as one line."""
    return orjson.dumps(value, default=str).decode()
