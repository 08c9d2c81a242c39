"""Streamed replies through the door: words as they come, and the same reply, usage, memo and budget as without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import BudgetSpent
from graphrag.llm.budget import Budget
from graphrag.llm.chat import ChatReply, ChatRequest, Completion, Message
from graphrag.llm.door import Llm, chat_many
from graphrag.llm.litellm_door import LiteLlm
from graphrag.llm.prices import Price
from graphrag.llm.recording import Recording
from graphrag.llm.replay import ReplayLlm, ScriptedLlm
from graphrag.llm.retries import Retries
from graphrag.memo import Memo

from .fake_server import FakeServer, Reply, serve

WORDS = "Redis fell over again."


def ask_streamed(llm: Llm, **options: Any) -> tuple[ChatReply, list[str]]:
    """The reply, and what was seen of it on the way."""
    seen: list[str] = []
    request = ChatRequest("search", "search", (Message("user", "why?"),), on_text=seen.append, **options)
    (reply,) = llm.run(chat_many(llm, [request]))
    return reply, seen


def open_door(server: FakeServer, **options: Any) -> LiteLlm:
    retries = Retries(max_retries=2, backoff_seconds=0.01, outage_seconds=0.0)
    return LiteLlm("openai/fake", api_base=server.url, price=[1.0, 2.0], retries=retries, **options)


def test_words_come_one_by_one_with_the_usage_of_the_service_and_from_the_memo_at_once(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}
    with serve(lambda _question, _attempt: Reply(WORDS, usage=usage)) as server, Memo(tmp_path / "memo") as memo:
        llm = open_door(server, memo=memo)
        reply, seen = ask_streamed(llm)
        assert (reply.text, reply.status) == (WORDS, "ok")
        assert seen[:4] == ["Redis ", "Redis fell ", "Redis fell over ", WORDS] and set(seen[4:]) == {WORDS}
        assert (reply.prompt_tokens, reply.completion_tokens, reply.is_estimated) == (1000, 500, False)
        assert reply.cost_usd == pytest.approx(0.002)
        again, seen = ask_streamed(llm)
        assert again.is_cached and again.text == WORDS and seen == [WORDS]
        assert server.bodies[0]["stream"] and len(server.bodies) == 1
    assert llm.ledger.frame()["cached"].to_list() == [False, True]


def test_a_stream_that_breaks_is_begun_again() -> None:
    with serve(lambda _question, attempt: Reply(WORDS, cut=2 if attempt == 1 else None)) as server:
        reply, seen = ask_streamed(open_door(server))
    assert reply.text == WORDS and reply.attempts == 2
    assert seen[:3] == ["Redis ", "Redis fell ", "Redis "] and seen[-1] == WORDS


def test_a_stream_without_usage_is_counted_all_the_same_and_one_that_is_cut_says_so() -> None:
    with serve(lambda _question, _attempt: Reply(WORDS, usage=None, finish_reason="length")) as server:
        reply, _ = ask_streamed(open_door(server))
    assert reply.status == "truncated" and reply.prompt_tokens > 3 and reply.completion_tokens > 3


def test_a_fault_before_the_first_word_is_the_same_as_without_a_stream() -> None:
    with serve(lambda _question, attempt: Reply(status=500) if attempt == 1 else Reply(WORDS)) as server:
        reply, seen = ask_streamed(open_door(server))
    assert reply.text == WORDS and reply.attempts == 2 and seen[0] == "Redis "


def test_the_budget_stops_before_the_first_word() -> None:
    llm = ScriptedLlm(lambda _request: WORDS, price=Price(1.0, 1.0, 1.0), budget=Budget(limit_usd=0.5))
    with pytest.raises(BudgetSpent):
        ask_streamed(llm, max_tokens=100)


def test_a_script_and_a_recording_stream_too(tmp_path: Path) -> None:
    llm = ScriptedLlm(lambda _request: Completion(WORDS, prompt_tokens=5, completion_tokens=3))
    llm.record_in(Recording(tmp_path / "replies.jsonl"))
    reply, seen = ask_streamed(llm)
    assert seen[:2] == ["Redis ", "Redis fell "] and seen[-1] == reply.text == WORDS
    replayed, seen = ask_streamed(ReplayLlm(tmp_path / "replies.jsonl"))
    assert seen[:2] == ["Redis ", "Redis fell "] and replayed.text == WORDS


def test_a_reply_that_was_mended_is_shown_afresh() -> None:
    llm = ScriptedLlm(lambda request: "no" if len(request.messages) == 1 else "yes it is")
    reply, seen = ask_streamed(llm, accept=lambda text: text.startswith("yes"), repair="Say yes.")
    assert reply.text == "yes it is" and seen == ["no", "yes ", "yes it ", "yes it is", "yes it is"]
