"""What `graphrag evaluate --judge` prints below its table: scores, preferences, how far the judge can be trusted, and
what it all cost."""

from __future__ import annotations

from typing import Any

import polars as pl

from graphrag.render.evaluation import show_difference, show_doubt, show_share
from graphrag.search.evaluation.evaluation import AGAIN
from graphrag.search.evaluation.judging import HIGHEST, SCORES, Judged
from graphrag.search.evaluation.measures import N_RESAMPLES
from graphrag.search.evaluation.preferences import Position, sum_up


def render_judged(judged: Judged, calls: pl.DataFrame) -> str:
    """Scores a method, paired differences, preferences with the A/A run, the judge's bias of place, and the calls
    (CallLedger.totals). Below the table of `render_evaluation`."""
    found = sum_up(judged)
    lines = [f"Judged, 0 to {HIGHEST}, means of the answered questions:", ""]
    lines += [f"| method | judged | {' | '.join(SCORES)} |", "|---|---:|" + "---:|" * len(SCORES)]
    for row in found.scores.iter_rows(named=True):
        means = ["" if row[name] is None else f"{row[name]:.2f}" for name in SCORES]
        lines.append(f"| {row['method']} | {row['judged']} | {' | '.join(means)} |")
    if n := int(found.scores["unread"].sum()):
        lines.append(f"{n} of {judged.scores.height} replies could not be read, asked twice; they count nowhere.")
    for row in found.differences.iter_rows(named=True):
        if row["measure"] == SCORES[0]:
            lines += ["", f"{row['method']} against {found.reference} (95 % interval, {N_RESAMPLES:,} resamples):"]
        counts = f"{row['wins']} better, {row['losses']} worse"
        lines.append(f"  {row['measure']:<13} {show_difference(row)}  {counts}{show_doubt(row)}")
    for row in found.preferences.iter_rows(named=True):
        lines += ["", *_render_preference(row)]
    lines += ["", *_render_position(found.position), "", *_render_calls(calls)]
    return "\n".join(lines)


def _render_preference(row: dict[str, Any]) -> list[str]:
    """The outcome of a pair of methods, each pair of answers shown in both orders."""
    n = row["wins"] + row["ties"] + row["losses"]
    ties = f"{row['ties']} tied"
    ties += f", {row['contradicted']} of them because the orders disagree" if row["contradicted"] else ""
    if row["method"].endswith(f" {AGAIN}"):
        decided = row["wins"] + row["losses"]
        lines = [f"A/A run, {row['against']} against itself: {decided} of {n} decided though nothing differs; {ties}."]
    else:
        outcome = f"{row['wins']} times, the other way {row['losses']} times; {ties}"
        lines = [f"{row['method']} preferred to {row['against']}, in both orders: {outcome}."]
    lines += [f"  mean of +1, 0, -1: {show_difference(row)}{show_doubt(row)}"] if n else []
    lines += [f"  {row['unread']} pairs with a reply that could not be read, asked twice."] if row["unread"] else []
    return lines


def _render_position(position: Position) -> list[str]:
    if not position.n_decided:
        return ["Place: the judge preferred no answer to another."]
    share = show_share(position.n_first / position.n_decided)
    both = f"both orders name the first in {position.n_both_first} pairs, the second in {position.n_both_second}"
    lines = [
        f"Place: {position.n_first} of {position.n_decided} verdicts ({share}) prefer the answer shown first; {both}."
    ]
    if position.is_biased:
        chance = f"p = {position.probability:.2g}, sign test"
        lines.append(f"  The judge favours a place ({chance}): trust only what both orders agree on.")
    return lines


def _render_calls(calls: pl.DataFrame) -> list[str]:
    """A line a stage and model, and the total."""
    lines = []
    for row in calls.iter_rows(named=True):
        memo = f", {row['from_memo']:,} from the memo" if row["from_memo"] else ""
        failed = f", {row['failed']:,} failed" if row["failed"] else ""
        cost = "cost unknown" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        tokens = f"{row['prompt_tokens']:,} + {row['completion_tokens']:,} tokens"
        lines.append(f"{row['stage']} ({row['model']}): {row['calls']:,} calls{memo}{failed}; {tokens}, {cost}")
    costs = calls["cost_usd"]
    total = "unknown" if costs.null_count() else f"${costs.sum():.4f}"
    return [*lines, f"Total: {int(calls['calls'].sum()):,} calls, {total}"]


def describe_judged(judged: Judged, calls: pl.DataFrame) -> dict[str, Any]:
    """For --json, under "judged"."""
    found = sum_up(judged)
    return {
        "methods": found.scores.to_dicts(),
        "differences": found.differences.to_dicts(),
        "preferences": found.preferences.to_dicts(),
        "position": {**found.position._asdict(), "is_biased": found.position.is_biased},
        "scores": judged.scores.to_dicts(),
        "verdicts": judged.verdicts.to_dicts(),
        "calls": calls.to_dicts(),
    }
