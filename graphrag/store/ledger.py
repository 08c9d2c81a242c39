"""Row numbers for people: `human_readable_id`, given once, kept for life, never given to another row.

The ledger (data/output/ids.jsonl) has one line a row that was ever published: table, id, number, label. It only grows,
so that an old citation still resolves, or its label says what was removed. Numbers become final when their run is
published: a run that is held or killed uses none up.

A report has the number of its community. Communities are numbered from 0, as in the reference; all others from 1.

Reads and writes: documents, text_units, entities, relationships, covariates, communities (human_readable_id only).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import polars as pl

from graphrag.errors import StoreError
from graphrag.tables import TABLES

TAIL = 65_536  # bytes
NUMBERED = ("documents", "text_units", "entities", "relationships", "covariates", "communities")
FIRST_NUMBERS = {"communities": 0}
LEDGER_SCHEMA = pl.Schema({"table": pl.String(), "id": pl.String(), "number": pl.Int64(), "label": pl.String()})


def number_rows(frames: Mapping[str, pl.DataFrame], ledger_path: Path) -> dict[str, pl.DataFrame]:
    """All frames, with human_readable_id filled: from the ledger, else the next free numbers in the frame's order.

    Frames of other tables come back as they are. Writes nothing.
    """
    ledger = read_ledger(ledger_path)
    numbered = dict(frames)
    for name in NUMBERED:
        if name in numbered:
            numbered[name] = _number(
                numbered[name], ledger.filter(pl.col("table") == name), first=FIRST_NUMBERS.get(name, 1)
            )
    return numbered


def read_ledger(ledger_path: Path) -> pl.DataFrame:
    """Columns table, id, number, label; empty if there is no file. A last line that was cut is ignored.

    Raises StoreError if a whole line cannot be read: a guess could give a number twice.
    """
    data = ledger_path.read_bytes() if ledger_path.is_file() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if not whole.strip():
        return pl.DataFrame(schema=LEDGER_SCHEMA)
    try:
        lines = pl.read_ndjson(whole, schema=LEDGER_SCHEMA)
    except pl.exceptions.PolarsError as error:
        raise StoreError(f"{ledger_path} is damaged: {error}. Restore it, or move it away to number anew.") from error
    return lines.unique(["table", "id"], keep="first", maintain_order=True)


def find_label(ledger_path: Path, table: str, number: int) -> str:
    """What the row of a number was called, be it published still or not; empty for a number that none was given."""
    rows = read_ledger(ledger_path).filter((pl.col("table") == table) & (pl.col("number") == number))
    return str(rows["label"][0]) if rows.height else ""


def append_ledger(ledger_path: Path, frames: Mapping[str, pl.DataFrame]) -> int:
    """Add the rows that the ledger does not hold; the number of lines added. On disk when it returns.

    Raises StoreError, and adds nothing, if a number or row of the frames contradicts the ledger: another run was
    published since these rows were numbered.
    """
    ledger = read_ledger(ledger_path)
    rows = pl.concat([_ledger_rows(name, frames) for name in NUMBERED if name in frames] or [ledger.clear()])
    new = rows.join(ledger, on=["table", "id"], how="anti", maintain_order="left")
    moved = rows.join(ledger, on=["table", "id"]).filter(pl.col("number") != pl.col("number_right")).height
    taken = new.join(ledger, on=["table", "number"], how="semi").height
    if moved or taken:
        raise StoreError(
            f"{moved + taken} rows of this run have numbers that other rows hold in {ledger_path}: a later run was "
            'published in between. Run "graphrag index" instead.'
        )
    append_lines(ledger_path, (json.dumps(row, ensure_ascii=False) for row in new.iter_rows(named=True)))
    return new.height


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Add lines to a file that only grows, after removing a last line that was cut; on disk when it returns."""
    text = "".join(f"{line}\n" for line in lines)
    if not text:
        return
    with path.open("a+b") as handle:
        handle.truncate(_end_of_lines(handle))
        handle.write(text.encode("utf-8", "surrogatepass"))
        handle.flush()
        os.fsync(handle.fileno())


def _end_of_lines(handle: BinaryIO) -> int:
    """Offset after the last line end; the file is read from its end, for it may be long."""
    end = handle.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - TAIL)
        handle.seek(start)
        if (found := handle.read(end - start).rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def _number(frame: pl.DataFrame, ledger: pl.DataFrame, *, first: int) -> pl.DataFrame:
    known = frame.select("id").join(ledger.select("id", "number"), on="id", how="left", maintain_order="left")["number"]
    highest = ledger["number"].max()
    start = highest + 1 if isinstance(highest, int) else first
    new = start - 1 + known.is_null().cast(pl.Int64).cum_sum()
    return frame.with_columns(human_readable_id=pl.coalesce(known, new))


def _ledger_rows(name: str, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    frame = frames[name]
    if name == "text_units":
        paths = frames["documents"].select(pl.col("id").alias("document_id"), pl.col("path"))
        frame = frame.join(paths, on="document_id", how="left", maintain_order="left")
    if name == "communities":
        reports = frames.get("community_reports", TABLES["community_reports"].empty())
        reports = reports.select("community", report_title="title")
        frame = frame.join(reports, on="community", how="left", maintain_order="left")
    label = {
        "documents": pl.col("path"),
        "text_units": pl.col("path"),
        "entities": pl.col("title"),
        "relationships": pl.concat_str("source", "predicate", "target", separator=" "),
        "covariates": pl.concat_str("subject_id", "type", pl.col("object_id").fill_null(""), separator=" "),
        "communities": pl.coalesce("report_title", "title"),
    }[name]
    return frame.select(pl.lit(name).alias("table"), "id", number="human_readable_id", label=label.fill_null(""))
