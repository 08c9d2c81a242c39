"""Ranked entries that people related to each other share one place, and hand over what lies one hop away.

Entries are documents. Relations among the ranked ones make groups (connected components, all types). One member stands
for its group: what corrects, supersedes, clarifies or contains the others, except that the best ranked entries always
stand for themselves. Every other member is a pointer on it: how it is reached, and in whose words. Related entries that
were not ranked are neighbors. Rules and their numbers: specs/folding.md, section 3.

Pure: ids and frames in, results out. Does not: rank (the modes do), or load relations (entry_relations.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import polars as pl

# Rule 21: which relation says most, best first; those of one line weigh the same.
TYPE_ORDER = {
    "corrects": 0, "conflicts_with": 0,
    "supersedes": 1,
    "clarifies": 2,
    "requires": 3, "precedes": 3, "produces": 3,
    "part_of": 4, "derived_from": 4,
    "owned_by": 5, "cites": 5,
    "split_from": 6,
    "see_also": 7,
}  # fmt: skip
# Rule 17: X dominates Y when X says this of Y, or Y says that of X.
DOMINATES = frozenset({"supersedes", "corrects", "clarifies"})
DOMINATED = frozenset({"part_of", "split_from", "derived_from"})
RELATION_SCHEMA = {"source": pl.String(), "target": pl.String(), "type": pl.String(), "note": pl.String()}

Direction = Literal["in", "out"]


class Relation(NamedTuple):
    source: str
    target: str
    type: str
    note: str


class Related(NamedTuple):
    """An entry that hangs on a result. `relation` and `direction` are of the last hop of the shortest path to it,
    `out` when it goes from the nearer entry to this one; `via` are the entries between, nearest to the result first."""

    id: str
    relation: str
    direction: Direction
    note: str
    via: tuple[str, ...] = ()
    kind: Literal["folded", "neighbor"] = "folded"


@dataclass(frozen=True)
class Result:
    """An entry that stands for its group, at the group's best rank (1 is the best). The three last are ids of what a
    protected entry is corrected, superseded or clarified by."""

    rank: int
    id: str
    pointers: tuple[Related, ...] = ()
    neighbors: tuple[Related, ...] = ()
    corrected_by: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    clarified_by: tuple[str, ...] = ()

    @property
    def related(self) -> tuple[Related, ...]:
        return (*self.pointers, *self.neighbors)


def fold_entries(ranked: Sequence[str], relations: pl.DataFrame, *, results: int = 8, protect: int = 2) -> list[Result]:
    """The first `results` groups of the ranked entries, best first; every entry ranked so high is in one of them.

    relations: columns of RELATION_SCHEMA, in any order; one that leaves the ranked entries, leads to itself or has no
    type of TYPE_ORDER does not count. protect: so many of the best entries always stand for themselves.
    """
    ranks = {entry: rank for rank, entry in enumerate(dict.fromkeys(ranked), start=1)}
    inside = [r for r in _read(relations) if r.source in ranks and r.target in ranks]
    folded: list[Result] = []
    for group in _group(ranks, inside):
        members = set(group)
        own = [relation for relation in inside if relation.source in members]
        folded += _fold_group(group, own, ranks, protect=protect)
    return sorted(folded, key=lambda result: result.rank)[:results]


def attach_neighbors(
    folded: Sequence[Result], ranked: Sequence[str], relations: pl.DataFrame, *, neighbors: int = 3
) -> list[Result]:
    """The results, each with up to `neighbors` entries that were not ranked and share a relation with it (rule 23)."""
    pool = set(ranked)
    around: dict[str, list[Related]] = {}
    for relation in _read(relations):
        if relation.source not in pool:
            around.setdefault(relation.target, []).append(_neighbor(relation.source, relation, "in"))
        if relation.target not in pool:
            around.setdefault(relation.source, []).append(_neighbor(relation.target, relation, "out"))
    found = []
    for result in folded:
        best: dict[str, Related] = {}
        for related in sorted(around.get(result.id, ()), key=_neighbor_key):
            best.setdefault(related.id, related)
        found.append(replace(result, neighbors=tuple(list(best.values())[:neighbors])))
    return found


def _neighbor(entry: str, relation: Relation, direction: Direction) -> Related:
    return Related(entry, relation.type, direction, relation.note, kind="neighbor")


def _neighbor_key(related: Related) -> tuple[bool, int, str, str, str, str]:
    order = TYPE_ORDER[related.relation]
    return not related.note, order, related.id, related.relation, related.direction, related.note


def _read(relations: pl.DataFrame) -> list[Relation]:
    rows = [Relation(*row) for row in relations.select(list(RELATION_SCHEMA)).iter_rows()]
    return sorted({row for row in rows if row.source != row.target and row.type in TYPE_ORDER})


def _group(ranks: Mapping[str, int], relations: Iterable[Relation]) -> list[list[str]]:
    """Connected components by union-find; members by rank."""
    parent = {entry: entry for entry in ranks}

    def find(entry: str) -> str:
        while parent[entry] != entry:
            parent[entry] = parent[parent[entry]]
            entry = parent[entry]
        return entry

    for relation in relations:
        parent[find(relation.source)] = find(relation.target)
    groups: dict[str, list[str]] = {}
    for entry in ranks:
        groups.setdefault(find(entry), []).append(entry)
    return list(groups.values())


def _fold_group(
    group: Sequence[str], relations: Sequence[Relation], ranks: Mapping[str, int], *, protect: int
) -> list[Result]:
    """Members by rank -> its results: the protected ones, else the one that stands for all (rules 16 to 20)."""
    dominators = _find_dominators(relations)
    protected = [entry for entry in group if ranks[entry] <= protect]
    heads = protected or [_choose_representative(group, dominators, ranks)]
    paths = {head: _find_paths(head, relations, ranks) for head in heads}
    nearest = {entry: min(heads, key=lambda head: (len(paths[head][entry].via), ranks[head])) for entry in group}
    found = []
    for head in heads:
        pointers = [paths[head][entry] for entry in group if nearest[entry] == head and entry not in heads]
        above = dominators.get(head, set())
        pointers.sort(key=lambda p: (p.id not in above, len(p.via), ranks[p.id]))
        rank = ranks[head] if protected else ranks[group[0]]
        result = Result(rank, head, tuple(pointers))
        found.append(_mark_dominated(result, relations, ranks) if protected else result)
    return found


def _find_dominators(relations: Iterable[Relation]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for relation in relations:
        if relation.type in DOMINATES:
            found.setdefault(relation.target, set()).add(relation.source)
        elif relation.type in DOMINATED:
            found.setdefault(relation.source, set()).add(relation.target)
    return found


def _choose_representative(group: Sequence[str], dominators: Mapping[str, set[str]], ranks: Mapping[str, int]) -> str:
    """From the best member up to what dominates it; only what dominates on the way counts. A cycle ends at its best."""
    walked = [group[0]]
    while above := dominators.get(walked[-1]):
        dominator = min(above, key=ranks.__getitem__)
        if dominator in walked:
            return min(walked[walked.index(dominator) :], key=ranks.__getitem__)
        walked.append(dominator)
    return walked[-1]


def _find_paths(head: str, relations: Sequence[Relation], ranks: Mapping[str, int]) -> dict[str, Related]:
    """Every entry of the group by the last hop of its shortest path from `head`, breadth first (rule 19)."""
    around: dict[str, list[tuple[str, Direction, Relation]]] = {}
    for relation in relations:
        around.setdefault(relation.source, []).append((relation.target, "out", relation))
        around.setdefault(relation.target, []).append((relation.source, "in", relation))
    found = {head: Related(head, "", "out", "")}
    level = [head]
    while level:
        hops: dict[str, list[tuple[tuple[object, ...], Related]]] = {}
        for near in level:
            via = (*found[near].via, near) if near != head else ()
            for far, direction, (_, _, type_, note) in around.get(near, ()):
                if far not in found:
                    key = (not note, TYPE_ORDER[type_], ranks[near], type_, direction, note)
                    hops.setdefault(far, []).append((key, Related(far, type_, direction, note, via)))
        found |= {far: min(candidates)[1] for far, candidates in hops.items()}
        level = list(hops)
    return found


def _mark_dominated(result: Result, relations: Iterable[Relation], ranks: Mapping[str, int]) -> Result:
    above: dict[str, set[str]] = {type_: set() for type_ in DOMINATES}
    for relation in relations:
        if relation.target == result.id and relation.type in above:
            above[relation.type].add(relation.source)
    by_rank = {type_: tuple(sorted(ids, key=ranks.__getitem__)) for type_, ids in above.items()}
    return replace(
        result,
        corrected_by=by_rank["corrects"],
        superseded_by=by_rank["supersedes"],
        clarified_by=by_rank["clarifies"],
    )
