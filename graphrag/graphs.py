"""The one door to igraph and leidenalg: PageRank, components, and a hierarchy of communities over plain numbers.

Nodes are 0..n-1, edges are pairs of them, weights are floats; names, ids and tables stay with the callers. Every
function first makes the graph simple: self loops and edges without a positive finite weight go out, parallel edges
(in either direction, when undirected) are summed. So the order of the edges never changes a result.

Does not: know a table, keep a graph between calls, or draw random numbers other than from the seed it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import igraph
    from numpy.typing import NDArray

Edges = Sequence[tuple[int, int]]


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
