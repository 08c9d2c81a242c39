"""Which single entity would break most others: all entities ranked by how many they impact.

The number of impacted entities is counted for every entity at once: entities that need each other in a circle (strong
components) count as one node, and each node's set of dependents is a bit mask, built from the masks of its neighbours.
Up to MAX_EXACT entities that carry; beyond, the CANDIDATES of the highest pagerank are walked one by one, and the
result says so.

Reads relationships, entities. Does not: print, or cite (hop_sources.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag import graphs
from graphrag.search.edges import Edge, list_edges, title_key
from graphrag.search.impact import Carrying, Impacted, trace_impact

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_EXACT, CANDIDATES = 20_000, 200
# Entities of one count whose weakest hops are summed to settle who is shown; fewer where each breaks very many.
MAX_TIES, MAX_WALKED = 200, 100_000


class Risk(NamedTuple):
    """An entity and what it impacts, ranked as `trace_impact` ranks; is_cut_vertex as in entities."""

    title: str
    impacted: list[Impacted]
    is_cut_vertex: bool

    @property
    def sum_of_weakest(self) -> float:
        return sum(entity.weakest for entity in self.impacted)


class Risks(NamedTuple):
    """shown: the first `top`; n_entities that impact any; is_exact False: only the strongest candidates were walked."""

    shown: list[Risk]
    n_entities: int
    is_exact: bool


def rank_risks(
    edges: Sequence[Edge],
    carrying: Carrying,
    *,
    top: int,
    cut_vertices: Collection[str],
    candidates: Sequence[str] = (),
) -> Risks:
    """Entities by the number they impact (desc), the sum of the weakest hops (desc), title.

    edges: of the whole index. candidates: titles to walk where there are more than MAX_EXACT.
    """
    known = carrying.against | carrying.along
    edges = [edge for edge in edges if edge.predicate in known and edge.source != edge.target]
    titles = sorted({end for edge in edges for end in (edge.source, edge.target)})
    is_exact = len(titles) <= MAX_EXACT
    fetch = list_edges(edges)
    if is_exact:
        sizes = count_impacted(edges, carrying)
    else:
        sizes = {title: len(trace_impact(fetch, title, carrying)) for title in candidates}
    ranked = sorted((title for title, n in sizes.items() if n), key=lambda title: (-sizes[title], title_key(title)))
    if not ranked:
        return Risks([], 0, is_exact)
    least = sizes[ranked[:top][-1]]
    n_above = sum(1 for title in ranked if sizes[title] > least)
    n_ties = max(top, min(MAX_TIES, MAX_WALKED // least))
    wanted = [title for title in ranked if sizes[title] >= least][: n_above + n_ties]
    risks = [Risk(title, trace_impact(fetch, title, carrying), title in cut_vertices) for title in wanted]
    risks.sort(key=lambda risk: (-len(risk.impacted), -risk.sum_of_weakest, title_key(risk.title)))
    return Risks(risks[:top], len(ranked), is_exact)


def count_impacted(edges: Iterable[Edge], carrying: Carrying) -> dict[str, int]:
    """Number of entities that each entity impacts, itself not counted."""
    pairs = sorted({
        (edge.source, edge.target) if edge.predicate in carrying.along else (edge.target, edge.source)
        for edge in edges
        if edge.source != edge.target
    })  # fmt: skip
    titles = sorted({end for pair in pairs for end in pair})
    number = {title: i for i, title in enumerate(titles)}
    component = graphs.strong_components(len(titles), [(number[near], number[far]) for near, far in pairs])
    members: dict[int, int] = defaultdict(int)
    for i, c in enumerate(component):
        members[c] |= 1 << i
    after: dict[int, set[int]] = defaultdict(set)
    for near, far in pairs:
        after[component[number[near]]].add(component[number[far]])
    reach: dict[int, int] = {}
    for c in sorted(members):  # a component's number is above those it leads to
        mask = members[c]
        for other in after[c] - {c}:
            mask |= reach[other]
        reach[c] = mask
    n_reached = {c: mask.bit_count() for c, mask in reach.items()}
    return {title: n_reached[component[i]] - 1 for title, i in number.items()}


def find_risks(index: Index, carrying: Carrying, *, top: int) -> Risks:
    """The ranking of the published index."""
    edges = [
        Edge(*row)
        for row in index.frame(
            "select id, source, predicate, target, weight from relationships where source <> target "
            "and predicate in (select unnest(?::varchar[])) and origin <> 'cooccurrence'",
            (sorted(carrying.against | carrying.along),),
        ).rows()
    ]
    return rank_risks_of(index, edges, carrying, top=top)


def rank_risks_of(index: Index, edges: Sequence[Edge], carrying: Carrying, *, top: int) -> Risks:
    """`rank_risks` with what the index knows of its entities."""
    cuts = index.frame("select title from entities where is_cut_vertex")["title"].to_list()
    candidates = index.frame(
        "select title from entities order by pagerank desc, degree desc, lower(title), title limit ?", (CANDIDATES,)
    )["title"].to_list()
    return rank_risks(edges, carrying, top=top, cut_vertices=set(cuts), candidates=candidates)
