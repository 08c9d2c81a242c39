"""How two things that a question names have to do with each other: the best route between them, in any direction.

For "How is Billing related to Redis?" the answer is the hops that lead from one to the other (specs: context graph 29),
as `graphrag path A B --direction both` finds them. A bare link says only that a page points at another: a map of
contents would join any two things by two hops, so that routes without such links come first.

Reads relationships. Does not: find the names in the question (seeds.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from graphrag.search.walks.edges import Direction, Edge, FetchEdges, open_edges
from graphrag.search.walks.impact import list_predicates
from graphrag.search.walks.paths import find_routes
from graphrag.tables import BARE_PREDICATES

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_HOPS = 6

# "How is A related to B?", "What connects A and B?", "What has A to do with B?", "the relation between A and B".
_ASKS = re.compile(
    r"\bhow (?:is|are|was|were)\b.{1,80}\b(?:related|connected|linked)\b.{0,10}\b(?:to|with)\b"
    r"|\bhow (?:does|do|did)\b(?! (?:i|you|we)\b).{1,80}\b(?:relate|connect|link)\b.{0,10}\b(?:to|with)\b"
    r"|\bhow (?:is|are|does|do)\b.{1,80}\band\b.{1,80}\b(?:related|connected|linked|relate|connect)\b"
    r"|\b(?:what|which)\b.{0,40}\b(?:connects?|links?|relates?)\b.{1,80}\b(?:and|to|with)\b"
    r"|\b(?:relations?|relationships?|connections?|links?|paths?) between\b"
    r"|\bto do with\b",
    re.IGNORECASE,
)


def asks_for_relation(question: str) -> bool:
    """Whether a question asks how two things are related."""
    return bool(_ASKS.search(question))


def find_relation(index: Index, source: str, target: str) -> list[str]:
    """Ids of the relationships on the best route between two entities, by their titles; empty where there is none."""
    fetch = open_edges(index)
    stated = frozenset(list_predicates(index)) - {*BARE_PREDICATES}
    for walk in (_restrict(fetch, stated), fetch):
        routes, _ = find_routes(walk, source, target, max_hops=MAX_HOPS, direction="both", n=1)
        if routes:
            return [edge.id for _, hop in routes[0].hops for edge in hop]
    return []


def _restrict(fetch: FetchEdges, predicates: Collection[str]) -> FetchEdges:
    def fetch_some(titles: Sequence[str], direction: Direction, _: Collection[str] | None) -> list[Edge]:
        return fetch(titles, direction, predicates)

    return fetch_some
