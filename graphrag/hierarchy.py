"""A hierarchy of communities over plain numbers: recursive Leiden, afresh or from an earlier hierarchy.

Nodes are 0..n-1 as in graphs.py. Level 0 clusters the whole graph, each next level the groups that are still too large.
From an earlier hierarchy, only nodes in changed places may move one by one; the others move with their group, if at
all. So a small change of a large graph leaves most groups to the letter as they were, and costs little.

Does not: know a table or an id (index/communities.py), or call igraph itself (graphs.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphrag.graphs import choose_backend, components, run_leiden, simplify_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphrag.graphs import Edges, Weights

QUALITIES = ("cpm", "modularity")


class Hierarchy(NamedTuple):
    """Nested groups of nodes.

    `levels[k][node]` is the number of the node's group at level k, or -1 where its branch ended above k. Numbers are
    per level, by size (largest first), then smallest node. `unconnected` is the number, at level 0 and the last there,
    of the group of all nodes without an edge; -1 if every node has one. `backend` is the one that ran.
    """

    levels: list[list[int]]
    unconnected: int
    backend: str


class _Knobs(NamedTuple):
    quality: str
    resolution: float
    seed: int
    backend: str


def cluster_hierarchy(
    n: int,
    edges: Edges,
    weights: Weights | None = None,
    *,
    max_size: int,
    quality: str = "modularity",
    resolution: float = 1.0,
    seed: int = 0,
    backend: str = "auto",
    previous: Sequence[Sequence[int]] = (),
    changed: Sequence[bool] | None = None,
) -> Hierarchy:
    """Recursive Leiden over every component: level 0 clusters the graph, each next level the groups above `max_size`.

    `quality` is `modularity` with `resolution`, of the whole graph at level 0 and of each group by itself below; or
    `cpm`, the constant Potts model, where `resolution` is the weight per pair of nodes that a group must reach, and
    doubles with each level. Every group is connected, except the one of the nodes without edges. A group that Leiden
    leaves whole, or breaks into single nodes, stays whole, whatever its size, and has no copy on a deeper level.

    `previous` has the shape of `Hierarchy.levels`, of an earlier state of the graph, with -1 also for new nodes and for
    those that had no edge: the optimiser starts from it. `changed` tells which nodes have other edges or weights than
    then (None: all). The others of an earlier group stay together, but for those of a finest group with a changed node;
    and a group without any change keeps its groups below.

    Traag, Waltman & van Eck 2019; moving only what a change touches: Zarayeneh & Kalyanaraman 2021 (delta-screening).
    Raises ValueError for knobs out of range and edges outside 0..n-1.
    """
    if max_size < 1:
        raise ValueError(f"max_size is {max_size}; at least 1 is needed.")
    if quality not in QUALITIES:
        raise ValueError(f'Unknown quality "{quality}". Known: {", ".join(QUALITIES)}.')
    pairs, sums = simplify_edges(n, edges, weights)
    knobs = _Knobs(quality, resolution, seed, choose_backend(backend, len(pairs)))
    linked = np.zeros(n, dtype=bool)
    linked[pairs.ravel()] = True
    earlier = np.asarray(previous, dtype=np.int64).reshape(len(previous), n)
    free = _find_free(earlier, np.ones(n, dtype=bool) if changed is None else np.asarray(changed, dtype=bool))
    levels: list[list[int]] = []
    group = np.where(linked, 0, -1)  # what is clustered next: -1 is left alone
    while (group >= 0).any():
        level = len(levels)
        start = earlier[level] if level < len(earlier) else np.full(n, -1)
        settled = _find_settled(group, free, _level_above(earlier, level))
        open_group = np.where(settled, -1, group)
        within = (open_group[pairs[:, 0]] == open_group[pairs[:, 1]]) & (open_group[pairs[:, 0]] >= 0)
        parts = _partition(open_group, start, free, pairs[within], sums[within], level, knobs)
        if level:
            parts[_is_whole(open_group, parts)] = -1
        parts[settled] = np.where(start >= 0, start + n, -1)[settled]  # beyond the numbers of all other parts
        if not (parts >= 0).any():
            break
        parts = _renumber_by_size(parts)
        levels.append(parts.tolist())
        sizes = np.bincount(parts[parts >= 0])
        group = np.where((parts >= 0) & (sizes[parts] > max_size), parts, -1)
    if linked.all():
        return Hierarchy(levels, -1, knobs.backend)
    first = np.asarray(levels[0] if levels else [-1] * n)
    unconnected = int(first.max()) + 1
    first[~linked] = unconnected
    return Hierarchy([first.tolist(), *levels[1:]], unconnected, knobs.backend)


def _find_free(earlier: NDArray[np.int64], changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Nodes that may move by themselves: new, changed, or in one finest earlier group with a changed node."""
    finest = np.full(len(changed), -1, dtype=np.int64)
    for depth, numbers in enumerate(earlier):
        finest[numbers >= 0] = numbers[numbers >= 0] * len(earlier) + depth
    touched = np.unique(finest[changed & (finest >= 0)])
    return changed | (finest < 0) | np.isin(finest, touched)


