"""A model's word on which reports have to do with a question, many reports a call: for dynamic selection.

A rating has to cost much less than reading: a report is shown by its title and the sentence that holds most of the
question's words; where none holds any, by the start of its summary if something else speaks for it, else by its title
alone. Reports are numbered 1..n inside a call. Those that a reply leaves out, or rates in two ways, are asked for once
more, in calls of their own; what is missing then has no rating.

Does not: walk the hierarchy (select_communities.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from graphrag.citations import drop_citations
from graphrag.context import CUT_MARK, TokenCounter, cut_text, escape_cell
from graphrag.llm.chat import ChatRequest, Message
from graphrag.prompts import Prompt
from graphrag.replies.objects import parse_ratings_reply
from graphrag.search.model_answer import SearchModel, ask_all
from graphrag.search.ranking import Question
from graphrag.search.reports.map_reduce import fit_next
from graphrag.search.reports.select_communities import Rate
from graphrag.search.rows import Report
from graphrag.search.support import choose_span

STAGE = "search_rate"
MAX_START = 16  # tokens of a summary
TOKENS_OF_REPLY, TOKENS_OF_RATING = 100, 10  # bound a reply
USUAL_RATING = 5  # tokens


def rate_reports(
    model: SearchModel,
    question: Question,
    reports: Mapping[int, Report],
    *,
    found: Collection[int],
    budget_tokens: int,
    count: TokenCounter,
) -> Rate:
    """A model's ratings of `reports` (by community): those asked for together go out at once, as many in a call as fit
    budget_tokens; a line longer than the budget is cut with a mark.

    found: communities for which words or meaning speak. Raises what ask_all raises.
    """
    lines = _Lines(question, reports, found, budget_tokens, count)

    def rate(numbers: Sequence[int]) -> list[float | None]:
        ratings = _ask(model, lines, numbers)
        if missing := [number for number in numbers if number not in ratings]:
            ratings |= _ask(model, lines, missing)
        return [ratings.get(number) for number in numbers]

    return rate


class _Lines(NamedTuple):
    """What is shown of reports to somebody who rates them."""

    question: Question
    reports: Mapping[int, Report]
    found: Collection[int]
    budget: int
    count: TokenCounter

    def render(self, number: int) -> str:
        """`title|content`, one line; `title` where nothing speaks for the report of this community."""
        report = self.reports[number]
        content = drop_citations(report.full_content)
        span = choose_span(content, " ".join(self.question.terms))
        told = content[slice(*span)] if span else ""
        if not self.question.held_in(told):
            told = self._start_of(report.summary) if number in self.found or not self.question.terms else ""
        return cut_text(
            "|".join(map(escape_cell, filter(None, (report.title, told)))), budget=self.budget, count=self.count
        )

    def _start_of(self, summary: str) -> str:
        """Whole words."""
        cut = cut_text(drop_citations(summary), budget=MAX_START, count=self.count)
        return cut.removesuffix(CUT_MARK).rpartition(" ")[0] if cut.endswith(CUT_MARK) else cut


def _ask(model: SearchModel, lines: _Lines, numbers: Sequence[int]) -> dict[int, float]:
    """The ratings that can be read, by community."""
    shown = [lines.render(number) for number in numbers]
    batches = fit_next([lines.count(line) for line in shown], budget=lines.budget)
    prompt, question = model.prompts["rate_reports"], lines.question.text
    replies = ask_all(model.llm, [write_request(prompt, [shown[at] for at in batch], question) for batch in batches])
    return {
        numbers[batch[place - 1]]: rating
        for batch, reply in zip(batches, replies, strict=True)
        if reply.is_good
        for place, rating in parse_ratings_reply(reply.text, n=len(batch)).items()
    }


def write_request(prompt: Prompt, lines: Sequence[str], question: str) -> ChatRequest:
    table = "\n".join(f"{place}|{line}" for place, line in enumerate(lines, start=1))
    messages = prompt.render({"reports": table, "question": question})
    return ChatRequest(
        stage=STAGE,
        role="search",
        messages=tuple(Message(message.role, message.content) for message in messages),
        prompt_version=prompt.sha256,
        max_tokens=TOKENS_OF_REPLY + TOKENS_OF_RATING * len(lines),
        expected_tokens=USUAL_RATING * len(lines),
        accept=lambda text: bool(parse_ratings_reply(text, n=len(lines))),
    )
