"""What leads to a named thing: needs only, backwards, past people and teams."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.seeds import resolve_entity
from graphrag.search.walks.dependents import (
    asks_for_dependents,
    asks_for_most_needed,
    find_dependents,
    find_most_needed,
    is_need,
    is_needed_by,
)
from graphrag.store import Index

MakeIndex = Callable[..., Index]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What breaks if Redis goes down?", True),
        ("Which services are affected when Redis fails?", True),
        ("What depends on Redis?", True),
        ("Who relies on the token cache?", True),
        ("impact of losing Redis", True),
        ("What is the impact of Redis?", True),
        ("What does Redis depend on?", False),
        ("How long was the outage of Redis?", False),
        ("Who owns Redis?", False),
        ("What is Redis?", False),
    ],
)
def test_questions_about_dependents_are_told_from_others(question: str, asks: bool) -> None:
    assert asks_for_dependents(question) is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which single dependency is our highest systemic risk?", True),
        ("What are our single points of failure?", True),
        ("What is the biggest systemic risk in our platform?", True),
        ("What is our most critical dependency?", True),
        ("Which component do most of our services depend on?", True),
        ("Which vendor is our biggest systemic risk?", False),
        ("What are the biggest risks?", False),
        ("What depends on Redis?", False),
        ("Which single service failed in March?", False),
        ("Most of what we know depends on who is on call. Who is it?", False),
    ],
)
def test_questions_about_what_most_things_need_are_told_from_others(question: str, asks: bool) -> None:
    assert asks_for_most_needed(question) is asks


def test_what_most_others_need_is_named_with_the_walk_that_shows_it(r8: Index) -> None:
    risks = find_most_needed(r8, top=3)
    assert [(risk.title, risk.n_impacted) for risk in risks] == [("Postgres", 3), ("Redis", 3), ("token cache", 2)]
    answer = search_local(r8, "Which single dependency is our highest systemic risk?")
    _, heading, *lines = answer.text.splitlines()
    assert heading == "Postgres: 3 others need it, directly or through others, nearest first:"
    assert [line.partition(" [Data")[0] for line in lines] == [
        "- User DB -runs_on-> Postgres",
        "- Auth Service -depends_on-> User DB",
        "- login flow -depends_on-> Auth Service",
        "next: Redis (3), token cache (2), User DB (2), Auth Service (1)",
    ]
    assert answer.context.startswith(heading) and answer.context.endswith(lines[-1])
    assert len(answer.citations) == 3


def test_without_needs_nothing_is_the_most_needed(make_index: MakeIndex) -> None:
    index = make_index({"a.md": "The billing team owns the ledger."}, [("a.md", "billing team", "owns", "ledger")])
    assert find_most_needed(index, top=3) == []
    assert not search_local(index, "What is our most critical dependency?").answered


def test_chains_are_walked_backwards_nearest_first(r8: Index) -> None:
    redis, _ = resolve_entity(r8, "Redis")
    ids, n_dependents, survivors, n_survivors = find_dependents(r8, [redis])
    assert n_dependents == len(ids)
    titles = dict(r8.frame("select id, source || ' > ' || target from relationships").rows())
    assert [titles[relationship] for relationship in ids] == [
        "token cache > Redis",
        "Auth Service > token cache",
        "login flow > Auth Service",
    ]
    assert "token cache" not in survivors
    assert survivors and len(survivors) == n_survivors


def test_owners_do_not_break_with_what_they_own(r8: Index) -> None:
    payment, _ = resolve_entity(r8, "payment service")
    assert find_dependents(r8, [payment]).relationships == []


@pytest.mark.parametrize(
    ("predicate", "source_type", "expected"),
    [
        ("depends_on", "service", True),
        ("depends_on", "person", True),
        ("uses", "service", True),
        ("uses", "team", False),
        ("backed_by", "component", True),
        ("writes_to", "service", True),
        ("writes", "service", False),
        ("writes_to", "person", False),
        ("owns", "service", False),
        ("owned_by", "service", False),
        ("replaces", "database", False),
        ("used_by", "service", False),
        ("used_on", "service", False),
        ("required_by", "person", False),
    ],
)
def test_what_is_a_need(predicate: str, source_type: str, expected: bool) -> None:
    assert is_need(predicate, source_type) is expected


def test_what_is_needed_by_its_object() -> None:
    by = [
        "used_by",
        "called_by",
        "queried_by",
        "consumed_by",
        "required_by",
        "needed_by",
        "relied_on_by",
        "depended_on_by",
    ]
    assert [predicate for predicate in by if not is_needed_by(predicate)] == []
    assert not any(map(is_needed_by, ["uses", "used_on", "backed_by", "hosted_by", "owned_by", "run_by", "fed_by"]))


def test_a_cycle_ends(make_index: MakeIndex) -> None:
    facts = [("a.md", "A one", "depends_on", "B two"), ("b.md", "B two", "depends_on", "A one")]
    index = make_index({"a.md": "A one depends on B two.", "b.md": "B two depends on A one."}, facts)
    found = find_dependents(index, [resolve_entity(index, "A one")[0]]).relationships
    assert index.frame("select source from relationships where id = ?", found).rows() == [("B two",)]


def test_an_impact_question_is_answered_by_cited_hops_and_nothing_else(r8: Index, r8_texts: dict[str, str]) -> None:
    answer = search_local(r8, "What breaks if Redis goes down?")
    assert answer.text.splitlines() == [
        "Extractive answer (no model):",
        "Redis: 3 others need it, directly or through others, nearest first:",
        "- token cache -backed_by-> Redis [Data: Relationships (3)]",
        "- Auth Service -depends_on-> token cache [Data: Relationships (2)]",
        "- login flow -depends_on-> Auth Service [Data: Relationships (1)]",
        "survives: Postgres, User DB",
    ]
    assert answer.context.endswith("\nsurvives: Postgres, User DB")
    assert sorted(answer.context_ids) == ["Relationships", "Sources"]
    assert len(answer.context_ids["Relationships"]) == 3
    assert [citation.path for citation in answer.citations] == ["c3.md", "c2.md", "c1.md"]
    assert all(r8_texts[c.path][c.start : c.end] == c.quote for c in answer.citations)
