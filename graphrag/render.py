"""What commands print: run summaries, answers, tables; for people or as JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from graphrag.errors import TableError, did_you_mean
from graphrag.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphrag.planning import Plan
    from graphrag.run import RunSummary
    from graphrag.search.answer import Answer, RelatedEntry, Usage
    from graphrag.store import Index

MAX_CELL = 80


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


def render_answer(answer: Answer, *, json: bool, context_only: bool, show_sources: bool) -> str:
    """The answer as JSON, its context alone, or its text; sources are one line a place with all that is cited there."""
    if json:
        return orjson.dumps(answer.to_json(with_context=context_only)).decode()
    if context_only:
        return answer.context
    lines = [answer.text]
    if show_sources and answer.citations:
        lines += ["", "Sources"]
        refs: dict[tuple[str, int, int, str], list[str]] = {}
        for citation in answer.citations:
            place = (citation.path, citation.start, citation.end, citation.quote)
            refs.setdefault(place, []).append(citation.ref)
        for (path, start, end, quote), names in refs.items():
            lines += [f"  {', '.join(dict.fromkeys(names))}  {path} [{start}:{end}]", f"    {' '.join(quote.split())}"]
    lines += render_related(answer)
    said = [*answer.notices, *render_usage(answer.usage)]
    return "\n".join([*lines, "", *said] if said else lines)


def render_related(answer: Answer) -> list[str]:
    """The documents that the answer cites with something that hangs on them, and that beneath. JSON has it for all
    that were listed."""
    cited = {citation.document for citation in answer.citations}
    titles = {source.document: source.title for source in answer.sources}
    titles |= {each.id: each.title for source in answer.sources if source.folded for each in source.folded.related}
    lines = []
    for source in answer.sources:
        if source.document not in cited or source.folded is None or not source.folded.related:
            continue
        marks = [f"{word} {', '.join(titles[i] for i in ids)}" for word, ids in source.marks if ids]
        lines.append(f"  {source.title}  {source.path}" + (f"  ({'; '.join(marks)})" if marks else ""))
        lines += [f"    {render_related_entry(each, each.title, titles)}" for each in source.folded.related]
    return ["", "Related", *lines] if lines else []


def render_related_entry(related: RelatedEntry, name: str, names: Mapping[str, str]) -> str:
    """`<- corrects NAME (via NAMES): NOTE | SUMMARY`. names: by document, for those between."""
    arrow = "->" if related.direction == "out" else "<-"
    aside = [f"via {', '.join(names[i] for i in related.via)}"] if related.via else []
    aside += ["neighbor"] if related.kind == "neighbor" else []
    said = " | ".join(" ".join(text.split()) for text in (related.note, related.summary) if text)
    return (
        f"{arrow} {related.relation} {name}"
        + (f" ({'; '.join(aside)})" if aside else "")
        + (f": {said}" if said else "")
    )


def render_usage(usage: Usage) -> list[str]:
    """`2 calls, 1 from the memo; 3,200 + 150 tokens, $0.0012`; none where no model was asked."""
    if not usage.is_of_model:
        return []
    calls = "1 call" if usage.calls == 1 else f"{usage.calls:,} calls"
    memo = f", {usage.from_memo:,} from the memo" if usage.from_memo else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return [f"{calls}{memo}; {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens, {cost}"]


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
