"""Relationships as edges that a walk asks for hop by hop: from the published index, or from a list.

A walk gets a function `FetchEdges` and never sees where the edges come from, so that every walk is pure and only the
edges that it reaches are loaded. Nodes are entity titles (unique in entities). Relationships of an entity with itself
are never edges; co-occurrence only where it is asked for (specs/context-graph.md, rules 6 and 10).

Reads relationships. Does not: walk (impact.py, paths.py, chains.py, reach.py), or say where an edge is stated
(hop_sources.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from graphrag.search.lookups import one_of

if TYPE_CHECKING:
    from graphrag.store import Index

Direction = Literal["out", "in", "both"]
DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")


class Edge(NamedTuple):
    """One relationship; `id` is its row."""

    id: str
    source: str
    predicate: str
    target: str
    weight: float


Hop = tuple[str, tuple[Edge, ...]]
"""The entity that a hop starts at, and the parallel edges to the next entity, heaviest first."""

FetchEdges = Callable[[Sequence[str], Direction, Collection[str] | None], list[Edge]]
"""fetch(titles, direction, predicates): edges that start at (out), end at (in) or touch (both) the titles, each once,
in no order; of these predicates, None for all."""


def open_edges(index: Index, *, cooccurrence: bool = False) -> FetchEdges:
    """Edges of the published index; with `cooccurrence` also of names that only share a sentence."""

    def fetch(titles: Sequence[str], direction: Direction, predicates: Collection[str] | None) -> list[Edge]:
        if not titles or (predicates is not None and not predicates):
            return []
        ends = {"out": ("source",), "in": ("target",), "both": ("source", "target")}[direction]
        of_kind, kinds = one_of("predicate", sorted(predicates)) if predicates is not None else ("true", [])
        stated = "true" if cooccurrence else "origin <> 'cooccurrence'"
        parts, params = [], []
        for end in ends:
            touches, wanted = one_of(end, titles)
            parts.append(
                "select id, source, predicate, target, weight from relationships "
                f"where {touches} and {of_kind} and {stated} and source <> target"
            )
            params += [*wanted, *kinds]
        return [Edge(*row) for row in index.frame(" union ".join(parts), params).rows()]

    return fetch


def list_edges(edges: Iterable[Edge]) -> FetchEdges:
    """The same from a list of edges in memory."""
    starting: dict[str, list[Edge]] = defaultdict(list)
    ending: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.source != edge.target:
            starting[edge.source].append(edge)
            ending[edge.target].append(edge)

    def fetch(titles: Sequence[str], direction: Direction, predicates: Collection[str] | None) -> list[Edge]:
        lists = [by_end for by_end, other in ((starting, "in"), (ending, "out")) if direction != other]
        found = {edge: None for by_end in lists for title in titles for edge in by_end.get(title, ())}
        return [edge for edge in found if predicates is None or edge.predicate in predicates]

    return fetch


def title_key(title: str) -> tuple[str, str]:
    """Titles sort without case; equal ones by code point."""
    return title.lower(), title


def sort_parallel(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Edges of one hop: heaviest first, ties by predicate; an arrow in reading order first."""
    return tuple(sorted(edges, key=lambda edge: (-edge.weight, edge.predicate, title_key(edge.source), edge.id)))
