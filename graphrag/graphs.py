"""The one door to igraph and leidenalg: PageRank, components, and a hierarchy of communities over plain numbers.

Nodes are 0..n-1, edges are pairs of them, weights are floats; names, ids and tables stay with the callers. Every
function first makes the graph simple: self loops and edges without a positive finite weight go out, parallel edges
(in either direction, when undirected) are summed. So the order of the edges never changes a result.

Does not: know a table, keep a graph between calls, or draw random numbers other than from the seed it is given.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import igraph
    from numpy.typing import NDArray

Edges = Sequence[tuple[int, int]]

AUTO_MAX_EDGES = 100_000
"""Above this `auto` takes igraph's Leiden: 13 to 19 times less CPU at equal modularity, measured at 873k edges."""
N_ITERATIONS = {"leidenalg": 4, "igraph": 2}
"""Rounds of the Leiden optimiser; never "until stable", which does not end in useful time on large graphs."""


class Hierarchy(NamedTuple):
    """Nested groups of nodes.

    `levels[k][node]` is the number of the node's group at level k, or -1 where its branch ended above k. Numbers are
    per level, by size (largest first), then smallest node. `unconnected` is the number, at level 0 and the last there,
    of the group of all nodes without an edge; -1 if every node has one. `backend` is the one that ran.
    """

    levels: list[list[int]]
    unconnected: int
    backend: str


def pagerank(
    n: int,
    edges: Edges,
    weights: Sequence[float] | None = None,
    *,
    reset: Sequence[float] | None = None,
    damping: float = 0.85,
    directed: bool = False,
) -> list[float]:
    """PageRank of each node by edge weight; sums to 1. Personalised where `reset` gives a share to each node.

    `reset` needs no normalising; all zeros means uniform. Brin & Page 1998; solved exactly by PRPACK in igraph.
    """
    if n == 0:
        return []
    pairs, sums = _simple_edges(n, edges, weights, directed=directed)
    graph = _graph(n, pairs, directed=directed)
    if reset is None or not any(share > 0 for share in reset):
        ranks = graph.pagerank(directed=directed, damping=damping, weights=sums.tolist())
    else:
        shares = [max(0.0, float(share)) for share in reset]
        ranks = graph.personalized_pagerank(directed=directed, damping=damping, reset=shares, weights=sums.tolist())
    return [float(rank) for rank in ranks]


def components(n: int, edges: Edges) -> list[int]:
    """Number of the connected component of each node, directions ignored; numbered by their smallest node."""
    if n == 0:
        return []
    pairs, _ = _simple_edges(n, edges, None)
    return [int(number) for number in _renumber(np.asarray(_graph(n, pairs).connected_components().membership))]


def cluster_hierarchy(
    n: int,
    edges: Edges,
    weights: Sequence[float] | None = None,
    *,
    max_size: int,
    resolution: float = 1.0,
    seed: int = 0,
    backend: str = "auto",
) -> Hierarchy:
    """Recursive Leiden over every component: level 0 clusters the graph, each next level the groups above `max_size`.

    Modularity with `resolution`, of the whole graph at level 0 and of each group by itself below. Every group is
    connected, except the one of the nodes without edges. A group that Leiden leaves whole stays whole, whatever its
    size, and has no copy on a deeper level. Traag, Waltman & van Eck 2019.
    """
    if max_size < 1:
        raise ValueError(f"max_size is {max_size}; at least 1 is needed.")
    pairs, sums = _simple_edges(n, edges, weights)
    chosen = _choose_backend(backend, len(pairs))
    linked = np.zeros(n, dtype=bool)
    linked[pairs.ravel()] = True
    levels: list[list[int]] = []
    group = np.where(linked, 0, -1)  # what is clustered next: -1 is left alone
    while (group >= 0).any():
        within = group[pairs[:, 0]] == group[pairs[:, 1]]
        pairs, sums = pairs[within & (group[pairs[:, 0]] >= 0)], sums[within & (group[pairs[:, 0]] >= 0)]
        parts = _partition(group, pairs, sums, resolution=resolution, seed=seed + len(levels), backend=chosen)
        if levels:
            parts[_is_whole(group, parts)] = -1
        if not (parts >= 0).any():
            break
        levels.append(_renumber_by_size(parts).tolist())
        sizes = np.bincount(parts[parts >= 0])
        group = np.where((parts >= 0) & (sizes[parts] > max_size), parts, -1)
    if linked.all():
        return Hierarchy(levels, -1, chosen)
    first = np.asarray(levels[0] if levels else [-1] * n)
    unconnected = int(first.max()) + 1
    first[~linked] = unconnected
    return Hierarchy([first.tolist(), *levels[1:]], unconnected, chosen)


