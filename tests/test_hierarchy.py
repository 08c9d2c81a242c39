"""hierarchy.py: levels, nesting, shapes; what an earlier hierarchy keeps in place."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import graphs
from graphrag.hierarchy import Hierarchy, cluster_hierarchy

from .test_graphs import weighted_graphs


def clique(*nodes: int) -> list[tuple[int, int]]:
    return [(a, b) for a in nodes for b in nodes if a < b]


def level_sets(hierarchy: Hierarchy, level: int) -> list[list[int]]:
    numbers = hierarchy.levels[level]
    return [[v for v, number in enumerate(numbers) if number == k] for k in range(max(numbers) + 1)]


def assert_sound(
    n: int, edges: list[tuple[int, int]], weights: list[float], hierarchy: Hierarchy, max_size: int
) -> None:
    """Covers all nodes, nests exactly, splits only what is too large; groups are connected and in order of size."""
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


@given(weighted_graphs(), st.integers(1, 6), st.sampled_from(["leidenalg", "igraph"]), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=100, deadline=None)
def test_hierarchy_nests_covers_and_is_connected(graph, max_size, backend, resolution) -> None:
    n, edges, weights = graph
    hierarchy = cluster_hierarchy(n, edges, weights, max_size=max_size, resolution=resolution, seed=7, backend=backend)
    assert_sound(n, edges, weights, hierarchy, max_size)


@given(weighted_graphs(), st.integers(0, 9), st.sampled_from(["leidenalg", "igraph"]))
@settings(max_examples=40, deadline=None)
def test_hierarchy_does_not_depend_on_the_order_of_edges(graph, salt, backend) -> None:
    n, edges, weights = graph
    rows = list(zip(edges, weights, strict=True))
    random.Random(salt).shuffle(rows)
    random.seed(salt)
    same = cluster_hierarchy(n, edges, weights, max_size=3, seed=1, backend=backend)
    other = cluster_hierarchy(
        n, [(b, a) for (a, b), _ in rows], [w for _, w in rows], max_size=3, seed=1, backend=backend
    )
    assert same == other


@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
class TestShapes:
    def test_no_nodes(self, backend: str) -> None:
        assert cluster_hierarchy(0, [], max_size=10, backend=backend).levels == []

    def test_isolated_nodes_only(self, backend: str) -> None:
        hierarchy = cluster_hierarchy(315, [(3, 3)], max_size=10, backend=backend)
        assert hierarchy.levels == [[0] * 315]
        assert hierarchy.unconnected == 0

    def test_clique_of_twelve_cannot_be_split(self, backend: str) -> None:
        hierarchy = cluster_hierarchy(12, clique(*range(12)), max_size=10, backend=backend)
        assert hierarchy.levels == [[0] * 12]

    def test_triangle_pair_and_two_isolated(self, backend: str) -> None:
        edges = [(5, 6), *clique(0, 2, 4)]
        hierarchy = cluster_hierarchy(7, edges, max_size=10, backend=backend)
        assert hierarchy.levels == [[0, 2, 0, 2, 0, 1, 1]]

    def test_two_cliques_of_eight(self, backend: str) -> None:
        edges = [*clique(*range(8)), *clique(*range(8, 16)), (7, 8)]
        hierarchy = cluster_hierarchy(16, edges, max_size=10, backend=backend)
        assert level_sets(hierarchy, 0) == [list(range(8)), list(range(8, 16))]
        assert len(hierarchy.levels) == 1

    def test_fifty_components_of_three(self, backend: str) -> None:
        edges = [edge for k in range(50) for edge in clique(3 * k, 3 * k + 1, 3 * k + 2)]
        assert len(level_sets(cluster_hierarchy(150, edges, max_size=10, backend=backend), 0)) == 50

    def test_star_of_ten_thousand_leaves_ends(self, backend: str) -> None:
        hierarchy = cluster_hierarchy(10_001, [(0, v) for v in range(1, 10_001)], max_size=10, backend=backend)
        assert min(hierarchy.levels[0]) == 0

    def test_parallel_edges_and_self_loops_change_nothing(self, backend: str) -> None:
        path = [(v, v + 1) for v in range(11)]
        plain = cluster_hierarchy(12, path, max_size=3, backend=backend)
        assert plain == cluster_hierarchy(12, [*path, (4, 4)], max_size=3, backend=backend)
        halves = [0.5] * 22
        assert plain == cluster_hierarchy(12, [*path, *path], halves, max_size=3, backend=backend)

    def test_modularity_is_that_of_plain_leiden(self, backend: str) -> None:
        import igraph
        import leidenalg

        zachary = igraph.Graph.Famous("Zachary")
        plain = leidenalg.find_partition(zachary, leidenalg.ModularityVertexPartition, seed=1, n_iterations=-1)
        hierarchy = cluster_hierarchy(34, zachary.get_edgelist(), max_size=99, backend=backend, seed=3)
        assert zachary.modularity(hierarchy.levels[0]) >= plain.modularity - 0.005


def test_knobs_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="max_size is 0"):
        cluster_hierarchy(3, [], max_size=0)
    with pytest.raises(ValueError, match=r'Unknown quality "rber"\. Known: cpm, modularity'):
        cluster_hierarchy(3, [], max_size=9, quality="rber")


def test_the_shared_generator_of_igraph_is_given_back() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    cluster_hierarchy(12, [(v, v + 1) for v in range(11)], max_size=3, backend="igraph")
    assert random.random() == expected


@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
def test_cpm_asks_for_a_weight_per_pair_that_doubles_with_each_level(backend: str) -> None:
    """Two cliques of 4, weight .7 inside and .1 between: one group, then the cliques, then single nodes."""
    pairs = clique(*range(8))
    weights = [0.7 if (a < 4) == (b < 4) else 0.1 for a, b in pairs]
    for resolution, expected in ((0.06, [1, 2]), (0.2, [2]), (0.9, [8])):
        hierarchy = cluster_hierarchy(
            8, pairs, weights, max_size=3, quality="cpm", resolution=resolution, backend=backend
        )
        n_groups = [len(level_sets(hierarchy, level)) for level in range(len(hierarchy.levels))]
        assert n_groups[: len(expected)] == expected, resolution


@given(weighted_graphs(), st.integers(1, 6), st.sampled_from(["leidenalg", "igraph"]))
@settings(max_examples=60, deadline=None)
def test_an_unchanged_graph_keeps_its_hierarchy(graph, max_size, backend) -> None:
    n, edges, weights = graph
    first = cluster_hierarchy(n, edges, weights, max_size=max_size, seed=7, backend=backend)
    previous = [[-1 if number == first.unconnected and not level else number for number in numbers]
                for level, numbers in enumerate(first.levels)]  # fmt: skip
    same = cluster_hierarchy(
        n, edges, weights, max_size=max_size, seed=8, backend=backend, previous=previous, changed=[False] * n
    )
    assert same == first


@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
def test_only_groups_that_a_change_touches_move(backend: str) -> None:
    """Twenty rings of five cliques; one edge is added inside the first clique's ring, seeds and all else differ."""
    edges = []
    for ring in range(20):
        for k in range(5):
            first = 30 * ring + 6 * k
            edges += [*clique(*range(first, first + 6)), (first, 30 * ring + (6 * k + 7) % 30)]
    before = cluster_hierarchy(600, edges, max_size=8, seed=1, backend=backend)
    changed = [node in (0, 13) for node in range(600)]
    after = cluster_hierarchy(
        600, [*edges, (0, 13)], max_size=8, seed=2, backend=backend, previous=before.levels, changed=changed
    )
    for level in range(len(before.levels)):
        kept = {tuple(group) for group in level_sets(after, level)}
        for group in level_sets(before, level):
            assert tuple(group) in kept or min(group) < 30


def test_a_bridge_that_goes_splits_its_group_at_once() -> None:
    edges = [*clique(*range(4)), *clique(*range(4, 8)), (3, 4)]
    previous = [[0] * 8]
    changed = [node in (3, 4) for node in range(8)]
    after = cluster_hierarchy(8, edges[:-1], max_size=20, previous=previous, changed=changed)
    assert level_sets(after, 0) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@given(weighted_graphs(), weighted_graphs(), st.integers(1, 6), st.sampled_from(["leidenalg", "igraph"]))
@settings(max_examples=60, deadline=None)
def test_any_earlier_hierarchy_gives_a_sound_one(graph, other, max_size, backend) -> None:
    n, edges, weights = graph
    earlier = cluster_hierarchy(*other, max_size=max_size, backend=backend).levels
    previous = [[*numbers, *[-1] * n][:n] for numbers in earlier]
    changed = [node % 3 == 0 for node in range(n)]
    hierarchy = cluster_hierarchy(
        n, edges, weights, max_size=max_size, backend=backend, previous=previous, changed=changed
    )
    assert_sound(n, edges, weights, hierarchy, max_size)
