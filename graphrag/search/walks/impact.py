"""What is impacted when an entity fails, and what of the same part of the graph is not.

`find_impact` asks the published index for all of an answer (specs/context-graph.md, rules 17 to 24): the impacted,
ranked, each with the relationships of its path; what of the same component survives and why; what is not connected;
which relationships were not walked. The walk itself is failure_walk.py.

Hubs are walked: a dependency of many is the point. What neither works nor fails, such as a place or an incident, is no
survivor: the types of `bystanders` are counted.

Reads relationships, entity_components, numbered_relationships. Does not: resolve names (seeds.py), cite
(hop_sources.py), compare all entities (systemic_risk.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphrag.search.lookups import one_of
from graphrag.search.walks.edges import Edge, Hop, sort_parallel
from graphrag.search.walks.failure_walk import Reached, walk_failure

if TYPE_CHECKING:
    from graphrag.store import Index
    from graphrag.store.numbered_graph import Mask, NumberedGraph, Numbers, Steps

ALL_PREDICATES = "all"
MAX_SURVIVORS = 50  # named in a line; --json has all
NO_PATH, OTHER_PREDICATES = "no carrying path", "only through other predicates"

LoadIds = Callable[[Sequence[int]], dict[int, str]]
"""load(rows): the ids of relationships by their place in the table."""


class Carrying(NamedTuple):
    """Predicates that carry a failure against the arrow (X depends_on Y: Y fails, X breaks) or along it (Y hosts X)."""

    against: frozenset[str]
    along: frozenset[str]


class Impacted(NamedTuple):
    """An entity that breaks. path: titles from what failed to it; hops_down: the hops from it down to what failed, the
    parallel edges of each heaviest first."""

    title: str
    hops: int
    weakest: float
    total: float
    path: list[str]
    hops_down: list[Hop]


@dataclass(frozen=True)
class Impact:
    """impacted: ranked, those that were asked for. survivors: title -> why, by title, the first MAX_SURVIVORS, or all
    where reasons were asked for. bystanders: how many of each type. not_walked: edges by predicate that touch what
    failed or is impacted and carry nothing."""

    failed: str
    impacted: list[Impacted]
    n_impacted: int
    survivors: dict[str, str]
    n_survivors: int
    bystanders: dict[str, int]
    n_not_connected: int
    not_walked: dict[str, int]


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


def choose_steps(graph: NumberedGraph, carrying: Carrying, *, cooccurrence: bool = False) -> Steps:
    """The steps of a failure: over stated relationships whose predicates carry it; `cooccurrence`: all of these."""
    stated = np.ones_like(graph.is_stated) if cooccurrence else graph.is_stated
    against, along = (select_predicates(graph, predicates) & stated for predicates in carrying)
    return graph.turn((carrying, cooccurrence), against, along)


def select_predicates(graph: NumberedGraph, predicates: Collection[str]) -> Mask:
    """The relationships of some predicates."""
    wanted = np.array([predicate in predicates for predicate in graph.predicates], dtype=np.bool_)
    found: Mask = wanted[graph.predicate]
    return found


def is_of_type(graph: NumberedGraph, types: Collection[str]) -> Mask:
    """The entities of some types."""
    wanted = np.array([type_ in types for type_ in graph.types], dtype=np.bool_)
    found: Mask = wanted[graph.type]
    return found


def list_impacted(
    graph: NumberedGraph, steps: Steps, reached: Sequence[Reached], titles: Mapping[int, str], load_ids: LoadIds
) -> list[Impacted]:
    """The same with titles, and the edges of their paths. `titles`: at least those of the paths."""
    pairs = {pair for entity in reached for pair in pairwise(entity.path)}
    parallel = {(near, far): steps.list_edges(far, near) for near, far in pairs}
    numbers = sorted({number for found in parallel.values() for number in found})
    rows = graph.row[numbers].tolist()
    ids = load_ids(rows)
    edges = {
        number: Edge(
            ids[row], titles[int(graph.source[number])], graph.predicates[graph.predicate[number]],
            titles[int(graph.target[number])], float(graph.weight[number]),
        )
        for number, row in zip(numbers, rows, strict=True)
    }  # fmt: skip
    hops = {
        (near, far): (titles[near], sort_parallel(edges[n] for n in found)) for (near, far), found in parallel.items()
    }
    return [
        Impacted(
            titles[entity.path[0]], entity.hops, entity.weakest, entity.total,
            [titles[number] for number in reversed(entity.path)], [hops[pair] for pair in pairwise(entity.path)],
        )
        for entity in reached
    ]  # fmt: skip


def find_impact(
    index: Index,
    failed: str,
    carrying: Carrying,
    *,
    cooccurrence: bool = False,
    max_hops: int | None = None,
    top: int | None = None,
    reasons: bool = False,
    bystanders: Collection[str] = (),
) -> Impact:
    """The whole answer for one entity, by its title: the first `top` impacted within max_hops; with `reasons` every
    survivor, and why it is one. bystanders: types that are no survivors.

    Raises StoreError for an index that an earlier release made.
    """
    graph = index.graph()
    number = number_titles(index, [failed])[failed]
    steps = choose_steps(graph, carrying, cooccurrence=cooccurrence)
    walked = walk_failure(steps, number)
    ranked = walked.rank(top=top, max_hops=max_hops)
    titles = load_titles(index, [n for entity in ranked for n in entity.path])
    impacted = list_impacted(graph, steps, ranked, titles, open_ids(index))
    is_broken = walked.hops >= 0
    rest = (graph.component == graph.component[number]) & ~is_broken
    stands_by = is_of_type(graph, bystanders)
    survivors = np.flatnonzero(rest & ~stands_by)
    return Impact(
        failed=failed, impacted=impacted, n_impacted=walked.n_impacted,
        survivors=_explain_survivors(index, survivors, number, carrying, cooccurrence=cooccurrence, reasons=reasons),
        n_survivors=len(survivors), bystanders=_count_types(graph, rest & stands_by),
        n_not_connected=graph.n_entities - int(is_broken.sum()) - int(rest.sum()),
        not_walked=count_not_walked(graph, is_broken, carrying),
    )  # fmt: skip


def _explain_survivors(
    index: Index, survivors: Numbers, failed: int, carrying: Carrying, *, cooccurrence: bool, reasons: bool
) -> dict[str, str]:
    """Title -> why, by title: whether any other predicate would have led there. Without `reasons` the first few."""
    if not reasons:
        titles = load_titles(index, survivors[:MAX_SURVIVORS].tolist())
        return dict.fromkeys((titles[n] for n in sorted(titles)), "")
    graph = index.graph()
    everything = Carrying(frozenset(graph.predicates) - carrying.along, carrying.along)
    reached = walk_failure(choose_steps(graph, everything, cooccurrence=cooccurrence), failed).hops >= 0
    titles = load_titles(index, survivors.tolist())
    return {titles[n]: OTHER_PREDICATES if reached[n] else NO_PATH for n in sorted(titles)}


def _count_types(graph: NumberedGraph, mask: Mask) -> dict[str, int]:
    counts = np.bincount(graph.type[mask], minlength=len(graph.types)).tolist()
    return {type_: n for type_, n in zip(graph.types, counts, strict=True) if n}


def count_not_walked(graph: NumberedGraph, is_broken: Mask, carrying: Carrying) -> dict[str, int]:
    """Stated relationships that touch what is broken and carry nothing, by predicate."""
    touches = (is_broken[graph.source] | is_broken[graph.target]) & graph.is_stated
    counts = np.bincount(graph.predicate[touches], minlength=len(graph.predicates)).tolist()
    carry = carrying.against | carrying.along
    return {name: n for name, n in zip(graph.predicates, counts, strict=True) if n and name not in carry}


def number_titles(index: Index, titles: Sequence[str]) -> dict[str, int]:
    """The numbers of entities by title."""
    is_one, wanted = one_of("title", titles)
    return dict(index.frame(f"select title, number from entity_components where {is_one}", wanted).rows())


def open_ids(index: Index) -> LoadIds:
    """Ids of the published index. Where everything else of a row is known, this is a tenth of reading it."""

    def load(rows: Sequence[int]) -> dict[int, str]:
        sql = "select rowid, id from relationships where rowid in (select unnest(?::bigint[]))"
        return dict(index.frame(sql, (list(rows),)).rows())

    return load


def load_titles(index: Index, numbers: Sequence[int]) -> dict[int, str]:
    """The titles of entities by number."""
    rows = index.frame(
        "select number, title from entity_components where number in (select unnest(?::integer[]))",
        (sorted(set(numbers)),),
    ).rows()
    return dict(rows)


def render_survivors(survivors: Sequence[str], n: int) -> list[str]:
    """The line of those that do not break, and one that counts the others of all `n`."""
    line = f"survives: {', '.join(survivors) or 'nothing in this component'}"
    n_more = n - len(survivors)
    return [line, f"... and {n_more:,} more"] if n_more > 0 else [line]


def list_predicates(index: Index) -> list[str]:
    """Every predicate of the index, sorted, co-occurrence included."""
    return index.frame("select distinct predicate from relationships order by predicate")["predicate"].to_list()
