"""The way of a question through the door, with a scripted model: memo, second try, budget, ledger, ends of runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import BudgetSpent, LlmError, Unauthorized, Unavailable
from graphrag.llm.budget import Budget
from graphrag.llm.chat import ChatReply, ChatRequest, Completion, Message, chat_key
from graphrag.llm.door import chat_many
from graphrag.llm.ledger import CallLedger
from graphrag.llm.prices import Price
from graphrag.llm.replay import ScriptedFault, ScriptedLlm
from graphrag.memo import Memo

DOLLAR_A_TOKEN = Price(1.0, 1.0, 1.0)


def ask(text: str, **options: Any) -> ChatRequest:
    return ChatRequest("extraction", "extract", (Message("user", text),), **options)


def question(request: ChatRequest) -> str:
    return request.messages[0].content


def replies_of(llm: ScriptedLlm, *requests: ChatRequest) -> list[ChatReply]:
    return llm.run(chat_many(llm, requests))


def test_second_run_asks_nothing_and_says_the_same(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo") as memo:
        first = replies_of(ScriptedLlm(lambda r: question(r) * 2, memo=memo), ask("a"), ask("b"))
        llm = ScriptedLlm(lambda r: "other", memo=memo)
        second = replies_of(llm, ask("a"), ask("b"))
    assert [r.text for r in second] == [r.text for r in first] == ["aa", "bb"]
    assert llm.requests == []
    assert [(r.is_cached, r.cost_usd, r.prompt_tokens) for r in second] == [(True, 0.0, 0)] * 2
    assert llm.ledger.frame().select("cached", "status", "attempts").rows() == [(True, "ok", 0)] * 2


@pytest.mark.parametrize(
    "other",
    [
        ask("b"),
        ask("a", max_tokens=7),
        ask("a", temperature=None),
        ask("a", is_json=True),
        ask("a", prompt_version="2"),
        ChatRequest("extraction", "extract", (Message("system", "a"),)),
    ],
)
def test_key_is_that_of_all_that_determines_the_reply(other: ChatRequest) -> None:
    assert chat_key(ask("a"), "m") != chat_key(other, "m")
    assert chat_key(ask("a"), "m") != chat_key(ask("a"), "n")


def test_key_is_not_that_of_who_asks_or_reads() -> None:
    reader = ChatRequest("claims", "judge", ask("a").messages, accept=str.isdigit, repair="again", expected_tokens=3)
    assert chat_key(ask("a"), "m") == chat_key(reader, "m")
    assert chat_key(ask("a"), "m") == "01b625b9f2e2be3087e351def7cf1bd1151a347212a9079cd6c906f8a6790ce6"


def test_unreadable_first_and_good_at_the_second_try(tmp_path: Path) -> None:
    def stubborn(request: ChatRequest) -> str:
        return "7" if request.messages[-1].content == "Digits only." else "seven"

    request = ask("how many", accept=str.isdigit, repair="Digits only.")
    with Memo(tmp_path / "memo") as memo:
        llm = ScriptedLlm(stubborn, memo=memo)
        (reply,) = replies_of(llm, request)
        assert (reply.text, reply.status) == ("7", "ok")
        assert [tuple(m) for m in llm.requests[1].messages] == [
            ("user", "how many"), ("assistant", "seven"), ("user", "Digits only."),
        ]  # fmt: skip
        statuses = llm.ledger.frame()["status"].to_list()
        assert statuses == ["unreadable_reply", "ok"]
        again = ScriptedLlm(stubborn, memo=memo)
        known = replies_of(again, request)[0]
        assert (known.text, known.unrepaired) == ("7", "seven")
        assert again.requests == []


@pytest.mark.parametrize("repair", ["", "Again."])
def test_a_reply_that_stays_bad_is_never_kept(tmp_path: Path, repair: str) -> None:
    request = ask("q", accept=str.isdigit, repair=repair)
    with Memo(tmp_path / "memo") as memo:
        for _ in range(2):
            llm = ScriptedLlm(lambda r: "prose", memo=memo)
            (reply,) = replies_of(llm, request)
            assert (reply.status, reply.text) == ("unreadable_reply", "prose")
            assert len(llm.requests) == (2 if repair else 1)


def test_an_empty_reply_is_asked_again_without_an_empty_turn() -> None:
    llm = ScriptedLlm(lambda r: "" if len(r.messages) == 1 else "there", max_retries=0)
    (reply,) = replies_of(llm, ask("q", repair="Please answer."))
    assert reply.text == "there"
    assert [m.role for m in llm.requests[1].messages] == ["user", "user"]


def test_a_cut_reply_and_its_continuation_are_two_questions_and_both_are_kept(tmp_path: Path) -> None:
    """What extraction does with a reply that was cut at the token limit."""

    def cut_once(request: ChatRequest) -> Completion:
        return Completion("a\nb\nha", "length") if len(request.messages) == 1 else Completion("c\nd")

    async def ask_twice(llm: ScriptedLlm) -> list[str]:
        first = await llm.chat(ask("q"))
        assert first.status == "truncated"
        rest = await llm.chat(ask("q").followed_by(first.text, "Go on."))
        return [*first.text.split("\n")[:-1], *rest.text.split("\n")]

    with Memo(tmp_path / "memo") as memo:
        for n_asked in (2, 0):
            llm = ScriptedLlm(cut_once, memo=memo)
            assert llm.run(ask_twice(llm)) == ["a", "b", "c", "d"]
            assert len(llm.requests) == n_asked


def test_what_an_older_reader_accepted_is_asked_again(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo") as memo:
        replies_of(ScriptedLlm(lambda r: "seven", memo=memo), ask("q"))
        (reply,) = replies_of(ScriptedLlm(lambda r: "7", memo=memo), ask("q", accept=str.isdigit))
    assert reply.text == "7"


def test_a_damaged_record_is_asked_again(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo") as memo:
        memo.put_many("llm", {chat_key(ask("q"), "scripted"): b"[not a reply"})
        assert replies_of(ScriptedLlm(lambda r: "fine", memo=memo), ask("q"))[0].text == "fine"


def test_equal_questions_under_way_are_paid_once() -> None:
    async def slow(request: ChatRequest) -> str:
        await asyncio.sleep(0.01)
        return "x"

    llm = ScriptedLlm(slow)
    replies = replies_of(llm, *[ask("same")] * 5, ask("other"))
    assert len(llm.requests) == 2
    assert [r.text for r in replies] == ["x"] * 6
    assert llm.ledger.frame()["cached"].sum() == 4


def test_replies_are_handed_over_as_they_come_and_kept_when_the_run_is_cancelled(tmp_path: Path) -> None:
    async def answer(request: ChatRequest) -> str:
        await asyncio.sleep(3600 if question(request) == "9" else 0)
        return question(request)

    seen: list[str] = []

    async def run(memo: Memo) -> None:
        work = chat_many(ScriptedLlm(answer, memo=memo), requests, on_reply=lambda q, r: seen.append(r.text))
        await asyncio.wait_for(work, 0.2)

    requests = [ask(str(number)) for number in range(10)]
    with Memo(tmp_path / "memo") as memo:
        with pytest.raises(TimeoutError):
            asyncio.run(run(memo))
        assert sorted(seen) == list("012345678")
        llm = ScriptedLlm(lambda r: question(r), memo=memo)
        assert [r.text for r in replies_of(llm, *requests)] == list("0123456789")
        assert list(map(question, llm.requests)) == ["9"]


def test_one_slow_call_never_stalls_the_rest() -> None:
    done: list[str] = []

    async def answer(request: ChatRequest) -> str:
        await asyncio.sleep(0.3 if question(request) == "0" else 0.001)
        return question(request)

    llm = ScriptedLlm(answer, max_concurrency=2)
    llm.run(chat_many(llm, [ask(str(n)) for n in range(50)], on_reply=lambda q, r: done.append(r.text)))
    assert done[-1] == "0"


def test_budget_stops_before_the_call_that_might_pass_it_and_keeps_what_was_paid(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> Completion:
        return Completion("yes", prompt_tokens=10, completion_tokens=10)

    requests = [ask(f"question number {n:04}", max_tokens=20) for n in range(100)]
    with Memo(tmp_path / "memo") as memo:
        first = ScriptedLlm(answer, price=DOLLAR_A_TOKEN, budget=Budget(limit_usd=200.0), memo=memo)
        with pytest.raises(
            BudgetSpent, match=r"^The budget of \$200\.0000 is spent: .* run again with a larger budget"
        ):
            replies_of(first, *requests)
        assert 200 - 30 <= first.budget.spent_usd <= 200
        assert first.budget.spent_usd == first.ledger.frame()["cost_usd"].sum()
        second = ScriptedLlm(answer, price=DOLLAR_A_TOKEN, memo=memo)
        replies_of(second, *requests)
    assert len(first.requests) + len(second.requests) == 100
    assert BudgetSpent.exit_code == 5


def test_token_budget_needs_no_price() -> None:
    llm = ScriptedLlm(
        lambda r: Completion("yes", prompt_tokens=10, completion_tokens=10), budget=Budget(limit_tokens=100)
    )
    with pytest.raises(BudgetSpent, match=r"^The budget of 100 tokens is spent"):
        replies_of(llm, *(ask(f"q{n}", max_tokens=10) for n in range(50)))
    assert 60 <= llm.budget.spent_tokens <= 100


def test_usd_budget_needs_a_price() -> None:
    with pytest.raises(LlmError, match=r'^No price for "scripted"\. Set llm\.price or use --max-tokens\.$'):
        ScriptedLlm(lambda r: "x", budget=Budget(limit_usd=1.0))


def test_the_repair_of_a_reply_is_paid_from_the_budget_too() -> None:
    llm = ScriptedLlm(lambda r: Completion("bad", prompt_tokens=5, completion_tokens=5), price=DOLLAR_A_TOKEN)
    replies_of(llm, ask("q", accept=str.isdigit, repair="Digits."))
    assert llm.budget.spent_usd == 20.0


@pytest.mark.parametrize(
    ("fault", "error", "line"),
    [
        (ScriptedFault(401), Unauthorized, "401 from scripted. Check the key in the environment."),
        (ScriptedFault(429, retry_after="86400"), Unavailable,
         "429 from scripted: told to wait 86400 s. Run again later: what was done is kept."),
    ],
)  # fmt: skip
def test_a_fatal_fault_stops_new_questions_and_keeps_answers_under_way(
    tmp_path: Path, fault: Exception, error: type[LlmError], line: str
) -> None:
    async def answer(request: ChatRequest) -> str:
        await asyncio.sleep(0.01)
        if question(request) == "5":
            raise fault
        await asyncio.sleep(0.05)
        return "paid"

    with Memo(tmp_path / "memo") as memo:
        llm = ScriptedLlm(answer, memo=memo, max_concurrency=8)
        with pytest.raises(error) as caught:
            replies_of(llm, *(ask(str(n)) for n in range(100)))
        assert str(caught.value) == line
        asked = list(map(question, llm.requests))
        assert len(asked) == 8
        keys = [chat_key(ask(text), "scripted") for text in asked if text != "5"]
        assert len(memo.get_many("llm", keys)) == 7


def test_a_mistake_in_a_program_is_no_fault_of_a_call() -> None:
    def broken(request: ChatRequest) -> str:
        raise KeyError("oops")

    with pytest.raises(KeyError):
        replies_of(ScriptedLlm(broken), ask("q"))


def test_when_every_call_fails_each_has_its_row_and_the_run_ends_soon() -> None:
    def down(request: ChatRequest) -> str:
        raise ScriptedFault(500)

    llm = ScriptedLlm(down)
    replies = replies_of(llm, *(ask(str(n)) for n in range(200)))
    assert Counter(r.status for r in replies) == {"unavailable": 200}
    assert llm.ledger.frame().height == 200
    assert len(llm.requests) < 100


def test_ledger_rows_are_those_of_the_table(tmp_path: Path) -> None:
    ledger = CallLedger("run-1", path=tmp_path / "calls.jsonl")
    answer = Completion("yes", prompt_tokens=10, completion_tokens=2, cached_tokens=4)
    llm = ScriptedLlm(lambda r: answer, ledger=ledger, price=Price(2.0, 8.0, 1.0))
    replies_of(llm, ask("a"))
    row = ledger.frame().row(0, named=True)
    assert row["key"] == chat_key(ask("a"), "scripted")
    assert (row["run_id"], row["stage"], row["model"], row["cached"]) == ("run-1", "extraction", "scripted", False)
    assert (row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"]) == (10, 2, 4)
    assert row["cost_usd"] == 6 * 2.0 + 4 * 1.0 + 2 * 8.0
    assert (row["attempts"], row["status"]) == (1, "ok")
    assert ledger.totals().select("calls", "from_memo", "failed").row(0) == (1, 0, 0)
    assert (tmp_path / "calls.jsonl").read_bytes().count(b"\n") == 1
