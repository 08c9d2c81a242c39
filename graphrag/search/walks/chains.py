"""Directed chains that start at an entity: breadth first over what it states, every prefix a chain of its own.

specs/context-graph.md, rule 26: within an entity by predicate, then target; a relationship to an entity that was
visited is listed once and not followed; of parallel relationships each gives a chain and the first is followed. So
there are never more chains than relationships.

Reads entities (types). Does not: resolve names (seeds.py) or cite (hop_sources.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphrag.errors import UsageError, did_you_mean
from graphrag.search.walks.edges import Edge, FetchEdges, title_key

if TYPE_CHECKING:
    from graphrag.store import Index

Chain = tuple[Edge, ...]


def list_chains(fetch: FetchEdges, start: str, *, max_depth: int) -> list[Chain]:
    """Chains of up to max_depth relationships, shortest first. Depth 0 gives none."""
    chains: list[Chain] = []
    visited = {start}
    level: list[tuple[str, Chain]] = [(start, ())]
    for _ in range(max_depth):
        stated: dict[str, list[Edge]] = {title: [] for title, _ in level}
        for edge in fetch(list(stated), "out", None):
            stated[edge.source].append(edge)
        following: list[tuple[str, Chain]] = []
        for title, before in level:
            for edge in sorted(stated[title], key=lambda edge: (edge.predicate, title_key(edge.target))):
                chain = (*before, edge)
                chains.append(chain)
                if edge.target not in visited:
                    visited.add(edge.target)
                    following.append((edge.target, chain))
        if not following:
            break
        level = following
    return chains


def keep_type(index: Index, chains: Sequence[Chain], entity_type: str) -> list[Chain]:
    """Chains that end in an entity of a type, whatever its case. Raises UsageError for a type that no entity has."""
    types = dict(index.frame("select title, lower(type) from entities").rows())
    wanted = entity_type.strip().lower()
    if wanted not in types.values():
        known = sorted(set(types.values()))
        raise UsageError(f'No entity of type "{entity_type}".{did_you_mean(wanted, known)} Types: {", ".join(known)}.')
    return [chain for chain in chains if types.get(chain[-1].target) == wanted]


def render_chain(chain: Chain) -> str:
    """`(A) --[DEPENDS_ON]--> (B) -> (B) --[RUNS_ON]--> (C)`."""
    return " -> ".join(f"({edge.source}) --[{edge.predicate.upper()}]--> ({edge.target})" for edge in chain)
