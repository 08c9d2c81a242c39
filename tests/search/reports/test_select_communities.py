"""Dynamic selection: down from level 0, into what has to do with the question only."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.prompts import load_prompt
from graphrag.search import answer_question
from graphrag.search.model_answer import SearchModel
from graphrag.search.reports.global_search import search_global
from graphrag.search.reports.levels import Community, Hierarchy
from graphrag.search.reports.select_communities import add_ancestors, select_communities
from graphrag.store import Index

# specs/indexing.md, section 7.
COMMUNITIES = [
    Community(1, 0, -1, [3, 4]), Community(2, 0, -1, []), Community(3, 1, 1, [5, 6]), Community(4, 1, 1, []),
    Community(5, 2, 3, []), Community(6, 2, 3, []),
]  # fmt: skip


def hierarchy(without: Sequence[int] = ()) -> Hierarchy:
    reports = {c.community: f"report {c.community}" for c in COMMUNITIES if c.community not in without}
    return Hierarchy(COMMUNITIES, reports, {})


@pytest.mark.parametrize(
    ("ratings", "level", "without", "chosen", "rated"),
    [
        ({1: 5, 3: 2, 5: 1}, 2, (), [5], [1, 2, 3, 4, 5, 6]),
        ({1: 5, 3: 2}, 2, (), [3], [1, 2, 3, 4, 5, 6]),
        ({1: 5}, 2, (), [1], [1, 2, 3, 4]),
        ({}, 2, (), [], [1, 2]),
        ({1: 0.5, 3: 5}, 2, (), [], [1, 2]),
        ({1: 5, 3: 5, 5: 5, 2: 1}, 1, (), [2, 3], [1, 2, 3, 4]),
        ({1: 5, 3: 5}, 0, (), [1], [1, 2]),
        ({1: None, 4: None}, 2, (), [4], [1, 2, 3, 4]),
        ({5: 3}, 2, (1, 3), [5], [2, 4, 5, 6]),
        ({}, 2, (1, 3), [], [2, 4, 5, 6]),
    ],
)
def test_the_walk(
    ratings: dict[int, float | None], level: int, without: tuple[int, ...], chosen: list[int], rated: list[int]
) -> None:
    asked: list[int] = []

    def rate(numbers: Sequence[int]) -> list[float | None]:
        asked.extend(numbers)
        return [ratings.get(number, 0.0) for number in numbers]

    found = select_communities(hierarchy(without), level=level, rate=rate)
    assert (found.communities, sorted(asked), found.n_rated) == (chosen, rated, len(rated))
    assert found.report_ids == [f"report {number}" for number in chosen]


@given(st.lists(st.sampled_from([0.0, 1.0, 5.0, None]), min_size=6, max_size=6), st.integers(0, 3))
def test_no_chosen_community_lies_below_another(ratings: list[float | None], level: int) -> None:
    by_number = {c.community: c for c in COMMUNITIES}
    found = select_communities(hierarchy(), level=level, rate=lambda ns: [ratings[n - 1] for n in ns])
    for number in found.communities:
        parent = by_number[number].parent
        while parent != -1:
            assert parent not in found.communities
            parent = by_number[parent].parent


def rate_shown(request: ChatRequest, word: str) -> str:
    """The reply of a model that rates each report by a word."""
    rows = re.findall(r"^(\d+)\|(.*)$", request.messages[-1].content.partition("\nQuestion:")[0], re.M)
    return json.dumps({number: 5 if word in text else 0 for number, text in rows})


def test_a_model_rates_and_only_what_it_finds_relevant_is_mapped(r8: Index) -> None:
    def reply(request: ChatRequest) -> str:
        if request.stage == "search_rate":
            return rate_shown(request, "billing")
        if request.stage == "search_map":
            return '{"points": [{"description": "The billing team owns the payment service", "score": 90}]}'
        return "The billing team owns the payment service."

    names = ("global_search_map", "global_search_reduce", "rate_reports", "repair_reply")
    llm = ScriptedLlm(reply)
    model = SearchModel(lambda: llm, {name: load_prompt(name) for name in names})
    knobs = {"mode": "global", "level": 1, "top": 10, "budget_tokens": 4000}
    answer = answer_question(r8, "Who owns what?", dynamic=True, llm=model, **knobs)
    mapped = [request.text for request in llm.requests if request.stage == "search_map"]
    assert answer.answered and len(mapped) == 1 and "Redis" not in mapped[0] and "billing" in mapped[0]
    full = answer_question(r8, "Who owns what?", llm=model, **knobs)
    assert answer.usage.context_tokens < full.usage.context_tokens
    assert any(" reports rated, 1 read." in notice for notice in answer.notices)


def test_an_unreadable_rating_is_followed(r8: Index) -> None:
    llm = ScriptedLlm(lambda request: "?" if request.stage == "search_rate" else '{"points": []}')
    names = ("global_search_map", "global_search_reduce", "rate_reports", "repair_reply")
    model = SearchModel(lambda: llm, {name: load_prompt(name) for name in names})
    answer = answer_question(
        r8, "Who owns what?", mode="global", level=1, top=10, budget_tokens=4000, dynamic=True, llm=model
    )
    assert [request.stage for request in llm.requests].count("search_map") == 1 and not answer.answered
    assert any(" ratings could not be read: " in notice for notice in answer.notices)


def test_without_a_model_words_and_meaning_select(r8: Index) -> None:
    answer = search_global(r8, "Who owns the payment service?", dynamic=True)
    assert answer.answered and "billing team" in answer.text and answer.usage.calls == 0
    assert not search_global(r8, "What is the best recipe for sourdough?", dynamic=True).answered


def test_a_report_that_alone_bears_on_the_question_is_reached_through_parents_that_do_not() -> None:
    assert add_ancestors(hierarchy(), [5]) == {1, 3, 5}
    assert add_ancestors(hierarchy(), []) == set()
    reached = add_ancestors(hierarchy(), [5, 2])
    selected = select_communities(hierarchy(), level=2, rate=lambda numbers: [5.0 * (n in reached) for n in numbers])
    assert selected.communities == [2, 5]


def test_what_is_followed_is_gone_into_without_a_rating_and_not_read_itself() -> None:
    asked: list[int] = []

    def rate(numbers: Sequence[int]) -> list[float]:
        asked.extend(numbers)
        return [5.0 * (number == 5) for number in numbers]

    selected = select_communities(hierarchy(), level=2, rate=rate, followed={1, 3, 5})
    assert selected.communities == [5] and asked == [2, 4, 5, 6] and selected.n_rated == 4
    nothing = select_communities(hierarchy(), level=2, rate=lambda numbers: [0.0] * len(numbers), followed={1, 3, 5})
    assert nothing.communities == []
    at_level = select_communities(hierarchy(), level=0, rate=lambda numbers: [0.0] * len(numbers), followed={1, 3, 5})
    assert at_level.communities == [], "at the level itself the rating decides"
