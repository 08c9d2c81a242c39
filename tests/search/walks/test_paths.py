"""The best routes between two entities: the spec's vectors, and the best of all simple paths on random graphs."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.search.walks.edges import Direction, Edge, list_edges
from graphrag.search.walks.paths import find_routes

from ..context_graph import edges


def titles(
    graph: list[Edge], a: str, b: str, *, direction: Direction = "out", n: int = 1, max_hops: int = 6
) -> list[str]:
    routes = find_routes(list_edges(graph), a, b, max_hops=max_hops, direction=direction, n=n).routes
    return [" ".join(route.titles) for route in routes]


def test_fewest_hops_then_weakest_then_sum_then_title() -> None:
    graph = edges(
        "S x A 1", "A x G 9", "S x B 2", "B x G 2", "S x C 2", "C x G 3", "S x b 2", "b x G 3", "S x D 9", "D x E 9",
        "E x G 9",
    )  # fmt: skip
    assert titles(graph, "S", "G") == ["S b G"]
    assert titles(graph, "S", "G", n=9) == ["S b G", "S C G", "S B G", "S A G", "S D E G"]


def test_a_better_beginning_may_only_show_at_the_end() -> None:
    """Weakest first, then sum: the strong beginning through A loses once the last hop is weaker than both."""
    graph = edges("S x A 3", "A x M 3", "S x B 2", "B x M 9", "M x G 1")
    assert titles(graph, "S", "M") == ["S A M"]
    assert titles(graph, "S", "G") == ["S B M G"]


def test_direction() -> None:
    graph = edges("A x B", "C x B")
    assert titles(graph, "A", "C") == []
    assert titles(graph, "A", "C", direction="both") == ["A B C"]
    assert titles(graph, "B", "A", direction="in") == ["B A"]


def test_longer_than_max_hops_is_no_route() -> None:
    graph = edges("A x B", "B x C", "C x D")
    assert titles(graph, "A", "D", max_hops=2) == [] and titles(graph, "A", "D", max_hops=3) == ["A B C D"]
    assert titles(graph, "A", "A") == [] and titles(graph, "A", "nowhere") == []


def test_too_many_routes_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrag.search.walks.paths.MAX_ROUTES", 200)
    names = [f"N{i}" for i in range(12)]
    graph = edges(*(f"S x {name}" for name in names), *(f"{a} x {b}" for a in names for b in names if a != b))
    graph += edges(*(f"{name} x G" for name in names))
    found = find_routes(list_edges(graph), "S", "G", max_hops=6, n=500)
    assert not found.is_complete and len(found.routes) > 0
    best = find_routes(list_edges(graph), "S", "G", max_hops=6, n=3)
    assert best.is_complete and [route.titles[1] for route in best.routes] == ["N0", "N1", "N10"]


GRAPHS = st.lists(
    st.tuples(st.sampled_from("ABCDEF"), st.sampled_from("xy"), st.sampled_from("ABCDEF"), st.integers(1, 3)),
    max_size=18, unique_by=lambda edge: edge[:3],
).map(lambda rows: [Edge(f"{s}{p}{t}", s, p, t, float(w)) for s, p, t, w in rows])  # fmt: skip


@settings(deadline=None)
@given(GRAPHS, st.sampled_from(["out", "in", "both"]), st.integers(1, 5))
def test_routes_are_the_simple_paths_in_order(graph: list[Edge], direction: Direction, max_hops: int) -> None:
    weight: dict[tuple[str, str], float] = {}
    for edge in graph:
        ends = [(edge.source, edge.target)] if direction != "in" else []
        ends += [(edge.target, edge.source)] if direction != "out" else []
        for pair in ends:
            weight[pair] = max(weight.get(pair, 0.0), edge.weight)
    every = []
    for n in range(max_hops):
        for between in permutations("BCDE", n):
            path = ("A", *between, "F")
            if all(pair in weight for pair in pairwise(path)):
                weights = [weight[pair] for pair in pairwise(path)]
                every.append((len(weights), -min(weights), -sum(weights), path))
    expected = [" ".join(path) for *_, path in sorted(every)]
    assert titles(graph, "A", "F", direction=direction, max_hops=max_hops, n=100) == expected
    assert titles(graph, "A", "F", direction=direction, max_hops=max_hops) == expected[:1]
