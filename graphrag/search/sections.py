"""What is shown of what was found: the sections of a context, and the lists of an answer.

Does not: load rows (rows.py), rank them, or fill a budget (graphrag/context.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl

from graphrag.context import Section, section
from graphrag.errors import UsageError
from graphrag.search.answer import Source
from graphrag.search.rows import Fact, Passage, Report, describe_vague


def check_budget(budget_tokens: int) -> None:
    """Raises UsageError for a budget that can hold nothing."""
    if budget_tokens < 1:
        raise UsageError(f"--budget-tokens must be 1 or more, got {budget_tokens}.")


def check_level(level: int) -> None:
    """Raises UsageError for a level that no hierarchy has."""
    if level < 0:
        raise UsageError(f"--level must be 0 or more, got {level}.")


def source_section(
    passages: Sequence[Passage], *, share: float = 1.0, marks: Mapping[str, str] = MappingProxyType({})
) -> Section:
    """marks: by document, what its title is followed by in brackets."""
    said = {document: f" ({mark})" for document, mark in marks.items()}
    rows = [
        (p.human_readable_id, p.title + said.get(p.document, ""), " > ".join(p.heading_path), p.text) for p in passages
    ]
    frame = _frame(rows, "title", "heading", "text")
    return section("Sources", frame, {"title": "document", "heading": "heading", "text": "text"}, share=share)


def fact_section(facts: Sequence[Fact], *, share: float = 1.0) -> Section:
    rows = [
        (f.human_readable_id, f.source, f.predicate, f.target, f"{f.weight:g}", describe_vague(f) or f.quote)
        for f in facts
    ]
    names = ("source", "predicate", "target", "weight", "evidence")
    return section("Relationships", _frame(rows, *names), {name: name for name in names}, share=share)


def entity_section(entities: Sequence[Mapping[str, Any]], *, share: float = 1.0) -> Section:
    rows = [(e["human_readable_id"], e["title"], e["type"], e["description"]) for e in entities]
    names = ("entity", "type", "description")
    return section("Entities", _frame(rows, *names), {name: name for name in names}, share=share)


def report_section(reports: Sequence[Report], *, share: float = 1.0, full: bool = False) -> Section:
    rows = [(r.human_readable_id, r.title, r.full_content if full else r.summary) for r in reports]
    return section("Reports", _frame(rows, "title", "content"), {"title": "title", "content": "content"}, share=share)


def list_sources(passages: Sequence[Passage], scores: Mapping[str, float], *, top: int) -> tuple[Source, ...]:
    """The first `top` passages with their rank, 1 the best."""
    return tuple(
        Source(rank, p.id, p.document, p.title, p.path, round(scores.get(p.id, 0.0), 6))
        for rank, p in enumerate(passages[:top], start=1)
    )


def list_facts(facts: Sequence[Fact]) -> tuple[dict[str, Any], ...]:
    names = ("id", "human_readable_id", "source", "predicate", "target", "weight", "origin")
    return tuple({name: getattr(fact, name) for name in names} for fact in facts)


def list_reports(reports: Sequence[Report]) -> tuple[dict[str, Any], ...]:
    names = ("id", "human_readable_id", "community", "level", "title", "rank")
    return tuple({name: getattr(report, name) for name in names} for report in reports)


def _frame(rows: Sequence[tuple[Any, ...]], *names: str) -> pl.DataFrame:
    schema = {"human_readable_id": pl.Int64(), **dict.fromkeys(names, pl.String())}
    return pl.DataFrame(list(rows), schema=schema, orient="row")
