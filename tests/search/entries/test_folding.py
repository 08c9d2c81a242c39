"""Folding as specs/folding.md says: its vectors V1 to V10, and its properties on random graphs of up to 40 entries."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.relations.events import RELATION_TYPES
from graphrag.search.entries.folding import (
    DOMINATED,
    DOMINATES,
    RELATION_SCHEMA,
    TYPE_ORDER,
    Related,
    Result,
    attach_neighbors,
    fold_entries,
)

POOL = [f"e{number:02d}" for number in range(1, 21)]
RELATION = re.compile(r"(\w+) (\w+) (\w+)( \(n\))?")


def _relations(written: str) -> pl.DataFrame:
    """`e03 corrects e01 (n); e07 cites e02`: (n) has a note."""
    rows = []
    for part in written.split(";"):
        match = RELATION.fullmatch(part.strip())
        assert match, part
        source, type_, target, note = match.groups()
        rows.append((source, target, type_, f"note on {target}" if note else ""))
    return pl.DataFrame(rows, schema=RELATION_SCHEMA, orient="row")


def _shown(related: Related) -> str:
    """`e04 clarifies out via e09`."""
    via = f" via {' '.join(related.via)}" if related.via else ""
    return f"{related.id} {related.relation} {related.direction}{via}"


def _pointers(folded: list[Result]) -> dict[str, list[str]]:
    return {result.id: [pointer.id for pointer in result.pointers] for result in folded}


INSIDE = _relations(
    "e03 corrects e01 (n); e07 cites e02; e09 clarifies e04 (n); e15 corrects e09 (n); e05 part_of e11; "
    "e06 see_also e12; e16 supersedes e12 (n); e08 corrects e13; e13 clarifies e08"
)
OUTSIDE = _relations(
    "e02 see_also x1; e02 corrects x2; e02 see_also x3 (n); x4 conflicts_with e02 (n); e02 cites x5; "
    "e10 part_of x6 (n); e03 requires x7 (n)"
)


def test_v1_folded_results_hold_eight_topics_where_the_flat_list_held_six() -> None:
    folded = attach_neighbors(fold_entries(POOL, INSIDE), POOL, OUTSIDE)
    assert [
        (result.rank, result.id, [_shown(p) for p in result.pointers], [_shown(n) for n in result.neighbors])
        for result in folded
    ] == [
        (1, "e01", ["e03 corrects in"], []),
        (2, "e02", ["e07 cites in"], ["x4 conflicts_with in", "x3 see_also out", "x2 corrects out"]),
        (4, "e15", ["e09 corrects out", "e04 clarifies out via e09"], []),
        (5, "e11", ["e05 part_of in"], []),
        (6, "e06", ["e12 see_also out", "e16 supersedes in via e12"], []),
        (8, "e08", ["e13 corrects out"], []),
        (10, "e10", [], ["x6 part_of out"]),
        (14, "e14", [], []),
    ]
    assert {r.id: r.corrected_by for r in folded if r.corrected_by} == {"e01": ("e03",)}
    assert folded[0].pointers[0].note == "note on e01"
    assert len(fold_entries(POOL, INSIDE, results=99)) == 12


def test_v2_two_protected_entries_of_a_group_are_two_results() -> None:
    folded = fold_entries(POOL, _relations("e02 corrects e01; e05 cites e01; e06 cites e02; e07 see_also e05"))
    found = _pointers(folded)
    assert list(found) == ["e01", "e02", "e03", "e04", "e08", "e09", "e10", "e11"]
    assert found["e01"] == ["e05", "e07"]
    assert found["e02"] == ["e06"]
    assert folded[0].pointers[1].via == ("e05",)
    assert folded[0].corrected_by == ("e02",)


def test_v3_only_what_dominates_on_the_way_stands_for_a_group() -> None:
    folded = fold_entries(POOL, _relations("e10 supersedes e03; e03 see_also e05"))
    assert list(_pointers(folded)) == ["e01", "e02", "e10", "e04", "e06", "e07", "e08", "e09"]
    assert (folded[2].rank, [_shown(p) for p in folded[2].pointers]) == (
        3, ["e03 supersedes out", "e05 see_also out via e03"],
    )  # fmt: skip


def test_v4_a_cycle_of_corrections_ends_at_its_best_member() -> None:
    folded = fold_entries(POOL, _relations("e05 corrects e04; e06 corrects e05; e04 corrects e06"))
    assert list(_pointers(folded)) == ["e01", "e02", "e03", "e04", "e07", "e08", "e09", "e10"]
    assert [_shown(p) for p in folded[3].pointers] == ["e05 corrects in", "e06 corrects out"]


def test_v5_a_long_chain_hangs_on_the_nearer_protected_entry() -> None:
    chain = _relations("; ".join(f"{a} see_also {b}" for a, b in pairwise(POOL)))
    folded = fold_entries(POOL, chain)
    assert _pointers(folded) == {"e01": [], "e02": POOL[2:]}
    assert folded[1].pointers[-1].via == tuple(POOL[2:19])
    assert len(folded[1].pointers[-1].via) == 17
    further = [f"f{number:02d}" for number in range(1, 21)]
    assert list(_pointers(fold_entries(POOL + further, chain))) == ["e01", "e02", *further[:6]]


def test_v6_without_relations_the_results_are_the_flat_ones() -> None:
    folded = fold_entries(POOL, pl.DataFrame(schema=RELATION_SCHEMA))
    assert [(result.rank, result.id) for result in folded] == list(enumerate(POOL[:8], start=1))
    assert not any(result.related for result in folded)


def test_v7_a_small_pool_gives_what_there_is() -> None:
    assert _pointers(fold_entries(POOL[:5], _relations("e03 cites e04"))) == {
        "e01": [], "e02": [], "e03": ["e04"], "e05": [],
    }  # fmt: skip


def test_v8_a_dominated_protected_entry_stays_and_says_so() -> None:
    folded = fold_entries(POOL, _relations("e04 supersedes e01 (n); e04 see_also e09"))
    assert list(_pointers(folded)) == ["e01", "e02", "e03", "e05", "e06", "e07", "e08", "e10"]
    assert [_shown(p) for p in folded[0].pointers] == ["e04 supersedes in", "e09 see_also out via e04"]
    assert folded[0].superseded_by == ("e04",)
    assert folded[0].corrected_by == folded[0].clarified_by == ()


def test_v9_parts_are_handed_over_by_what_contains_them() -> None:
    folded = fold_entries(POOL, _relations("e05 part_of e11; e06 part_of e11; e07 split_from e11"))
    found = _pointers(folded)
    assert list(found) == ["e01", "e02", "e03", "e04", "e11", "e08", "e09", "e10"]
    assert folded[4].rank == 5
    assert found["e11"] == ["e05", "e06", "e07"]


def test_v10_an_empty_pool_gives_nothing() -> None:
    assert fold_entries([], INSIDE) == []
    assert attach_neighbors([], [], OUTSIDE) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("e03 cites e05 (n); e03 corrects e05", "e05 cites out"),  # with a note first
        ("e03 see_also e05; e03 corrects e05", "e05 corrects out"),  # then the order of types
        ("e03 see_also e04; e03 see_also e05; e04 see_also e06; e05 see_also e06", "e06 see_also out via e04"),
        ("e03 conflicts_with e05; e03 corrects e05", "e05 conflicts_with out"),  # then the name of the type
        ("e03 see_also e05; e05 see_also e03", "e05 see_also in"),  # `in` before `out`
    ],
)
def test_ties_between_paths_are_settled_in_the_order_of_the_rule(written: str, expected: str) -> None:
    folded = fold_entries(["e01", "e02", "e03", "e04", "e05", "e06"], _relations(written))
    result = next(result for result in folded if result.pointers)
    assert expected in [_shown(pointer) for pointer in result.pointers]


def test_every_type_has_its_place_in_the_order() -> None:
    assert set(TYPE_ORDER) == set(RELATION_TYPES)


def test_what_dominates_the_result_comes_first_among_its_pointers() -> None:
    folded = fold_entries(POOL, _relations("e03 see_also e01; e01 see_also e04; e09 clarifies e01"))
    assert [pointer.id for pointer in folded[0].pointers] == ["e09", "e03", "e04"]
    assert folded[0].clarified_by == ("e09",)


def test_a_neighbor_is_listed_once_a_result_and_never_when_it_was_ranked() -> None:
    around = _relations("e01 cites x1; x1 corrects e01; e01 cites e30; e05 cites x9; e01 requires e01")
    folded = attach_neighbors(fold_entries(POOL, INSIDE), [*POOL, "e30"], around)
    assert [_shown(n) for n in folded[0].neighbors] == ["x1 corrects in"]
    assert [result.id for result in folded if result.neighbors] == ["e01"]


ENTRIES = [f"e{number:02d}" for number in range(1, 41)]


@st.composite
def _graphs(draw: st.DrawFn) -> tuple[list[str], pl.DataFrame]:
    ranked = draw(st.permutations(ENTRIES[: draw(st.integers(0, 40))]))
    entry = st.sampled_from([*ranked, "x1", "x2", "x3"])
    row = st.tuples(entry, entry, st.sampled_from(RELATION_TYPES), st.sampled_from(["", "", "a note"]))
    rows = draw(st.lists(row, max_size=draw(st.sampled_from([3, 20, 60]))))
    return list(ranked), pl.DataFrame(rows, schema=RELATION_SCHEMA, orient="row")


def _both(ranked: list[str], relations: pl.DataFrame) -> list[Result]:
    return attach_neighbors(fold_entries(ranked, relations), ranked, relations)


@settings(max_examples=400, deadline=None)
@given(_graphs())
def test_properties_p1_p2_p3(graph: tuple[list[str], pl.DataFrame]) -> None:
    ranked, relations = graph
    folded = _both(ranked, relations)
    shown = [entry for result in folded for entry in (result.id, *(pointer.id for pointer in result.pointers))]
    assert set(ranked[:8]) <= set(shown)  # P1: nothing of the flat list is lost
    group_ranks = [
        min(ranked.index(entry) + 1 for entry in (result.id, *(p.id for p in result.pointers)))
        for result in folded
        if ranked.index(result.id) >= 2
    ]
    assert group_ranks == [result.rank for result in folded if ranked.index(result.id) >= 2]
    assert [result.rank for result in folded] == sorted(result.rank for result in folded)  # P2
    assert len(shown) == len(set(shown))  # P3
    assert not set(shown) & {neighbor.id for result in folded for neighbor in result.neighbors}
    assert [result.id for result in folded][: min(2, len(ranked))] == ranked[:2]  # the protected ones stay


@settings(max_examples=200, deadline=None)
@given(_graphs())
def test_property_p4_folding_the_results_again_changes_nothing(graph: tuple[list[str], pl.DataFrame]) -> None:
    ranked, relations = graph
    results = [result.id for result in fold_entries(ranked, relations)]
    assert [result.id for result in fold_entries(results, relations)] == results


@settings(max_examples=200, deadline=None)
@given(_graphs(), st.randoms(use_true_random=False))
def test_property_p6_the_order_of_the_relations_does_not_matter(
    graph: tuple[list[str], pl.DataFrame], random: Any
) -> None:
    ranked, relations = graph
    order = list(range(relations.height))
    random.shuffle(order)
    assert _both(ranked, relations[order]) == _both(ranked, relations)


@settings(max_examples=200, deadline=None)
@given(_graphs())
def test_every_pointer_can_be_walked_and_no_result_ends_dominated_without_a_cycle(
    graph: tuple[list[str], pl.DataFrame],
) -> None:
    ranked, relations = graph
    stored = {(r["source"], r["type"], r["target"]) for r in relations.iter_rows(named=True)}
    above: dict[str, set[str]] = {}
    for source, type_, target in stored:
        if source in ranked and target in ranked and source != target:
            if type_ in DOMINATES:
                above.setdefault(target, set()).add(source)
            if type_ in DOMINATED:
                above.setdefault(source, set()).add(target)
    for result in fold_entries(ranked, relations, results=99):
        for pointer in result.pointers:
            near = (result.id, *pointer.via)[-1]
            ends = (near, pointer.id) if pointer.direction == "out" else (pointer.id, near)
            assert (ends[0], pointer.relation, ends[1]) in stored
            assert set(pointer.via) <= {other.id for other in result.pointers}
        if result.id not in ranked[:2] and result.id in above:
            assert result.id in _reach(above, result.id), result  # else one that dominates it would stand here


def _reach(above: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    level = set(above.get(start, ()))
    while level:
        reached |= level
        level = {higher for entry in level for higher in above.get(entry, ())} - reached
    return reached
