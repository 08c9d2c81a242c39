"""The report of a run as Prefect artifacts: a page for people; tables of counts, changes, calls, failures, seconds.

The page holds what `graphrag index` prints; the tables are the same figures for the Prefect UI and API. Keys of the
artifacts are fixed, so that Prefect shows each run's beside those of the nights before.

Does not: count anything itself (graphrag/runs/run.py does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from graphrag.render.index_run import render_summary
from graphrag.runs.run import RunSummary

KEY = "graphrag-index"
MAX_ROWS = 200  # of a table artifact; the run's own tables hold the rest


def publish_report(summary: RunSummary, reason: str = "") -> None:
    """Make the artifacts of the flow run that is going on. reason: why the run was held or stopped."""
    tables = report_tables(summary)
    create_markdown_artifact(
        key=KEY,
        markdown=render_report(summary, tables, reason),
        description=f"Run {summary.run_id}: {summary.status}",
    )
    for name, rows in tables.items():
        if rows:
            create_table_artifact(key=f"{KEY}-{name}", table=rows[:MAX_ROWS], description=f"Run {summary.run_id}")


def report_tables(summary: RunSummary) -> dict[str, list[dict[str, Any]]]:
    """Rows of each table artifact by its name; empty where there is nothing to say."""
    changes = [
        {"table": table, "change": change, "rows": n}
        for table, counts in summary.changes.items()
        for change, n in counts.items()
    ]
    counts = [{"table": name, "rows": n} for name, n in summary.counts.items()]
    failures = [{"reason": reason, "rows": n} for reason, n in summary.failures_by_reason.items()]
    seconds = [{"stage": stage, "seconds": round(n, 1)} for stage, n in summary.seconds_by_stage.items()]
    return {
        "counts": counts,
        "changes": changes,
        "calls": summary.calls,
        "failures": failures,
        "seconds": seconds,
    }


def render_report(summary: RunSummary, tables: Mapping[str, list[dict[str, Any]]], reason: str) -> str:
    """The page: status, reason if it was held or stopped, figures, then changes and seconds as Markdown tables."""
    lines = [f"# Run {summary.run_id}: {summary.status}", ""]
    if reason:
        lines += [reason, ""]
    lines += ["```", render_summary(summary), "```"]
    for name in ("changes", "failures", "seconds"):
        if rows := tables[name]:
            lines += ["", f"## {name.capitalize()}", "", *_markdown_table(rows)]
    return "\n".join(lines) + "\n"


def _markdown_table(rows: list[dict[str, Any]]) -> list[str]:
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([str(value) for value in row.values()] for row in rows)]
    return [f"| {' | '.join(cells)} |" for cells in lines]
