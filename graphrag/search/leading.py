"""Questions that a walk answers rather than a passage: what needs a thing, and how two things are related.

The answer is the relationships of the walk, each with its sentence, in the walk's order; for what breaks also the line
of what does not (specs: context graph 28 and 29). The walks are those of dependents.py and relations_between.py.

Reads relationships, evidence, entities. Does not: find the names in the question, or fill a context.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.cues import is_negated
from graphrag.search.dependents import asks_for_dependents, find_dependents
from graphrag.search.impact import render_survivors
from graphrag.search.lookups import one_of
from graphrag.search.relations_between import asks_for_relation, find_relation
from graphrag.search.rows import Fact, load_facts

if TYPE_CHECKING:
    from graphrag.search.seeds import NamedEntity
    from graphrag.store import Index

MAX_LINES = 20
MAX_SURVIVORS_TOLD = 8  # the best connected; `graphrag impact` lists more


class Leading(NamedTuple):
    """`heading` stands above the facts, `after` below them; all empty where no walk answers."""

    heading: str = ""
    facts: tuple[Fact, ...] = ()
    after: tuple[str, ...] = ()


def find_leading(index: Index, question: str, named: Sequence[NamedEntity]) -> Leading:
    """The walk that answers the question about the entities that it names, if one does."""
    if not named or is_negated(question):
        return Leading()
    if asks_for_dependents(question):
        found = find_dependents(index, [entity.entity_id for entity in named])
        facts = load_facts(index, found.relationships)[:MAX_LINES]
        after = _tell_survivors(index, found.survivors) if facts else ()
        return Leading("What leads to it, nearest first:", tuple(facts), after)
    titles = list(dict.fromkeys(entity.title for entity in named))
    if len(titles) == 2 and asks_for_relation(question):
        facts = load_facts(index, find_relation(index, *titles))
        return Leading(f"How {titles[0]} and {titles[1]} are related:", tuple(facts))
    return Leading()


def _tell_survivors(index: Index, survivors: list[str]) -> tuple[str, ...]:
    is_one, titles = one_of("title", survivors)
    best = index.frame(
        f"select title from entities where {is_one} order by pagerank desc, title limit {MAX_SURVIVORS_TOLD}", titles
    )["title"].to_list()
    told = [title for title in survivors if title in best]
    return tuple(render_survivors([*told, *(title for title in survivors if title not in best)], most=len(told)))
