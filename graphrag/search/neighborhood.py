"""The part of the graph around a question, and personalised PageRank over its entities and the passages that match.

The neighbourhood is bounded: two hops along stated relationships (no co-occurrence), from at most MAX_SEEDS entities,
then from at most MAX_WALKED, those that the heaviest relationships reach.
A hub is shown and ranked but not walked through, unless the question names it: everything is two hops from everything
across a hub. The walk: Gutierrez et al., "From RAG to Memory" (HippoRAG 2, 2025): passages as nodes and seeds, damping
0.5, and a seed's share divided by the number of text units it stands in. Unlike there, the seeds are the entities that
the question names, not the facts that are like it; a passage's share falls with its rank; and only passages that match
the question are nodes. The walk orders entities, relationships and reports: facts as seeds, and the passages that it
reached, added nothing to what matches and what that leads to (next_hops.py; docs/evaluation.md has the figures).

Reads relationships, entities. Does not: find seeds (seeds.py, ranking.py) or choose what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag import graphs
from graphrag.search.lookups import one_of

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_HOPS = 2
MAX_SEEDS = 40
MAX_WALKED, MAX_EDGES_PER_HOP = 400, 2_000
DAMPING = 0.5
PASSAGE_SHARE = 0.1  # of the reset, that of the best passage; the n-th has an n-th of it


class Neighborhood(NamedTuple):
    """edges: relationship id, source id, target id, weight; entities: ids, sorted; n_units: of the seeds, the number of
    their text units."""

    edges: list[tuple[str, str, str, float]]
    entities: list[str]
    n_units: dict[str, int]


def expand_neighborhood(index: Index, seeds: Sequence[str]) -> Neighborhood:
    """Stated relationships within two hops of the seeds, which are walked through even if they are hubs."""
    seeds = list(dict.fromkeys(seeds))[:MAX_SEEDS]
    edges: dict[str, tuple[str, str, str, float]] = {}
    seen, frontier = set(seeds), seeds
    for _ in range(MAX_HOPS):
        if not frontier:
            break
        (starts, sources), (ends, targets) = one_of("source_id", frontier), one_of("target_id", frontier)
        stated = "select id, source_id, target_id, weight from relationships where origin <> 'cooccurrence' and"
        rows = index.frame(
            f"{stated} {starts} union {stated} {ends} order by weight desc, id limit {MAX_EDGES_PER_HOP}",
            [*sources, *targets],
        ).rows()
        edges |= {row[0]: row for row in rows}
        reached = [entity for entity in dict.fromkeys(end for row in rows for end in row[1:3]) if entity not in seen]
        seen |= set(reached)
        frontier = _without_hubs(index, reached)[:MAX_WALKED]
    is_seed, ids = one_of("id", seeds)
    n_units = index.frame(f"select id, len(text_unit_ids) from entities where {is_seed}", ids).rows()
    return Neighborhood([edges[key] for key in sorted(edges)], sorted(seen), dict(n_units))


def rank_neighborhood(
    around: Neighborhood, entity_seeds: Mapping[str, float], passages: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Personalised PageRank of entities: those of the neighbourhood and of the passages; rounded to 9 digits.

    entity_seeds: weight of each seed entity; passages: the passages that match the question itself, best first, with
    the entities that each names.
    """
    entities = sorted({*around.entities, *(entity for named in passages.values() for entity in named)})
    number = {owner: i for i, owner in enumerate([*entities, *passages])}
    edges, weights = [], []
    for _, source, target, weight in around.edges:
        if source in number and target in number:
            edges.append((number[source], number[target]))
            weights.append(weight)
    for unit, named in passages.items():
        for entity in named:
            edges.append((number[entity], number[unit]))
            weights.append(1.0)
    reset = [0.0] * len(number)
    for entity, weight in entity_seeds.items():
        if entity in number:
            reset[number[entity]] += weight / max(1, around.n_units.get(entity, 1))
    for rank, unit in enumerate(passages, start=1):
        reset[number[unit]] += PASSAGE_SHARE / rank
    if not any(reset):
        return {}
    ranks = graphs.pagerank(len(number), edges, weights, reset=reset, damping=DAMPING)
    return {entity: round(ranks[number[entity]], 9) for entity in entities}


def _without_hubs(index: Index, ids: Sequence[str]) -> list[str]:
    is_one, wanted = one_of("id", ids)
    hubs = set(index.frame(f"select id from entities where is_hub and {is_one}", wanted)["id"].to_list())
    return [owner for owner in ids if owner not in hubs]
