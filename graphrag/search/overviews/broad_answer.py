"""An answer to a question about many things at once: which of one type relate to which of another, what documents of a
kind say, which things of a type there are.

Local search asks for it before it looks around what the question names, basic search where no passage is alike, global
search before it ranks reports; with a model it is shown beside them.

Reads what relationships_of_types.py, overview.py and entities_of_type.py read. Does not: walk (walks/), or find
reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphrag.context import TokenCounter
from graphrag.search.answer import Answer
from graphrag.search.overviews.entities_of_type import compose_entities, find_entities_of_type
from graphrag.search.overviews.overview import compose_overview, find_overview
from graphrag.search.overviews.relationships_of_types import compose_pairs, find_relationships_of_types
from graphrag.search.ranking import Question
from graphrag.search.rows import Report
from graphrag.search.walks.dependents import asks_for_most_needed

if TYPE_CHECKING:
    from graphrag.store import Index


def answer_broadly(
    index: Index,
    draft: Answer,
    asked: Question,
    *,
    has_name: bool,
    narrowed: bool,
    top: int,
    budget_tokens: int,
    count: TokenCounter,
    reports: Sequence[Report] = (),
    level: int = 0,
) -> Answer | None:
    """The draft answered so; None for any other question.

    has_name: whether the question names an entity. narrowed: also about the documents of a kind that speak of what it
    names. reports, of `level`: those that may be cited beside passages.
    """
    if not has_name and asks_for_most_needed(asked.text):
        return None  # a walk answers it
    if pairs := find_relationships_of_types(index, asked.text):
        return compose_pairs(index, draft, pairs, top=top, budget_tokens=budget_tokens, count=count)
    if has_name and not narrowed:
        return None
    if overview := find_overview(index, asked, narrowed=narrowed, reports=reports):
        return compose_overview(
            index, draft, overview, reports, level=level, top=top, budget_tokens=budget_tokens, count=count
        )
    if listing := find_entities_of_type(index, asked):
        return compose_entities(index, draft, listing, top=top, budget_tokens=budget_tokens, count=count)
    return None
