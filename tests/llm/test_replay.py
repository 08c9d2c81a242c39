"""Recorded replies come back; a question without one says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import InputError, ReplyMiss
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.llm.door import Llm, chat_many
from graphrag.llm.recording import Recording
from graphrag.llm.replay import ReplayLlm, ScriptedLlm
from graphrag.memo import Memo


def ask(text: str, **options: Any) -> ChatRequest:
    return ChatRequest("extraction", "extract", (Message("user", text),), **options)


def replies_of(llm: Llm, *requests: ChatRequest) -> list[ChatReply]:
    return llm.run(chat_many(llm, requests))


def test_a_recording_answers_as_the_model_did_second_tries_and_memo_hits_included(tmp_path: Path) -> None:
    requests = [ask("a"), ask("b", accept=str.isdigit, repair="Digits."), ask("c")]
    with Memo(tmp_path / "memo") as memo:
        replies_of(ScriptedLlm(lambda r: "C", memo=memo), ask("c"))
        recording = Recording(tmp_path / "replies.jsonl")
        llm = ScriptedLlm(lambda r: "7" if len(r.messages) > 1 else "A", memo=memo)
        llm.record_in(recording)
        live = replies_of(llm, *requests)
    replayed = replies_of(ReplayLlm(tmp_path / "replies.jsonl"), *requests)
    assert [(r.text, r.status) for r in replayed] == [(r.text, r.status) for r in live]
    assert [r.text for r in replayed] == ["A", "7", "C"]


def test_a_question_that_was_not_recorded_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    llm = ScriptedLlm(lambda r: "A")
    llm.record_in(Recording(path))
    replies_of(llm, ask("a"))
    with pytest.raises(ReplyMiss, match=r'no reply for extraction: "b\.\.\."\. Record it again\.'):
        replies_of(ReplayLlm(path), ask("b"))


def test_a_file_that_is_no_recording_says_where(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read the recording"):
        ReplayLlm(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl").write_text('{"key": "k", "text": "t", "status": "ok"}\n{"text": "t"}\n')
    with pytest.raises(InputError, match=r"bad\.jsonl line 2 is no recorded reply"):
        ReplayLlm(tmp_path / "bad.jsonl")
