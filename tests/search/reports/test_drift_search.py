"""Drift search without a model: local search, what reports lead to, and bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphrag.errors import SearchError, UsageError
from graphrag.search.answer import Source
from graphrag.search.local_search import search_local
from graphrag.search.ranking import prepare_question
from graphrag.search.reports.drift_search import (
    NOTHING_MORE,
    DriftBounds,
    choose_reports,
    derive_follow_ups,
    fuse_sources,
    search_drift,
)
from graphrag.search.seeds import find_named_entities
from graphrag.store import Index

from ..conftest import MakeIndex

QUESTION = "Why does the login flow fail?"
BOUNDS = DriftBounds()
TEXTS = {
    "a.md": "The login flow fails when the Auth Service is down. The login flow is what people see first.",
    "b.md": "The Auth Service fails to start when Vault is sealed. The Auth Service has four replicas.",
    "c.md": "The token cache makes the login flow slow when it fails over. The token cache lives in Redis.",
    "d.md": "Lunch is served in the Harbour Room at noon.",
}
FACTS = [
    ("a.md", "login flow", "depends_on", "Auth Service"),
    ("b.md", "Auth Service", "depends_on", "Vault"),
    ("c.md", "login flow", "depends_on", "token cache"),
    ("c.md", "token cache", "depends_on", "Redis"),
]


@pytest.fixture(scope="module")
def logins(make_index: MakeIndex) -> Index:
    return make_index(TEXTS, FACTS, model="embedded")


def test_follow_ups_stand_behind_the_answer_of_local_search_and_repeat_nothing(logins: Index) -> None:
    answer = search_drift(logins, QUESTION, bounds=BOUNDS)
    own = search_local(logins, QUESTION, budget_tokens=2000)
    assert answer.mode == "drift" and answer.answered
    assert answer.text.startswith(own.text) and "\nAuth Service:\n- The Auth Service fails to start" in answer.text
    quotes = [citation.quote for citation in answer.citations if citation.kind == "text_units"]
    assert len(quotes) == len(set(quotes))
    for citation in answer.citations:
        assert TEXTS[citation.path][citation.start : citation.end] == citation.quote
    assert answer.reports


def test_follow_ups_are_about_what_the_question_does_not_name_each_once(logins: Index) -> None:
    asked, _ = prepare_question(logins, QUESTION)
    reports, _ = choose_reports(logins, asked, level=1, limit=5)
    named, _ = find_named_entities(logins, QUESTION)
    follow_ups = derive_follow_ups(logins, asked, reports, named)
    titles = [follow_up.about.title for follow_up in follow_ups]
    assert "Auth Service" in titles and "login flow" not in titles and len(titles) == len(set(titles))
    assert all(follow_up.text == f"{follow_up.about.title}: {QUESTION}" for follow_up in follow_ups)
    assert derive_follow_ups(logins, asked, [], named) == []


def test_the_same_question_has_the_same_answer(logins: Index) -> None:
    first, again = (search_drift(logins, QUESTION, bounds=BOUNDS) for _ in range(2))
    assert replace(first, usage=again.usage) == again


@pytest.mark.parametrize("budget", [1, 5, 40, 200, 4000])
def test_the_context_stays_within_the_budget(budget: int, logins: Index) -> None:
    answer = search_drift(logins, QUESTION, bounds=BOUNDS, budget_tokens=budget)
    assert answer.context and answer.usage.context_tokens <= max(budget, 2)
    known = {(dataset, number) for dataset, ids in answer.context_ids.items() for number in ids}
    assert {(c.ref.partition(" (")[0], c.human_readable_id) for c in answer.citations} <= known


def test_fewer_rounds_and_reports_ask_less(logins: Index) -> None:
    few = search_drift(logins, QUESTION, bounds=DriftBounds(reports=1, rounds=1, follow_ups=1))
    assert len(few.reports) == 1
    followed = [notice for notice in few.notices if notice.startswith("Followed up")]
    assert NOTHING_MORE in few.notices or followed[0].count(",") == 1


def test_a_question_about_something_else_is_not_answered(r8: Index) -> None:
    answer = search_drift(r8, "How tall is the Eiffel tower in winter?", bounds=BOUNDS)
    assert not answer.answered and not answer.citations


def test_an_unknown_name_is_said_and_not_followed_up(r8: Index) -> None:
    answer = search_drift(r8, "Who leads the Zeppelin Team?", bounds=BOUNDS)
    assert not answer.answered and any("Zeppelin Team" in notice for notice in answer.notices)


def test_words_alone_do(make_r8: MakeIndex) -> None:
    answer = search_drift(make_r8(), "What does the Auth Service depend on?", bounds=BOUNDS)
    assert answer.answered and "token cache" in answer.text


def test_arguments_that_cannot_be(r8: Index, make_r8: MakeIndex) -> None:
    with pytest.raises(UsageError, match="--budget-tokens"):
        search_drift(r8, QUESTION, bounds=BOUNDS, budget_tokens=0)
    with pytest.raises(UsageError, match="--level"):
        search_drift(r8, QUESTION, bounds=BOUNDS, level=-1)
    with pytest.raises(SearchError, match="No community reports"):
        search_drift(make_r8(without=("communities", "community_reports")), QUESTION, bounds=BOUNDS)


def test_sources_are_fused_by_rank() -> None:
    def source(unit: str) -> Source:
        return Source(1, unit, "d", "t", "p", 0.5)

    a, b, c = source("a"), source("b"), source("c")
    fused = fuse_sources([(a, b), (c, b), ()], top=2)
    assert [(each.rank, each.id) for each in fused] == [(1, "b"), (2, "a")]
