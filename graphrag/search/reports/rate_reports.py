"""A model's word on which reports have to do with a question, one call a report: for dynamic selection.

Does not: walk the hierarchy (select_communities.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphrag.citations import drop_citations
from graphrag.context import TokenCounter, cut_text
from graphrag.llm.chat import ChatRequest, Message
from graphrag.replies.objects import parse_rating_reply
from graphrag.search.model_answer import SearchModel, ask_all
from graphrag.search.reports.select_communities import Rate
from graphrag.search.rows import Report

STAGE = "search_rate"
MAX_REPLY, USUAL_REPLY = 300, 40  # tokens


def rate_reports(
    model: SearchModel, question: str, reports: Mapping[int, Report], *, budget_tokens: int, count: TokenCounter
) -> Rate:
    """A model's ratings of `reports` (by community), one call each, those of a level at once; a report longer than the
    budget is cut with a mark."""
    prompt, repair = model.prompts["rate_report"], model.prompts["repair_reply"].render({})[0].content

    def write_request(number: int) -> ChatRequest:
        report = reports[number]
        text = cut_text(drop_citations(report.full_content), budget=budget_tokens, count=count)
        messages = prompt.render({"description": text, "question": question})
        return ChatRequest(
            stage=STAGE,
            role="search",
            messages=tuple(Message(message.role, message.content) for message in messages),
            prompt_version=prompt.sha256,
            max_tokens=MAX_REPLY,
            expected_tokens=USUAL_REPLY,
            accept=lambda text: parse_rating_reply(text) is not None,
            repair=repair,
        )

    def rate(numbers: Sequence[int]) -> list[float | None]:
        replies = ask_all(model.llm, [write_request(number) for number in numbers])
        return [parse_rating_reply(reply.text) if reply.is_good else None for reply in replies]

    return rate
