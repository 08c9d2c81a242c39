"""The part of the graph around a question, and personalised PageRank over its entities and text units.

The neighbourhood is bounded: two hops along stated relationships (no co-occurrence), from at most MAX_SEEDS entities,
then from at most MAX_WALKED, those that the heaviest relationships reach.
A hub is shown and ranked but not walked through, unless the question names it: everything is two hops from everything
across a hub. The walk: Gutierrez et al., "From RAG to Memory" (HippoRAG 2, 2025): question-to-entity and
question-to-fact seeds, passages as nodes and seeds, damping 0.5, and a seed's share divided by the number of text units
it stands in. Unlike there, a passage's share falls with its rank: the scores of a fusion by rank are nearly equal, and
twenty equal seeds walk everywhere (docs/evaluation.md: .03 of recall).

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
MAX_UNITS_PER_ENTITY = 40
DAMPING = 0.5
PASSAGE_SHARE = 0.1  # of the reset, that of the best passage; the n-th has an n-th of it


class Neighborhood(NamedTuple):
    """edges: relationship id, source id, target id, weight; units: entity id -> its text units, each cut to a bound."""

    edges: list[tuple[str, str, str, float]]
    units: dict[str, list[str]]
    n_units: dict[str, int]


class Ranks(NamedTuple):
    entities: dict[str, float]
    text_units: dict[str, float]


def expand_neighborhood(index: Index, seeds: Sequence[str], *, named: Sequence[str] = ()) -> Neighborhood:
    """Stated relationships within two hops of the seeds; `named` seeds are walked through even if they are hubs."""
    seeds = list(dict.fromkeys([*named, *seeds]))[:MAX_SEEDS]
    edges: dict[str, tuple[str, str, str, float]] = {}
    seen = set(seeds)
    frontier = _without_hubs(index, seeds, keep=set(named))
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
        frontier = _without_hubs(index, reached, keep=set())[:MAX_WALKED]
    is_seen, ids = one_of("id", sorted(seen))
    units = index.frame(
        f"select id, text_unit_ids[1:{MAX_UNITS_PER_ENTITY}], len(text_unit_ids) from entities "
        f"where {is_seen} order by id",
        ids,
    ).rows()
    return Neighborhood(
        [edges[key] for key in sorted(edges)], {row[0]: row[1] for row in units}, {row[0]: row[2] for row in units}
    )


def rank_neighborhood(around: Neighborhood, entity_seeds: Mapping[str, float], passage_seeds: Sequence[str]) -> Ranks:
    """Personalised PageRank of the neighbourhood's entities and text units, each rounded to 9 digits.

    entity_seeds: weight of each seed entity; passage_seeds: the passages that match the question itself, best first.
    """
    entities = sorted(around.units)
    units = sorted({unit for ids in around.units.values() for unit in ids} | set(passage_seeds))
    number = {owner: i for i, owner in enumerate([*entities, *units])}
    edges, weights = [], []
    for _, source, target, weight in around.edges:
        if source in number and target in number:
            edges.append((number[source], number[target]))
            weights.append(weight)
    for entity in entities:
        for unit in around.units[entity]:
            edges.append((number[entity], number[unit]))
            weights.append(1.0)
    reset = [0.0] * len(number)
    for entity, weight in entity_seeds.items():
        if entity in number:
            reset[number[entity]] += weight / max(1, around.n_units.get(entity, 1))
    for rank, unit in enumerate(passage_seeds, start=1):
        reset[number[unit]] += PASSAGE_SHARE / rank
    if not any(reset):
        return Ranks({}, {})
    ranks = graphs.pagerank(len(number), edges, weights, reset=reset, damping=DAMPING)
    return Ranks(
        {entity: round(ranks[number[entity]], 9) for entity in entities},
        {unit: round(ranks[number[unit]], 9) for unit in units},
    )


def _without_hubs(index: Index, ids: Sequence[str], *, keep: set[str]) -> list[str]:
    is_one, wanted = one_of("id", ids)
    hubs = set(index.frame(f"select id from entities where is_hub and {is_one}", wanted)["id"].to_list())
    return [owner for owner in ids if owner in keep or owner not in hubs]
