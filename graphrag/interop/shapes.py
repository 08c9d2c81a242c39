"""What tables of other tools hold: names of files and columns through the versions of microsoft/graphrag, 0.x to 3.x.

The same shapes take a graph of one's own: only the columns marked as needed must be there. Values of other dtypes are
cast where that loses nothing (numbers to text, text that is a number to a number); a column that cannot be cast is an
error that names file, column and both dtypes.

Does not: find or open files (table_files.py).
"""

from __future__ import annotations

from typing import NamedTuple

import orjson
import polars as pl

from graphrag.errors import InputError
from graphrag.tables import FINDINGS, FLOAT, INT, INTS, TEXT, TEXTS


class Field(NamedTuple):
    """A column of ours and its names in the files, the newest first."""

    name: str
    names: tuple[str, ...]
    dtype: pl.DataType
    is_needed: bool = False


def _field(name: str, dtype: pl.DataType, *older: str, is_needed: bool = False) -> Field:
    return Field(name, (name, *older), dtype, is_needed)


HUMAN = _field("human_readable_id", INT, "short_id")
UNITS = _field("text_unit_ids", TEXTS, "text_units")
SHAPES: dict[str, tuple[Field, ...]] = {
    "documents": (
        _field("id", TEXT, is_needed=True), HUMAN, _field("text", TEXT, "raw_content", is_needed=True),
        _field("title", TEXT), _field("metadata", TEXT, "raw_data", "attributes"), _field("path", TEXT),
        _field("creation_date", TEXT),
    ),
    "text_units": (
        _field("id", TEXT, is_needed=True), HUMAN, _field("text", TEXT, "chunk", is_needed=True),
        _field("document_id", TEXT, "document_ids"),
    ),
    "entities": (
        _field("title", TEXT, "name", "entity", is_needed=True), _field("id", TEXT), HUMAN,
        _field("type", TEXT, "label"), _field("description", TEXT), UNITS,
    ),
    "relationships": (
        _field("source", TEXT, "subject", "from", is_needed=True),
        _field("target", TEXT, "object", "to", is_needed=True), HUMAN,
        _field("predicate", TEXT, "type", "label", "relation"), _field("description", TEXT),
        _field("weight", FLOAT), UNITS,
    ),
    "nodes": (
        _field("title", TEXT, is_needed=True), _field("level", INT, is_needed=True),
        _field("community", INT), HUMAN,
    ),
    "communities": (
        _field("community", INT, "raw_community", "id", is_needed=True), _field("id", TEXT),
        _field("level", INT, is_needed=True), _field("parent", INT), _field("entity_ids", TEXTS),
    ),
    "community_reports": (
        _field("community", INT, is_needed=True), _field("id", TEXT), _field("title", TEXT, is_needed=True),
        _field("summary", TEXT, is_needed=True), _field("full_content", TEXT, is_needed=True),
        _field("rank", FLOAT, "rating"), _field("rating_explanation", TEXT, "rank_explanation"),
        _field("findings", FINDINGS), _field("full_content_json", TEXT),
    ),
    "covariates": (
        _field("id", TEXT, is_needed=True), HUMAN, _field("subject_id", TEXT, is_needed=True),
        _field("object_id", TEXT), _field("type", TEXT), _field("description", TEXT), _field("status", TEXT),
        _field("start_date", TEXT), _field("end_date", TEXT), _field("source_text", TEXT),
        _field("text_unit_id", TEXT, is_needed=True),
    ),
}  # fmt: skip


def shape_table(name: str, frame: pl.DataFrame, *, path: str) -> pl.DataFrame:
    """The columns of SHAPES, those that the file lacks as nulls; further columns of text_units as JSON in `metadata`.

    Raises InputError that names file and column.
    """
    columns: dict[str, pl.Series] = {}
    by_fold = {column.casefold().strip(): column for column in frame.columns}
    for field in SHAPES[name]:
        found = next((by_fold[known] for known in field.names if known in by_fold), None)
        if found is None:
            if field.is_needed:
                raise InputError(f"{path}: the column {' or '.join(field.names)} is missing. Columns: {_list(frame)}.")
            columns[field.name] = pl.Series(field.name, [None] * frame.height, dtype=field.dtype)
        else:
            columns[field.name] = _cast(frame[found], field, path=path).alias(field.name)
            n_null = columns[field.name].null_count() if field.is_needed else 0
            if n_null:
                raise InputError(f"{path}: column {found} has no value in {n_null} of {frame.height} rows.")
    shaped = pl.DataFrame(columns)
    if name != "text_units":
        return shaped
    known = {n for field in SHAPES[name] for n in field.names}
    known |= {"n_tokens", "entity_ids", "relationship_ids", "covariate_ids", "chunk_id"}
    others = [column for column in frame.columns if column.casefold().strip() not in known]
    rows = [_json({k: v for k, v in row.items() if v is not None}) for row in frame.select(others).to_dicts()]
    return shaped.with_columns(metadata=pl.Series(rows if others else ["{}"] * frame.height, dtype=TEXT))


def _list(frame: pl.DataFrame) -> str:
    return ", ".join(frame.columns[:20]) or "none"


def _cast(series: pl.Series, field: Field, *, path: str) -> pl.Series:
    if field.dtype == FINDINGS:
        rows = [_read_findings(value) for value in series.to_list()]
        return pl.Series(rows, dtype=FINDINGS)
    if field.dtype == TEXT and isinstance(series.dtype, pl.List):
        return _cast(series.list.first(), field, path=path)  # document_ids before 3.x
    if field.dtype == TEXT and isinstance(series.dtype, pl.Struct):
        return pl.Series([None if value is None else _json(value) for value in series.to_list()], dtype=TEXT)
    if field.dtype in (TEXTS, INTS) and series.dtype == TEXT:
        series = pl.Series([_read_list(value) for value in series.to_list()], dtype=TEXTS)
    wrong = f"{path}: column {series.name or field.name} is {series.dtype}, needed is {field.dtype}"
    try:
        cast = series.cast(field.dtype, strict=True)
    except pl.exceptions.PolarsError:
        raise InputError(f"{wrong}, and not every value can be read so.") from None
    if field.dtype == INT and series.dtype.is_float() and not series.drop_nulls().eq(cast.drop_nulls()).all():
        raise InputError(f"{wrong}, and some values are no whole numbers.")
    return cast


def _read_list(text: str | None) -> list[str] | None:
    """A list that stands as text in a CSV file: JSON, or words apart by commas or semicolons."""
    if text is None:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = [part.strip(" []'\"") for part in text.replace(";", ",").split(",")]
    return [str(item) for item in (value if isinstance(value, list) else [value]) if str(item)]


def _read_findings(value: object) -> list[dict[str, str]]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [{"summary": str(value), "explanation": ""}]
    findings = value if isinstance(value, list) else []
    return [
        {key: str(item.get(key) or "") for key in ("explanation", "summary")}
        if isinstance(item, dict)
        else {"explanation": "", "summary": str(item)}
        for item in findings
    ]


def _json(value: object) -> str:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
