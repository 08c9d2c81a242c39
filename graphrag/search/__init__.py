"""Search: seeds, expand, rank, pack, answer. Reads the published tables, never imports the index stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphrag.search.answer import Answer
    from graphrag.search.entries.folded_entries import Fold
    from graphrag.search.model_answer import SearchModel
    from graphrag.search.notes.document_search import Routing
    from graphrag.search.reports.drift_search import DriftBounds
    from graphrag.store import Index


def answer_question(
    index: Index,
    question: str,
    *,
    mode: str,
    level: int,
    top: int,
    budget_tokens: int,
    model: str = "",
    dynamic: bool = False,
    llm: SearchModel | None = None,
    fold: Fold | None = None,
    routing: Routing | None = None,
    drift: DriftBounds | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Answer:
    """Answer in one of the modes local, global, drift, basic, documents; see the rooms of those names for the knobs.

    model: of vectors. llm: writes the answer; None gives an extract. on_text: sees the answer that llm writes as it
    grows, each time the whole text so far, before its citations are checked. fold: how local, basic, drift and
    documents search fold documents that are related; None: they do not. routing: how documents search chooses notes,
    drift: how far drift search follows up; None: as by default.
    """
    if mode == "global" and llm is not None:
        from graphrag.search.reports.global_answer import search_global_with_model

        return search_global_with_model(
            index,
            question,
            llm=llm,
            level=level,
            top=top,
            budget_tokens=budget_tokens,
            model=model,
            dynamic=dynamic,
            on_text=on_text,
        )
    if mode == "global":
        from graphrag.search.reports.global_search import search_global

        return search_global(
            index, question, level=level, top=top, budget_tokens=budget_tokens, model=model, dynamic=dynamic
        )
    if mode == "drift":
        from graphrag.search.reports.drift_search import DriftBounds, search_drift

        knobs: dict[str, Any] = {
            "bounds": drift or DriftBounds(), "level": level, "top": top, "budget_tokens": budget_tokens,
            "model": model, "fold": fold,
        }  # fmt: skip
        if llm is None:
            return search_drift(index, question, **knobs)
        from graphrag.search.reports.drift_answer import search_drift_with_model

        return search_drift_with_model(index, question, llm=llm, on_text=on_text, **knobs)
    if mode == "documents":
        from graphrag.search.notes.document_search import Routing, search_documents

        answer = search_documents(index, question, routing=routing or Routing(), top=top, model=model, fold=fold)
    elif mode == "basic":
        from graphrag.search.basic_search import search_basic

        answer = search_basic(index, question, top=top, budget_tokens=budget_tokens, model=model, fold=fold)
    else:
        from graphrag.search.local_search import search_local

        answer = search_local(index, question, top=top, budget_tokens=budget_tokens, model=model, fold=fold)
    if llm is None:
        return answer
    from graphrag.search.model_answer import answer_with_model

    return answer_with_model(index, answer, llm, on_text=on_text)
