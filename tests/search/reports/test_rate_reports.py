"""Ratings of reports by a model: many a call, each report rated or asked for once more, and none guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.prompts import load_prompt
from graphrag.search.model_answer import SearchModel
from graphrag.search.ranking import Question
from graphrag.search.reports.rate_reports import rate_reports
from graphrag.search.rows import Report

PROMPTS = {"rate_reports": load_prompt("rate_reports")}
ABOUT_REDIS = Question("What is said about Redis?", ("redis",), {"redi": 1.0})


def report(number: int, *, content: str = "", title: str = "") -> Report:
    title = title or f"R{number}"
    return Report(str(number), number, number, 0, title, f"Summary of {number}.", content, 1.0, [], 3, "llm")


def count_words(text: str) -> int:
    return len(text.split())


def read_rows(request: ChatRequest) -> list[tuple[int, str]]:
    table = request.messages[-1].content.partition("\nQuestion:")[0]
    return [(int(number), line) for number, line in re.findall(r"^(\d+)\|(.*)$", table, re.M)]


class Rater:
    """A model that is asked for ratings, and the lines that it was shown, a list a call."""

    def __init__(self, reply: Callable[[list[str]], str]) -> None:
        self.shown: list[list[str]] = []
        self._reply = reply
        self.llm = ScriptedLlm(self.reply, max_concurrency=1)

    def reply(self, request: ChatRequest) -> str:
        rows = read_rows(request)
        assert [number for number, _ in rows] == list(range(1, len(rows) + 1))
        self.shown.append([line for _, line in rows])
        return self._reply(self.shown[-1])

    def rate(
        self,
        reports: Sequence[Report],
        *,
        question: Question = ABOUT_REDIS,
        found: Sequence[int] = (),
        budget: int = 1000,
    ) -> list[float | None]:
        by_community = {each.community: each for each in reports}
        model = SearchModel(lambda: self.llm, PROMPTS)
        rate = rate_reports(model, question, by_community, found=found, budget_tokens=budget, count=count_words)
        return list(rate(list(by_community)))


def test_the_reports_of_a_level_are_one_call() -> None:
    rater = Rater(lambda lines: json.dumps({place: place for place in range(1, len(lines) + 1)}))
    assert rater.rate([report(7), report(3), report(5)]) == [1, 2, 3]
    assert rater.shown == [["R7", "R3", "R5"]]


def test_a_report_is_shown_by_what_bears_on_the_question() -> None:
    words = "# R1\n\nMany words come first. The token cache is backed by Redis [Data: Sources (3)]. More follow."
    rater = Rater(lambda lines: json.dumps(dict.fromkeys(range(1, len(lines) + 1), 0)))
    rater.rate([report(1, content=words), report(2, content="Nothing."), report(3, content="Nothing.")], found=[2])
    assert rater.shown == [["R1|The token cache is backed by Redis.", "R2|Summary of 2.", "R3"]]
    rater.rate([report(3)], question=Question("What are the main themes?", (), {}))
    assert rater.shown[-1] == ["R3|Summary of 3."], "a question about the whole has no words to go by"


def test_what_a_reply_leaves_out_is_asked_for_once_more_and_then_has_no_rating() -> None:
    rater = Rater(lambda lines: '{"1": 4}')
    assert rater.rate([report(1), report(2), report(3)]) == [4, 4, None]
    assert rater.shown == [["R1", "R2", "R3"], ["R2", "R3"]]


@pytest.mark.parametrize("said", ["I cannot say.", "", "[4, 4]", '{"1": "high", "2": null}', '{"8": 4}'])
def test_a_reply_without_a_rating_is_asked_for_once_more(said: str) -> None:
    rater = Rater(lambda lines: said)
    assert rater.rate([report(1), report(2)]) == [None, None]
    assert rater.shown == [["R1", "R2"]] * 2


def test_a_line_longer_than_the_budget_is_cut_with_a_mark_and_a_call_of_its_own() -> None:
    rater = Rater(lambda lines: json.dumps(dict.fromkeys(range(1, len(lines) + 1), 2)))
    found = rater.rate([report(1), report(2, title="a title of many words"), report(3)], budget=3)
    assert found == [2, 2, 2] and [len(lines) for lines in rater.shown] == [1, 1, 1]
    assert "[cut]" in rater.shown[1][0]


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 15))
def test_each_report_is_rated_once_whatever_the_budget(words: list[int], budget: int) -> None:
    reports = [report(number, title=f"N{number}" + " word" * n) for number, n in enumerate(words, start=1)]
    rater = Rater(
        lambda lines: json.dumps(
            {n: int(line[1:].split()[0].rstrip("…")) % 6 for n, line in enumerate(lines, 1) if line[1:2].isdigit()}
        )
    )
    ratings = rater.rate(reports, budget=budget)
    assert len(ratings) == len(reports) and all(lines for lines in rater.shown)
    whole = [each for each in reports if count_words(each.title) <= budget]
    assert all(ratings[each.community - 1] == each.community % 6 for each in whole)
