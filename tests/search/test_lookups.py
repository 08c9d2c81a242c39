"""Rows are looked up by the index of the database for short lists, by a hash of long ones; an empty list finds none."""

from __future__ import annotations

import pytest

from graphrag.search.lookups import MAX_LISTED, one_of
from graphrag.store import Index


@pytest.mark.parametrize("n_others", [0, 1, MAX_LISTED, 3 * MAX_LISTED])
def test_a_list_of_any_length_finds_the_same_rows(r8: Index, n_others: int) -> None:
    titles = ["Redis", "Stripe", *(f"nobody {number}" for number in range(n_others))]
    is_one, values = one_of("title", titles)
    rows = r8.frame(f"select title from entities where {is_one} order by title", values)
    assert rows["title"].to_list() == ["Redis", "Stripe"]


def test_an_empty_list_finds_nothing(r8: Index) -> None:
    is_one, values = one_of("title", [])
    assert r8.frame(f"select title from entities where {is_one}", values).is_empty()


def test_a_short_list_uses_the_index(r8: Index) -> None:
    indexed = r8.frame("select table_name || '.' || expressions as place from duckdb_indexes() order by place")
    assert "entities.[id]" in indexed["place"].to_list() and "evidence.[relationship_id]" in indexed["place"].to_list()
