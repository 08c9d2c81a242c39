"""Global search with a model: the reports of a level, or those that dynamic selection finds, mapped and reduced; beside
them, where a question is about many documents, things or relationships at once, excerpts of these.

Each report of the roll-up is read once. A question that names something the index does not know is answered without a
call, as in every mode. The same question again takes all replies from the memo.

Reads communities, community_reports, documents, text_units. Does not: answer without a model (global_search.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphrag.context import TokenCounter
from graphrag.llm.ledger import collect_calls
from graphrag.search.answer import NOTHING, Answer
from graphrag.search.model_answer import SearchModel, count_usage
from graphrag.search.ranking import prepare_question
from graphrag.search.reports.global_search import answer_beyond_reports, drop_theme_words, find_relevant
from graphrag.search.reports.levels import Hierarchy, explain_missing, load_hierarchy, select_reports
from graphrag.search.reports.map_reduce import NO_EXCERPTS, Batch, answer_from_reports, takes_excerpts
from graphrag.search.reports.rate_reports import rate_reports
from graphrag.search.reports.select_communities import select_communities
from graphrag.search.rows import load_reports
from graphrag.search.sections import check_budget, check_level
from graphrag.search.seeds import NamedEntity, explain_unknown_name, find_named_entities
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index


def search_global_with_model(
    index: Index,
    question: str,
    *,
    llm: SearchModel,
    level: int = 1,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    dynamic: bool = False,
    on_text: Callable[[str], None] | None = None,
    count: TokenCounter = count_tokens,
) -> Answer:
    """The model's answer from community reports, every sentence citing them; sources are passages they quote.

    budget_tokens: of reports in one map question, and of points in the reduce question. model: of vectors, for
    dynamic selection. on_text sees the words of the
    answer as they come, before they are checked. Raises UsageError for a budget
    below 1 or a negative level, SearchError when the index has no reports, and what the model's door raises.
    """
    check_budget(budget_tokens)
    check_level(level)
    began = time.perf_counter()
    hierarchy = load_hierarchy(index)
    answer = Answer("global", question, NOTHING, False)
    named = find_named_entities(index, question)[0]
    if unknown := explain_unknown_name(index, question, named):
        answer = replace(answer, notices=(unknown,))
    else:
        with collect_calls() as calls:
            if dynamic:
                selected, notices = _select_dynamically(
                    index, hierarchy, question, llm, level=level, budget_tokens=budget_tokens, model=model, count=count
                )
            else:
                selected, missing = select_reports(hierarchy, level=level)
                notices = explain_missing(missing, level=level)
            answer = answer_from_reports(
                index,
                replace(answer, notices=tuple(notices)),
                load_reports(index, selected),
                hierarchy.n_text_units,
                model=llm,
                budget_tokens=budget_tokens,
                top=top,
                excerpts=_find_excerpts(index, question, named, llm, budget_tokens=budget_tokens, count=count),
                on_text=on_text,
                count=count,
            )
        answer = count_usage(answer, calls)
    return replace(answer, usage=replace(answer.usage, seconds=round(time.perf_counter() - began, 3)))


def _find_excerpts(
    index: Index,
    question: str,
    named: Sequence[NamedEntity],
    llm: SearchModel,
    *,
    budget_tokens: int,
    count: TokenCounter,
) -> Batch:
    """What an answer without a model would rest on besides reports: reports tell of communities, and not what recurs in
    documents, or what needs what. Empty for a question that asks for neither."""
    if not takes_excerpts(llm.prompts["global_search_map"]):
        return NO_EXCERPTS
    asked, _ = prepare_question(index, question, model="none")
    draft = Answer("global", question, NOTHING, False)
    found = answer_beyond_reports(index, draft, asked, named, top=1, budget_tokens=budget_tokens, count=count)
    return Batch(found.context, found.context_ids) if found else NO_EXCERPTS


def _select_dynamically(
    index: Index,
    hierarchy: Hierarchy,
    question: str,
    llm: SearchModel,
    *,
    level: int,
    budget_tokens: int,
    model: str,
    count: TokenCounter,
) -> tuple[list[str], list[str]]:
    """Ids of the reports to read, and a notice on what was rated.

    The model rates what words and meaning find, and what they do not; they show the way down, where only a fine report
    speaks of what was asked. A question about the whole has no such words.
    """
    asked = drop_theme_words(prepare_question(index, question, model=model)[0])
    every = load_reports(index, list(hierarchy.reports.values()))
    followed = find_relevant(index, hierarchy, asked, every) if asked.terms else set()
    reports = {report.community: report for report in every}
    rate = rate_reports(llm, asked, reports, found=followed, budget_tokens=budget_tokens, count=count)
    found = select_communities(hierarchy, level=level, rate=rate, followed=followed)
    notices = [f"{found.n_rated} reports rated, {len(found.report_ids)} read."]
    if found.n_unread:
        notices.append(f"{found.n_unread} ratings could not be read: what they are about was kept.")
    return found.report_ids, notices
