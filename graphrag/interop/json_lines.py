"""JSON Lines, one file a table, one row a line, columns as in docs/tables.md."""

from __future__ import annotations

from pathlib import Path

from graphrag.interop.selection import Selection

NAMES = (
    "documents", "text_units", "entities", "relationships", "evidence", "communities", "community_reports",
)  # fmt: skip


def write_json_lines(selection: Selection, folder: Path) -> list[str]:
    """documents.jsonl and so on."""
    for name in NAMES:
        getattr(selection, name).write_ndjson(folder / f"{name}.jsonl")
    return [f"{name}.jsonl" for name in NAMES]
