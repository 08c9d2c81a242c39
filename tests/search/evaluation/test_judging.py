"""A judge of answers: what it is asked, in which orders, and what becomes of replies that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag.errors import BudgetSpent
from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.llm.budget import Budget
from graphrag.llm.prices import Price
from graphrag.memo import Memo
from graphrag.prompts import load_prompt
from graphrag.render.judged import describe_judged, render_judged
from graphrag.search.answer import NOTHING, Answer, Citation
from graphrag.search.evaluation.evaluation import Answers, GoldQuestion, evaluate_search
from graphrag.search.evaluation.judging import Judged, judge_answers
from graphrag.search.evaluation.preferences import sum_up
from graphrag.search.model_answer import SearchModel
from graphrag.store import Index

PROMPTS = {name: load_prompt(name) for name in ("judge_answer", "judge_pair", "repair_reply")}
QUESTIONS = [GoldQuestion(str(n), f"What is {n}?", (), (("one", "1"),) if n == 1 else ()) for n in range(1, 9)]
GOOD_SCORES = '{"reason": "fine", "faithfulness": 3, "grounding": 2, "relevancy": 1}'
TIE = '{"reason": "same", "better": "tie"}'


def answer(text: str) -> Answer:
    quote = Citation("Sources (3)", "text_units", "u", 3, "d", "a.md", 0, 4, "A\nquote.")
    said = f"Extractive answer (no model):\n{text} [Data: Sources (3)] Cats purr. [unsupported]"
    return Answer("local", "q", said, True, citations=(quote,), context="the context")


def answers(*methods: str, texts: Callable[[str, GoldQuestion], str] = lambda m, _: f"words of {m}") -> Answers:
    return {m: {q.id: answer(texts(m, q)) for q in QUESTIONS} for m in methods}


def judge(reply: Callable[[ChatRequest], str], given: Answers, **knobs: object) -> tuple[Judged, ScriptedLlm]:
    llm = ScriptedLlm(reply, price=Price(1e-6, 2e-6, 1e-6), **knobs)  # type: ignore[arg-type]
    return judge_answers(llm, PROMPTS, QUESTIONS, given), llm


def asks_for_scores(request: ChatRequest) -> bool:
    return request.stage == "judge_answer"


def first_and_second(request: ChatRequest) -> tuple[str, str]:
    first, _, second = request.messages[-1].content.partition("Second answer:")
    return first.partition("First answer:")[2], second


def better_than(better: Callable[[str, str], str]) -> Callable[[ChatRequest], str]:
    """A judge that gives all answers the same scores and compares as the function says."""

    def reply(request: ChatRequest) -> str:
        if asks_for_scores(request):
            return GOOD_SCORES
        return f'{{"reason": "r", "better": "{better(*first_and_second(request))}"}}'

    return reply


def test_the_judge_sees_question_answer_context_and_quotes_but_not_the_mode() -> None:
    _, llm = judge(lambda r: GOOD_SCORES if asks_for_scores(r) else TIE, answers("local", "basic"))
    scores = [request for request in llm.requests if asks_for_scores(request) and "What is 1?" in request.text]
    text = scores[0].messages[-1].content
    assert {request.role for request in llm.requests} == {"judge"}
    assert "What is 1?" in text and "the context" in text and "Sources (3): A quote." in text
    assert "words of" in text and "[Data: Sources (3)]" in text and "Cats purr." in text
    assert "Extractive" not in text and "[unsupported]" not in text
    pair = next(request for request in llm.requests if "What is 1?" in request.text and not asks_for_scores(request))
    assert "- one or 1" in pair.text and "[Data: Sources" not in pair.text and "A quote" not in pair.text


def test_each_answer_gets_three_scores_and_each_pair_both_orders() -> None:
    judged, llm = judge(
        better_than(lambda first, _: "first" if "basic" in first else "second"), answers("local", "basic")
    )
    assert judged.scores.height == 16 and judged.verdicts.height == 16 and len(llm.requests) == 32
    assert judged.scores.row(0) == ("local", "1", 3, 2, 1, "fine")
    assert set(judged.verdicts["first"]) == {"local", "basic"}
    found = sum_up(judged)
    (preference,) = found.preferences.to_dicts()
    assert (preference["method"], preference["wins"], preference["ties"], preference["losses"]) == ("basic", 8, 0, 0)
    assert (found.position.n_first, found.position.n_decided, found.position.is_biased) == (8, 16, False)


@pytest.mark.parametrize("place", ["first", "second"])
def test_a_judge_that_prefers_a_place_is_shown_as_such(place: str) -> None:
    judged, llm = judge(better_than(lambda *_: place), answers("local", "basic", "local again"))
    found = sum_up(judged)
    assert found.position.is_biased
    for row in found.preferences.to_dicts():
        assert (row["wins"], row["ties"], row["losses"], row["contradicted"]) == (0, 8, 0, 8)
    said = render_judged(judged, llm.ledger.totals())
    assert "8 tied, 8 of them because the orders disagree." in said
    assert "The judge favours a place (p = " in said
    n_first = 32 if place == "first" else 0
    assert f"Place: {n_first} of 32 verdicts (" in said


def test_a_second_run_is_judged_anew_and_shows_the_noise_of_the_judge() -> None:
    """The judge wavers with every call: what it decides between equal answers is noise, and is counted as that."""
    calls: list[str] = []

    def waver(request: ChatRequest) -> str:
        calls.append(request.prompt_version)
        if asks_for_scores(request):
            return GOOD_SCORES.replace('"grounding": 2', f'"grounding": {2 + (len(calls) % 2)}')
        number = int(request.text.partition("What is ")[2][0])
        return better_than(lambda *_: "tie" if number > 3 else "first" if len(calls) % 2 else "second")(request)

    same = answers("local", "local again", texts=lambda *_: "the same words")
    judged, llm = judge(waver, same, max_concurrency=1)
    assert len(llm.requests) == 32 and len(set(calls)) == 4, "each prompt once as it is and once again"
    found = sum_up(judged)
    (row,) = found.preferences.to_dicts()
    assert row["ties"] == 5 + (3 - row["wins"] - row["losses"])
    said = render_judged(judged, llm.ledger.totals())
    assert f"A/A run, local against itself: {row['wins'] + row['losses']} of 8 decided though nothing differs" in said
    assert "local again against local (95 % interval" in said


def test_a_reply_that_cannot_be_read_is_asked_once_more_then_counted_and_said() -> None:
    def reply(request: ChatRequest) -> str:
        is_asked_again = "could not be read" in request.messages[-1].content
        if "What is 1?" in request.text:
            return '{"faithfulness": 7, "grounding": 2}' if asks_for_scores(request) else '{"better": "both"}'
        if "What is 2?" in request.text and not is_asked_again:
            return "I think it is rather good."
        return GOOD_SCORES if asks_for_scores(request) else TIE

    judged, llm = judge(reply, answers("local", "basic"))
    assert len(llm.requests) == 32 + 8
    unread = judged.scores.filter(judged.scores["relevancy"].is_null())
    assert unread["question_id"].to_list() == ["1", "1"]
    assert unread["reason"].to_list() == 2 * ["unreadable_reply: not in the format that was asked for"]
    assert judged.verdicts["better"].null_count() == 2
    found = sum_up(judged)
    assert found.scores.select("judged", "unread").rows() == [(7, 1), (7, 1)]
    assert found.preferences.select("ties", "unread").rows() == [(7, 1)]
    said = render_judged(judged, llm.ledger.totals())
    assert "2 of 16 replies could not be read, asked twice; they count nowhere." in said
    assert "  1 pairs with a reply that could not be read, asked twice." in said


def test_an_answer_that_there_is_none_is_compared_but_not_scored() -> None:
    given = answers("local", "basic")
    nothing = Answer("local", "q", NOTHING, False)
    given["local"]["1"] = given["local"]["2"] = given["basic"]["2"] = nothing
    judged, llm = judge(better_than(lambda first, _: "second" if NOTHING in first else "first"), given)
    assert judged.scores.filter(judged.scores["question_id"] == "2").is_empty()
    assert judged.scores.height == 13 and len(llm.requests) == 13 + 14
    assert sum_up(judged).differences["wins"].to_list() == [0, 0, 0]
    neither = judged.verdicts.filter(judged.verdicts["question_id"] == "2")
    assert neither["better"].to_list() == ["tie", "tie"]


def test_nothing_answered_asks_nothing() -> None:
    given = {m: {q.id: Answer("local", "q", NOTHING, False) for q in QUESTIONS} for m in ("local", "basic")}
    judged, llm = judge(lambda _: "never", given)
    assert llm.requests == [] and judged.scores.is_empty()
    assert "Place: the judge preferred no answer to another." in render_judged(judged, llm.ledger.totals())


def test_the_budget_is_honoured_and_what_was_paid_is_in_the_memo(tmp_path: Path) -> None:
    reply = better_than(lambda *_: "tie")
    with Memo(tmp_path / "memo.sqlite") as memo:
        with pytest.raises(BudgetSpent, match=r"^[^\n]+ run again with a larger budget to go on\.$"):
            judge(reply, answers("local", "basic"), memo=memo, budget=Budget(limit_usd=0.008), max_concurrency=1)
        judged, llm = judge(reply, answers("local", "basic"), memo=memo)
    assert 0 < len(llm.requests) < 32 and judged.verdicts.height == 16
    totals = {row["stage"]: row for row in llm.ledger.totals().to_dicts()}
    assert totals["judge_answer"]["from_memo"] > 0
    said = render_judged(judged, llm.ledger.totals())
    assert f"Total: {len(llm.requests)} calls, $" in said and " from the memo; " in said


def test_a_model_answers_twice_for_the_second_run(r8: Index) -> None:
    """Answers and judge in one: the memo answers neither the second run nor its judgement."""

    def reply(request: ChatRequest) -> str:
        if request.role == "judge":
            return GOOD_SCORES if asks_for_scores(request) else TIE
        return f"The token cache is backed by Redis, said {len(llm.requests)}."

    prompts = {name: load_prompt(name) for name in ("local_search", "basic_search")}
    llm = ScriptedLlm(reply)
    asked = [GoldQuestion("1", "What does the token cache depend on?", (), (("Redis",),))]
    found = evaluate_search(r8, asked, modes=["local"], llm=SearchModel(lambda: llm, prompts), is_repeated=True)
    assert list(found.answers) == ["local", "local again"] and found.results.height == 4
    assert found.answers["local"]["1"].text != found.answers["local again"]["1"].text
    judged = judge_answers(llm, PROMPTS, asked, found.answers)
    assert judged.scores["method"].to_list() == ["local", "local again"]
    told = describe_judged(judged, llm.ledger.totals())
    assert [row["stage"] for row in told["calls"]] == ["judge_answer", "judge_pair", "search"]
    assert told["position"]["n_decided"] == 0 and len(told["verdicts"]) == 2


def test_an_extract_is_the_same_the_second_time(r8: Index) -> None:
    asked = [GoldQuestion("1", "What does the token cache depend on?", (), (("Redis",),))]
    found = evaluate_search(r8, asked, modes=["basic"], is_repeated=True)
    assert found.answers["basic"]["1"].text == found.answers["basic again"]["1"].text
