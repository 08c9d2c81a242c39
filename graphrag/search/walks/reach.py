"""What lies within so many hops of an entity, hubs shown and not walked through.

specs/context-graph.md, rules 14 to 16. Beyond a hub everything is near everything: an entity with more neighbours than
the cutoff is listed and ends the walk there, unless the walk starts at it. (neighborhood.py is the part of the graph
around a question, for search.)

Reads entities. Does not: resolve names (seeds.py) or cite (hop_sources.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.errors import UsageError
from graphrag.search.lookups import one_of
from graphrag.search.walks.edges import Direction, Edge, FetchEdges, Hop, sort_parallel, title_key

if TYPE_CHECKING:
    from graphrag.store import Index

MIN_AUTO_CUTOFF = 15
HUB_PERCENTILE = 0.95

CountDegrees = Callable[[Sequence[str]], dict[str, int]]


class Neighbor(NamedTuple):
    """An entity, the hops to it, its degree, whether it is a hub that was not expanded, and the best hop that reached
    it (None for the anchor)."""

    title: str
    hops: int
    degree: int
    is_stub: bool
    hop: Hop | None


def list_neighbors(
    fetch: FetchEdges, degrees: CountDegrees, anchor: str, *, hops: int, direction: Direction, cutoff: float
) -> list[Neighbor]:
    """The anchor, then the entities within `hops`: by hops, weight of the best hop that reached them (desc), title."""
    found = {anchor: Neighbor(anchor, 0, degrees([anchor]).get(anchor, 0), False, None)}
    level = [anchor]
    for n in range(1, hops + 1):
        reached = _group_reached(fetch, level, direction, known=set(found))
        if not reached:
            break
        degree = degrees(sorted(reached))
        order = []
        for title, by_near in reached.items():
            hop = min(
                ((near, sort_parallel(edges)) for near, edges in by_near.items()),
                key=lambda hop: (-hop[1][0].weight, title_key(hop[0])),
            )
            order.append(Neighbor(title, n, degree.get(title, 0), degree.get(title, 0) > cutoff, hop))
        order.sort(key=lambda neighbor: (-neighbor.hop[1][0].weight if neighbor.hop else 0, title_key(neighbor.title)))
        found |= {neighbor.title: neighbor for neighbor in order}
        level = [neighbor.title for neighbor in order if not neighbor.is_stub]
    return list(found.values())


def _group_reached(
    fetch: FetchEdges, level: Sequence[str], direction: Direction, *, known: set[str]
) -> dict[str, dict[str, list[Edge]]]:
    """New entity -> the entity of the level it was reached from -> edges."""
    inside = set(level)
    reached: dict[str, dict[str, list[Edge]]] = defaultdict(lambda: defaultdict(list))
    for edge in fetch(level, direction, None):
        if direction != "in" and edge.source in inside and edge.target not in known:
            reached[edge.target][edge.source].append(edge)
        if direction != "out" and edge.target in inside and edge.source not in known:
            reached[edge.source][edge.target].append(edge)
    return reached


def open_degrees(index: Index) -> CountDegrees:
    """Degrees as the entities table has them: distinct neighbours, co-occurrence excluded."""

    def count(titles: Sequence[str]) -> dict[str, int]:
        is_one, wanted = one_of("title", titles)
        rows = index.frame(f"select title, degree from entities where {is_one}", wanted).rows()
        return {str(title): int(degree) for title, degree in rows}

    return count


def choose_cutoff(index: Index, asked: str) -> float:
    """`auto`: max(15, 95th percentile of degree by linear interpolation, rounded down); `off`: none; else the number.

    Raises UsageError for anything else.
    """
    if asked == "off":
        return math.inf
    if asked == "auto":
        value = index.frame("select quantile_cont(degree, ?) from entities", (HUB_PERCENTILE,)).item()
        return round_cutoff(value)
    if asked.isdecimal() and len(asked) <= 18:
        return int(asked)
    raise UsageError(f'--hub-cutoff must be auto, off or a number of 0 or more, got "{asked}".')


def round_cutoff(percentile: float | None) -> int:
    """The cutoff `auto` of a 95th percentile of degrees (HUB_PERCENTILE); None where there is no entity."""
    return max(MIN_AUTO_CUTOFF, math.floor(percentile or 0))
