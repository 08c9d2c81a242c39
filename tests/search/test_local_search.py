"""Local and basic search: true, cited, bounded, honest."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.errors import UsageError
from graphrag.search import answer_question
from graphrag.search.answer import Answer
from graphrag.search.basic_search import search_basic
from graphrag.search.local_search import search_local
from graphrag.store import Index

Search = Callable[..., Answer]
MakeIndex = Callable[..., Index]
BOTH = pytest.mark.parametrize("search", [search_basic, search_local])


@pytest.fixture(scope="module")
def r8_words(make_r8: MakeIndex) -> Index:
    """R8 without vectors."""
    return make_r8()


@BOTH
def test_a_look_up_is_answered_by_the_sentence_that_says_it(r8: Index, search: Search) -> None:
    answer = search(r8, "Who owns the payment service?")
    assert answer.answered
    assert answer.text.splitlines()[:2] == [
        "Extractive answer (no model):",
        "- The billing team owns the payment service. [Data: Sources (6)]",
    ]
    assert answer.sources[0].path == "c7.md" and [s.rank for s in answer.sources] == list(range(1, 9))


@BOTH
def test_every_citation_resolves_to_its_quote(r8: Index, r8_texts: dict[str, str], search: Search) -> None:
    answer = search(r8, "What does the auth service depend on?")
    assert answer.citations
    for citation in answer.citations:
        assert r8_texts[citation.path][citation.start : citation.end] == citation.quote
        assert citation.ref.split(" (")[0] in answer.text


def test_facts_are_shown_with_their_evidence(r8: Index) -> None:
    answer = search_local(r8, "What does the auth service depend on?")
    assert "- Auth Service -depends_on-> token cache [Data: Relationships (2)]" in answer.text
    assert "- Auth Service -depends_on-> User DB [Data: Relationships (4)]" in answer.text
    assert "Stripe" not in answer.text, "facts that touch nothing the question names stay out"
    assert "|token cache|1|The Auth Service depends on the token cache." in answer.context


def test_the_graph_brings_up_what_the_words_do_not(r8: Index) -> None:
    answer = search_local(r8, "What breaks if Redis goes down?")
    assert answer.answered and "token cache -backed_by-> Redis" in answer.text
    assert [source.path for source in answer.sources][:1] == ["c3.md"]
    assert "c2.md" in [source.path for source in answer.sources][:4]


def test_the_passage_of_a_relationship_that_is_the_answer_stands_before_those_that_are_like_the_question(
    make_index: MakeIndex,
) -> None:
    texts = {f"billing{n}.md": f"Billing has an owner, says page {n} about Billing." for n in range(9)}
    texts["teams.md"] = (
        "Of services with an on-call rota, parcels and invoices aside, the Platform Team owns Billing too."
    )
    answer = search_local(make_index(texts, [("teams.md", "Platform Team", "owns", "Billing")]), "Who owns Billing?")
    assert "Platform Team -owns-> Billing" in answer.text
    assert "teams.md" in [source.path for source in answer.sources][:2]


def test_the_passages_that_a_walk_rests_on_come_first(r8: Index) -> None:
    answer = search_local(r8, "What breaks if Redis goes down?")
    cited = list(dict.fromkeys(citation.path for citation in answer.citations))
    assert len(cited) > 2 and [source.path for source in answer.sources][: len(cited)] == cited


@BOTH
@pytest.mark.parametrize(
    "question", ["What is the best recipe for sourdough?", "Who won the world cup in 1998?", "the of and", "?!"]
)
def test_off_topic_is_said(r8: Index, r8_words: Index, search: Search, question: str) -> None:
    for index in (r8, r8_words):
        answer = search(index, question)
        assert not answer.answered and answer.text == "Nothing in the index answers this question."
        assert answer.citations == () and answer.to_json()["answered"] is False


@BOTH
def test_same_question_same_answer(r8: Index, search: Search) -> None:
    first, second = (search(r8, "How does login work?").to_json() for _ in range(2))
    first["usage"]["seconds"] = second["usage"]["seconds"] = 0
    assert first == second


@BOTH
def test_without_vectors_words_answer_and_it_is_said(r8_words: Index, search: Search) -> None:
    answer = search(r8_words, "Who owns the payment service?")
    assert answer.answered and "billing team owns" in answer.text
    assert answer.notices == ("The index has no vectors: matched by words only.",)
    assert search(r8_words, "Who owns the payment service?", model="none").notices == ()


@BOTH
@pytest.mark.parametrize("budget", [1, 5, 50, 120])
def test_a_small_budget_still_answers_within_it(r8: Index, search: Search, budget: int) -> None:
    answer = search(r8, "Who owns the payment service?", budget_tokens=budget)
    assert answer.context and answer.usage.context_tokens <= max(budget, 2)
    assert answer.answered
    assert answer.notices == ()


@BOTH
def test_a_budget_of_nothing_is_a_usage_error(r8: Index, search: Search) -> None:
    with pytest.raises(UsageError, match="--budget-tokens must be 1 or more, got 0"):
        search(r8, "Redis?", budget_tokens=0)


@BOTH
@pytest.mark.parametrize(
    "question",
    [
        "Redis'; drop table entities; --",
        'Redis "token cache" {0} %s {{x}} \\ [a-z]+ (',
        "Was ist Redis? Что такое Redis? 什么是 Redis?",
        "Redis " * 20_000,
    ],
    ids=["sql", "braces", "languages", "long"],
)
def test_odd_questions_are_data(r8: Index, search: Search, question: str) -> None:
    answer = search(r8, question)
    assert answer.to_json()["question"] == question
    assert answer.sources[0].path == "c3.md"


def test_missing_reports_leave_local_search_working(make_r8: MakeIndex) -> None:
    index = make_r8(without=["communities", "community_reports"])
    assert search_local(index, "Who owns the payment service?").answered


def test_an_index_without_anything_answers_nothing(make_index: MakeIndex) -> None:
    index = make_index({}, [])
    for mode in ("basic", "local"):
        assert not answer_question(index, "Redis?", mode=mode, level=1, top=10, budget_tokens=4000).answered


def test_the_context_escapes_bars_and_keeps_columns(r8: Index) -> None:
    context = search_basic(r8, "What does the payment service depend on?").context
    row = next(line for line in context.splitlines() if "Stripe" in line)
    assert row.replace("\\|", "").count("|") == 3
