"""graphs.py: PageRank, components, hierarchy."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import polars as pl
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


def clique(*nodes: int) -> list[tuple[int, int]]:
    return [(a, b) for a in nodes for b in nodes if a < b]


def level_sets(hierarchy: graphs.Hierarchy, level: int) -> list[list[int]]:
    numbers = hierarchy.levels[level]
    return [[v for v, number in enumerate(numbers) if number == k] for k in range(max(numbers) + 1)]


@given(weighted_graphs(), st.integers(1, 6), st.sampled_from(["leidenalg", "igraph"]), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=100, deadline=None)
def test_hierarchy_nests_covers_and_is_connected(graph, max_size, backend, resolution) -> None:
    n, edges, weights = graph
    hierarchy = graphs.cluster_hierarchy(
        n, edges, weights, max_size=max_size, resolution=resolution, seed=7, backend=backend
    )
    solid = [(a, b) for (a, b), weight in zip(edges, weights, strict=True) if weight and a != b]
    linked = {v for edge in solid for v in edge}
    assert min(hierarchy.levels[0]) >= 0
    assert (hierarchy.unconnected >= 0) == (len(linked) < n)
    if len(linked) < n:
        assert level_sets(hierarchy, 0)[hierarchy.unconnected] == sorted(set(range(n)) - linked)
        assert hierarchy.unconnected == max(hierarchy.levels[0])
    for depth in range(len(hierarchy.levels)):
        groups = level_sets(hierarchy, depth)
        parts = [g for number, g in enumerate(groups) if (depth, number) != (0, hierarchy.unconnected)]
        assert [(-len(g), g[0]) for g in parts] == sorted((-len(g), g[0]) for g in parts)
        for part in parts:
            inside = [edge for edge in solid if set(edge) <= set(part)]
            assert len({number for v, number in enumerate(graphs.components(n, inside)) if v in part}) == 1
        if depth:
            parents = hierarchy.levels[depth - 1]
            for part in parts:
                assert len({parents[v] for v in part}) == 1
                whole = [v for v in range(n) if parents[v] == parents[part[0]]]
                assert all(hierarchy.levels[depth][v] >= 0 for v in whole)
                assert len(part) < len(whole) > max_size


@given(weighted_graphs(), st.integers(0, 9), st.sampled_from(["leidenalg", "igraph"]))
@settings(max_examples=40, deadline=None)
def test_hierarchy_does_not_depend_on_the_order_of_edges(graph, salt, backend) -> None:
    n, edges, weights = graph
    rows = list(zip(edges, weights, strict=True))
    random.Random(salt).shuffle(rows)
    random.seed(salt)
    same = graphs.cluster_hierarchy(n, edges, weights, max_size=3, seed=1, backend=backend)
    other = graphs.cluster_hierarchy(
        n, [(b, a) for (a, b), _ in rows], [w for _, w in rows], max_size=3, seed=1, backend=backend
    )
    assert same == other


@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
class TestShapes:
    def test_no_nodes(self, backend: str) -> None:
        assert graphs.cluster_hierarchy(0, [], max_size=10, backend=backend).levels == []

    def test_isolated_nodes_only(self, backend: str) -> None:
        hierarchy = graphs.cluster_hierarchy(315, [(3, 3)], max_size=10, backend=backend)
        assert hierarchy.levels == [[0] * 315]
        assert hierarchy.unconnected == 0

    def test_clique_of_twelve_cannot_be_split(self, backend: str) -> None:
        hierarchy = graphs.cluster_hierarchy(12, clique(*range(12)), max_size=10, backend=backend)
        assert hierarchy.levels == [[0] * 12]

    def test_triangle_pair_and_two_isolated(self, backend: str) -> None:
        edges = [(5, 6), *clique(0, 2, 4)]
        hierarchy = graphs.cluster_hierarchy(7, edges, max_size=10, backend=backend)
        assert hierarchy.levels == [[0, 2, 0, 2, 0, 1, 1]]

    def test_two_cliques_of_eight(self, backend: str) -> None:
        edges = [*clique(*range(8)), *clique(*range(8, 16)), (7, 8)]
        hierarchy = graphs.cluster_hierarchy(16, edges, max_size=10, backend=backend)
        assert level_sets(hierarchy, 0) == [list(range(8)), list(range(8, 16))]
        assert len(hierarchy.levels) == 1

    def test_fifty_components_of_three(self, backend: str) -> None:
        edges = [edge for k in range(50) for edge in clique(3 * k, 3 * k + 1, 3 * k + 2)]
        assert len(level_sets(graphs.cluster_hierarchy(150, edges, max_size=10, backend=backend), 0)) == 50

    def test_star_of_ten_thousand_leaves_ends(self, backend: str) -> None:
        hierarchy = graphs.cluster_hierarchy(10_001, [(0, v) for v in range(1, 10_001)], max_size=10, backend=backend)
        assert min(hierarchy.levels[0]) == 0

    def test_parallel_edges_and_self_loops_change_nothing(self, backend: str) -> None:
        path = [(v, v + 1) for v in range(11)]
        plain = graphs.cluster_hierarchy(12, path, max_size=3, backend=backend)
        assert plain == graphs.cluster_hierarchy(12, [*path, (4, 4)], max_size=3, backend=backend)
        halves = [0.5] * 22
        assert plain == graphs.cluster_hierarchy(12, [*path, *path], halves, max_size=3, backend=backend)

    def test_modularity_is_that_of_plain_leiden(self, backend: str) -> None:
        import igraph
        import leidenalg

        zachary = igraph.Graph.Famous("Zachary")
        plain = leidenalg.find_partition(zachary, leidenalg.ModularityVertexPartition, seed=1, n_iterations=-1)
        hierarchy = graphs.cluster_hierarchy(34, zachary.get_edgelist(), max_size=99, backend=backend, seed=3)
        assert zachary.modularity(hierarchy.levels[0]) >= plain.modularity - 0.005


def test_auto_chooses_by_number_of_edges_and_unknown_backends_are_refused() -> None:
    assert graphs.cluster_hierarchy(3, clique(0, 1, 2), max_size=10).backend == "leidenalg"
    with pytest.raises(ValueError, match=r'Unknown backend "louvain"\. Known: auto, igraph, leidenalg'):
        graphs.cluster_hierarchy(3, [], max_size=10, backend="louvain")
    with pytest.raises(ValueError, match="max_size is 0"):
        graphs.cluster_hierarchy(3, [], max_size=0)


MS_INDEXES = {"msrepo_dulce_current": 39, "msrepo_verbs_testdata": 529, "piyo_v3.0.1_edo": 2660}


@pytest.mark.shared
@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
@pytest.mark.parametrize("index", MS_INDEXES)
def test_real_graphs_are_covered_whole_at_the_modularity_of_plain_leiden(
    shared: Path, index: str, backend: str
) -> None:
    """The reference covers 504 of 529 and 1,555 of 2,660 of these entities."""
    import igraph
    import leidenalg

    with zipfile.ZipFile(shared / "data" / "ms-index" / f"{index}.zip") as tables:
        titles = pl.read_parquet(io.BytesIO(tables.read("entities.parquet")))["title"]
        rows = pl.read_parquet(io.BytesIO(tables.read("relationships.parquet"))).select("source", "target", "weight")
    node = {title: k for k, title in enumerate(titles)}
    edges = [(node[a], node[b], float(weight)) for a, b, weight in rows.iter_rows() if a in node and b in node]
    pairs, weights = [edge[:2] for edge in edges], [edge[2] for edge in edges]
    hierarchy = graphs.cluster_hierarchy(len(titles), pairs, weights, max_size=10, seed=42, backend=backend)
    assert len(hierarchy.levels[0]) == MS_INDEXES[index] and min(hierarchy.levels[0]) >= 0
    graph = igraph.Graph(len(titles), pairs)
    graph.es["weight"] = weights
    graph.simplify(combine_edges="sum")
    plain = leidenalg.find_partition(
        graph, leidenalg.ModularityVertexPartition, weights="weight", seed=1, n_iterations=-1
    )
    ours = graph.modularity(hierarchy.levels[0], weights="weight")
    assert ours >= graph.modularity(plain.membership, weights="weight") - 0.005


def test_the_shared_generator_of_igraph_is_given_back() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    graphs.cluster_hierarchy(12, [(v, v + 1) for v in range(11)], max_size=3, backend="igraph")
    assert random.random() == expected
