"""Routes from one entity to another, best first: fewest hops, then the strongest weakest hop, then the largest sum.

The best route is exact: per entity and weakest hop so far the best sum is kept, level by level (specs/context-graph.md,
rule 11). More than one route: all simple routes are walked, by length, entities that cannot reach the goal in time left
out. At most MAX_ROUTES are looked at; the result says when there are more.

Does not: know where edges come from (edges.py), resolve names (seeds.py) or cite (hop_sources.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from graphrag.search.walks.edges import Direction, Edge, FetchEdges, Hop, sort_parallel, title_key

MAX_ROUTES = 20_000

Steps = dict[str, dict[str, list[Edge]]]
"""near -> far -> the edges between them that may be walked."""


class Route(NamedTuple):
    """titles from start to goal, and for each hop its edges, heaviest first; weakest and total are of the hops' own."""

    titles: list[str]
    hops: list[Hop]
    weakest: float
    total: float


class Routes(NamedTuple):
    """is_complete False: more than MAX_ROUTES routes; the shortest were looked at."""

    routes: list[Route]
    is_complete: bool


def find_routes(
    fetch: FetchEdges, start: str, goal: str, *, max_hops: int, direction: Direction = "out", n: int = 1
) -> Routes:
    """Up to `n` simple routes of at most `max_hops` hops. direction `out` follows the arrows, `both` ignores them, `in`
    walks against them. None where start and goal are one."""
    if start == goal:
        return Routes([], True)
    steps, distance = _walk_out(fetch, start, goal, max_hops=max_hops, direction=direction, beyond=n > 1)
    if goal not in distance:
        return Routes([], True)
    if n == 1:
        return Routes([_weigh(steps, _find_best(steps, start, goal, distance))], True)
    to_goal = _count_hops_to(steps, goal)
    routes: list[Route] = []
    n_seen = 0
    for length in range(distance[goal], max_hops + 1):
        found: list[Route] = []
        for titles in _walk_simple(steps, start, goal, length, to_goal):
            n_seen += 1
            if n_seen > MAX_ROUTES:
                break
            found.append(_weigh(steps, titles))
        routes += sorted(found, key=_route_key)
        if len(routes) >= n or n_seen > MAX_ROUTES:
            break
    return Routes(routes[:n], n_seen <= MAX_ROUTES)


def _route_key(route: Route) -> tuple[float, float, list[tuple[str, str]]]:
    return -route.weakest, -route.total, [title_key(title) for title in route.titles]


def _walk_out(
    fetch: FetchEdges, start: str, goal: str, *, max_hops: int, direction: Direction, beyond: bool
) -> tuple[Steps, dict[str, int]]:
    """Steps from every entity that is fewer than max_hops from the start, and hops to each; ends at the goal's level
    unless `beyond`."""
    steps: Steps = {}
    distance = {start: 0}
    level = [start]
    for hops in range(1, max_hops + 1):
        if not level or (goal in distance and not beyond):
            break
        for edge in fetch(level, direction, None):
            ends = []
            if direction != "in":
                ends.append((edge.source, edge.target))
            if direction != "out":
                ends.append((edge.target, edge.source))
            for near, far in ends:
                if distance.get(near) == hops - 1:
                    steps.setdefault(near, {}).setdefault(far, []).append(edge)
        reached = {far for near in level for far in steps.get(near, ())} - distance.keys()
        distance |= dict.fromkeys(reached, hops)
        level = sorted(reached - {goal})
    return steps, distance


def _find_best(steps: Steps, start: str, goal: str, distance: dict[str, int]) -> list[str]:
    """Titles of the best shortest route. A state is (entity, weakest hop so far): of its routes the one of the largest
    sum, then first by titles, can only be the best beginning of the whole."""
    states: dict[str, dict[float, tuple[float, list[tuple[str, str]]]]] = {start: {float("inf"): (0.0, [])}}
    for hops in range(1, distance[goal] + 1):
        reached: dict[str, dict[float, tuple[float, list[tuple[str, str]]]]] = defaultdict(dict)
        for near, best in states.items():
            for far, edges in steps.get(near, {}).items():
                if distance[far] != hops:
                    continue
                weight = max(edge.weight for edge in edges)
                for weakest, (total, path) in best.items():
                    bound = min(weakest, weight)
                    candidate = (total - weight, [*path, title_key(far)])
                    if bound not in reached[far] or candidate < reached[far][bound]:
                        reached[far][bound] = candidate
        states = reached
    strongest = max(states[goal])
    return [start, *(title for _, title in states[goal][strongest][1])]


def _count_hops_to(steps: Steps, goal: str) -> dict[str, int]:
    before: dict[str, list[str]] = defaultdict(list)
    for near, ends in steps.items():
        for far in ends:
            before[far].append(near)
    distance, level = {goal: 0}, [goal]
    while level:
        reached = []
        for far in level:
            for near in before[far]:
                if near not in distance:
                    distance[near] = distance[far] + 1
                    reached.append(near)
        level = reached
    return distance


def _walk_simple(steps: Steps, start: str, goal: str, length: int, to_goal: dict[str, int]) -> Iterator[list[str]]:
    """Every route of exactly `length` hops without an entity twice, depth first, by title."""
    path = [start]
    stack = [iter(sorted(steps.get(start, ()), key=title_key))]
    while stack:
        far = next(stack[-1], None)
        if far is None:
            stack.pop()
            path.pop()
            continue
        left = length - len(path)
        if far in path or to_goal.get(far, length) > left or (far == goal) != (left == 0):
            continue
        if far == goal:
            yield [*path, far]
            continue
        path.append(far)
        stack.append(iter(sorted(steps.get(far, ()), key=title_key)))


def _weigh(steps: Steps, titles: Sequence[str]) -> Route:
    hops = [(near, sort_parallel(steps[near][far])) for near, far in pairwise(titles)]
    weights = [edges[0].weight for _, edges in hops]
    return Route(list(titles), hops, min(weights), sum(weights))
