"""The part of the graph around a question, and personalised PageRank over its entities and the passages that match.

The neighbourhood is bounded: the stated relationships (no co-occurrence) of at most MAX_SEEDS entities, the heaviest.
Seeds are what the question names and what the next hops lead over (next_hops.py), so that it goes as far as they do,
and nowhere across a hub that is only near. The walk: Gutierrez et al., "From RAG to Memory" (HippoRAG 2, 2025):
passages as nodes and seeds, damping 0.5, and a seed's share divided by the number of text units it stands in. Unlike
there, the seeds are the entities that the question names, not the facts that are like it; a passage's share falls with
its rank; and only passages that match the question are nodes. The walk orders entities, relationships and reports:
facts as seeds, a second hop in all directions, and the passages that it reached added nothing (docs/evaluation.md).

Reads relationships, entities. Does not: find seeds (seeds.py, ranking.py) or choose what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag import graphs
from graphrag.search.lookups import one_of

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_SEEDS, MAX_EDGES = 20, 500
MAX_FETCHED = 5_000  # neighbours; above this DuckDB sorts all relationships, below it looks up those of the seeds
DAMPING = 0.5
PASSAGE_SHARE = 0.1  # of the reset, that of the best passage; the n-th has an n-th of it


class Neighborhood(NamedTuple):
    """edges: relationship id, source id, target id, weight; entities: ids, sorted; n_units: of the seeds, the number of
    their text units."""

    edges: list[tuple[str, str, str, float]]
    entities: list[str]
    n_units: dict[str, int]


def expand_neighborhood(index: Index, seeds: Sequence[str]) -> Neighborhood:
    """Stated relationships of the seeds and what they lead to."""
    seeds = list(dict.fromkeys(seeds))[:MAX_SEEDS]
    is_seed, ids = one_of("id", seeds)
    sizes = index.frame(f"select id, len(text_unit_ids), degree from entities where {is_seed}", ids).rows()
    bound = f"order by weight desc, id limit {MAX_EDGES}" if sum(row[2] for row in sizes) > MAX_FETCHED else ""
    edges: dict[str, tuple[str, str, str, float]] = {}
    for end in ("source_id", "target_id"):
        is_one, ids = one_of(end, seeds)
        rows = index.frame(
            "select id, source_id, target_id, weight from relationships "
            f"where {is_one} and origin <> 'cooccurrence' {bound}",
            ids,
        ).rows()
        edges |= {row[0]: row for row in rows}
    kept = sorted(sorted(edges.values(), key=lambda edge: (-edge[3], edge[0]))[:MAX_EDGES])
    entities = sorted({*seeds, *(end for edge in kept for end in edge[1:3])})
    return Neighborhood(kept, entities, {row[0]: row[1] for row in sizes})


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
