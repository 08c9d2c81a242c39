"""An answer that is a walk along relationships: its context, its lines, and the answer of a mode that shows only it.

Reads relationships, evidence, text_units, documents. Does not: find the walk (leading.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphrag.context import Packed, TokenCounter, pack
from graphrag.search.answer import Answer, compose_answer
from graphrag.search.extract import render_fact
from graphrag.search.rows import Fact, load_passages
from graphrag.search.sections import fact_section, list_facts, list_sources, source_section
from graphrag.search.walks.leading import Leading

if TYPE_CHECKING:
    from graphrag.store import Index

SHARES = {"Relationships": 0.6, "Sources": 0.4}


def pack_walk(index: Index, walk: Leading, *, budget_tokens: int, count: TokenCounter) -> Packed:
    """What stands above the walk, its hops, their passages and the lines below them, nothing else."""
    sections = [
        fact_section(walk.facts, share=SHARES["Relationships"]),
        source_section(load_passages(index, _list_units(walk.facts)), share=SHARES["Sources"]),
    ]
    around = "\n".join([walk.heading, *walk.after])
    n_around = count(around) + 1
    packed = pack(sections, budget=max(1, budget_tokens - n_around), count=count)
    if packed.n_tokens + n_around > budget_tokens:
        return packed
    text = "\n".join([walk.heading, packed.text.rstrip("\n"), *walk.after])
    return replace(packed, text=text, n_tokens=packed.n_tokens + n_around)


def render_walk(walk: Leading, facts: Sequence[Fact]) -> list[str]:
    """The lines of an answer; facts: those of the walk that the context holds."""
    return [walk.heading, *map(render_fact, facts), *walk.after]


def compose_walk(
    index: Index, draft: Answer, walk: Leading, *, top: int, budget_tokens: int, count: TokenCounter
) -> Answer:
    """The draft answered with what of the walk fits the budget, and the passages that say it as sources."""
    packed = pack_walk(index, walk, budget_tokens=budget_tokens, count=count)
    inside = set(packed.ids.get("Relationships", ()))
    facts = [fact for fact in walk.facts if fact.human_readable_id in inside]
    passages = load_passages(index, _list_units(facts))
    ranked = {passage.id: 1 / rank for rank, passage in enumerate(passages, start=1)}
    draft = replace(draft, sources=list_sources(passages, ranked, top=top), relationships=list_facts(facts))
    citations = [fact.to_citation() for fact in facts]
    return compose_answer(draft, render_walk(walk, facts), citations, packed=packed)


def _list_units(facts: Sequence[Fact]) -> list[str]:
    return list(dict.fromkeys(fact.text_unit_id for fact in facts if fact.text_unit_id))
