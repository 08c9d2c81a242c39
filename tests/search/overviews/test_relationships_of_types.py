"""Questions with a question word at both ends: relationships between two types, either way round, one a pair."""

from __future__ import annotations

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.overviews.relationships_of_types import find_relationships_of_types
from graphrag.search.reports.global_search import search_global
from graphrag.store import Index


@pytest.mark.parametrize(
    ("question", "n"),
    [
        ("Who owns what?", 0),  # without types nobody is known to be a team
        ("What depends on what?", 6),  # backed by, runs on: needs
        ("What owns what?", 1),
        ("What is owned by what?", 1),
        ("Which elephants own which services?", 0),
        ("What does not depend on what?", 0),
        ("What depends on Redis?", 0),
    ],
)
def test_relationships_whose_predicate_is_the_verb(r8: Index, question: str, n: int) -> None:
    pairs = find_relationships_of_types(r8, question)
    assert (len(pairs.facts) if pairs else 0) == n


def test_both_modes_list_them_cited(r8: Index, r8_texts: dict[str, str]) -> None:
    for search in (search_local, search_global):
        answer = search(r8, "What owns what?")
        assert "billing team -owns-> payment service [Data: Relationships (" in answer.text
        assert "1 relationship any -owns-> any:" in answer.text
        assert [c.quote for c in answer.citations] == [r8_texts["c7.md"]]
