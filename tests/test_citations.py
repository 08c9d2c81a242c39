"""Citations are checked against what a context holds, and rewritten to the numbers of the tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.citations import check_citations, cite, drop_citations, renumber_citations

KNOWN = {"Entities": [5], "Sources": [1, 2, 3], "Reports": [3, 7]}


@pytest.mark.parametrize(
    ("text", "checked", "n_removed"),
    [
        ("A [Data: Sources (3)].", "A [Data: Sources (3)].", 0),
        ("A [Data: Entities (5); Sources (1, 2)].", "A [Data: Entities (5); Sources (1, 2)].", 0),
        ("A [Data: Entities (999999)].", "A.", 1),
        ("A [Data: Reports (7, +more)].", "A [Data: Reports (7)].", 0),
        ("A [Data: Sources (1; 2)].", "A [Data: Sources (1, 2)].", 0),
        ("A [Data: Reports(3)].", "A [Data: Reports (3)].", 0),
        ("A [data: reports (3), sources (9)] b", "A [Data: Reports (3)] b", 1),
        ("A [Data: Chunks (1)] b", "A b", 1),
        ("A [Data: Sources (2, 2)].", "A [Data: Sources (2)].", 0),
        ("See [the page](x) and [1].", "See [the page](x) and [1].", 0),
        ("A [Data: Sources (99999999999999999999999999)].", "A.", 2),
    ],
)
def test_citations_are_understood_and_checked(text: str, checked: str, n_removed: int) -> None:
    result = check_citations(text, KNOWN)
    assert (result.text, result.n_removed) == (checked, n_removed)


def test_cited_ids_come_in_order_each_once() -> None:
    result = check_citations("[Data: Sources (2, 1)] [Data: Entities (5); Sources (2)]", KNOWN)
    assert result.cited == (("Sources", 2), ("Sources", 1), ("Entities", 5))


@given(st.text(alphabet="[]() Data:Sources;,0123456789", max_size=60))
def test_checking_is_total_and_settles(text: str) -> None:
    once = check_citations(text, KNOWN)
    assert check_citations(once.text, KNOWN).n_removed == 0


def test_cite_renders_as_the_reference_does() -> None:
    assert cite(Relationships=[1, 2], Sources=[3]) == "[Data: Relationships (1, 2); Sources (3)]"
    assert cite(Sources=[]) == ""


def test_numbers_of_a_prompt_become_those_of_the_tables() -> None:
    numbers = {("Entities", 1): ("Entities", 40), ("Sources", 1): ("Relationships", 7), ("Sources", 2): ("Sources", 9)}
    result = renumber_citations("A [Data: Entities (1, 2); Sources (1, 2, +more)] b [Data: Entities (40)].", numbers)
    assert result.text == "A [Data: Entities (40); Relationships (7); Sources (9)] b."
    assert result.cited == (("Entities", 40), ("Relationships", 7), ("Sources", 9))
    assert result.n_removed == 2


def test_a_text_without_its_citations() -> None:
    assert drop_citations("A b [Data: Sources (3)]. C [Data: Reports (1)]") == "A b. C"
