"""graphs.py: PageRank, components, cut vertices, the choice of a backend."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import graphs


@st.composite
def weighted_graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[float]]:
    n = draw(st.integers(1, 40))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=120))
    weights = draw(st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0]), min_size=len(edges), max_size=len(edges)))
    return n, edges, weights


@given(weighted_graphs(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_pagerank_sums_to_one_whatever_the_order_of_edges(graph, seed) -> None:
    n, edges, weights = graph
    ranks = graphs.pagerank(n, edges, weights)
    assert sum(ranks) == pytest.approx(1)
    rows = list(zip(edges, weights, strict=True))
    random.Random(seed).shuffle(rows)
    assert ranks == graphs.pagerank(n, [(b, a) for (a, b), _ in rows], [weight for _, weight in rows])


def test_pagerank_without_nodes_edges_or_reset() -> None:
    assert graphs.pagerank(0, []) == []
    assert graphs.pagerank(2, []) == pytest.approx([0.5, 0.5])
    assert graphs.pagerank(2, [(0, 1)], reset=[0, 0]) == pytest.approx([0.5, 0.5])


def test_personalised_pagerank_favours_what_is_near_the_reset() -> None:
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    ranks = graphs.pagerank(5, path, reset=[1, 0, 0, 0, 0])
    assert ranks[0] > ranks[2] > ranks[3] > ranks[4] > 0


def test_directed_pagerank_follows_the_arrows() -> None:
    ranks = graphs.pagerank(3, [(0, 2), (1, 2)], directed=True)
    assert ranks[2] > ranks[0] == pytest.approx(ranks[1])


def test_bad_edges_are_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        graphs.pagerank(2, [(0, 2)])
    with pytest.raises(ValueError, match="2 edges but 1 weights"):
        graphs.pagerank(2, [(0, 1), (1, 0)], [1.0])


def test_components_are_numbered_by_their_smallest_node() -> None:
    assert graphs.components(6, [(4, 1), (3, 0), (2, 2)]) == [0, 1, 2, 0, 1, 3]
    assert graphs.components(0, []) == []


@given(weighted_graphs())
@settings(max_examples=60, deadline=None)
def test_a_cut_vertex_leaves_more_components_behind(graph) -> None:
    n, edges, _ = graph
    cuts = graphs.cut_vertices(n, edges)
    whole = len(set(graphs.components(n, edges)))
    for node in range(n):
        rest = [edge for edge in edges if node not in edge]
        is_alone = all(set(edge) == {node} for edge in edges if node in edge)
        n_without = len(set(graphs.components(n, rest))) - 1  # the node itself, alone now
        assert cuts[node] == (not is_alone and n_without > whole)


def test_cut_vertices_of_a_path_are_its_inner_nodes() -> None:
    assert graphs.cut_vertices(5, [(0, 1), (1, 2), (2, 3), (3, 3)]) == [False, True, True, False, False]
    assert graphs.cut_vertices(0, []) == []
    assert graphs.cut_vertices(2, []) == [False, False]


def test_auto_chooses_by_number_of_edges_and_unknown_backends_are_refused() -> None:
    assert graphs.choose_backend("auto", graphs.AUTO_MAX_EDGES) == "leidenalg"
    assert graphs.choose_backend("auto", graphs.AUTO_MAX_EDGES + 1) == "igraph"
    assert graphs.choose_backend("igraph", 3) == "igraph"
    with pytest.raises(ValueError, match=r'Unknown backend "louvain"\. Known: auto, igraph, leidenalg'):
        graphs.choose_backend("louvain", 3)


def test_strong_components_are_numbered_above_those_they_lead_to() -> None:
    numbers = graphs.strong_components(6, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (4, 0), (4, 4)])
    assert numbers[0] == numbers[1] and numbers[2] == numbers[3] and len(set(numbers)) == 4
    assert numbers[4] > numbers[0] > numbers[2]
    assert graphs.strong_components(0, []) == []
