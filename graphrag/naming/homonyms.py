"""Homonyms: equal names of incompatible types whose neighbourhoods are separate (specs: indexing 3).

A key is split only if people or a model gave its mentions types of different families *and* no neighbour is shared (by
stated relations); a type guessed by the NLP model never splits. "US" and "us" are split by types alone. A mention
without such a type goes with those of its text unit, its document, or those whose company of names is most alike.
Tables read: entity_mentions, relationship_mentions.

Does not: look at names of different keys.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from graphrag.names import name_key
from graphrag.naming.entity_types import AUTHORITIES, type_family


@dataclass(slots=True)
class Homonyms:
    """`qualifier_of_mention`: mention id -> type that tells its entity from its namesakes (split keys only)."""

    qualifier_of_mention: dict[str, str] = field(default_factory=dict)
    neighbours: dict[str, set[str]] = field(default_factory=dict)
    split_keys: list[str] = field(default_factory=list)


def split_homonyms(entity_mentions: pl.DataFrame, relationship_mentions: pl.DataFrame) -> Homonyms:
    """Which keys are homonyms, and which of them each of their mentions means."""
    typed = entity_mentions.filter(pl.col("method").is_in(AUTHORITIES))
    families: dict[str, set[str]] = defaultdict(set)
    for surface, type_name in typed.select("surface", "type").unique().iter_rows():
        if family := type_family(type_name):
            families[name_key(surface)].add(family)
    stated = relationship_mentions.filter(pl.col("origin") != "cooccurrence")
    result = Homonyms(neighbours=_read_neighbours(stated, set(families)))
    doubtful = {key for key, found in families.items() if len(found) > 1}
    if not doubtful:
        return result
    company = _Company(entity_mentions)
    surfaces: dict[str, list[str]] = defaultdict(list)
    for surface in entity_mentions["surface"].unique().sort():
        surfaces[name_key(surface)].append(surface)
    for key in sorted(doubtful):
        names = surfaces[key]
        mentions = _read_mentions(entity_mentions.filter(pl.col("surface").is_in(names)))
        relations = stated.filter(pl.col("subject").is_in(names) | pl.col("object").is_in(names))
        _split_key(key, mentions, relations, company, result)
    return result


def _read_neighbours(stated: pl.DataFrame, keys: set[str]) -> dict[str, set[str]]:
    neighbours: dict[str, set[str]] = defaultdict(set)
    for subject, object_ in stated.select("subject", "object").unique().iter_rows():
        a, b = name_key(subject), name_key(object_)
        if a in keys:
            neighbours[a].add(b)
        if b in keys:
            neighbours[b].add(a)
    return dict(neighbours)


class _Mention(NamedTuple):
    id: str
    family: str  # of a type that people or a model gave, else empty
    type: str
    unit: str
    document: str
    is_upper: bool


def _read_mentions(mentions: pl.DataFrame) -> list[_Mention]:
    columns = ("id", "method", "type", "text_unit_id", "document_id", "surface")
    return [
        _Mention(row, type_family(kind) if method in AUTHORITIES else "", kind, unit, document, surface.isupper())
        for row, method, kind, unit, document, surface in mentions.sort("id").select(columns).iter_rows()
    ]


class _Company:
    """Which names stand together in a text unit and in a document; a rare name says more."""

    def __init__(self, entity_mentions: pl.DataFrame) -> None:
        self._by_place: dict[str, set[str]] = defaultdict(set)
        documents: Counter[str] = Counter()
        for unit, document, surface in (
            entity_mentions.select("text_unit_id", "document_id", "surface").unique().iter_rows()
        ):
            key = name_key(surface)
            self._by_place[unit].add(key)
            documents[key] += key not in self._by_place[document]
            self._by_place[document].add(key)
        self._weight = {key: 1 / n for key, n in documents.items()}

    def names(self, places: Iterable[str], *, but: str) -> set[str]:
        return set().union(*(self._by_place[place] for place in places)) - {but}

    def likeness(self, a: set[str], b: set[str]) -> float:
        return round(sum(self._weight[key] for key in sorted(a & b)), 9)


def _split_key(
    key: str, mentions: list[_Mention], relations: pl.DataFrame, company: _Company, result: Homonyms
) -> None:
    by_place: dict[str, set[str]] = defaultdict(set)  # of text units and documents
    for mention in mentions:
        if mention.family:
            by_place[mention.unit].add(mention.family)
            by_place[mention.document].add(mention.family)
    groups = _separate_families(key, mentions, relations, by_place)
    if len(groups) < 2:
        return
    result.split_keys.append(key)
    group_of = {family: n for n, group in enumerate(groups) for family in group}
    types = [Counter(m.type for m in mentions if m.family in group) for group in groups]
    labels = [_most_frequent(counts) for counts in types]
    homes = [company.names(sorted({m.document for m in mentions if m.family in group}), but=key) for group in groups]
    largest = min(range(len(groups)), key=lambda n: (-types[n].total(), n))
    for mention in mentions:
        n = group_of.get(mention.family, -1)
        for place in (mention.unit, mention.document) if n < 0 else ():
            there = {group_of[family] for family in by_place.get(place, ())}
            scores = [company.likeness(company.names([place], but=key), home) for home in homes]
            if n < 0 and len(there) == 1:
                n = min(there)
            elif n < 0 and scores.count(max(scores)) == 1:
                n = scores.index(max(scores))
        result.qualifier_of_mention[mention.id] = labels[n if n >= 0 else largest]


def _most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda name: (-counts[name], name))


def _separate_families(
    key: str, mentions: list[_Mention], relations: pl.DataFrame, by_place: dict[str, set[str]]
) -> list[frozenset[str]]:
    """The families of a key, those with a shared neighbour put together."""
    families = sorted({mention.family for mention in mentions if mention.family})
    near: dict[str, set[str]] = {family: set() for family in families}
    for unit, document, subject, object_ in relations.select(
        "text_unit_id", "document_id", "subject", "object"
    ).iter_rows():
        a, b = name_key(subject), name_key(object_)
        there = by_place.get(unit) or by_place.get(document) or set()
        if len(there) == 1 and a != b:
            near[min(there)].add(b if a == key else a)
    capitals = {family: {m.is_upper for m in mentions if m.family == family} for family in families}
    groups: list[set[str]] = []
    for family in families:
        same_case = {f for f in families if not _differ_in_case(capitals[f], capitals[family])}
        joined = [group for group in groups if any(near[family] & near[other] for other in group & same_case)]
        groups = [group for group in groups if group not in joined] + [{family}.union(*joined)]
    return [frozenset(group) for group in sorted(groups, key=sorted)]


def _differ_in_case(a: set[bool], b: set[bool]) -> bool:
    """One side is written in capitals only, the other never: US, us."""
    return len(a) == len(b) == 1 and a != b
