"""Which single entity would break most others: all entities ranked by how many they impact.

The number of impacted entities is counted for every entity at once: entities that need each other in a circle (strong
components) count as one node, and each node's set of dependents is a bit mask, built from the masks of its neighbours.
Up to MAX_EXACT entities that carry; beyond, only the CANDIDATES of the highest pagerank are walked, one of each circle,
and the result says so.

Reads entities, and relationships by number (store/numbered_graph.py). Does not: print, or cite (hop_sources.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphrag import graphs
from graphrag.search.walks.failure_walk import Reached, walk_failure
from graphrag.search.walks.impact import Carrying, Impacted, choose_steps, list_impacted, load_titles, open_ids

if TYPE_CHECKING:
    from graphrag.store import Index
    from graphrag.store.numbered_graph import Steps

MAX_EXACT, CANDIDATES = 20_000, 200
# Entities of one count whose weakest hops are summed to settle who is shown; fewer where each breaks very many.
MAX_TIES, MAX_WALKED = 200, 100_000
MAX_NAMED = 100  # impacted entities of each, in --json


class Risk(NamedTuple):
    """An entity and what it impacts: how many, the first MAX_NAMED titles, and one of the farthest with its path.
    is_cut_vertex as in entities."""

    title: str
    n_impacted: int
    sum_of_weakest: float
    named: list[str]
    farthest: Impacted
    is_cut_vertex: bool


class Risks(NamedTuple):
    """shown: the first `top`; n_entities that impact any; is_exact False: only the strongest candidates were walked."""

    shown: list[Risk]
    n_entities: int
    is_exact: bool


class Walk(NamedTuple):
    """What one entity impacts, by numbers: how many, the sum of the weakest hops, the first MAX_NAMED, the farthest."""

    number: int
    n_impacted: int
    sum_of_weakest: float
    named: list[int]
    farthest: Reached


class Ranked(NamedTuple):
    walks: list[Walk]
    n_entities: int
    is_exact: bool


def rank_risks(steps: Steps, *, top: int, candidates: Sequence[int]) -> Ranked:
    """Entities by the number they impact (desc), the sum of the weakest hops (desc), title: the first `top`.

    steps: where failures go. candidates: numbers of entities to walk where more than MAX_EXACT carry.
    """
    sizes, is_exact = count_impacted(steps, candidates)
    ranked = sorted((number for number, n in sizes.items() if n), key=lambda number: (-sizes[number], number))
    if not ranked:
        return Ranked([], 0, is_exact)
    least = sizes[ranked[:top][-1]]
    n_above = sum(1 for number in ranked if sizes[number] > least)
    n_ties = max(top, min(MAX_TIES, MAX_WALKED // least))
    walks = [_walk(steps, n) for n in [n for n in ranked if sizes[n] >= least][: n_above + n_ties]]
    walks.sort(key=lambda walk: (-walk.n_impacted, -walk.sum_of_weakest, walk.number))
    return Ranked(walks[:top], len(ranked), is_exact)


def _walk(steps: Steps, number: int) -> Walk:
    walked = walk_failure(steps, number)
    total = sum(float(walked.weakest[level].sum()) for level in walked.levels)
    named = [entity.path[0] for entity in walked.rank(top=MAX_NAMED)]
    return Walk(number, walked.n_impacted, total, named, walked.farthest())


def count_impacted(steps: Steps, candidates: Sequence[int]) -> tuple[dict[int, int], bool]:
    """How many entities each impacts, by number, itself not counted; and whether of all, else of the candidates."""
    near = np.repeat(np.arange(len(steps.starts) - 1), np.diff(steps.starts))
    ends, rows = np.unique(np.concatenate([near, steps.far]), return_inverse=True)
    pairs = np.unique(rows.reshape(2, -1).T, axis=0)
    circles = np.asarray(graphs.strong_components(len(ends), pairs), dtype=np.int64)
    if len(ends) <= MAX_EXACT:
        sizes = _count_in_circles(circles.tolist(), pairs.tolist())
        return dict(zip(ends.tolist(), sizes, strict=True)), True
    circle_of = dict(zip(ends.tolist(), circles.tolist(), strict=True))
    known: dict[int, int] = {}  # all of a circle impact each other, and the same others
    for number in candidates:
        if number in circle_of and circle_of[number] not in known:
            known[circle_of[number]] = walk_failure(steps, number).n_impacted
    return {number: known[circle_of[number]] for number in candidates if number in circle_of}, False


def _count_in_circles(circles: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Of each node; `circles` are their strong components, numbered above those that they lead to."""
    members: dict[int, int] = defaultdict(int)
    for node, circle in enumerate(circles):
        members[circle] |= 1 << node
    after: dict[int, set[int]] = defaultdict(set)
    for near, far in pairs:
        after[circles[near]].add(circles[far])
    reach: dict[int, int] = {}
    for circle in sorted(members):
        mask = members[circle]
        for other in after[circle] - {circle}:
            mask |= reach[other]
        reach[circle] = mask
    n_reached = {circle: mask.bit_count() for circle, mask in reach.items()}
    return [n_reached[circle] - 1 for circle in circles]


def find_risks(index: Index, carrying: Carrying, *, top: int) -> Risks:
    """The ranking of the published index."""
    return rank_index(index, choose_steps(index.graph(), carrying), top=top)


def rank_index(index: Index, steps: Steps, *, top: int) -> Risks:
    """`rank_risks` of the published index over some steps of its graph."""
    strongest = index.frame(
        "select c.number from entities e join entity_components c on c.entity_id = e.id "
        "order by e.pagerank desc, e.degree desc, c.number limit ?",
        (CANDIDATES,),
    )["number"].to_list()
    ranked = rank_risks(steps, top=top, candidates=strongest)
    numbers = {n for walk in ranked.walks for n in (walk.number, *walk.named, *walk.farthest.path)}
    titles = load_titles(index, sorted(numbers))
    chains = [walk.farthest for walk in ranked.walks]
    farthest = list_impacted(index.graph(), steps, chains, titles, open_ids(index))
    cuts = set(index.frame("select title from entities where is_cut_vertex")["title"].to_list())
    shown = [
        Risk(
            titles[walk.number], walk.n_impacted, walk.sum_of_weakest, [titles[n] for n in walk.named], chain,
            titles[walk.number] in cuts,
        )
        for walk, chain in zip(ranked.walks, farthest, strict=True)
    ]  # fmt: skip
    return Risks(shown, ranked.n_entities, ranked.is_exact)
