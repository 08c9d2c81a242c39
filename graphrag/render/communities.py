"""What `graphrag communities` and `graphrag report` print for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphrag.digest import show_quote
from graphrag.index.report_context import say_left_out

MAX_MEMBERS = 25


def render_communities(rows: Sequence[Mapping[str, Any]]) -> str:
    """A tree: number, rank, size, title, each level indented."""
    numbers = [str(row["community"]) for row in rows]
    width = max(map(len, numbers))
    lines = [f"{'#':>{width}}  rank  size  title"]
    lines += [
        f"{number:>{width}}  {row['rank']:>4.1f}  {row['size']:>4,}  {'  ' * row['level']}{_one_line(row['title'])}"
        for number, row in zip(numbers, rows, strict=True)
    ]
    by_level: dict[int, int] = {}
    for row in rows:
        by_level[row["level"]] = by_level.get(row["level"], 0) + 1
    levels = ", ".join(f"level {level}: {n:,}" for level, n in sorted(by_level.items()))
    return "\n".join([*lines, "", f"{levels}. A report: graphrag report {numbers[0]}"])


def render_report(report: Mapping[str, Any]) -> str:
    """The report's Markdown, where it stands in the tree, and each cited row with path, offsets and quote."""
    head = [
        f"community {report['community']}, level {report['level']}, {_count(report['size'], 'entity', 'entities')}, "
        f"rank {report['rank']:.1f}, {WRITTEN_BY[report['method']]}"
    ]
    if report["parent"] >= 0:
        head.append(f"inside {report['parent']}: {_one_line(report['parent_title'])}")
    head += [f"holds {child['community']}: {_one_line(child['title'])}" for child in report["children"]]
    members = report["members"]
    more = f" and {len(members) - MAX_MEMBERS} more" if len(members) > MAX_MEMBERS else ""
    head.append(f"entities: {', '.join(map(_one_line, members[:MAX_MEMBERS]))}{more}")
    if left_out := say_left_out(report["left_out"]):
        head.append(f"the model was not shown, for want of room: {left_out}")
    lines = ["\n".join(head), report["full_content"], report["rating_explanation"]]
    if report["citations"]:
        lines.append("\n".join(["Cited:", *_render_citations(report["citations"])]))
    return "\n\n".join(filter(None, lines))


WRITTEN_BY = {"llm": "by a model", "extractive": "in the documents' words", "template": "by count"}


def _render_citations(citations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each place once, with all that is cited for it; rows without a place at the end."""
    by_place: dict[str, list[str]] = {}
    for cited in sorted(citations, key=lambda cited: cited["document"] is None):
        place = ""
        if cited["document"] is not None:
            place = f'{cited["path"]}:{cited["start"]}-{cited["end"]} "{show_quote(cited["quote"])}"'
        label = f" {_one_line(cited['label'])}" if cited["label"] else ""
        by_place.setdefault(place, []).append(f"    {cited['ref']}{label}")
    return [line for place, refs in by_place.items() for line in (*([f"  {place}"] if place else []), *refs)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _count(n: int, noun: str, plural: str) -> str:
    return f"{n:,} {noun if n == 1 else plural}"
