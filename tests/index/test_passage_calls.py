"""Turns about a passage: the rest of a cut reply, gleanings, a split in two, and what ends them."""

from __future__ import annotations

from collections import Counter

import pytest

from graphrag.errors import Unauthorized
from graphrag.index.extraction import ask_about
from graphrag.index.passage_calls import PassageReply, ask_passages
from graphrag.index.passages import Excerpt
from graphrag.llm.chat import ChatRequest, Completion
from graphrag.llm.replay import ScriptedFault, ScriptedLlm

from .model_rows import PROMPTS, TYPES, passage_of

ENTITY = '["E","Redis","database","A cache"]'
TEXT = "Redis is a cache. Kafka is a queue. Redis feeds Kafka. Kafka stays."


def ask(llm: ScriptedLlm, *texts: str, max_gleanings: int = 0) -> dict[str, list[PassageReply]]:
    questions = ask_about(PROMPTS, entity_types=TYPES, max_gleanings=max_gleanings, max_reply_tokens=500)
    excerpts = Counter(Excerpt(text) for text in texts or (TEXT,))
    return {excerpt.text: found for excerpt, found in llm.run(ask_passages(llm, excerpts, questions)).items()}


def only(found: dict[str, list[PassageReply]]) -> PassageReply:
    (replies,) = found.values()
    (reply,) = replies
    return reply


def test_texts_without_a_sentence_are_never_asked() -> None:
    llm = ScriptedLlm(lambda request: ENTITY)
    found = ask(llm, TEXT, "---\n", "")
    assert len(llm.requests) == 1
    assert found["---\n"] == found[""] == []
    assert found[TEXT][0].turns == (ENTITY,)


def test_a_cut_reply_is_continued_once_behind_its_whole_lines() -> None:
    """hostile-inputs B7."""

    def script(request: ChatRequest) -> Completion:
        if len(request.messages) == 2:
            return Completion(f'{ENTITY}\n["E","Kaf', "length")
        assert [message.content for message in request.messages[2:]] == [ENTITY, PROMPTS.go_on.user]
        return Completion('["E","Kafka","service","A queue"]')

    llm = ScriptedLlm(script)
    reply = only(ask(llm))
    assert (len(reply.turns), reply.are_cut, reply.problem) == (2, (True, False), "")
    assert len(llm.requests) == 2


@pytest.mark.parametrize("second", ["cut", "error", "prose"])
def test_what_was_whole_stays_where_the_rest_cannot_be_had(second: str) -> None:
    def script(request: ChatRequest) -> Completion:
        if len(request.messages) == 2 or second == "cut":
            return Completion(f'{ENTITY}\n["E","Kaf', "length")
        if second == "error":
            raise ScriptedFault(500)
        return Completion("Here is what I think of it.")

    reply = only(ask(ScriptedLlm(script, max_retries=1)))
    assert reply.turns[0].startswith(ENTITY)
    assert reply.problem == "truncated"


def test_a_reply_cut_without_a_word_of_it_is_noticed() -> None:
    turns = iter([f'{ENTITY}\n["E","Kaf', '["E","Kafka","service","A queue"]'])
    llm = ScriptedLlm(lambda request: next(turns))
    assert len(only(ask(llm)).turns) == 2


def test_gleaning_ends_when_nothing_is_missing_or_at_its_limit() -> None:
    """hostile-inputs B20."""
    endless = ScriptedLlm(lambda request: f'["E","Redis","database","{len(request.messages)}"]')
    assert len(only(ask(endless, max_gleanings=3)).turns) == 4
    satisfied = ScriptedLlm(lambda request: ENTITY if len(request.messages) == 2 else "NONE")
    assert len(only(ask(satisfied, max_gleanings=3)).turns) == 2
    assert len(satisfied.requests) == 2


def test_a_gleaning_that_fails_loses_nothing() -> None:
    def script(request: ChatRequest) -> str:
        if len(request.messages) > 2:
            raise ScriptedFault(500)
        return ENTITY

    reply = only(ask(ScriptedLlm(script, max_retries=0), max_gleanings=1))
    assert (reply.turns, reply.problem) == ((ENTITY,), "gleaning_failed")


def test_a_text_that_is_too_long_is_split_in_two_once() -> None:
    """hostile-inputs B5."""

    def script(request: ChatRequest) -> str:
        if len(passage_of(request)) > 60:
            raise ScriptedFault(400, "This model's maximum context length is 100 tokens.")
        return ENTITY

    (replies,) = ask(ScriptedLlm(script)).values()
    assert "".join(reply.passage.text for reply in replies) == TEXT
    assert [reply.turns for reply in replies] == [(ENTITY,), (ENTITY,)]

    def always(request: ChatRequest) -> str:
        raise ScriptedFault(400, "This model's maximum context length is 100 tokens.")

    llm = ScriptedLlm(always)
    (replies,) = ask(llm).values()
    assert [reply.problem for reply in replies] == ["too_long", "too_long"]
    assert len(llm.requests) == 3


def test_an_unreadable_reply_is_asked_for_again_once_and_kept_as_far_as_it_goes() -> None:
    """hostile-inputs B9."""
    turns = iter(["Well, there is Redis.", ENTITY])
    assert only(ask(ScriptedLlm(lambda request: next(turns)))).problem == ""
    half = f"{ENTITY}\n- Kafka (queue)\n- Vault (store)"
    llm = ScriptedLlm(lambda request: half)
    reply = only(ask(llm))
    assert (reply.turns, reply.problem) == ((half,), "unreadable_reply")
    assert len(llm.requests) == 2


def test_a_refused_key_ends_it_all() -> None:
    def script(request: ChatRequest) -> str:
        raise ScriptedFault(401, "bad key")

    with pytest.raises(Unauthorized):
        ask(ScriptedLlm(script))


@pytest.mark.parametrize("second", ["prose", "error", "fewer"])
def test_what_was_readable_before_a_repair_that_is_worse_is_not_lost(second: str) -> None:
    first = "\n".join([ENTITY, '["E","Kafka","service","A queue"]', *['["E","","service",""]'] * 9])

    def script(request: ChatRequest) -> str:
        if len(request.messages) == 2:
            return first
        if second == "error":
            raise ScriptedFault(500)
        return '["E","Redis","database","A cache"]' if second == "fewer" else "I cannot do that."

    reply = only(ask(ScriptedLlm(script, max_retries=0)))
    assert reply.turns[0] == first
    problem = {"prose": "unreadable_reply", "error": "unavailable", "fewer": ""}[second]
    assert (len(reply.turns), reply.problem) == (2 if second == "fewer" else 1, problem)


def test_a_repair_that_holds_as_much_stands_alone() -> None:
    first = "\n".join([ENTITY, *['["E","","service",""]'] * 9])
    reply = only(ask(ScriptedLlm(lambda request: first if len(request.messages) == 2 else ENTITY)))
    assert (reply.turns, reply.problem) == ((ENTITY,), "")
