"""The part of the graph around a question: the stated relationships of what it names and of what the next hops lead
over (next_hops.py), so that it goes as far as they do, and nowhere across a hub that is only near.

A personalised PageRank over this part (HippoRAG 2) ordered entities and relationships once. It went: the ends that are
named or led over say more (docs/evaluation.md).

Reads relationships, entities. Does not: find seeds (seeds.py, next_hops.py), or rank relationships (facts.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphrag.search.lookups import one_of

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_SEEDS, MAX_EDGES = 20, 500
MAX_FETCHED = 5_000  # neighbours; above this DuckDB sorts all relationships, below it looks up those of the seeds


def expand_neighborhood(index: Index, seeds: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Source and target of the stated relationships (no co-occurrence) of at most MAX_SEEDS entities, by id; of more
    than MAX_EDGES the heaviest."""
    seeds = list(dict.fromkeys(seeds))[:MAX_SEEDS]
    is_seed, ids = one_of("id", seeds)
    n_neighbors = sum(degree for (degree,) in index.rows(f"select degree from entities where {is_seed}", ids))
    bound = f"order by weight desc, id limit {MAX_EDGES}" if n_neighbors > MAX_FETCHED else ""
    edges: dict[str, tuple[str, str, str, float]] = {}
    for end in ("source_id", "target_id"):
        is_one, ids = one_of(end, seeds)
        rows = index.rows(
            "select id, source_id, target_id, weight from relationships "
            f"where {is_one} and origin <> 'cooccurrence' {bound}",
            ids,
        )
        edges |= {row[0]: row for row in rows}
    kept = sorted(edges.values(), key=lambda edge: (-edge[3], edge[0]))[:MAX_EDGES]
    return {relationship: (source, target) for relationship, source, target, _ in sorted(kept)}
