"""Level roll-up as specified, and cited digests of the reports that bear on a question."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import SearchError, UsageError
from graphrag.search.reports.global_search import search_global
from graphrag.search.reports.levels import Community, roll_up_level
from graphrag.store import Index

MakeIndex = Callable[..., Index]

# specs/indexing.md, section 7: 1 (a-h) holds 3 (a-e) and 4 (f-h); 3 holds 5 (a-c) and 6 (d, e); 2 (i-k) is a leaf.
COMMUNITIES = [
    Community(1, 0, -1, [3, 4]),
    Community(2, 0, -1, []),
    Community(3, 1, 1, [5, 6]),
    Community(4, 1, 1, []),
    Community(5, 2, 3, []),
    Community(6, 2, 3, []),
]
ALL = {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("level", "with_report", "used"),
    [
        (0, ALL, {1, 2}),
        (1, ALL, {3, 4, 2}),
        (2, ALL, {5, 6, 4, 2}),
        (9, ALL, {5, 6, 4, 2}),
        (2, ALL - {5}, {3, 4, 2}),
        (2, ALL - {5, 3}, {1, 2}),
    ],
)
def test_roll_up_covers_each_entity_once(level: int, with_report: set[int], used: set[int]) -> None:
    chosen, missing = roll_up_level(COMMUNITIES, with_report, level=level)
    assert set(chosen) == used and len(chosen) == len(used) and missing == 0


def test_what_no_report_covers_is_counted() -> None:
    assert roll_up_level(COMMUNITIES, ALL - {2}, level=0) == ([1], 1)
    assert roll_up_level(COMMUNITIES, {6, 2}, level=2) == ([6, 2], 2)


@given(st.lists(st.integers(0, 30), max_size=30), st.integers(0, 6), st.data())
def test_no_community_and_its_ancestor_are_both_used(parents: list[int], level: int, data: st.DataObject) -> None:
    rows: list[Community] = [Community(0, 0, -1, [])]
    for number, parent in enumerate(parents, start=1):
        above = rows[parent % len(rows)]
        rows.append(Community(number, above.level + 1, above.community, []))
        above.children.append(number)
    with_report = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    used, _ = roll_up_level(rows, with_report, level=level)
    assert len(used) == len(set(used)) and set(used) <= with_report
    for number in used:
        parent = rows[number].parent
        while parent != -1:
            assert parent not in used
            parent = rows[parent].parent


def test_a_theme_is_answered_by_community_with_quotes(r8: Index, r8_texts: dict[str, str]) -> None:
    answer = search_global(r8, "Who owns the payment service?")
    assert answer.answered
    first, title, *bullets = answer.text.splitlines()
    assert first.startswith("Extractive answer (no model); 1 of 3 community reports at level 1 bears on the question:")
    assert "payment service" in title and "[Data: Reports (" in title
    assert bullets[0].startswith("- The billing team owns the payment service. [Data: Relationships (7); Sources (6)]")
    for citation in answer.citations:
        assert r8_texts[citation.path][citation.start : citation.end] == citation.quote
    assert {citation.kind for citation in answer.citations} == {"community_reports", "relationships", "text_units"}
    assert answer.usage.calls == 0


def test_a_question_about_the_whole_takes_reports_by_rank(r8: Index) -> None:
    answer = search_global(r8, "What are the main themes?")
    assert answer.answered
    ranks = [report["rank"] for report in answer.reports]
    assert ranks == sorted(ranks, reverse=True)


def test_a_kind_of_documents_that_the_folders_do_not_tell_apart_is_the_whole(r8: Index) -> None:
    answer = search_global(r8, "What themes recur across the runbooks?")
    whole = search_global(r8, "What are the main themes?")
    assert answer.answered and answer.text == whole.text
    assert answer.notices == ('No folder or type of documents is called "runbook": these are the themes of all.',)
    assert not search_global(r8, "What themes recur across the sourdough runbooks?").answered
    assert not search_global(r8, "Where are the runbooks?").answered  # no theme is asked for


def test_nothing_relevant_is_an_honest_answer(r8: Index) -> None:
    answer = search_global(r8, "What is the best recipe for sourdough?")
    assert not answer.answered and answer.text == "Nothing in the index answers this question."
    assert answer.citations == () and answer.context == ""


def test_no_reports_is_one_line(make_r8: MakeIndex) -> None:
    index = make_r8(without=["community_reports"])
    with pytest.raises(SearchError, match=r'^No community reports\. Run "graphrag index"\.$'):
        search_global(index, "Redis")


def test_bad_knobs_are_usage_errors(r8: Index) -> None:
    with pytest.raises(UsageError, match="--level must be 0 or more, got -1"):
        search_global(r8, "Redis", level=-1)
    with pytest.raises(UsageError, match="--budget-tokens must be 1 or more, got 0"):
        search_global(r8, "Redis", budget_tokens=0)