def _choose_backend(backend: str, n_edges: int) -> str:
    if backend == "auto":
        return "leidenalg" if n_edges <= AUTO_MAX_EDGES else "igraph"
    if backend not in N_ITERATIONS:
        raise ValueError(f'Unknown backend "{backend}". Known: auto, {", ".join(sorted(N_ITERATIONS))}.')
    return backend


def _partition(
    group: NDArray[np.int64],
    pairs: NDArray[np.int64],
    sums: NDArray[np.float64],
    *,
    resolution: float,
    seed: int,
    backend: str,
) -> NDArray[np.int64]:
    """Connected parts of each group (>= 0), all groups in one run of Leiden; -1 elsewhere.

    With node sizes of strength / sqrt(2 m), m the weight inside the node's own group, the constant Potts model is the
    modularity of each group by itself: no edges between groups are handed in, so none is ever joined to another.
    """
    nodes = np.flatnonzero(group >= 0)
    position = np.full(len(group), -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    local = position[pairs]
    strength = np.bincount(local.ravel(), weights=np.repeat(sums, 2), minlength=len(nodes))
    total = np.bincount(group[nodes], weights=strength)
    sizes = strength / np.sqrt(total[group[nodes]])
    graph = _graph(len(nodes), local)
    found = np.asarray(_run_leiden(graph, sums.tolist(), sizes.tolist(), resolution, seed, backend), dtype=np.int64)
    inside = found[local[:, 0]] == found[local[:, 1]]
    connected = _graph(len(nodes), local[inside]).connected_components().membership
    parts = np.full(len(group), -1, dtype=np.int64)
    parts[nodes] = connected
    return parts


def _run_leiden(
    graph: igraph.Graph, weights: list[float], sizes: list[float], resolution: float, seed: int, backend: str
) -> list[int]:
    if backend == "igraph":
        with _seeded_igraph(seed):
            clustering = graph.community_leiden(
                "CPM", weights=weights, node_weights=sizes, resolution=resolution, n_iterations=N_ITERATIONS[backend]
            )
        return list(clustering.membership)
    import leidenalg

    partition = leidenalg.find_partition(
        graph, leidenalg.CPMVertexPartition, weights=weights, node_sizes=sizes, resolution_parameter=resolution,
        n_iterations=N_ITERATIONS[backend], seed=seed,
    )  # fmt: skip
    return list(partition.membership)


@contextmanager
def _seeded_igraph(seed: int) -> Iterator[None]:
    """igraph draws from a generator of its own process; give it ours, then the usual one back."""
    import igraph

    igraph.set_random_number_generator(random.Random(seed))
    try:
        yield
    finally:
        igraph.set_random_number_generator(random)


def _is_whole(group: NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes belong to a group that has only one part."""
    inside = group >= 0
    distinct = np.unique(np.column_stack((group[inside], parts[inside])), axis=0)
    n_parts = np.bincount(distinct[:, 0], minlength=int(group.max()) + 1)
    whole: NDArray[np.bool_] = inside & (n_parts[group] == 1)
    return whole


def _renumber_by_size(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same parts (-1 stays), numbered by size, largest first, then by their smallest node."""
    inside = parts >= 0
    numbers = _renumber(parts[inside])
    rank = np.empty(numbers.max() + 1, dtype=np.int64)
    rank[np.argsort(-np.bincount(numbers), kind="stable")] = np.arange(len(rank))
    ordered = parts.copy()
    ordered[inside] = rank[numbers]
    return ordered


def _simple_edges(
    n: int, edges: Edges, weights: Sequence[float] | None, *, directed: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct edges in order as an (m, 2) array, and the sums of their weights."""
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    sums = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(pairs) != len(sums):
        raise ValueError(f"{len(pairs)} edges but {len(sums)} weights.")
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"An edge names a node outside 0..{n - 1}.")
    kept = (pairs[:, 0] != pairs[:, 1]) & np.isfinite(sums) & (sums > 0)
    pairs, sums = pairs[kept], sums[kept]
    if not directed:
        pairs = np.sort(pairs, axis=1)
    keys = pairs[:, 0] * n + pairs[:, 1]
    order = np.lexsort((sums, keys))  # by weight too: the sum of floats must not depend on the order of rows
    distinct, inverse = np.unique(keys[order], return_inverse=True)
    totals = np.bincount(inverse, weights=sums[order], minlength=len(distinct)).astype(np.float64)
    return np.column_stack((distinct // max(n, 1), distinct % max(n, 1))), totals


def _graph(n: int, pairs: NDArray[np.int64], *, directed: bool = False) -> igraph.Graph:
    import igraph

    return igraph.Graph(n=n, edges=np.ascontiguousarray(pairs), directed=directed)


def _renumber(membership: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same groups, numbered by their smallest member."""
    _, first, inverse = np.unique(membership, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse]
