"""Basic search: the passages that match a question by words and by meaning, in order of likeness.

Where none does, a question about many documents at once is answered by a sentence of each (broad_answer.py). The graph
only tells which sentences of the passages say what needs what.

Reads text_units, documents, the inverted index and vectors; relationships for such questions. Does not: find passages
by the graph (local_search.py).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from graphrag.context import TokenCounter, pack
from graphrag.search.answer import NOTHING, Answer, Usage, compose_answer, with_context
from graphrag.search.cues import is_yes_no
from graphrag.search.entries.folded_entries import Fold, tell_refused
from graphrag.search.entries.folded_passages import fold_passages
from graphrag.search.extract import choose_quotes, quote_facts
from graphrag.search.overviews.broad_answer import answer_broadly
from graphrag.search.ranking import is_relevant, prepare_question, rank_rows
from graphrag.search.rows import Passage, list_text_units, load_passages
from graphrag.search.sections import check_budget, source_section
from graphrag.search.seeds import (
    explain_unknown_name,
    explain_unsettled,
    find_named_documents,
    find_named_entities,
    group_names,
    nearest_names,
)
from graphrag.search.walks.leading import find_leading
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_PASSAGES = 30
MAX_QUOTED_PASSAGES = 8
MAX_QUOTES = 5
WALKED = "A walk along relationships answers this in full: ask with --local."


def search_basic(
    index: Index,
    question: str,
    *,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    count: TokenCounter = count_tokens,
    fold: Fold | None = None,
) -> Answer:
    """The best sentences of the best passages, cited; sources are the passages, most alike first.

    model: `none` leaves vectors out, anything else means those of the index. fold: None leaves related documents apart.
    Raises UsageError for a budget below 1.
    """
    check_budget(budget_tokens)
    began = time.perf_counter()
    asked, notices = prepare_question(index, question, model=model)
    named, _ = find_named_entities(index, asked.text)
    if unknown := explain_unknown_name(index, asked.text, named):
        seconds = round(time.perf_counter() - began, 3)
        return Answer("basic", question, NOTHING, False, usage=Usage(seconds=seconds), notices=(*notices, unknown))
    walk = find_leading(index, asked.text, named)
    in_named = list_text_units(index, find_named_documents(index, asked.text))
    ranked = rank_rows(index, asked, "text_units", top=max(top, MAX_PASSAGES), first=in_named)
    scores = {hit.owner_id: hit.score for hit in ranked}

    def rank_more(n: int) -> list[Passage]:
        return load_passages(index, [h.owner_id for h in rank_rows(index, asked, "text_units", top=n, first=in_named)])

    folded = fold_passages(index, load_passages(index, list(scores)), scores, fold=fold, rank_more=rank_more)
    answer = Answer("basic", question, NOTHING, False, sources=folded.list_sources(top=top), notices=tuple(notices))
    cosines = {hit.owner_id: hit.cosine for hit in ranked}
    relevant = [
        p
        for p in folded.quotable[:MAX_QUOTED_PASSAGES]
        if p.id in in_named or is_relevant(asked, cosines.get(p.id, 0.0), p.text)
    ]
    if relevant:
        packed = pack([source_section(folded.passages, marks=folded.marks)], budget=budget_tokens, count=count)
        answer = with_context(answer, packed)
        shown = [p for p in relevant if p.human_readable_id in packed.ids["Sources"]]
        names = group_names(index, named)
        stated = quote_facts(walk.facts, shown, limit=MAX_QUOTES)
        quotes = stated or choose_quotes(asked, shown, folded.scores, limit=MAX_QUOTES, in_named=in_named, names=names)
        citations = [quote.to_citation() for quote in quotes]
        if quotes:
            lines = [*([walk.heading] if stated else []), *(quote.render() for quote in quotes)]
            answer = compose_answer(answer, lines, citations, packed=packed)
        elif is_yes_no(asked.text):
            answer = replace(answer, notices=(*answer.notices, explain_unsettled(named)))
    elif broad := answer_broadly(
        index, answer, asked, has_name=bool(named), narrowed=False, top=top, budget_tokens=budget_tokens, count=count
    ):
        answer = broad
    elif near := nearest_names(index, asked.text):
        answer = replace(answer, notices=(*answer.notices, near))
    if walk.facts:
        answer = replace(answer, notices=(*answer.notices, WALKED))
    answer = tell_refused(answer, folded.marks, folded.titles)
    seconds = round(time.perf_counter() - began, 3)
    return replace(answer, usage=Usage(context_tokens=answer.usage.context_tokens, seconds=seconds))
