"""The context builder: columns never shift, the budget holds, nothing is ever empty or endless."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.context import CUT_MARK, Section, cut_text, escape_cell, pack, section


def count_words(text: str) -> int:
    return len(text.split())


def _section(title: str, *lines: str, share: float = 1.0) -> Section:
    return Section(
        title, "id|text", tuple(f"{i}|{line}" for i, line in enumerate(lines)), tuple(range(len(lines))), share
    )


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("a | b", "a \\| b"),
        ("one\n two\ttabs\r\nthree", "one two tabs three"),
        (None, ""),
        (["x", "y"], "x, y"),
        (3, "3"),
    ],
)
def test_a_cell_is_one_line_without_bare_bars(value: object, cell: str) -> None:
    assert escape_cell(value) == cell


def test_a_section_is_a_table_with_ids() -> None:
    frame = pl.DataFrame({"human_readable_id": [7, 9], "title": ["A|B", "C"], "unused": [1, 2]})
    made = section("Sources", frame, {"title": "document"})
    assert (made.header, made.lines, made.ids) == ("id|document", ("7|A\\|B", "9|C"), (7, 9))


def test_lines_fill_the_budget_and_what_does_not_fit_is_counted() -> None:
    packed = pack([_section("Sources", "one two", "a b c d e f g", "x")], budget=7, count=count_words)
    assert packed.ids == {"Sources": [0, 2]}
    assert packed.left_out == {"Sources": 1}
    assert packed.text == "-----Sources-----\nid|text\n0|one two\n2|x\n"
    assert packed.n_tokens == 5


def test_a_share_is_a_limit_until_others_have_had_theirs() -> None:
    facts = _section("Relationships", *["w"] * 10, share=0.5)
    sources = _section("Sources", *["w"] * 3, share=0.5)
    packed = pack([facts, sources], budget=14, count=count_words)
    assert packed.ids == {"Relationships": [0, 1, 2, 3, 4, 5, 6], "Sources": [0, 1, 2]}


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 10, 50])
def test_one_row_larger_than_the_budget_is_cut_with_a_mark(budget: int) -> None:
    packed = pack([_section("Sources", "word " * 100, "word " * 100)], budget=budget, count=count_words)
    assert packed.ids == {"Sources": [0]} and packed.left_out == {"Sources": 1}
    assert packed.text and (CUT_MARK in packed.text or packed.text.endswith("…"))
    assert packed.n_tokens <= max(budget, 1)


def test_nothing_to_show_is_an_empty_context() -> None:
    assert pack([_section("Sources")], budget=5, count=count_words).text == ""
    assert pack([], budget=5, count=count_words).n_tokens == 0


texts = st.text(alphabet="ab \n|", max_size=40)


@example([[""], ["", "", "", "a"]], 58)  # the blank line between two sections counts
@given(st.lists(st.lists(texts, max_size=6), max_size=4), st.integers(1, 60))
def test_the_budget_holds_and_every_row_is_in_or_left_out(rows: list[list[str]], budget: int) -> None:
    sections = [
        Section(
            f"S{n}", "id|text", tuple(f"{i}|{escape_cell(t)}" for i, t in enumerate(lines)), tuple(range(len(lines)))
        )
        for n, lines in enumerate(rows)
    ]
    packed = pack(sections, budget=budget, count=len)
    assert packed.n_tokens <= budget or budget < 3
    n_rows = sum(map(len, rows))
    assert sum(map(len, packed.ids.values())) + sum(packed.left_out.values()) == n_rows
    assert bool(packed.text) == bool(n_rows)


@given(st.text(min_size=1, max_size=200), st.integers(1, 50))
def test_cutting_ends_and_fits(text: str, budget: int) -> None:
    cut = cut_text(text, budget=budget, count=len)
    assert cut
    assert len(cut) <= max(budget, 2)
