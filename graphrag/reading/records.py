"""Files of records (csv, tsv, json, jsonl, parquet) -> one Record a row, and a fault for each row that is none.

Numbers that a float cannot hold, NaN and 40-digit integers stay text. Columns for id, title and text are named by the
caller or found by name, without case.

Does not: decide paths and ids of documents, or read whole databases.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

TEXT_NAMES = (
    "text", "content", "contents", "body", "full_text", "article", "document", "passage", "description", "summary",
    "abstract", "message", "comment", "note", "notes",
)  # fmt: skip
TITLE_NAMES = ("title", "name", "subject", "headline", "heading", "summary")
ID_NAMES = ("id", "_id", "uuid", "doc_id", "document_id", "key", "slug")


@dataclass(frozen=True)
class Record:
    number: int  # 1-based place in the file
    values: dict[str, Any]  # JSON values by column, as read


class Fault(NamedTuple):
    number: int  # 0 for the whole file
    reason: str
    detail: str


@dataclass
class Records:
    columns: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_csv(text: str, *, delimiter: str = "") -> Records:
    """Rows by the first line's column names; rows with more or fewer cells are `bad_row`. Blank rows are no rows."""
    found = Records()
    limit = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _delimiter(text))
        header: list[str] | None = None
        number = 0
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _unique([cell.strip() for cell in cells])
                found.columns = header
                continue
            number += 1
            if len(cells) != len(header):
                detail = f"row {number} (line {reader.line_num}) has {len(cells)} cells, the header {len(header)}"
                found.faults.append(Fault(number, "bad_row", detail))
                continue
            found.records.append(Record(number, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        found.faults.append(Fault(0, "bad_row", f"line {reader.line_num}: {error}"))
    finally:
        csv.field_size_limit(limit)
    return found


def _delimiter(text: str) -> str:
    """The one of , ; tab | that stands most often outside quotes in the first line."""
    header = re.sub(r'"[^"]*"', "", text.lstrip("\n")[:65_536].split("\n", 1)[0])
    return max(",;\t|", key=header.count)


def _unique(names: list[str]) -> list[str]:
    """Column names that occur once: a repeated one gets its place, an empty one becomes column_N."""
    seen: set[str] = set()
    unique = []
    for place, name in enumerate(names, 1):
        name = name or f"column_{place}"
        while name in seen:
            name = f"{name}_{place}"
        seen.add(name)
        unique.append(name)
    return unique


def read_json(text: str) -> Records:
    """A list of objects, one object, or an object whose only list of objects holds the records."""
    found = Records()
    try:
        value = _loads(text)
    except RecursionError:
        return Records(faults=[Fault(0, "too_deep", "brackets are nested too deep")])
    except ValueError as error:
        return Records(faults=[Fault(0, "bad_json", str(error)[:300])])
    if isinstance(value, dict):
        lists = [v for v in value.values() if isinstance(v, list) and v and all(isinstance(item, dict) for item in v)]
        is_wrapper = len(lists) == 1 and not any(
            name.casefold() in TEXT_NAMES for name in value if value[name] != lists[0]
        )
        value = lists[0] if is_wrapper else [value]
    if not isinstance(value, list):
        return Records(faults=[Fault(0, "bad_json", f"the file holds a {_kind(value)}, not objects")])
    for number, item in enumerate(value, 1):
        _add(found, number, item)
    return found


def read_jsonl(text: str) -> Records:
    """One object a line; blank lines are skipped, lines that are no object are `bad_json`."""
    found = Records()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            _add(found, number, _loads(line))
        except RecursionError:
            found.faults.append(Fault(number, "too_deep", f"line {number}: brackets are nested too deep"))
        except ValueError as error:
            found.faults.append(Fault(number, "bad_json", f"line {number}: {str(error)[:300]}"))
    return found


def _add(found: Records, number: int, item: Any) -> None:
    if not isinstance(item, dict):
        found.faults.append(Fault(number, "bad_json", f"record {number} is a {_kind(item)}, not an object"))
        return
    known = set(found.columns)
    found.columns.extend(name for name in item if name not in known)
    found.records.append(Record(number, item))


def _kind(value: Any) -> str:
    return {str: "text", list: "list", bool: "true or false", type(None): "null"}.get(type(value), "number")


def _loads(text: str) -> Any:
    return json.loads(text, parse_float=_float, parse_int=_int, parse_constant=str)


def _float(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _int(digits: str) -> int | str:
    return int(digits) if len(digits) <= 18 else digits


def read_canvas(text: str) -> str:
    """The texts of an Obsidian canvas (JSON): cards, group labels, arrow labels; empty if it is none.

    Does not: give the files and arrows as links; the JSON stays the document's raw_data for that.
    """
    try:
        value = _loads(text)
    except (RecursionError, ValueError):
        return ""
    nodes, edges = (value.get("nodes"), value.get("edges")) if isinstance(value, dict) else (None, None)
    parts = [item for group in (nodes, edges) if isinstance(group, list) for item in group if isinstance(item, dict)]
    found = [item.get("text") or item.get("label") or item.get("file") for item in parts]
    return "\n\n".join(part.strip() for part in found if isinstance(part, str) and part.strip())


def read_parquet(data: bytes, *, max_bytes: float) -> Records:
    """Rows of a Parquet file whose expanded size is at most `max_bytes`, else one fault `too_large`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        meta = file.metadata
        expanded = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        expanded = max(expanded, meta.num_rows * max(1, meta.num_columns))
        if expanded > max_bytes:
            return Records(faults=[Fault(0, "too_large", f"{meta.num_rows} rows expand to {expanded} bytes or more")])
        found = Records(columns=list(file.schema_arrow.names))
        for batch in file.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                found.records.append(Record(len(found.records) + 1, row))
    except (pa.ArrowException, OSError, ValueError) as error:
        return Records(faults=[Fault(0, "unreadable_file", str(error).split("\n")[0][:300])])
    return found


def find_column(columns: Sequence[str], wanted: str, names: Sequence[str]) -> str:
    """The column `wanted` if given, else the first whose name is one of `names`; empty if there is none."""
    if wanted:
        return wanted if wanted in columns else ""
    by_fold = {name.casefold().strip(): name for name in reversed(columns)}
    return next((by_fold[name] for name in names if name in by_fold), "")


def to_json(values: Any) -> str:
    """JSON text of a record; what JSON cannot hold (dates, bytes, NaN) as text."""
    return json.dumps(_plain(values, 0), ensure_ascii=False, separators=(", ", ": "))


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, str | bool | int):
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
