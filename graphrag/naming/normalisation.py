"""Normalisation: the mentions of a corpus -> its distinct keys, each with its surfaces, types and places.

Mentions of homonyms and namesakes are told apart first (homonyms.py, namesakes.py), so that one key may have several
nodes. Tables read: entity_mentions, relationship_mentions, documents.

Does not: compare names of different keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from graphrag.names import compact_key, name_key
from graphrag.naming.alias_rules import AliasRules
from graphrag.naming.common_words import set_common_words
from graphrag.naming.declared_aliases import Note, read_persons
from graphrag.naming.entity_types import choose_type
from graphrag.naming.homonyms import split_homonyms
from graphrag.naming.namesakes import split_namesakes
from graphrag.naming.nodes import Key

# Relations that persons have no part in.
THING_PREDICATES = (
    "backed_by", "built_on", "connects_to", "depends_on", "deployed_to", "hosted_on", "powered_by", "reads_from",
    "runs_in", "runs_on", "served_by", "stored_in", "writes_to", "written_in",
)  # fmt: skip
_QUALIFIER_SCHEMA = pl.Schema({"id": pl.String(), "qualifier": pl.String()})


class Names(NamedTuple):
    """keys: in order of (key, qualifier). position_of: (surface, qualifier) -> position in keys. named: the mentions
    with a column `qualifier`. neighbours: key -> keys it states relations with, for keys with declared types."""

    keys: list[Key]
    position_of: dict[tuple[str, str], int]
    named: pl.DataFrame
    neighbours: dict[str, set[str]]


def read_names(
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    notes: Sequence[Note],
    *,
    rules: AliasRules,
) -> Names:
    """The distinct names of the corpus. What `rules` (aliases.toml) speak of is split by types only, or by `never`."""
    homonyms = split_homonyms(entity_mentions, relationship_mentions)
    declared = {name_key(name) for rule in (*rules.always, *rules.never) for name in rule.all_names}
    wholes = split_namesakes(entity_mentions, documents, known={*declared, *homonyms.qualifier_of_mention})
    named = _qualify_mentions(entity_mentions, {**wholes, **homonyms.qualifier_of_mention})
    keys, position_of = _read_keys(named, documents, rules)
    _set_wholes(keys, set(wholes.values()) - set(homonyms.qualifier_of_mention.values()))
    set_common_words(keys, documents)
    things = _read_things(relationship_mentions)
    persons = read_persons(documents)
    titles = {compact_key(note.title) for note in notes if not note.is_generic}
    for key in keys:
        key.is_thing = key.key in things
        key.has_note = key.key.replace(" ", "") in titles
        if key.key in persons and not key.is_thing and choose_type(key.types) in ("person", "unknown"):
            key.types["person", "declared"] += 1
    return Names(keys, position_of, named, homonyms.neighbours)


def _qualify_mentions(entity_mentions: pl.DataFrame, found: dict[str, str]) -> pl.DataFrame:
    """The mentions with a column `qualifier`, else empty: the type or full name that tells them from namesakes."""
    qualifiers = pl.DataFrame({"id": list(found), "qualifier": list(found.values())}, schema=_QUALIFIER_SCHEMA)
    return entity_mentions.join(qualifiers, on="id", how="left").with_columns(pl.col("qualifier").fill_null(""))


def _read_keys(
    named: pl.DataFrame, documents: pl.DataFrame, rules: AliasRules
) -> tuple[list[Key], dict[tuple[str, str], int]]:
    """The keys of the corpus in order, and the position of each (surface, qualifier)."""
    own_node = _surfaces_kept_apart(rules)
    places = (
        named.join(documents.select(pl.col("id").alias("document_id"), "path"), on="document_id", how="left")
        .with_columns(pl.col("path").fill_null(""))
        .group_by("surface", "qualifier", "type", "method", "document_id", "path")
        .agg(pl.len().alias("n"), pl.col("start_char").min().alias("start"))
    )
    keys: dict[tuple[str, str], Key] = {}
    node_of: dict[tuple[str, str], tuple[str, str]] = {}
    for surface, qualifier, type_name, method, document_id, path, n, start in places.iter_rows():
        if (surface, qualifier) not in node_of:
            apart = surface if not qualifier and surface in own_node else qualifier
            node_of[surface, qualifier] = (name_key(surface), apart)
        node = node_of[surface, qualifier]
        key = keys.setdefault(node, Key(*node))
        key.surfaces[surface] += n
        key.first[surface] = min(key.first.get(surface, (path, start)), (path, start))
        key.types[type_name, method] += n
        key.documents.add(document_id)
    order = sorted(keys)
    position = {node: i for i, node in enumerate(order)}
    return [keys[node] for node in order], {names: position[node] for names, node in node_of.items()}


def _set_wholes(keys: list[Key], wholes: set[str]) -> None:
    for key in keys:
        key.whole = key.qualifier if key.qualifier in wholes else ""


def _read_things(relationship_mentions: pl.DataFrame) -> set[str]:
    """Keys of names that stand at an end of a relation between things."""
    at_both, at_object = pl.col("predicate").is_in(THING_PREDICATES), pl.col("predicate").is_in(("uses", "requires"))
    found = pl.concat(
        [
            relationship_mentions.filter(at_both).select(pl.col("subject").alias("name")),
            relationship_mentions.filter(at_both | at_object).select(pl.col("object").alias("name")),
        ]
    )
    return {name_key(name) for name in found["name"].unique()}


def _surfaces_kept_apart(rules: AliasRules) -> set[str]:
    """Surfaces of equal key that `never` separates all the same: all but the first of each key get their own node."""
    apart: set[str] = set()
    for rule in rules.never:
        first: set[str] = set()
        for name in rule.names:
            if name_key(name) in first:
                apart.add(name)
            first.add(name_key(name))
    return apart
