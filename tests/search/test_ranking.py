"""Ranking by words and meaning; and the floor below which nothing is an answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphrag import vectors
from graphrag.search.ranking import (
    Likeness,
    Question,
    is_relevant,
    measure_likeness,
    prepare_question,
    question_terms,
    rank_rows,
    stem_term,
)
from graphrag.store import Index
from graphrag.store.owners import make_owners
from graphrag.vectors import Embedder, Floor


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        (("own", "owned", "owner", "owning"), "own"),
        (("manage", "managed", "manager", "managing"), "manag"),
        (("use", "used"), "use"),
        (("redis",), "redi"),
        (("api",), "api"),
    ],
)
def test_forms_of_a_word_meet(forms: tuple[str, ...], stem: str) -> None:
    assert {stem_term(form) for form in forms} == {stem}


def test_stop_words_are_no_terms() -> None:
    assert question_terms("What does the Auth Service depend on?") == ["auth", "service", "depend"]
    assert question_terms("the of and") == []


def test_words_and_meaning_are_fused(r8: Index) -> None:
    question, notices = prepare_question(r8, "Who owns the payment service?")
    hits = rank_rows(r8, question, "text_units", top=3)
    assert notices == [] and len(hits) == 3
    assert hits[0].bm25 > 0 and hits[0].cosine > 0.6
    assert hits[0].score == pytest.approx(2 / 61, abs=1e-6), "first in both lists"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_rows_that_are_named_come_up(r8: Index) -> None:
    question, _ = prepare_question(r8, "Who owns the payment service?")
    last = rank_rows(r8, question, "text_units", top=8)[-1].owner_id
    again = [hit.owner_id for hit in rank_rows(r8, question, "text_units", top=8, first=[last])]
    assert again.index(last) < 7


def test_the_nearest_rows_come_first_and_ties_in_table_order() -> None:
    likeness = Likeness(make_owners(["a", "b", "c", "d"]), np.array([0.1, 0.9, 0.5, 0.5], dtype=np.float32))
    assert likeness.best(3) == ["b", "c", "d"]
    assert likeness.of(["c", "zzz"]) == {"c": 0.5}
    assert Likeness(None, None).best(3) == []


@pytest.mark.parametrize("n", [3, 700, 5_000])
def test_the_nearest_of_many_are_those_of_a_full_sort(n: int) -> None:
    cosines = np.random.default_rng(n).integers(-50, 50, size=n).astype(np.float32) / 50  # many ties
    cosines[:: n // 3] = np.nan  # vectors without direction
    ids = [f"{row:05}" for row in range(n)]
    order = sorted(np.flatnonzero(~np.isnan(cosines)), key=lambda row: (-cosines[row], row))
    assert Likeness(make_owners(ids), cosines).best(6) == [ids[row] for row in order[:6]]


def test_without_vectors_nothing_is_measured(r8: Index) -> None:
    question, notices = prepare_question(r8, "Redis", model="none")
    assert measure_likeness(r8, question, "text_units").cosines is None and notices == []


@pytest.mark.parametrize("has_other", ["fingerprint", "dimension"])
def test_vectors_of_another_model_are_not_compared(r8: Index, monkeypatch: pytest.MonkeyPatch, has_other: str) -> None:
    monkeypatch.setitem(r8.manifest, "embedding_fingerprint", vectors.fingerprint_model("embedded"))
    assert prepare_question(r8, "Redis")[1] == []
    if has_other == "fingerprint":
        monkeypatch.setitem(r8.manifest, "embedding_fingerprint", "of other files")
    else:
        narrow = replace(vectors.load_embedder("embedded"), dim=3)
        monkeypatch.setattr(vectors, "load_embedder", lambda name: narrow)
    question, notices = prepare_question(r8, "Redis")
    assert question.vector is None and question.embedder is None
    assert notices == ['The index was embedded with another model: matched by words only. Run "graphrag index".']


def _question(floor: Floor | None) -> Question:
    embedder = Embedder("m", 1, "f", floor, lambda text, is_query: np.ones(1, dtype=np.float32))
    return Question("", ("redis", "outage"), {"redi": 1.0, "outag": 1.0}, None, embedder)


@pytest.mark.parametrize(
    ("cosine", "text", "relevant"),
    [
        (0.5, "nothing shared", True),
        (0.3, "nothing shared", False),
        (0.2, "an outage", True),
        (0.1, "an outage", False),
        (0.0, "outages of Redis", True),
        (-0.5, "an outage", False),
    ],
)
def test_likeness_and_shared_terms_count_together(cosine: float, text: str, relevant: bool) -> None:
    assert is_relevant(_question(Floor(0.0, 0.42)), cosine, text) is relevant


def test_an_unmeasured_model_leaves_it_to_the_words() -> None:
    assert is_relevant(_question(None), 0.0, "an outage")
    assert not is_relevant(_question(None), 0.99, "nothing shared")
    assert not is_relevant(replace(_question(None), terms=(), idf={}), 0.99, "nothing shared")


def test_cosines_of_a_model_that_finds_everything_alike_are_stretched() -> None:
    question = _question(Floor(0.76, 0.85))
    assert question.nearness(0.76) == 0 and question.nearness(0.85) == pytest.approx(1)
    assert question.nearness(0.5) == 0