def _level_above(earlier: NDArray[np.int64], level: int) -> NDArray[np.int64]:
    """The earlier groups that the groups to be clustered at `level` can equal; above level 0, the graph as one."""
    if level == 0:
        return np.where(earlier[0] >= 0, 0, -1) if len(earlier) else np.full(earlier.shape[1], -1)
    return earlier[level - 1] if level <= len(earlier) else np.full(earlier.shape[1], -1)


def _find_settled(group: NDArray[np.int64], free: NDArray[np.bool_], above: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Nodes of groups that hold no free node and have exactly the nodes of one earlier group."""
    inside = group >= 0
    n_groups = int(group.max()) + 1
    sizes, low, high = np.bincount(group[inside]), np.full(n_groups, len(group)), np.full(n_groups, -1)
    np.minimum.at(low, group[inside], above[inside])
    np.maximum.at(high, group[inside], above[inside])
    is_settled = (low == high) & (low >= 0) & (np.bincount(group[inside], weights=free[inside]) == 0)
    earlier_sizes = np.bincount(above[above >= 0], minlength=1)
    is_settled &= sizes == earlier_sizes[np.clip(low, 0, len(earlier_sizes) - 1)]
    settled: NDArray[np.bool_] = inside & is_settled[group]
    return settled


def _partition(
    group: NDArray[np.int64],
    start: NDArray[np.int64],
    free: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    sums: NDArray[np.float64],
    level: int,
    knobs: _Knobs,
) -> NDArray[np.int64]:
    """Connected parts of each group (>= 0), all groups in one run of Leiden; -1 elsewhere."""
    parts = np.full(len(group), -1, dtype=np.int64)
    nodes = np.flatnonzero(group >= 0)
    if not len(nodes):
        return parts
    position = np.full(len(group), -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    local = position[pairs]
    if knobs.quality == "modularity":
        # With node sizes of strength / sqrt(2 m), m the weight inside the node's own group, the constant Potts model is
        # the modularity of each group by itself: no edges between groups are handed in, so none is ever joined.
        strength = np.bincount(local.ravel(), weights=np.repeat(sums, 2), minlength=len(nodes))
        total = np.bincount(group[nodes], weights=strength)
        sizes, resolution = strength / np.sqrt(total[group[nodes]]), knobs.resolution
    else:
        sizes, resolution = np.ones(len(nodes)), knobs.resolution * 2**level
    block, home = _contract(group[nodes], start[nodes], free[nodes])
    is_contracted = len(home) < len(nodes)
    block_pairs, block_sums = simplify_edges(len(home), block[local], sums) if is_contracted else (local, sums)
    found = run_leiden(
        len(home), block_pairs, block_sums, np.bincount(block, weights=sizes).astype(np.float64),
        resolution=resolution, seed=knobs.seed + level, backend=knobs.backend, start=home,
    )[block]  # fmt: skip
    inside = found[local[:, 0]] == found[local[:, 1]]
    parts[nodes] = components(len(nodes), local[inside])
    return parts


def _contract(
    group: NDArray[np.int64], start: NDArray[np.int64], free: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The block of each node, and the group that each block starts in.

    A block is a free node, or all nodes of an earlier group (inside one of `group`) that are not free. Blocks instead
    of nodes change nothing in the value of a partition that keeps them whole: sizes and weights add up.
    """
    own = np.arange(len(group))
    _, together = np.unique(group * (int(start.max()) + 2) + start + 1, return_inverse=True)
    home = np.where(start >= 0, len(own) + together, own)
    _, first, block = np.unique(np.where(free | (start < 0), own, home), return_index=True, return_inverse=True)
    return block, np.unique(home[first], return_inverse=True)[1]


def _is_whole(group: NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes belong to a group that has only one part, or as many as it has nodes."""
    inside = group >= 0
    distinct = np.unique(np.column_stack((group[inside], parts[inside])), axis=0)
    n_parts = np.bincount(distinct[:, 0], minlength=int(group.max()) + 2)
    n_nodes = np.bincount(group[inside], minlength=len(n_parts))
    whole: NDArray[np.bool_] = inside & ((n_parts[group] == 1) | (n_parts[group] == n_nodes[group]))
    return whole


def _renumber_by_size(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same parts (-1 stays), numbered by size, largest first, then by their smallest node."""
    inside = np.flatnonzero(parts >= 0)
    _, first, inverse, sizes = np.unique(parts[inside], return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(first))
    ordered = np.full(len(parts), -1, dtype=np.int64)
    ordered[inside] = rank[inverse]
    return ordered
