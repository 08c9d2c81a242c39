"""Measures with figures worked out by hand, and the paired bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.search.answer import NOTHING, Answer, Citation
from graphrag.search.evaluation.measures import (
    RESULT_SCHEMA,
    bootstrap_interval,
    choose_baseline,
    compare_methods,
    count_valid,
    measure_documents,
    measure_said,
    summarise_methods,
)


def _results(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{**dict.fromkeys(RESULT_SCHEMA), **row} for row in rows], schema=dict(RESULT_SCHEMA))


@pytest.mark.parametrize(
    ("found", "gold", "recall", "all_gold"),
    [
        (["a", "b", "c"], ["a", "c"], 1.0, 1.0),
        (["a", "b"], ["a", "c"], 0.5, 0.0),
        (["b"], ["a"], 0.0, 0.0),
        ([], ["a"], 0.0, 0.0),
        (["a"], [], None, None),
    ],
)
def test_recall_of_documents(found: list[str], gold: list[str], recall: float | None, all_gold: float | None) -> None:
    assert measure_documents(found, gold) == {"recall": recall, "all_gold": all_gold}


@pytest.mark.parametrize(
    ("text", "answers", "share"),
    [
        ("- Ana Kovač leads it. [Data: Sources (3)]", [["ana kovač"]], 1.0),
        ("- Ana leads it. [Data: Sources (3)]", [["Ana Kovač", "Ana"], ["Ivo"]], 0.5),
        ("- Ana leads it. [Data: Sources (3)]", [["3"]], 0.0),
        ("- We know Redis.", [["no"]], 0.0),
        ("- Nothing to see.", [["model"], ["no"]], 0.0),
        ("- It cost 61,000 (EUR).", [["61,000"], ["(EUR)"]], 1.0),
    ],
)
def test_an_answer_is_said_in_whole_words(text: str, answers: list[list[str]], share: float) -> None:
    answer = Answer("basic", "q", f"Extractive answer (no model):\n{text}", True)
    assert measure_said(answer, answers) == share


def test_of_an_unanswered_question_nothing_is_said() -> None:
    assert measure_said(Answer("basic", "q", NOTHING, False), [["index"]]) == 0.0
    assert measure_said(Answer("basic", "q", NOTHING, False), []) is None


def test_a_citation_is_valid_to_the_letter() -> None:
    def cite(document: str, start: int, end: int, quote: str) -> Citation:
        return Citation("Sources (1)", "text_units", "u", 1, document, "a.md", start, end, quote)

    citations = (cite("d", 0, 4, "Ana "), cite("d", 0, 4, "ana "), cite("d", 4, 4, ""), cite("gone", 0, 3, "Ana"))
    answer = Answer("basic", "q", "x", True, citations=citations)
    assert count_valid(answer, {"d": "Ana leads."}) == 1


def test_a_method_is_summarised_over_the_questions_that_have_the_measure() -> None:
    results = _results(
        {"method": "bm25", "question_id": "1", "recall": 0.5, "all_gold": 0.0, "seconds": 0.2},
        {"method": "bm25", "question_id": "2", "seconds": 0.4},
        {"method": "basic", "question_id": "1", "recall": 1.0, "all_gold": 1.0, "answered": 1.0, "n_citations": 3,
         "n_valid": 3, "context_tokens": 10, "seconds": 1.0},
        {"method": "basic", "question_id": "2", "answered": 0.0, "said": 0.0, "n_citations": 1, "n_valid": 0,
         "context_tokens": 30, "seconds": 2.0},
    )  # fmt: skip
    assert summarise_methods(results).rows() == [
        ("bm25", 2, 0.5, 0.0, None, None, 0, None, None, pytest.approx(0.3)),
        ("basic", 2, 1.0, 1.0, 0.5, 0.0, 4, 0.75, 20.0, 1.5),
    ]


def test_the_best_baseline_is_chosen_by_recall_then_all_gold() -> None:
    def summary(*rows: tuple[str, float | None, float | None]) -> pl.DataFrame:
        return summarise_methods(
            _results(*({"method": m, "question_id": "1", "recall": r, "all_gold": a} for m, r, a in rows))
        )

    assert choose_baseline(summary(("a", 0.5, 0.0), ("b", 0.5, 0.5), ("c", 0.9, 0.9)), ["a", "b"]) == "b"
    assert choose_baseline(summary(("a", 0.5, 0.5), ("b", 0.5, 0.5)), ["a", "b"]) == "a"
    assert choose_baseline(summary(("a", None, None)), ["a"]) == ""


def test_methods_are_compared_question_by_question() -> None:
    ours, theirs = [1.0, 1.0, 0.5, 1.0], [1.0, 0.5, 1.0, 0.0]
    rows = [
        {"method": method, "question_id": str(number), "recall": recall, "all_gold": float(recall == 1)}
        for method, recalls in (("bm25", theirs), ("local", ours))
        for number, recall in enumerate(recalls)
    ]
    found = compare_methods(_results(*rows, {"method": "local", "question_id": "no gold"}), "bm25")
    assert found.select("method", "measure", "difference", "wins", "losses").rows() == [
        ("local", "recall", 0.25, 2, 1),
        ("local", "all_gold", 0.25, 2, 1),
    ]
    low, high = found.row(0)[3:5]
    assert low == -0.25 and high == 0.75  # of the 256 resamples 2.4 % lie below -.25, 1.2 % above .75
    assert compare_methods(_results(*rows), "").filter(pl.col("method") == "nobody").is_empty()


def test_the_interval_repeats_and_narrows_with_more_questions() -> None:
    few = np.array([0.0, 0.5, 1.0, 0.0, -0.5])
    many = np.tile(few, 100)
    assert bootstrap_interval(few) == bootstrap_interval(few)
    low, high = bootstrap_interval(many)
    spread = 1.96 * many.std() / np.sqrt(len(many))
    assert low == pytest.approx(0.2 - spread, abs=0.01)
    assert high == pytest.approx(0.2 + spread, abs=0.01)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=20))
def test_an_interval_lies_within_the_differences(differences: list[float]) -> None:
    low, high = bootstrap_interval(np.array(differences))
    assert min(differences) <= low <= high <= max(differences)
