"""Hierarchies of communities on synthetic graphs of growing size: CPU seconds, memory, quality, and nights after.

    python -m tests.bench.bench_communities [EDGES ...]
    python -m tests.bench.bench_communities --nights EDGES NIGHTS

The graphs have power-law degrees and planted groups of power-law sizes, ten neighbours a node on average, three edges
in ten to anywhere: a configuration model with communities (after Lancichinetti, Fortunato & Radicchi 2008). Each row
runs in a process of its own. Beside our recursive hierarchy: one flat run of igraph and of leidenalg, and the
hierarchical Leiden of graspologic-native where that is installed (it is no dependency; PYTHONPATH may name another
environment).
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import igraph
import leidenalg
import numpy as np
from numpy.typing import NDArray

from graphrag.graphs import AUTO_MAX_EDGES, simplify_edges
from graphrag.hierarchy import Hierarchy, cluster_hierarchy
from tests.bench.bench_index import cpu_seconds

SIZES = (10_000, 100_000, 1_000_000)
MAX_LEIDENALG_EDGES = 200_000
MAX_SIZE = 10
MEAN_DEGREE, MIXING = 10, 0.3
N_CHANGED = 50
N_STUBS = 1.35  # a node, for each neighbour: hubs of small groups draw the same neighbour again


class Graph(NamedTuple):
    n: int
    pairs: NDArray[np.int64]
    weights: NDArray[np.float64]


class Outcome(NamedTuple):
    levels: list[list[int]]
    backend: str


def main() -> None:
    sizes = [int(text) for text in sys.argv[1:]] or list(SIZES)
    if not importlib.util.find_spec("graspologic_native"):
        print("graspologic-native is not installed: its rows are left out.\n")
    print("| edges | nodes | | CPU s | peak MB | modularity, level 0 | communities by level |")
    print("|---:|---:|---|---:|---:|---:|---|")
    for n_edges in sizes:
        for contender in CONTENDERS:
            if is_skipped(contender, n_edges):
                continue
            command = [sys.executable, "-m", "tests.bench.bench_communities", "--one", contender, str(n_edges)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(json.loads(done.stdout), flush=True)


def is_skipped(contender: str, n_edges: int) -> bool:
    if contender.startswith("graspologic"):
        return not importlib.util.find_spec("graspologic_native")
    is_slow = "leidenalg" in contender and n_edges > MAX_LEIDENALG_EDGES
    return is_slow or ("by igraph" in contender and n_edges > AUTO_MAX_EDGES)  # auto is igraph there


def run_one(contender: str, n_edges: int) -> str:
    """A row of the table; memory is that of the whole process, the graph included."""
    graph = plant_graph(n_edges)
    before = cpu_seconds()
    outcome = CONTENDERS[contender](graph)
    seconds = cpu_seconds() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    first = [number if number >= 0 else graph.n + node for node, number in enumerate(outcome.levels[0])]
    quality = to_igraph(graph).modularity(np.unique(first, return_inverse=True)[1].tolist(), "weight")
    counts = ", ".join(f"{len({number for number in level if number >= 0}):,}" for level in outcome.levels)
    name = f"{contender} ({outcome.backend})" if outcome.backend else contender
    return f"| {len(graph.pairs):,} | {graph.n:,} | {name} | {seconds:.2f} | {peak:,} | {quality:.4f} | {counts} |"


def plant_graph(n_edges: int, seed: int = 7) -> Graph:
    """Each node gets stubs by its degree; seven in ten are joined inside its group, the others anywhere."""
    rng = np.random.default_rng(seed)
    n = 2 * n_edges // MEAN_DEGREE
    group_sizes = (8 * (1 - rng.random(n)) ** (-1 / 1.5)).clip(8, 2_000).astype(np.int64)
    group = np.repeat(np.arange(n), group_sizes)[:n]
    degree = ((1 - rng.random(n)) ** (-1 / 1.5)).clip(1, 3 * n**0.5)
    degree = np.floor(degree * MEAN_DEGREE * N_STUBS / degree.mean() + rng.random(n)).astype(np.int64)
    stubs = np.repeat(np.arange(n), degree)
    is_inner = rng.random(len(stubs)) > MIXING
    inner, outer = stubs[is_inner], rng.permutation(stubs[~is_inner])
    inner = inner[np.lexsort((rng.random(len(inner)), group[inner]))]
    pairs = np.concatenate([ends[: len(ends) // 2 * 2].reshape(-1, 2) for ends in (inner, outer)])
    return Graph(n, *simplify_edges(n, pairs, rng.geometric(0.6, len(pairs)).astype(np.float64)))


def to_igraph(graph: Graph) -> igraph.Graph:
    made = igraph.Graph(graph.n, graph.pairs)
    made.es["weight"] = graph.weights
    return made


def run_ours(graph: Graph, backend: str = "auto") -> Outcome:
    hierarchy = cluster_hierarchy(graph.n, graph.pairs, graph.weights, max_size=MAX_SIZE, seed=42, backend=backend)
    return Outcome(hierarchy.levels, hierarchy.backend)


def run_night_after(graph: Graph) -> Outcome:
    """The second of two nights: some edges have gone. Its seconds hold those of the first night too."""
    first = cluster_hierarchy(graph.n, graph.pairs, graph.weights, max_size=MAX_SIZE, seed=42)
    before = cpu_seconds()
    second = change_some(graph, first)
    kept = len(list_sets(first) & list_sets(second)) / len(list_sets(first))
    return Outcome(second.levels, f"{cpu_seconds() - before:.2f} s, {kept:.1%} of communities kept to the letter")


def change_some(graph: Graph, first: Hierarchy) -> Hierarchy:
    gone = np.zeros(len(graph.pairs), dtype=bool)
    gone[np.random.default_rng(1).choice(len(gone), N_CHANGED, replace=False)] = True
    changed = np.zeros(graph.n, dtype=bool)
    changed[graph.pairs[gone].ravel()] = True
    return cluster_hierarchy(
        graph.n, graph.pairs[~gone], graph.weights[~gone],
        max_size=MAX_SIZE, seed=42, previous=first.levels, changed=changed.tolist(),
    )  # fmt: skip


def run_nights(n_edges: int, n_nights: int) -> None:
    """Nights one after the other, each with edges gone and as many new between neighbours' neighbours; now and then
    beside a hierarchy made afresh."""
    graph, rng = plant_graph(n_edges), np.random.default_rng(3)
    hierarchy = cluster_hierarchy(graph.n, graph.pairs, graph.weights, max_size=MAX_SIZE, seed=42)
    print("| night | CPU s | kept to the letter | modularity, level 0 | made afresh | CPU s |")
    print("|---:|---:|---:|---:|---:|---:|")
    for night in range(1, n_nights + 1):
        gone = np.zeros(len(graph.pairs), dtype=bool)
        gone[rng.choice(len(gone), N_CHANGED, replace=False)] = True
        near = graph.pairs[rng.integers(0, len(gone), N_CHANGED)]
        new = np.column_stack((near[:, 0], [rng.choice(find_neighbours(graph, node)) for node in near[:, 1]]))
        pairs = np.concatenate([graph.pairs[~gone], new])
        weights = np.concatenate([graph.weights[~gone], np.ones(len(new))])
        changed = np.zeros(graph.n, dtype=bool)
        changed[np.concatenate([graph.pairs[gone], new]).ravel()] = True
        graph, last = Graph(graph.n, *simplify_edges(graph.n, pairs, weights)), hierarchy
        knobs = {"n": graph.n, "edges": graph.pairs, "weights": graph.weights, "max_size": MAX_SIZE, "seed": 42}
        started = cpu_seconds()
        placed = [number if number != last.unconnected else -1 for number in last.levels[0]]
        hierarchy = cluster_hierarchy(**knobs, previous=[placed, *last.levels[1:]], changed=changed.tolist())
        seconds = cpu_seconds() - started
        if night in (1, 2, 3, n_nights) or night % 10 == 0:
            started = cpu_seconds()
            afresh = cluster_hierarchy(**knobs)
            seconds_afresh = cpu_seconds() - started
            kept = len(list_sets(hierarchy) & list_sets(last)) / len(list_sets(last))
            values = [to_igraph(graph).modularity(found.levels[0], "weight") for found in (hierarchy, afresh)]
            print(
                f"| {night} | {seconds:.2f} | {kept:.1%} | {values[0]:.4f} | {values[1]:.4f} "
                f"| {seconds_afresh:.2f} |", flush=True,
            )  # fmt: skip


def find_neighbours(graph: Graph, node: int) -> NDArray[np.int64]:
    touching = graph.pairs[(graph.pairs == node).any(axis=1)]
    return touching[touching != node]


def list_sets(hierarchy: Hierarchy) -> set[frozenset[int]]:
    members: dict[tuple[int, int], list[int]] = {}
    for depth, numbers in enumerate(hierarchy.levels):
        for node, number in enumerate(numbers):
            if number >= 0:
                members.setdefault((depth, number), []).append(node)
    return {frozenset(nodes) for nodes in members.values()}


def run_flat_igraph(graph: Graph) -> Outcome:
    found = to_igraph(graph).community_leiden("modularity", weights="weight", n_iterations=2)
    return Outcome([found.membership], "")


def run_flat_leidenalg(graph: Graph) -> Outcome:
    found = leidenalg.find_partition(
        to_igraph(graph), leidenalg.ModularityVertexPartition, weights="weight", n_iterations=2, seed=42
    )
    return Outcome([found.membership], "")


def run_graspologic(graph: Graph) -> Outcome:
    import graspologic_native

    edges = [(str(a), str(b), w) for (a, b), w in zip(graph.pairs.tolist(), graph.weights.tolist(), strict=True)]
    found = graspologic_native.hierarchical_leiden(
        edges=edges, max_cluster_size=MAX_SIZE, seed=42, starting_communities=None, resolution=1.0,
        randomness=0.001, iterations=1, use_modularity=True,
    )  # fmt: skip
    levels = [[-1] * graph.n for _ in range(max(row.level for row in found) + 1)]
    for row in found:
        levels[row.level][int(row.node)] = row.cluster
    return Outcome(levels, "")


CONTENDERS: dict[str, Callable[[Graph], Outcome]] = {
    "ours, hierarchy": run_ours,
    "ours, hierarchy by igraph": lambda graph: run_ours(graph, "igraph"),
    "ours, two nights": run_night_after,
    "igraph, flat": run_flat_igraph,
    "leidenalg, flat": run_flat_leidenalg,
    "graspologic-native, hierarchy": run_graspologic,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run_one(sys.argv[2], int(sys.argv[3]))))
    elif sys.argv[1:2] == ["--nights"]:
        run_nights(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
