"""The real litellm against a loopback server: every fault a provider may have, and none of them costs a neighbour."""

from __future__ import annotations

import asyncio

import pytest

from graphrag.chat import ChatReply, ChatRequest, Message
from graphrag.llm import LiteLlm, chat_many

from .fake_llm import Reply, Script, serve


def ask(text: str) -> ChatRequest:
    return ChatRequest("extraction", "extract", (Message("system", "You extract."), Message("user", text)))


def test_first() -> None:
    with serve(lambda q, n: Reply(f"{q}!")) as server:
        llm = LiteLlm("openai/fake", api_base=server.url)
        replies = asyncio.run(chat_many(llm, [ask("a"), ask("b")]))
        replies += asyncio.run(chat_many(llm, [ask("a"), ask("b")]))
    assert [r.text for r in replies] == ["a!", "b!"]*2
