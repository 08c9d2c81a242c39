"""One passage put to a model: the question, the rest of a reply that was cut, gleanings, and a split in two.

What a model answered in all turns about one passage is one `PassageReply`. Repair of an unreadable reply, retries,
memo and budget are the door's (graphrag/llm).

Does not: know what the records mean; the stage (extraction.py, claims.py) gives the question and a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from graphrag.index.passages import Excerpt, Passage
from graphrag.llm import Llm
from graphrag.llm.chat import ChatReply, ChatRequest
from graphrag.llm.concurrency import map_concurrently


class PassageReply(NamedTuple):
    """`turns`: the texts of all replies, `are_cut`: which of them ended at the token limit.

    `problem` is empty or the reason of a failure: of the whole passage where `turns` is empty; else unreadable_reply
    (over half of it), truncated (the rest could not be had), gleaning_failed, or why the repair of a reply over half
    of which is unreadable could not be had (timeout, unavailable, ...).
    """

    passage: Passage
    turns: tuple[str, ...]
    are_cut: tuple[bool, ...]
    problem: str
    detail: str


@dataclass(frozen=True, slots=True)
class PassageQuestions:
    """How to ask about a passage. render: the first question. n_records: readable records of a text, and whether it
    ends in the middle of one. go_on: what the user says for the rest of a reply, and for a gleaning."""

    render: Callable[[Passage], ChatRequest]
    read: Callable[[str], tuple[int, bool]]
    go_on: str
    max_gleanings: int = 0


async def ask_passages(
    llm: Llm,
    excerpts: Mapping[Excerpt, int],
    questions: PassageQuestions,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[Excerpt, list[PassageReply]]:
    """For each excerpt what was answered, in its halves where it had to be split. Those without a sentence are not
    asked. `excerpts` says for how many text units one stands: `advance` gets the number when it is done.

    Raises what `Llm.chat` raises; what was answered by then is in the memo.
    """

    async def ask(excerpt: Excerpt) -> list[PassageReply]:
        passage = Passage(excerpt.text, header=excerpt.header)
        return await _ask_or_split(llm, passage, questions) if passage.sentences else []

    def count(excerpt: Excerpt, _: object) -> None:
        advance(excerpts[excerpt])

    replies = await map_concurrently(ask, excerpts, in_flight=llm.in_flight, on_result=count)
    return dict(zip(excerpts, replies, strict=True))


async def _ask_or_split(llm: Llm, passage: Passage, questions: PassageQuestions) -> list[PassageReply]:
    reply, is_too_long = await _ask(llm, passage, questions)
    halves = passage.halves() if is_too_long else []
    return [(await _ask(llm, half, questions))[0] for half in halves] or [reply]


async def _ask(llm: Llm, passage: Passage, questions: PassageQuestions) -> tuple[PassageReply, bool]:
    request = questions.render(passage)
    reply = await llm.chat(request)
    first = _lost_by_repair(reply, questions)
    if first and not reply.is_good and reply.status != "too_long":
        return PassageReply(passage, (first,), (questions.read(first)[1],), reply.status, reply.detail), False
    if not reply.text.strip() or (not reply.is_good and reply.status != "unreadable_reply"):
        return PassageReply(passage, (), (), reply.status, reply.detail), reply.status == "too_long"
    turns, problem, detail = [reply], "", ""
    if reply.status == "unreadable_reply":
        problem, detail = reply.status, reply.detail
    elif _is_cut(reply, questions):
        if detail := await _go_on(llm, request, turns, questions):
            problem = "truncated"
        elif _is_cut(turns[-1], questions):
            problem, detail = "truncated", "the rest of the reply was cut off too"
    for _ in range(0 if problem else questions.max_gleanings):
        if detail := await _go_on(llm, request, turns, questions):
            problem = "gleaning_failed"
        if problem or not questions.read(turns[-1].text)[0]:
            break
    texts, are_cut = [turn.text for turn in turns], [turn.status == "truncated" for turn in turns]
    if first:
        texts, are_cut = [first, *texts], [questions.read(first)[1], *are_cut]
    return PassageReply(passage, tuple(texts), tuple(are_cut), problem, detail), False


def _lost_by_repair(reply: ChatReply, questions: PassageQuestions) -> str:
    """The unusable reply before a repair that holds more records than the repaired one; empty if it does not."""
    n_kept = questions.read(reply.text)[0] if reply.text.strip() else 0
    return reply.unrepaired if reply.unrepaired and questions.read(reply.unrepaired)[0] > n_kept else ""


def _is_cut(reply: ChatReply, questions: PassageQuestions) -> bool:
    return reply.status == "truncated" or questions.read(reply.text)[1]


async def _go_on(llm: Llm, request: ChatRequest, turns: list[ChatReply], questions: PassageQuestions) -> str:
    """Asks for what is missing behind `turns` and appends the reply; in words what went wrong where there is none."""
    for turn in turns:
        request = request.followed_by(_whole_lines(turn, questions), questions.go_on)
    reply = await llm.chat(replace(request, repair=""))
    if reply.is_good:
        turns.append(reply)
        return ""
    return f"asked for the rest: {reply.status} ({reply.detail})"


def _whole_lines(turn: ChatReply, questions: PassageQuestions) -> str:
    """The reply without a half line at its end, which the model would take for written."""
    text = turn.text.rstrip()
    if _is_cut(turn, questions) and (kept := text.rpartition("\n")[0].rstrip()):
        return kept
    return text
