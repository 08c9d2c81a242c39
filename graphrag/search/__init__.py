"""Search: seeds, expand, rank, pack, answer. Reads the published tables, never imports the index stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphrag.search.answer import Answer
    from graphrag.store import Index


def answer_question(
    index: Index, question: str, *, mode: str, level: int, top: int, budget_tokens: int, model: str = ""
) -> Answer:
    """Answer in one of the modes local, global, basic; see the rooms of those names for the knobs."""
    if mode == "global":
        from graphrag.search.global_search import search_global

        return search_global(index, question, level=level, top=top, budget_tokens=budget_tokens, model=model)
    if mode == "basic":
        from graphrag.search.basic_search import search_basic

        return search_basic(index, question, top=top, budget_tokens=budget_tokens, model=model)
    from graphrag.search.local_search import search_local

    return search_local(index, question, top=top, budget_tokens=budget_tokens, model=model)
