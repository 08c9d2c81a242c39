"""Headers of tables that are cut over several text units: a model reads a row by the names of its columns.

The header of a table is the row above its rule (`| id | name |` above `|---|---|`). Where the table goes on in the next
text unit, that row is shown to the model above the text, as context only.

Does not: change a text unit, or know tables without a rule under their header.
"""

from __future__ import annotations

from itertools import pairwise

import polars as pl

from graphrag import blocks


def find_table_headers(text_units: pl.DataFrame) -> dict[str, str]:
    """The header of the table in whose midst a text unit begins, by the unit's id; units that begin in none are left
    out."""
    columns = ("id", "document_id", "text", "start_char", "end_char")
    rows = text_units.sort("document_id", "start_char", "id").select(columns).rows()
    headers: dict[str, str] = {}
    for (before, document_id, text, _, end), (unit, other_id, other_text, start, _) in pairwise(rows):
        # Rows of one table stand in lines that follow each other: one line end lies between two units.
        goes_on = document_id == other_id and start - end <= 1 and other_text.startswith("|")
        if goes_on and (header := header_at_end(text, headers.get(before, ""))):
            headers[unit] = header
    return headers


def header_at_end(text: str, header: str = "") -> str:
    """The header of the table whose row is the last line of a text; empty where it is none, or where the table has no
    header. `header`: that of the table in whose midst the text begins."""
    if "|" not in text.rstrip().rpartition("\n")[2]:
        return ""
    table: list[blocks.Block] = []  # the rows of the last table
    for block in blocks.scan_blocks(text):
        is_next_row = block.kind == blocks.ROW and bool(table) and text.count("\n", table[-1].end, block.start) == 1
        if not is_next_row:
            table = []
        if block.kind == blocks.ROW:
            table.append(block)
    if not table:
        return ""
    lines = [text[row.start : row.end] for row in table]
    return _header(lines) or (header if not text[: table[0].start].strip() else "")


def _header(lines: list[str]) -> str:
    """The row above the first rule; empty where the first two rows are none."""
    return lines[0] if len(lines) > 1 and not _is_rule(lines[0]) and _is_rule(lines[1]) else ""


def _is_rule(line: str) -> bool:
    return "-" in line and not line.strip("|+-=: \t")
