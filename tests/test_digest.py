"""digest.py: which sentences are picked, and what is trimmed off their ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.digest import (
    MAX_RANKED,
    Sentence,
    leans_on_others,
    rate_readability,
    select_sentences,
    show_quote,
    trim_span,
)

STORY = [
    "The Auth Service depends on the token cache for every session.",
    "The token cache is backed by Redis.",
    "Auth Service depends on the token cache for every session!",
    "Redis ran out of memory on Black Friday.",
    "The canteen serves soup on Tuesdays.",
    "Sessions live in the token cache for two weeks.",
]


def sentences(*texts: str, weights: dict[int, float] | None = None) -> list[Sentence]:
    return [Sentence(text, "d", k, k + len(text), weight=(weights or {}).get(k, 1.0)) for k, text in enumerate(texts)]


def texts(picked: list) -> list[str]:
    return [selected.sentence.text for selected in picked]


def test_central_sentences_come_first_and_near_duplicates_only_once() -> None:
    picked = texts(select_sentences(sentences(*STORY), limit=6))
    assert picked[0] in (STORY[0], STORY[1], STORY[2], STORY[5])
    assert len({STORY[0], STORY[2]} & set(picked)) == 1
    assert len(picked) == 5


def test_a_question_turns_the_order() -> None:
    assert texts(select_sentences(sentences(*STORY), limit=1, question="What does the canteen serve?")) == [STORY[4]]
    assert texts(select_sentences(sentences(*STORY), limit=1, question="redis memory")) == [STORY[3]]


def test_weight_counts_and_zero_weight_is_never_picked() -> None:
    picked = texts(select_sentences(sentences(*STORY, weights={4: 50.0, 0: 0.0}), limit=6))
    assert picked[0] == STORY[4]
    assert STORY[0] not in picked


def test_nothing_in_nothing_out() -> None:
    assert select_sentences([], limit=3) == []
    assert select_sentences(sentences("One."), limit=0) == []
    assert texts(select_sentences(sentences("!?", "..."), limit=3)) == ["!?"]  # no words: all the same


def test_many_sentences_are_cut_to_those_of_the_largest_bias() -> None:
    many = sentences(*[f"Service number {k} calls gateway {k * 7}." for k in range(MAX_RANKED * 3)], weights={899: 9.0})
    assert texts(select_sentences(many, limit=1)) == [many[899].text]


@given(st.lists(st.text(alphabet="ab c.|", max_size=12), max_size=12), st.integers(1, 5), st.text("abc ", max_size=5))
@settings(max_examples=60, deadline=None)
def test_selection_is_a_deterministic_subset_in_falling_order_of_picking(rows, limit, question) -> None:
    given_sentences = sentences(*rows)
    picked = select_sentences(given_sentences, limit=limit, question=question)
    assert picked == select_sentences(given_sentences, limit=limit, question=question)
    assert len(picked) <= limit
    assert len({selected.sentence for selected in picked}) == len(picked)
    assert all(selected.sentence in given_sentences and 0 <= selected.score <= 1 for selected in picked)


TRIMMED = [
    ("- [x] Slots are dropped", "Slots are dropped"),
    ("  1. An analyst opened a slot. ", "An analyst opened a slot."),
    ("> Quoted words.", "Quoted words."),
    ("## Why", "Why"),
    ("**Impact.** 38 minutes of silence.", "38 minutes of silence."),
    ("**Correction (2023-06-20):** that was wrong.", "that was wrong."),
    ("*Written by Ana Kovač.*", "Written by Ana Kovač."),
    ("**Redis** is a cache.", "**Redis** is a cache."),
    ("| Carts out of Redis | Dele Okafor |", "Carts out of Redis | Dele Okafor"),
    ("**half of a bold", "half of a bold"),
    ("2 * 3 is 6", "2 * 3 is 6"),
    ("v1.2 is out.", "v1.2 is out."),
    ("北京是首都。", "北京是首都。"),
    ("|---|", "---"),
    ("- ", ""),
    ("", ""),
]


@pytest.mark.parametrize(("raw", "expected"), TRIMMED)
def test_trim_span(raw: str, expected: str) -> None:
    text = f"before\n{raw}\nafter"
    start, end = trim_span(text, 7, 7 + len(raw))
    assert text[start:end] == expected


@given(st.text(alphabet="a *_|-#>1.[]x\n", max_size=30), st.data())
@settings(max_examples=200, deadline=None)
def test_trimming_stays_inside_and_trims_once(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = trim_span(text, start, end)
    assert start <= first <= last <= end


def test_readability_prefers_whole_sentences() -> None:
    whole = rate_readability("The token cache is backed by Redis.")
    assert whole == 1
    for worse in (
        "Carts out of Redis | Dele Okafor | 2023-01-18",
        "Redis",
        "It also reads from the user database.",
        "owner: Identity Team",
        "for (int i = 0; i < n; i++) { x[i] = y[i]; }",
        "What runs on Kafka at night, and why?",
        'She phoned Team B with the words "we deliver to boxes now?',
        "Since then the staging cluster reads its keys from Vault.",
        "[[INC-104]] · [[INC-131]] · [[INC-158]] · [[INC-187]].",
    ):
        assert rate_readability(worse) < whole
    assert rate_readability("认证服务依赖于令牌缓存。") == 1


def test_words_that_point_back() -> None:
    assert leans_on_others("It also reads.") and leans_on_others("this service calls")
    assert not leans_on_others("Items are read.") and not leans_on_others("Theseus sails.")


def test_show_quote_only_folds_white_space() -> None:
    assert show_quote("reads\n  from \t it") == "reads from it"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("- Slots older than one hour are dropped — Jonas Müller", "Slots older than one hour are dropped"),
        ("- Look twice. — Data Team", "Look twice."),
        ("One of them — Redis, that is — holds sessions", "One of them — Redis, that is — holds sessions"),
        ("We chose the best — Redis.", "We chose the best — Redis."),
    ],
)
def test_an_attribution_at_the_end_is_left_off(text: str, kept: str) -> None:
    start, end = trim_span(text, 0, len(text))
    assert text[start:end] == kept
