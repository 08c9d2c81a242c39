"""The walk of a failure through a graph of numbers: who breaks, how far away, and through whom.

specs/context-graph.md, rules 19, 20, 23 and 24: everybody once, at the smallest number of hops; of equally long routes
the one with the larger weakest hop, then the larger sum, then the first by titles, so that the paths form a tree.
Whole levels are walked as arrays: where most of a graph of 1,000,000 relationships depends on one entity, that is fifty
times quicker than one entity after the other.

Does not: know names, or choose which relationships carry (impact.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrag.store.numbered_graph import Mask, Numbers, Steps


class Reached(NamedTuple):
    """One that breaks: hops to what failed, the least weight on the way, their sum, and the numbers from it to what
    failed, both included."""

    hops: int
    weakest: float
    total: float
    path: list[int]


class Walked(NamedTuple):
    """`levels`: numbers of those that break, a list of them for each number of hops. By number: `hops` (0 for what
    failed, -1 for what is not reached), the least weight on the path, the sum, the next one towards what failed."""

    failed: int
    levels: list[Numbers]
    hops: Numbers
    weakest: NDArray[np.float64]
    total: NDArray[np.float64]
    parent: Numbers

    @property
    def n_impacted(self) -> int:
        return sum(len(level) for level in self.levels)

    def rank(self, *, top: int | None = None, max_hops: int | None = None) -> list[Reached]:
        """Those that break, the first `top`: by hops, weakest (desc), total (desc), title."""
        ranked: list[int] = []
        for level in self.levels[:max_hops]:
            if top is not None and len(ranked) >= top:
                break
            ranked += self._sort(level)
        return [self._describe(number) for number in ranked[:top]]

    def farthest(self) -> Reached:
        """The best ranked of those at the most hops."""
        return self._describe(self._sort(self.levels[-1])[0])

    def _sort(self, level: Numbers) -> list[int]:
        order: list[int] = level[np.lexsort((level, -self.total[level], -self.weakest[level]))].tolist()
        return order

    def _describe(self, number: int) -> Reached:
        path = [number]
        while path[-1] != self.failed:
            path.append(int(self.parent[path[-1]]))
        return Reached(int(self.hops[number]), float(self.weakest[number]), float(self.total[number]), path)


def walk_failure(steps: Steps, failed: int) -> Walked:
    """Everything that the steps lead to from the entity of a number. Numbers are in the order of titles."""
    n = len(steps.starts) - 1
    hops = np.full(n, -1, dtype=np.int64)
    weakest, total = np.full(n, -np.inf), np.full(n, -np.inf)
    parent, first, last = (np.full(n, fill, dtype=np.int64) for fill in (-1, n, 0))
    hops[failed], weakest[failed], total[failed] = 0, np.inf, 0.0
    levels: list[Numbers] = []
    level = np.array([failed], dtype=np.int64)  # sorted by path, so that the place in it settles ties
    while len(level):
        rows, place = steps.leave(level)
        rows, place, far = _keep(hops[steps.far[rows]] < 0, rows, place, steps.far)
        least = np.minimum(weakest[level[place]], steps.weight[rows])
        np.maximum.at(weakest, far, least)
        rows, place, far = _keep(least == weakest[far], rows, place, steps.far)
        summed = total[level[place]] + steps.weight[rows]
        np.maximum.at(total, far, summed)
        _, place, far = _keep(summed == total[far], rows, place, steps.far)
        np.minimum.at(first, far, place)
        last[far] = np.arange(len(far))
        reached = far[last[far] == np.arange(len(far))]  # each once
        parent[reached] = level[first[reached]]
        hops[reached] = len(levels) + 1
        level = np.sort(first[reached] * n + reached) % n  # by the path of the parent, then by title
        levels.append(level)
    return Walked(failed, levels[:-1], hops, weakest, total, parent)


def _keep(mask: Mask, rows: Numbers, place: Numbers, far: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    rows = rows[mask]
    return rows, place[mask], far[rows]
