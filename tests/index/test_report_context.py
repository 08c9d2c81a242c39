"""report_context.py: what fits a prompt, to the token (specs: indexing 6)."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphrag.index.report_context import (
    ENTITIES,
    RELATIONSHIPS,
    REPORTS,
    SOURCES,
    Child,
    Group,
    ReportContext,
    Row,
    pack_report_context,
)
from graphrag.tokens import TokenCounter, count_tokens


def count_words(text: str) -> int:
    return len(text.split())


def row(table: str, name: str, n_words: int, *refs: str) -> Row:
    return Row(table, name, " ".join([name, *["w"] * (n_words - 1)]), refs)


def count_lines(context: ReportContext, count: TokenCounter = count_words) -> int:
    """Tokens of the numbered lines."""
    return sum(count(f"{line}\n") for line in context.text.splitlines() if re.match(r"\d+\|", line))


def make_clique() -> list[Group]:
    entities = [row(ENTITIES, f"e{k}", 10) for k in range(6)]
    return [(a, b, row(RELATIONSHIPS, f"{a.id}-{b.id}", 8)) for a, b in combinations(entities, 2)]


def shown(context: ReportContext, table: str) -> list[str]:
    return [row.id for (name, _), row in context.rows.items() if name == table]


@pytest.mark.parametrize(
    ("budget", "n_entities", "n_relationships", "n_tokens", "left_out"),
    [(200, 6, 15, 200, 0), (150, 6, 8, 144, 7), (199, 6, 14, 192, 1), (48, 2, 1, 48, 14)],
)
def test_a_leaf_fits_or_says_what_does_not(
    budget: int, n_entities: int, n_relationships: int, n_tokens: int, left_out: int
) -> None:
    context = pack_report_context(make_clique(), budget=budget, overhead=20, count=count_words)
    assert len(shown(context, ENTITIES)) == n_entities
    assert len(shown(context, RELATIONSHIPS)) == n_relationships
    assert count_lines(context) + 20 == n_tokens
    assert context.left_out.get(RELATIONSHIPS, 0) == left_out
    last = context.text.splitlines()[-1]
    assert last.startswith("Not shown for want of room: ") == bool(left_out)
    assert f"{left_out} relationship" in last or not left_out


def test_what_fits_by_its_bytes_is_not_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return count_words(text)

    lines = {row.place: f"99|{row.text}\n" for group in make_clique() for row in group}
    n_bytes = sum(map(len, lines.values()))
    by_bytes = pack_report_context(make_clique(), budget=20 + n_bytes, overhead=20, count=count)
    assert by_bytes.is_whole and counted == []
    by_tokens = pack_report_context(make_clique(), budget=200, overhead=20, count=count)
    assert by_tokens == by_bytes and counted


def test_a_group_that_does_not_fit_is_cut_with_a_mark() -> None:
    context = pack_report_context(make_clique(), budget=40, overhead=20, count=count_words)
    lines = [line for line in context.text.splitlines() if re.match(r"\d+\|", line)]
    assert count_lines(context) == 20
    assert lines[-1].endswith("…[cut]") and shown(context, ENTITIES) == ["e0", "e1"]
    assert context.left_out == {ENTITIES: 5, RELATIONSHIPS: 15}


def make_parent() -> tuple[list[Group], list[Child]]:
    """Child A: rows 700, report 200; B: 400, 150; C: 150, 160; five relationships of 20 from A to B."""
    rows = {
        "A": [row(ENTITIES, f"a{k}", 100) for k in range(7)],
        "B": [row(ENTITIES, f"b{k}", 100) for k in range(4)],
        "C": [row(ENTITIES, f"c{k}", 75) for k in range(2)],
    }
    reports = {"A": 200, "B": 150, "C": 160}
    children = [
        Child(row(REPORTS, name, n), frozenset(member.place for member in rows[name])) for name, n in reports.items()
    ]
    alone: list[Group] = [(member,) for members in rows.values() for member in members]
    across: list[Group] = [(rows["A"][k], rows["B"][k % 4], row(RELATIONSHIPS, f"x{k}", 20)) for k in range(5)]
    return alone + across, children


@pytest.mark.parametrize(
    ("budget", "reports", "entities", "cross", "n_tokens", "left_out"),
    [
        (1390, [], "abc", 5, 1390, {}),
        (1389, ["A"], "bc", 5, 890, {}),
        (1000, ["A"], "bc", 5, 890, {}),
        (700, ["A", "B"], "c", 5, 640, {}),
        (600, ["A", "B"], "c", 3, 600, {RELATIONSHIPS: 2}),
        (300, ["A"], "", 3, 300, {REPORTS: 1, ENTITIES: 2, RELATIONSHIPS: 2}),
    ],
)
def test_reports_of_children_stand_in_for_their_rows_largest_first(
    budget: int, reports: list[str], entities: str, cross: int, n_tokens: int, left_out: dict[str, int]
) -> None:
    groups, children = make_parent()
    context = pack_report_context(groups, children, budget=budget, overhead=40, count=count_words)
    assert shown(context, REPORTS) == reports
    assert "".join(sorted({name[0] for name in shown(context, ENTITIES)})) == entities
    assert shown(context, RELATIONSHIPS) == [f"x{k}" for k in range(cross)]
    assert (count_lines(context) + 40, context.left_out) == (n_tokens, left_out)


def test_children_of_equal_size_stand_in_by_their_text_not_by_their_number() -> None:
    members = [row(ENTITIES, name, 50) for name in "ab"]
    children = [
        Child(Row(REPORTS, number, text), frozenset({member.place}))
        for number, text, member in (("1", "late", members[0]), ("2", "early", members[1]))
    ]
    groups: list[Group] = [(member,) for member in members]
    for order in (1, -1):
        context = pack_report_context(groups, children[::order], budget=60, overhead=0, count=count_words)
        assert shown(context, REPORTS) == ["2"]


def test_a_sentence_is_shown_once_and_its_number_ends_the_lines_that_rest_on_it() -> None:
    both, other = Row(SOURCES, "s", "A calls B and C."), Row(SOURCES, "t", "A is old.")
    a, b, c = (Row(ENTITIES, name, f"{name}|service|") for name in "ABC")
    first: Group = (a, b, other, both, Row(RELATIONSHIPS, "ab", "A|calls|B|", ("t", "s")))
    second: Group = (a, c, both, Row(RELATIONSHIPS, "ac", "A|calls|C|", ("s",)))
    context = pack_report_context([first, second], budget=1000, overhead=0, count=count_tokens)
    assert context.text == (
        "-----Entities-----\nid|entity|type|description\n1|A|service|\n2|B|service|\n3|C|service|\n\n"
        "-----Relationships-----\nid|source|relation|target|evidence (numbers of Sources)\n"
        "1|A|calls|B|1, 2\n2|A|calls|C|2\n\n"
        "-----Sources-----\nid|quote\n1|A is old.\n2|A calls B and C."
    )


WORD = st.sampled_from(["Redis", "token cache", "北京", "a|b", "x" * 40, "🚀 café", "- [ ] todo", "12,000.50"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.lists(WORD, max_size=12)), min_size=1, max_size=40),
    st.integers(0, 400),
    st.booleans(),
)
@example([(0, 0, ["Redis", "a|b"])], 31, False)
def test_what_is_shown_and_what_is_counted_are_all_there_is(
    drawn: list[tuple[int, int, list[str]]], room: int, has_children: bool
) -> None:
    entities = [Row(ENTITIES, str(k), f"name {k}|type|{'d' * k}") for k in range(10)]
    groups: list[Group] = []
    for number, (a, b, words) in enumerate(drawn):
        quote = Row(SOURCES, " ".join(words), " ".join(words))
        fact = Row(RELATIONSHIPS, f"r{number}", f"{a}|calls|{b}|", (quote.id,))
        groups.append((entities[a], entities[b], quote, fact))
    inside = [n for n, (a, b, _) in enumerate(drawn) if a < 5 and b < 5]
    places = {entities[k].place for k in range(5)} | {(RELATIONSHIPS, f"r{n}") for n in inside}
    children = [Child(Row(REPORTS, "7", "A group|5|Few words."), frozenset(places))] if has_children else []
    context = pack_report_context(groups, children, budget=room + 10, overhead=10, count=count_tokens)
    assert count_lines(context, count_tokens) <= max(room, 3) and context.text.strip()
    is_replaced = bool(shown(context, REPORTS)) or REPORTS in context.left_out
    owed = {f"r{n}" for n in range(len(drawn))} - ({f"r{n}" for n in inside} if is_replaced else set())
    cut = [line for line in context.text.splitlines() if line.endswith(("…[cut]", "…"))]
    facts = context.text.partition("-----Relationships-----\n")[2].partition("\n\n")[0].splitlines()[1:]
    whole = set(shown(context, RELATIONSHIPS)) - ({"r0"} if facts and facts[-1] in cut else set())
    assert len(owed - whole) == context.left_out.get(RELATIONSHIPS, 0)
    assert whole <= owed
    held = {source.id for (table, _), source in context.rows.items() if table == SOURCES}
    assert cut or all(set(row.refs) <= held for row in context.rows.values())
