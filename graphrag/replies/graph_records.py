"""What a record of the extraction prompts states: an entity or a relation, made of its fields.

A model mixes forms up: a relation without a predicate, an entity tagged as a relation, doubled delimiters, strength and
sentences swallowed by a description. What states neither is handed on as unreadable, with its reason.

Does not: find records in a reply (records.py), or put those of one reply together (graph.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from graphrag.replies.fields import (
    CUT_MARK,
    DEFAULT_PREDICATE,
    MAX_NAME,
    NO_NAMES,
    clean_name,
    clean_predicate,
    clean_text,
    clean_type,
    field_at,
    is_number,
    parse_sentences,
    parse_strength,
    pick,
)
from graphrag.replies.loose_json import Json
from graphrag.replies.problems import Unreadable
from graphrag.replies.records import (
    ENTITY,
    NAME_KEYS,
    OBJECT_END_KEYS,
    RELATION,
    SENTENCE_KEYS,
    SUBJECT_KEYS,
    TAG_OF,
    Record,
)


class Entity(NamedTuple):
    """An entity the reply names. `is_in_text` is false where its name does not stand in the text unit."""

    name: str
    type: str
    descriptions: tuple[str, ...]
    is_in_text: bool


class Relation(NamedTuple):
    """A relation the reply states; each end is the name of one of the reply's entities.

    `sentences` are 1-based numbers of the text unit's sentences, sorted; empty where the model gave none that exist.
    """

    subject: str
    predicate: str
    object: str
    description: str
    strength: float | None
    sentences: tuple[int, ...]
    is_in_text: bool


def interpret_record(
    record: Record, known_types: Collection[str], n_sentences: int | None
) -> tuple[Entity | Relation | Unreadable, int]:
    """The entity or relation a record states, or why it states none; and how many fields were over."""
    n_extra = 0
    if record.form == "object":
        item = _object_of(record, n_sentences)
    elif record.tag == ENTITY:
        fields = _drop_doubled(record, 3)
        item = Entity(
            clean_name(field_at(fields, 0)), clean_type(field_at(fields, 1)), (clean_text(field_at(fields, 2)),), True
        )
        n_extra = max(0, len(fields) - 3)
    elif record.tag == RELATION and len(record.fields) == 3 and _is_entity_tagged_relation(record, known_types):
        name, entity_type, description = record.fields
        item = Entity(clean_name(name), clean_type(entity_type), (clean_text(description),), True)
    elif record.tag == RELATION and record.form == "array":
        item, n_extra = _relation_of_array(record.fields, n_sentences)
    elif record.tag == RELATION:
        item, n_extra = _relation_of_tuple(record)
    else:
        item = None
    return _check(item, record.raw), n_extra


def _check(item: Entity | Relation | None, raw: str) -> Entity | Relation | Unreadable:
    if item is None:
        return Unreadable("unreadable_record", raw)
    names = [item.name] if isinstance(item, Entity) else [item.subject, item.object]
    if any(name.casefold() in NO_NAMES for name in names):
        return Unreadable("unreadable_record", raw)
    if any(len(name) > MAX_NAME for name in names):
        return Unreadable("name_too_long", raw[:MAX_NAME] + CUT_MARK)
    if isinstance(item, Relation) and item.subject.casefold() == item.object.casefold():
        return Unreadable("self_relationship", raw)
    return item


def _is_entity_tagged_relation(record: Record, known_types: Collection[str]) -> bool:
    second = record.fields[1]
    return isinstance(second, str) and clean_text(second).casefold() in known_types


def _drop_doubled(record: Record, n_expected: int) -> list[Json]:
    """Without the empty fields of doubled delimiters, as far as there are more fields than expected."""
    fields = list(record.fields)
    while record.form != "array" and len(fields) > n_expected and "" in fields:
        fields.remove("")
    return fields


def _relation_of_array(fields: list[Json], n_sentences: int | None) -> tuple[Relation, int]:
    subject, predicate, object_, description, strength, sentences = (field_at(fields, i) for i in range(6))
    if len(fields) < 6 and is_number(description) and (strength is None or isinstance(strength, list)):
        description, strength, sentences = None, description, strength
    elif isinstance(strength, list) and sentences is None:
        strength, sentences = None, strength
    if strength is None and isinstance(description, str) and (swallowed := _SWALLOWED.search(description)):
        description, strength, sentences = description[: swallowed.start()], swallowed[1], swallowed[2]
    relation = Relation(
        clean_name(subject), clean_predicate(predicate), clean_name(object_), clean_text(description),
        parse_strength(strength), parse_sentences(sentences, n_sentences), True,
    )  # fmt: skip
    return relation, max(0, len(fields) - 6)


# Strength and sentences inside a description that has lost its closing quote.
_SWALLOWED = re.compile(r",\s{0,8}(\d{1,3}(?:\.\d{1,3})?)\s{0,8},\s{0,8}\[([\d,\s]{0,200})\]?\s{0,8}\Z")


def _relation_of_tuple(record: Record) -> tuple[Relation, int]:
    fields = _drop_doubled(record, 4)
    strength = parse_strength(fields[-1]) if len(fields) > 3 else None
    n_extra = max(0, len(fields) - 4)
    if record.form == "bare" and len(fields) == 4 and strength is None:
        description = fields[3]  # LightRAG: source, target, keywords, description
        n_extra = 1
    else:
        description = field_at(fields, 2)
        if len(fields) == 3 and is_number(description):
            strength, description = parse_strength(description), None
    relation = Relation(
        clean_name(field_at(fields, 0)), DEFAULT_PREDICATE, clean_name(field_at(fields, 1)), clean_text(description),
        strength, (), True,
    )  # fmt: skip
    return relation, n_extra


def _object_of(record: Record, n_sentences: int | None) -> Entity | Relation | None:
    named = record.named
    subject, object_ = pick(named, SUBJECT_KEYS), pick(named, OBJECT_END_KEYS)
    description = pick(named, ("description", "desc", "summary", "explanation"))
    if subject is not None and object_ is not None:
        predicate = pick(named, ("predicate", "relation", "relationship", "rel", "relationship_type", "relation_type"))
        if predicate is None and TAG_OF.get(str(named.get("type") or "relation").casefold()) != RELATION:
            predicate = named.get("type")
        return Relation(
            clean_name(subject), clean_predicate(predicate), clean_name(object_), clean_text(description),
            parse_strength(pick(named, ("strength", "weight", "score", "relationship_strength"))),
            parse_sentences(pick(named, SENTENCE_KEYS), n_sentences), True,
        )  # fmt: skip
    name = pick(named, NAME_KEYS)
    if name is None or record.tag == RELATION:
        return None
    kinds = [pick(named, (key,)) for key in ("entity_type", "category", "kind", "class", "label", "type")]
    kind = next((kind for kind in kinds if kind is not None and TAG_OF.get(str(kind).casefold()) != ENTITY), None)
    return Entity(clean_name(name), clean_type(kind), (clean_text(description),), True)
