"""Sums over a judge's verdicts, with figures worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.search.evaluation.judging import SCORE_SCHEMA, VERDICT_SCHEMA
from graphrag.search.evaluation.preferences import measure_position, summarise_preferences, summarise_scores


def verdicts(*pairs: tuple[str | None, str | None]) -> pl.DataFrame:
    """A question a pair: what the judge says with `b` shown first, then with `a` first."""
    rows = []
    for number, (with_b_first, with_a_first) in enumerate(pairs):
        for first, better in (("b", with_b_first), ("a", with_a_first)):
            rows.append(("b", "a", str(number), first, better, ""))
    return pl.DataFrame(rows, schema=dict(VERDICT_SCHEMA), orient="row")


def test_only_what_both_orders_say_is_a_preference() -> None:
    found = summarise_preferences(
        verdicts(
            ("first", "second"),  # b twice
            ("second", "first"),  # a twice
            ("first", "second"),
            ("first", "first"),  # the place
            ("tie", "second"),
            ("tie", "tie"),
            (None, "first"),
        )
    )
    (row,) = found.to_dicts()
    assert [row[name] for name in ("wins", "ties", "losses", "contradicted", "unread")] == [2, 3, 1, 1, 1]
    assert row["difference"] == pytest.approx(1 / 6) and row["low"] <= row["difference"] <= row["high"]


@pytest.mark.parametrize(
    ("pairs", "n_first", "n_decided", "probability"),
    [
        ([("first", "first")] * 6, 12, 12, 2 / 64),
        ([("second", "second")] * 6, 0, 12, 2 / 64),
        ([("first", "first")] * 5, 10, 10, 2 / 32),
        ([("first", "second")] * 20, 20, 40, 1.0),
        ([("first", "first"), ("second", "second")], 2, 4, 1.0),
        ([("tie", None)], 0, 0, 1.0),
        ([("first", None)], 1, 1, 1.0),
        ([], 0, 0, 1.0),
    ],
)
def test_a_bias_of_place_is_told_from_pairs_whose_orders_disagree(
    pairs: list[tuple[str | None, str | None]], n_first: int, n_decided: int, probability: float
) -> None:
    found = measure_position(verdicts(*pairs))
    assert (found.n_first, found.n_decided) == (n_first, n_decided)
    assert found.probability == pytest.approx(probability) and found.is_biased == (probability < 0.05)


WORD = st.sampled_from(["first", "second", "tie", None])


@given(st.lists(st.tuples(WORD, WORD), max_size=12))
def test_swapping_the_methods_swaps_wins_and_losses(pairs: list[tuple[str | None, str | None]]) -> None:
    given_ = verdicts(*pairs)
    swapped = given_.with_columns(pl.lit("a").alias("method"), pl.lit("b").alias("against"))
    one, other = summarise_preferences(given_), summarise_preferences(swapped)
    assert one["wins"].to_list() == other["losses"].to_list()
    assert one.select("ties", "contradicted", "unread").equals(other.select("ties", "contradicted", "unread"))
    assert sum(one.select("wins", "ties", "losses", "unread").row(0) if pairs else [0]) == len(pairs)


def test_means_leave_out_what_could_not_be_read() -> None:
    rows = [
        ("a", "1", 3, 2, 1, ""),
        ("a", "2", None, None, None, ""),
        ("a", "3", 0, 1, 2, ""),
        ("b", "1", None, None, None, ""),
    ]
    found = summarise_scores(pl.DataFrame(rows, schema=dict(SCORE_SCHEMA), orient="row"))
    assert found.rows() == [("a", 2, 1, 1.5, 1.5, 1.5), ("b", 0, 1, None, None, None)]
