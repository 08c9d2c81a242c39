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
    titles = list(dict.fromkeys(entity.title for entity in named))
    if asks_for_dependents(question):
        found = find_dependents(index, [entity.entity_id for entity in named])
        if not (facts := load_facts(index, found.relationships)):
            return Leading()
        survivors = render_survivors(found.survivors, found.n_survivors)
        return _lead(titles, found.n_dependents, facts, survivors)
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
    told = ", ".join(f"{risk.title} ({risk.n_impacted})" for risk in others)
    return _lead([first.title], first.n_impacted, facts, [f"next: {told}"] if told else [])


def _lead(titles: Sequence[str], n: int, facts: Sequence[Fact], after: Sequence[str]) -> Leading:
    """The walk to the `n` that need the things of these titles."""
    need, them = "other needs" if n == 1 else "others need", "it" if len(titles) == 1 else "them"
    heading = f"{' and '.join(titles)}: {n} {need} {them}, directly or through others, nearest first:"
    shown = tuple(facts[:MAX_LINES])
    more = [f"... and {n - len(shown)} more"] if n > len(shown) else []
    return Leading(heading, shown, (*more, *after))
