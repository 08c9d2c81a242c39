"""Homonyms: equal names of incompatible types whose neighbourhoods are separate (specs: indexing 3).

A key is split only if people or a model gave its mentions types of different families *and* no neighbour is shared; a
type guessed by the NLP model never splits. "US" and "us" are split by types alone.
Tables read: entity_mentions, relationship_mentions.

Does not: look at names of different keys.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import polars as pl

from graphrag.entity_types import AUTHORITIES, type_family
from graphrag.names import name_key


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
    neighbours = _read_neighbours(relationship_mentions, set(families))
    result = Homonyms(neighbours=neighbours)
    doubtful = {key for key, found in families.items() if len(found) > 1}
    surfaces: dict[str, list[str]] = defaultdict(list)
    for surface in entity_mentions["surface"].unique().sort() if doubtful else ():
        surfaces[name_key(surface)].append(surface)
    for key in sorted(doubtful):
        _split_key(key, surfaces[key], entity_mentions, relationship_mentions, result)
    return result


def _read_neighbours(relationship_mentions: pl.DataFrame, keys: set[str]) -> dict[str, set[str]]:
    neighbours: dict[str, set[str]] = defaultdict(set)
    for subject, object_ in relationship_mentions.select("subject", "object").unique().iter_rows():
        a, b = name_key(subject), name_key(object_)
        if a in keys:
            neighbours[a].add(b)
        if b in keys:
            neighbours[b].add(a)
    return dict(neighbours)


def _split_key(
    key: str,
    surfaces: list[str],
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    result: Homonyms,
) -> None:
    mentions = entity_mentions.filter(pl.col("surface").is_in(surfaces)).sort("id")
    relations = relationship_mentions.filter(pl.col("subject").is_in(surfaces) | pl.col("object").is_in(surfaces))
    own = [
        (type_family(row["type"]) if row["method"] in AUTHORITIES else "", row)
        for row in mentions.iter_rows(named=True)
    ]
    counts = Counter(family for family, _ in own if family)
    by_unit, by_document = _families_by_place(own)
    groups = _separate_families(key, own, relations, by_unit, by_document)
    if len(groups) < 2:
        return
    group_of = {family: group for group in groups for family in group}
    largest = min(groups, key=lambda group: (-sum(counts[family] for family in group), sorted(group)))
    types: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for family, row in own:
        if family:
            types[group_of[family]][row["type"]] += 1
    labels = {group: min(types[group], key=lambda name, g=group: (-types[g][name], name)) for group in groups}  # type: ignore[misc]
    result.split_keys.append(key)
    for family, row in own:
        there = by_unit.get(row["text_unit_id"], set())
        if len({group_of[f] for f in there}) != 1:
            there = by_document.get(row["document_id"], set())
        found = {group_of[f] for f in ({family} if family else there)}
        result.qualifier_of_mention[row["id"]] = labels[found.pop() if len(found) == 1 else largest]


def _families_by_place(own: list[tuple[str, dict[str, str]]]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    by_unit: dict[str, set[str]] = defaultdict(set)
    by_document: dict[str, set[str]] = defaultdict(set)
    for family, row in own:
        if family:
            by_unit[row["text_unit_id"]].add(family)
            by_document[row["document_id"]].add(family)
    return by_unit, by_document


def _separate_families(
    key: str,
    own: list[tuple[str, dict[str, str]]],
    relations: pl.DataFrame,
    by_unit: dict[str, set[str]],
    by_document: dict[str, set[str]],
) -> list[frozenset[str]]:
    """The families of a key, those with a shared neighbour put together."""
    families = sorted({family for family, _ in own if family})
    near: dict[str, set[str]] = {family: set() for family in families}
    columns = relations.select("text_unit_id", "document_id", "subject", "object")
    for unit, document, subject, object_ in columns.iter_rows():
        a, b = name_key(subject), name_key(object_)
        if key in (a, b) and a != b:
            there = by_unit.get(unit, set()) or by_document.get(document, set())
            if len(there) == 1:
                near[min(there)].add(b if a == key else a)
    shapes: dict[str, set[bool]] = {family: set() for family in families}
    for family, row in own:
        if family:
            shapes[family].add(row["surface"].isupper())
    groups: list[set[str]] = []
    for family in families:
        joined = [
            group
            for group in groups
            if any(near[family] & near[other] and not _differ_in_case(shapes[family], shapes[other]) for other in group)
        ]
        groups = [group for group in groups if group not in joined] + [{family}.union(*joined)]
    return [frozenset(group) for group in sorted(groups, key=sorted)]


def _differ_in_case(a: set[bool], b: set[bool]) -> bool:
    """One side is written in capitals only, the other never: US, us."""
    return len(a) == len(b) == 1 and a != b
