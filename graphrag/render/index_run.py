"""What commands print of an index run: what it did, or what it would do."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from graphrag.planning import Plan
    from graphrag.runs.run import RunSummary


def render_summary(summary: RunSummary) -> str:
    counts = summary.counts
    if summary.status == "unchanged":
        first = f"Nothing has changed: the published index stands ({summary.seconds:.1f} s)."
    else:
        first = f"Run {summary.run_id}: {summary.status} in {summary.seconds:.1f} s."
    levels = ", ".join(f"level {level}: {n}" for level, n in summary.communities_by_level.items()) or "none"
    lines = [
        first,
        f"  documents      {counts['documents']:>7,}",
        f"  text units     {counts['text_units']:>7,}",
        f"  entities       {counts['entities']:>7,}" + _render_unconnected(summary),
        f"  relationships  {counts['relationships']:>7,}   {render_origins(summary)}",
        f"  communities    {counts['communities']:>7,}   {levels}",
        f"  reports        {counts['community_reports']:>7,}",
    ]
    n_failures = sum(summary.failures_by_reason.values())
    reasons = ", ".join(f"{reason} {n}" for reason, n in summary.failures_by_reason.items())
    lines.append(f"  failures       {n_failures:>7,}" + (f"   {reasons}" if reasons else ""))
    lines += render_changes(summary.changes)
    lines += render_calls(summary.calls)
    if summary.seconds_by_stage:
        slowest = sorted(summary.seconds_by_stage.items(), key=lambda item: -item[1])[:5]
        lines.append("  seconds        " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in slowest))
    return "\n".join([*lines, *summary.notices])


def _render_unconnected(summary: RunSummary) -> str:
    n_unconnected = summary.entities_by_place.get("unconnected", 0)
    return f"   {n_unconnected:,} without a relationship" if n_unconnected else ""


def render_origins(summary: RunSummary) -> str:
    """`149 stated, 299 names that share a sentence; 482 pieces of evidence`."""
    n_together = summary.relationships_by_origin.get("cooccurrence", 0)
    n_stated = summary.counts["relationships"] - n_together
    together = f", {n_together:,} of names that share a sentence" if n_together else ""
    return f"{n_stated:,} stated{together}; {summary.counts['evidence']:,} pieces of evidence"


def render_changes(changes: dict[str, dict[str, int]]) -> list[str]:
    """One line: `entities 3 added, 1 removed; ...`; none on a first run."""
    told = [
        f"{table.replace('_', ' ')} " + ", ".join(f"{n:,} {change}" for change, n in counts.items())
        for table, counts in changes.items()
    ]
    return ["  changes        " + "; ".join(told)] if told else []


def render_calls(calls: list[dict[str, Any]]) -> list[str]:
    """One line a stage and model that was asked: calls, from the memo, tokens, cost."""
    lines = []
    for row in calls:
        cost = "cost unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        failed = f", {row['failed']:,} failed" if row["failed"] else ""
        memo = f", {row['from_memo']:,} from the memo" if row["from_memo"] else ""
        lines.append(
            f"  {row['stage']:<14} {row['calls']:>7,} calls of {row['model']}{failed}{memo}; "
            f"{row['prompt_tokens']:,} + {row['completion_tokens']:,} tokens, {cost}"
        )
    return lines


def render_plan(plan: Plan) -> str:
    lines = [f"{plan.n_documents:,} documents, {plan.n_text_units:,} text units."]
    for row in plan.calls.iter_rows(named=True):
        low, high = row["usd_low"], row["usd_high"]
        cost = "price unknown" if low is None else f"${low:.4f} to ${high:.4f}"
        lines.append(
            f"  {row['stage']:<14} {row['calls']:>7,} calls of {row['model']}, {row['from_memo']:,} in the memo; "
            f"{row['prompt_tokens']:,} + {row['completion_tokens_low']:,} to {row['completion_tokens_high']:,} tokens, "
            f"{cost}"
        )
    return "\n".join([*lines, *plan.notes])


def render_plan_json(plan: Plan) -> str:
    value = plan._asdict() | {"calls": plan.calls.to_dicts()}
    return orjson.dumps(value).decode()


def render_summary_json(summary: RunSummary) -> str:
    return orjson.dumps(dataclasses.asdict(summary), option=orjson.OPT_NON_STR_KEYS).decode()
