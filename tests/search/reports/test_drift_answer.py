"""Drift search by a model: primer, follow-ups, one answer; what goes wrong on the way, and what it may cost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphrag.errors import BudgetSpent, SearchError, Unavailable, UsageError
from graphrag.llm import ChatRequest, ScriptedFault, ScriptedLlm
from graphrag.llm.budget import Budget
from graphrag.llm.prices import Price
from graphrag.memo import Memo
from graphrag.prompts import load_prompt
from graphrag.search import answer_question
from graphrag.search.answer import NOTHING, Answer
from graphrag.search.model_answer import SearchModel
from graphrag.search.reports.drift_answer import NO_REPORT
from graphrag.search.reports.drift_search import DriftBounds
from graphrag.search_model import PROMPTS_OF_MODE
from graphrag.store import Index

from ..conftest import MakeIndex

PROMPTS = {name: load_prompt(name) for name in PROMPTS_OF_MODE["drift"]}
QUESTION = "What does the login flow depend on?"
FOLLOW_UPS = ("What does the Auth Service depend on?", "What is the token cache backed by?")
Script = Callable[[ChatRequest], str]


def ask(index: Index, llm: ScriptedLlm, question: str = QUESTION, **knobs: Any) -> Answer:
    given = {"level": 1, "top": 10, "budget_tokens": 4000, "drift": DriftBounds(**knobs.pop("bounds", {})), **knobs}
    return answer_question(index, question, mode="drift", llm=SearchModel(lambda: llm, PROMPTS), **given)


def first_row(request: ChatRequest, dataset: str) -> int:
    found = re.search(r"^(\d+)\|", request.text.partition(f"-----{dataset}-----")[2], re.MULTILINE)
    assert found, dataset
    return int(found[1])


def step(answer: str, *follow_ups: str, score: int = 80) -> str:
    return json.dumps({"response": answer, "score": score, "follow_up_queries": list(follow_ups)})


def find_source(request: ChatRequest) -> str:
    """`The text of the first source [Data: Sources (n)].`"""
    table = request.text.partition("-----Sources-----")[2]
    row = re.search(r"^(\d+)\|(?:[^|\n]*)\|(?:[^|\n]*)\|([^|\n]*?)\.?$", table, re.MULTILINE)
    assert row
    return f"{row[2]} [Data: Sources ({row[1]})]."


def reply(request: ChatRequest) -> str:
    """Two follow-ups from the primer, the first source for each, all of it in the last answer."""
    if request.stage == "search_drift_primer":
        number = first_row(request, "Reports")
        return step(f"The login flow depends on the Auth Service [Data: Reports ({number}, 999)].", *FOLLOW_UPS)
    if request.stage == "search_drift_step":
        return step(find_source(request))
    return "\n".join(f"- {line.rpartition('|')[2]}" for line in steps_in(request))


def steps_in(request: ChatRequest) -> list[str]:
    table = request.text.partition("score|question|answer\n")[2].partition("\nDATA-")[0]
    return [line for line in table.splitlines() if line]


def count_stages(llm: ScriptedLlm) -> dict[str, int]:
    return dict(Counter(request.stage.removeprefix("search_drift_") for request in llm.requests))


def test_a_primer_two_follow_ups_and_a_last_question(r8: Index, r8_texts: dict[str, str]) -> None:
    llm = ScriptedLlm(reply, price=Price(1.0, 2.0, 1.0))
    answer = ask(r8, llm)
    assert answer.mode == "drift" and answer.answered
    assert count_stages(llm) == {"primer": 1, "step": 2, "reduce": 1} and answer.usage.calls == 4
    assert answer.usage.cost_usd and answer.usage.context_tokens > 0
    assert {citation.kind for citation in answer.citations} == {"community_reports", "text_units"}
    for citation in answer.citations:
        assert r8_texts[citation.path][citation.start : citation.end] == citation.quote
    assert "999" not in answer.text and answer.text.count("[Data: ") == 3
    assert answer.usage.unsupported_sentences == 0 < answer.usage.sentences
    assert answer.reports and answer.entities and answer.relationships
    assert [source.rank for source in answer.sources] == list(range(1, len(answer.sources) + 1))
    asked = [request.text for request in llm.requests if request.stage == "search_drift_step"]
    assert all(QUESTION in text for text in asked)
    assert [question for question, text in zip(FOLLOW_UPS, sorted(asked, key=lambda t: FOLLOW_UPS[1] in t), strict=True)
            if question in text] == list(FOLLOW_UPS)  # fmt: skip


def test_what_a_step_says_without_a_citation_is_cited_and_what_it_invents_is_dropped(r8: Index) -> None:
    def say(request: ChatRequest) -> str:
        if request.stage == "search_drift_step":
            bare = find_source(request).partition(" [Data")[0]
            return step(f"{bare}. It was painted blue by seven dwarfs.")
        return reply(request)

    llm = ScriptedLlm(say)
    answer = ask(r8, llm)
    steps = steps_in(llm.requests[-1])
    assert len(steps) == 3 and all("[Data: " in line and "dwarfs" not in line for line in steps)
    assert answer.answered and "Steps" not in answer.text and answer.context.startswith("score|question|answer\n")
    assert {citation.kind for citation in answer.citations} >= {"community_reports"}
    assert not any("were removed" in notice for notice in answer.notices)


def test_the_same_question_again_is_the_same_answer_from_the_memo(r8: Index, tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        first = ask(r8, ScriptedLlm(reply, memo=memo))
        llm = ScriptedLlm(reply, memo=memo)
        again = ask(r8, llm)
    assert not llm.requests and (again.usage.calls, again.usage.from_memo) == (0, 4)
    assert (again.text, again.citations, again.sources) == (first.text, first.citations, first.sources)


def test_a_primer_without_follow_ups_is_the_answer(r8: Index) -> None:
    def say(request: ChatRequest) -> str:
        return step(f"The login flow depends on the Auth Service [Data: Reports ({first_row(request, 'Reports')})].")

    llm = ScriptedLlm(say)
    answer = ask(r8, llm)
    assert count_stages(llm) == {"primer": 1} and answer.answered
    assert answer.text.startswith("The login flow depends on the Auth Service [Data: Reports (")
    assert [citation.kind for citation in answer.citations] == ["community_reports"]
    assert answer.context.startswith("-----Reports-----")


@pytest.mark.parametrize(
    "nothing", [step("", score=0), step("All of it was invented on a Tuesday.", score=90), step("x", score=0)]
)
def test_where_no_follow_up_finds_anything_the_primer_stands(nothing: str, r8: Index) -> None:
    llm = ScriptedLlm(lambda request: nothing if request.stage == "search_drift_step" else reply(request))
    answer = ask(r8, llm)
    assert count_stages(llm) == {"primer": 1, "step": 2}
    assert answer.answered and answer.text.startswith("The login flow depends on the Auth Service [Data: Reports (")


def test_where_nothing_at_all_is_found_there_is_no_answer(r8: Index) -> None:
    llm = ScriptedLlm(lambda _: step("", score=0))
    answer = ask(r8, llm)
    assert (answer.answered, answer.text, answer.citations) == (False, NOTHING, ())
    assert count_stages(llm) == {"primer": 1, "step": 1}, "the question itself is looked up once"


def test_follow_ups_are_asked_once_in_order_of_the_steps_that_ask_them(r8: Index) -> None:
    def say(request: ChatRequest) -> str:
        if request.stage == "search_drift_primer":
            return step("", *FOLLOW_UPS, "what does the AUTH SERVICE depend on", QUESTION, FOLLOW_UPS[0])
        if request.stage == "search_drift_reduce":
            return reply(request)
        score = 90 if FOLLOW_UPS[1] in request.messages[-1].content else 20
        return step(find_source(request), "Who owns the payment service?" if score == 90 else "Where is lunch served?",
                    FOLLOW_UPS[0], score=score)  # fmt: skip

    llm = ScriptedLlm(say, max_concurrency=1)
    answer = ask(r8, llm, bounds={"rounds": 2, "follow_ups": 3})
    asked = [r.messages[-1].content for r in llm.requests if r.stage == "search_drift_step"]
    last = [text.partition("The question to answer now:")[2].splitlines()[2] for text in asked]
    assert last[:2] == list(FOLLOW_UPS) and last[2:] == ["Who owns the payment service?", "Where is lunch served?"]
    assert answer.answered
    scores = [float(line.partition("|")[0]) for line in steps_in(llm.requests[-1])]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(("bounds", "n_steps"), [({"rounds": 1}, 3), ({"rounds": 3}, 9), ({"max_tokens": 1}, 0)])
def test_rounds_follow_ups_and_tokens_are_bounded(bounds: dict[str, int], n_steps: int, r8: Index) -> None:
    things = ("token cache", "User DB", "Stripe", "billing team", "Redis", "Postgres")

    def say(request: ChatRequest) -> str:
        if request.stage == "search_drift_reduce":
            return reply(request)
        number = len(llm.requests)
        more = [f"What about {thing} and the Auth Service, question {number}?" for thing in things]
        return step(find_source(request) if request.stage == "search_drift_step" else "", *more)

    llm = ScriptedLlm(say, max_concurrency=1)
    answer = ask(r8, llm, bounds={"follow_ups": 3, **bounds})
    assert count_stages(llm).get("step", 0) == n_steps
    if not n_steps:
        assert answer.notices[0] == "6 follow-ups were not asked: drift.max_tokens was reached."


@pytest.mark.parametrize("bad", ["I cannot say.", "", "{}", '{"score": 3}'])
def test_a_primer_that_cannot_be_read_is_asked_once_more_then_follow_ups_are_derived(bad: str, r8: Index) -> None:
    llm = ScriptedLlm(lambda request: bad if request.stage == "search_drift_primer" else reply(request))
    answer = ask(r8, llm)
    stages = count_stages(llm)
    assert stages["primer"] == 2 and stages["step"] > 0 and stages["reduce"] == 1
    assert "The primer's reply could not be read: follow-ups were derived from its reports." in answer.notices
    assert answer.answered


def test_a_follow_up_that_cannot_be_read_is_counted_and_said(r8: Index) -> None:
    def say(request: ChatRequest) -> str:
        is_second = request.stage == "search_drift_step" and FOLLOW_UPS[1] in request.text
        return "no json" if is_second else reply(request)

    llm = ScriptedLlm(say)
    answer = ask(r8, llm)
    assert count_stages(llm) == {"primer": 1, "step": 3, "reduce": 1}
    assert "1 of 2 replies to follow-ups could not be read." in answer.notices and answer.answered


def test_a_last_reply_of_no_use_leaves_the_steps(r8: Index) -> None:
    llm = ScriptedLlm(lambda request: "" if request.stage == "search_drift_reduce" else reply(request))
    answer = ask(r8, llm)
    assert answer.answered and answer.text.startswith("- ") and answer.text.count("[Data: ") == 3
    assert any(notice.startswith("The model's reply is of no use") for notice in answer.notices)


def test_a_service_that_goes_down_in_the_middle_leaves_what_was_found(r8: Index) -> None:
    def say(request: ChatRequest) -> str:
        if request.stage != "search_drift_primer":
            raise TimeoutError
        return reply(request)

    answer = ask(r8, ScriptedLlm(say, max_retries=0))
    assert answer.answered and "2 of 2 replies to follow-ups could not be read." in answer.notices

    def refuse(_: ChatRequest) -> str:
        raise ScriptedFault(503)

    with pytest.raises(Unavailable):
        ask(r8, ScriptedLlm(refuse, max_retries=0))


def test_a_budget_spent_in_the_middle_stops_and_what_was_paid_is_kept(r8: Index, tmp_path: Path) -> None:
    price = Price(1e-6, 2e-6, 1e-6)
    with Memo(tmp_path / "memo.sqlite") as memo:
        whole = ScriptedLlm(reply, price=price)
        cost = ask(r8, whole).usage.cost_usd or 0.0
        # What is set aside for a reply (1,800 tokens) and half of what all calls cost.
        budget = Budget(limit_usd=1800 * 2e-6 + 0.5 * cost)
        poor = ScriptedLlm(reply, price=price, memo=memo, budget=budget, max_concurrency=1)
        with pytest.raises(BudgetSpent, match="run again with a larger budget"):
            ask(r8, poor)
        assert 0 < len(poor.requests) < len(whole.requests)
        rich = ScriptedLlm(reply, price=price, memo=memo)
        answer = ask(r8, rich)
    assert answer.answered and len(rich.requests) == len(whole.requests) - len(poor.requests)
    assert answer.usage.from_memo == len(poor.requests)


def test_without_a_report_that_helps_local_search_answers(r8: Index) -> None:
    llm = ScriptedLlm(lambda request: find_source(request))
    answer = ask(r8, llm, "Where is lunch served?")
    assert answer.mode == "drift" and NO_REPORT in answer.notices
    assert [request.stage for request in llm.requests] == ["search"]


def test_an_unknown_name_costs_nothing(r8: Index) -> None:
    llm = ScriptedLlm(reply)
    answer = ask(r8, llm, "Who leads the Zeppelin Team?")
    assert not answer.answered and not llm.requests
    assert any("Zeppelin Team" in notice for notice in answer.notices)


def test_arguments_that_cannot_be(r8: Index, make_r8: MakeIndex) -> None:
    llm = ScriptedLlm(reply)
    for knobs, said in (({"budget_tokens": 0}, "--budget-tokens"), ({"level": -1}, "--level")):
        with pytest.raises(UsageError, match=said):
            ask(r8, llm, **knobs)
    with pytest.raises(SearchError, match="No community reports"):
        ask(make_r8(without=("communities", "community_reports")), llm)


def test_a_budget_of_one_token_is_an_answer_with_a_mark(r8: Index) -> None:
    llm = ScriptedLlm(lambda request: step("The login flow depends on the Auth Service.", *FOLLOW_UPS)
                      if request.stage == "search_drift_primer" else step("The", *FOLLOW_UPS)
                      if request.stage == "search_drift_step" else "The login flow.")  # fmt: skip
    answer = ask(r8, llm, budget_tokens=1)
    assert len(llm.requests) <= 10
    assert "…" in llm.requests[0].text
    assert answer.mode == "drift"


def test_the_last_answer_streams(r8: Index) -> None:
    seen: list[str] = []
    answer = ask(r8, ScriptedLlm(reply), on_text=seen.append)
    assert seen and seen[-1] == answer.text
