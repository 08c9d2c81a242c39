"""What `graphrag diff` prints."""

from __future__ import annotations

from typing import Any

import polars as pl

from graphrag.runs.changes import COLUMNS, count_changes
from graphrag.runs.history import RunDiff

MARKS = {"added": "+", "removed": "-", "renamed": ">", "changed": "~"}


def render_diff(diff: RunDiff, *, limit: int) -> str:
    """A heading and marked lines a table: + added, - removed, > renamed, ~ changed; at most `limit` lines each."""
    lines = [f"{diff.before} -> {diff.after}"]
    counts = count_changes(diff.changes)
    if not counts:
        return "\n".join([*lines, "No difference in documents, entities, relationships, communities and reports."])
    for table in COLUMNS:
        if table in counts:
            rows = diff.changes.filter(pl.col("table") == table)
            lines += ["", f"{table.replace('_', ' ')}: {say_counts(counts[table])}"]
            for row in rows.head(limit or rows.height).iter_rows(named=True):
                detail = f"   ({row['detail']})" if row["detail"] else ""
                lines.append(f"  {MARKS[row['change']]} {row['label']}{detail}")
            if limit and rows.height > limit:
                lines.append(f"    and {rows.height - limit:,} more (--limit 0 shows all)")
    return "\n".join(lines)


def say_counts(counts: dict[str, int]) -> str:
    """`3 added, 1 removed`."""
    return ", ".join(f"{n:,} {change}" for change, n in counts.items())


def describe_diff(diff: RunDiff) -> dict[str, Any]:
    """For --json: before, after, counts (table -> change -> rows), changes (all rows)."""
    rows = diff.changes.select("table", "change", "id", "label", "detail").to_dicts()
    return {"before": diff.before, "after": diff.after, "counts": count_changes(diff.changes), "changes": rows}
