"""What is impacted when an entity fails: a walk backwards over the predicates that carry a failure.

`trace_impact` is the walk (specs/context-graph.md, rules 17 to 24): every impacted entity once, at its smallest number
of hops; the paths form a tree. `find_impact` asks the published index for all of an answer: the impacted, ranked; what
of the same component survives and why; what is not connected; which relationships were not walked.

Hubs are walked: a dependency of many is the point. Nothing is cut off here; what is shown is for the caller to choose.

Reads relationships, entities, entity_components. Does not: resolve names (seeds.py), cite (hop_sources.py), compare all
entities (systemic_risk.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from graphrag.errors import StoreError
from graphrag.search.edges import Edge, FetchEdges, Hop, open_edges, sort_parallel, title_key

if TYPE_CHECKING:
    from graphrag.store import Index

ALL_PREDICATES = "all"
MAX_SURVIVORS = 50  # named in a line; --json has all
NO_PATH, OTHER_PREDICATES = "no carrying path", "only through other predicates"


class Carrying(NamedTuple):
    """Predicates that carry a failure against the arrow (X depends_on Y: Y fails, X breaks) or along it (Y hosts X)."""

    against: frozenset[str]
    along: frozenset[str]


class Impacted(NamedTuple):
    """An entity that breaks; `parent` is the next one towards what failed, `edges` the hop to it, heaviest first."""

    title: str
    hops: int
    weakest: float
    total: float
    parent: str
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Impact:
    """impacted: ranked, all of them; survivors: title -> why, by title; not_walked: edges by predicate that touch what
    failed or is impacted and carry nothing."""

    failed: str
    impacted: list[Impacted]
    survivors: dict[str, str]
    n_not_connected: int
    not_walked: dict[str, int]

    def path(self, entity: Impacted) -> list[str]:
        """Titles from what failed to the impacted entity."""
        return [self.failed, *(step.title for step in reversed(self.steps(entity)))]

    def steps(self, entity: Impacted) -> list[Impacted]:
        """The impacted entities from this one towards what failed."""
        found = [entity]
        while found[-1].parent != self.failed:
            found.append(self._by_title[found[-1].parent])
        return found

    def hops(self, entity: Impacted) -> list[Hop]:
        """The hops from the impacted entity down to what failed."""
        return [(step.title, step.edges) for step in self.steps(entity)]

    @cached_property
    def _by_title(self) -> dict[str, Impacted]:
        return {entity.title: entity for entity in self.impacted}


def choose_carrying(
    known: Collection[str], *, predicates: Sequence[str], reversed_predicates: Sequence[str], rels: Sequence[str] = ()
) -> Carrying:
    """The predicates of an index that carry: those of the settings, or those of `rels` alone, or all.

    known: every predicate of the index. `rels` may be ("all",). Those in reversed_predicates keep their direction.
    """
    along = frozenset(reversed_predicates)
    chosen = frozenset(rels) if rels else frozenset(predicates) | along
    chosen = frozenset(known) if ALL_PREDICATES in rels else chosen & frozenset(known)
    return Carrying(chosen - along, chosen & along)


def trace_impact(fetch: FetchEdges, failed: str, carrying: Carrying) -> list[Impacted]:
    """All entities that break with `failed`, ranked: hops, weakest hop (desc), sum of weights (desc), title.

    Among equally long routes the parent gives the larger weakest hop, then the larger sum, then its path by titles.
    """
    found: dict[str, Impacted] = {}
    level = [failed]  # sorted by path, so that the place in it settles ties
    hops = 0
    while level:
        hops += 1
        place = {title: number for number, title in enumerate(level)}
        reached: dict[str, list[tuple[float, float, int, str, tuple[Edge, ...]]]] = defaultdict(list)
        for (near, far), edges in _group_hops(fetch, level, carrying).items():
            if far == failed or far in found:
                continue
            before = found.get(near)
            weight = max(edge.weight for edge in edges)
            weakest = min(before.weakest, weight) if before else weight
            total = before.total + weight if before else weight
            reached[far].append((-weakest, -total, place[near], near, sort_parallel(edges)))
        best = {far: min(routes) for far, routes in reached.items()}
        for far, (weakest, total, _, near, parallel) in best.items():
            found[far] = Impacted(far, hops, -weakest, -total, near, parallel)
        level = sorted(best, key=lambda far: (best[far][2], title_key(far)))
    return sorted(found.values(), key=lambda e: (e.hops, -e.weakest, -e.total, title_key(e.title)))


def _group_hops(fetch: FetchEdges, titles: Sequence[str], carrying: Carrying) -> dict[tuple[str, str], list[Edge]]:
    """Edges by (the end that fails, the end that breaks with it)."""
    pairs: dict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in fetch(titles, "in", carrying.against):
        pairs[edge.target, edge.source].append(edge)
    for edge in fetch(titles, "out", carrying.along):
        pairs[edge.source, edge.target].append(edge)
    return pairs


def find_impact(
    index: Index, failed: str, carrying: Carrying, *, cooccurrence: bool = False, reasons: bool = False
) -> Impact:
    """The whole answer for one entity, by its title; with `reasons` each survivor's reason is looked for.

    Raises StoreError for an index that an earlier release made, without entity_components.
    """
    component = list_component(index, [failed])
    fetch = open_edges(index, cooccurrence=cooccurrence)
    impacted = trace_impact(fetch, failed, carrying)
    broken = {failed, *(entity.title for entity in impacted)}
    survivors = [title for title in component if title not in broken]
    not_walked = count_not_walked(index, sorted(broken), carrying)
    reachable: set[str] = set()
    if reasons and survivors and not_walked:
        along = carrying.along
        known = frozenset(list_predicates(index))
        reachable = {entity.title for entity in trace_impact(fetch, failed, Carrying(known - along, along))}
    n_entities = int(index.frame("select count(*) from entities").item())
    why = {title: OTHER_PREDICATES if title in reachable else NO_PATH for title in survivors}
    return Impact(failed, impacted, why, n_entities - len(broken) - len(survivors), not_walked)


def list_component(index: Index, titles: Sequence[str]) -> list[str]:
    """Titles of all entities that stated relationships connect with these, themselves included, by title.

    Raises StoreError for an index that an earlier release made, without entity_components.
    """
    if index.frame("select 1 from duckdb_tables() where table_name = 'entity_components'").is_empty():
        raise StoreError('The index was made by an earlier release. Run "graphrag index" once.')
    found = index.frame(
        "select e.title from entities e join entity_components c on c.entity_id = e.id where c.component in "
        "(select c.component from entities e join entity_components c on c.entity_id = e.id where e.title in "
        "(select unnest(?::varchar[]))) order by lower(e.title), e.title",
        (list(titles),),
    )
    return [str(title) for title in found["title"]]


def render_survivors(survivors: Sequence[str], *, most: int = MAX_SURVIVORS) -> list[str]:
    """The line of those that do not break, and one that counts those beyond `most`."""
    line = f"survives: {', '.join(survivors[:most]) or 'nothing in this component'}"
    n_more = len(survivors) - most
    return [line, f"... and {n_more} more"] if n_more > 0 else [line]


def list_predicates(index: Index) -> list[str]:
    """Every predicate of the index, sorted, co-occurrence included."""
    return index.frame("select distinct predicate from relationships order by predicate")["predicate"].to_list()


def count_not_walked(index: Index, titles: Sequence[str], carrying: Carrying) -> dict[str, int]:
    """Stated relationships that touch the titles and carry nothing, by predicate."""
    rows = index.frame(
        "select predicate, count(*) from relationships where origin <> 'cooccurrence' and source <> target "
        "and not list_contains($carrying::varchar[], predicate) and (source in (select unnest($titles::varchar[])) "
        "or target in (select unnest($titles::varchar[]))) group by predicate order by predicate",
        {"carrying": sorted(carrying.against | carrying.along), "titles": list(titles)},
    ).rows()
    return {str(predicate): int(n) for predicate, n in rows}
