"""Questions that a walk answers rather than a passage: what needs a thing, what most things need, and how two things
are related.

The answer is the relationships of the walk, each with its sentence, in the walk's order; for what breaks also the line
of what does not (specs: context graph 28 and 29). The walks are those of dependents.py and relations_between.py.

Reads relationships, evidence, entities. Does not: find the names in the question, or fill a context.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.cues import is_negated
from graphrag.search.lookups import one_of
from graphrag.search.rows import Fact, load_facts
from graphrag.search.walks.dependents import (
    asks_for_dependents,
    asks_for_most_needed,
    find_dependents,
    find_most_needed,
)
from graphrag.search.walks.impact import render_survivors
from graphrag.search.walks.relations_between import asks_for_relation, find_relation

if TYPE_CHECKING:
    from graphrag.search.seeds import NamedEntity
    from graphrag.store import Index

MAX_LINES = 20
MAX_NEXT_TOLD = 4  # what most others need, behind the first


class Leading(NamedTuple):
    """`heading` stands above the facts, `after` below them; all empty where no walk answers."""

    heading: str = ""
    facts: tuple[Fact, ...] = ()
    after: tuple[str, ...] = ()


def find_leading(index: Index, question: str, named: Sequence[NamedEntity]) -> Leading:
    """The walk that answers the question about the entities that it names, if one does."""
    if is_negated(question):
        return Leading()
    if not named:
        return _find_most_needed(index) if asks_for_most_needed(question) else Leading()
    if asks_for_dependents(question):
        found = find_dependents(index, [entity.entity_id for entity in named])
        facts = load_facts(index, found.relationships)[:MAX_LINES]
        after = tuple(render_survivors(found.survivors, found.n_survivors)) if facts else ()
        return Leading("What leads to it, nearest first:", tuple(facts), after)
    titles = list(dict.fromkeys(entity.title for entity in named))
    if len(titles) == 2 and asks_for_relation(question):
        facts = load_facts(index, find_relation(index, *titles))
        return Leading(f"How {titles[0]} and {titles[1]} are related:", tuple(facts))
    return Leading()


def _find_most_needed(index: Index) -> Leading:
    """The walk from what most others need, and the next ones below it."""
    risks = find_most_needed(index, top=1 + MAX_NEXT_TOLD)
    if not risks:
        return Leading()
    first, *others = risks
    is_one, titles = one_of("title", [first.title])
    ids = index.frame(f"select id from entities where {is_one}", titles)["id"].to_list()
    facts = load_facts(index, find_dependents(index, ids).relationships)
    n = first.n_impacted
    need = "other needs" if n == 1 else "others need"
    heading = f"{first.title}: {n} {need} it, directly or through others, nearest first:"
    more = [f"... and {len(facts) - MAX_LINES} more"] if len(facts) > MAX_LINES else []
    told = ", ".join(f"{risk.title} ({risk.n_impacted})" for risk in others)
    return Leading(heading, tuple(facts[:MAX_LINES]), (*more, *([f"next: {told}"] if told else [])))
