"""Read what a model answered to the extraction prompts: entities and relations. Total: never raises.

Every record that can be read is given, and every line that cannot with its reason; nothing is dropped without a count.
Names are cleaned but stay as the model wrote them. Relations carry the numbers of the sentences they rest on; offsets
are made of them by the extraction stage, which knows the sentences.

Does not: find the records in the text (records.py), make ids or offsets, or ask again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from graphrag.replies.fields import UNKNOWN_TYPE, TextNames
from graphrag.replies.graph_records import Entity, Relation, interpret_record
from graphrag.replies.problems import Unreadable, count_unreadable, find_problem, is_truncated
from graphrag.replies.records import Record, read_records

COMMON_TYPES = frozenset({
    "person", "organization", "organisation", "company", "team", "group", "role", "place", "location", "geo", "city",
    "country", "facility", "event", "incident", "date", "time", "product", "service", "system", "component", "database",
    "technology", "tool", "language", "framework", "library", "software", "concept", "document", "law", "material",
    "work", "artifact", "project", "process", "other", UNKNOWN_TYPE,
})  # fmt: skip


class GraphReply(NamedTuple):
    """What a reply holds, and what became of all of it.

    n_records = records that were read, repeats and extra entities of relations' ends not counted off or on.
    `problem` is empty, or why the whole reply is of no use: empty_reply, refusal or unreadable_reply.
    """

    entities: list[Entity]
    relations: list[Relation]
    unreadable: list[Unreadable]
    problem: str
    is_truncated: bool
    n_records: int
    n_implied_entities: int
    n_duplicates: int
    n_extra_fields: int
    n_not_in_text: int
    n_prose_lines: int

    @property
    def should_ask_again(self) -> bool:
        """The reply is of no use, or over half of its lines are unreadable. (A cut reply is continued instead.)"""
        return bool(self.problem) or count_unreadable(self.unreadable) > self.n_records


def parse_graph_reply(
    reply: str | None,
    *,
    text: str | None = None,
    n_sentences: int | None = None,
    types: Collection[str] = (),
    is_cut: bool = False,
) -> GraphReply:
    """Entities and relations of a reply to the extraction prompt.

    text: the text unit; names that do not stand in it are kept and marked. n_sentences: sentence numbers above it are
    dropped. types: entity types asked for, beside the common ones. is_cut: the provider said finish_reason=length.
    """
    return parse_graph_replies([reply], text=text, n_sentences=n_sentences, types=types, are_cut=[is_cut])


def parse_graph_replies(
    replies: Sequence[str | None],
    *,
    text: str | None = None,
    n_sentences: int | None = None,
    types: Collection[str] = (),
    are_cut: Sequence[bool] = (),
) -> GraphReply:
    """The same for a reply and the turns after it (continuation of a cut reply, gleaning), as one.

    A record that two turns give counts once; the half line at the end of a cut turn is none of the unreadable lines
    where the next turn goes on; `is_truncated` is about the last turn. The whole has a problem if every turn has one.
    """
    gathered = _Gathered(COMMON_TYPES | {entity_type.casefold() for entity_type in types}, n_sentences)
    for turn, reply in enumerate(replies):
        gathered.read(reply or "", is_cut=turn < len(are_cut) and are_cut[turn])
    n_declared = len(gathered.entities.first_type)
    placed = _name_ends(gathered.entities, gathered.relations)
    in_text = TextNames(text)
    listed = [
        Entity(name, entity_type, tuple(descriptions), in_text.holds(name))
        for (name, entity_type), descriptions in gathered.entities.descriptions.items()
    ]
    return GraphReply(
        listed,
        [r._replace(is_in_text=in_text.holds(r.subject) and in_text.holds(r.object)) for r in placed],
        gathered.unreadable,
        "" if "" in gathered.problems else next(iter(gathered.problems), "empty_reply"),
        gathered.is_truncated,
        gathered.n_records,
        len(gathered.entities.first_type) - n_declared,
        gathered.n_duplicates + len(gathered.relations) - len(placed),
        gathered.n_extra_fields,
        len({entity.name for entity in listed if not entity.is_in_text}),
        gathered.n_prose_lines,
    )


class _Gathered:
    """What was read so far of the turns of one text unit."""

    def __init__(self, known_types: Collection[str], n_sentences: int | None) -> None:
        self.known_types = known_types
        self.n_sentences = n_sentences
        self.entities = _Entities()
        self.relations: dict[Relation, None] = {}
        self.unreadable: list[Unreadable] = []
        self.problems: list[str] = []
        self.half_line: Unreadable | None = None
        self.is_truncated = False
        self.n_records = self.n_duplicates = self.n_extra_fields = self.n_prose_lines = 0

    def read(self, reply: str, *, is_cut: bool) -> None:
        found = read_records(reply)
        before = self.n_records
        unreadable = [Unreadable("unreadable_record", raw) for raw in found.rejected]
        closes_tuples = any(record.form == "tuple" and record.is_closed for record in found.records)
        for record in found.records:
            if is_truncated(record, is_cut=is_cut, closes_tuples=closes_tuples):
                unreadable.append(Unreadable("truncated", record.raw))
            elif isinstance(item := self._interpret(record), Unreadable):
                unreadable.append(item)
            else:
                self._add(item)
        if self.half_line is not None and self.n_records > before:
            self.unreadable.remove(self.half_line)
        self.unreadable += unreadable
        self.half_line = unreadable[-1] if unreadable and unreadable[-1].reason == "truncated" else None
        self.problems.append(find_problem(reply, found, has_lines=bool(found.records or unreadable)))
        self.is_truncated = is_cut or found.is_in_thought or any(line.reason == "truncated" for line in unreadable)
        self.n_prose_lines += len(found.prose)

    def _interpret(self, record: Record) -> Entity | Relation | Unreadable:
        item, n_extra = interpret_record(record, self.known_types, self.n_sentences)
        self.n_extra_fields += n_extra
        return item

    def _add(self, item: Entity | Relation) -> None:
        self.n_records += 1
        if isinstance(item, Entity):
            self.n_duplicates += not self.entities.add(item.name, item.type, item.descriptions[0])
        else:
            self.n_duplicates += item in self.relations
            self.relations.setdefault(item)


class _Entities:
    """The entities of a reply so far, by name and type, with their distinct descriptions in order."""

    def __init__(self) -> None:
        self.descriptions: dict[tuple[str, str], dict[str, None]] = {}
        self.first_type: dict[str, str] = {}

    def add(self, name: str, entity_type: str, description: str) -> bool:
        """False for an exact repeat. A known type takes the place of unknown."""
        first = self.first_type.setdefault(name, entity_type)
        key = (name, first if entity_type == UNKNOWN_TYPE else entity_type)
        is_new = key not in self.descriptions
        if is_new and first == UNKNOWN_TYPE and (name, first) in self.descriptions:
            self.descriptions[key] = self.descriptions.pop((name, first))
            self.first_type[name] = entity_type
        held = self.descriptions.setdefault(key, {})
        is_new = is_new or bool(description and description not in held)
        if description:
            held.setdefault(description)
        return is_new


def _name_ends(entities: _Entities, relations: dict[Relation, None]) -> list[Relation]:
    """Relations whose ends are names of `entities`: spelled as declared, or added there with an unknown type."""
    by_fold: dict[str, str] = {}
    for name in entities.first_type:
        by_fold.setdefault(name.casefold(), name)
    placed: dict[Relation, None] = {}
    for relation in relations:
        ends = []
        for end in (relation.subject, relation.object):
            name = end if end in entities.first_type else by_fold.setdefault(end.casefold(), end)
            if name not in entities.first_type:
                entities.add(name, UNKNOWN_TYPE, "")
            ends.append(name)
        placed.setdefault(relation._replace(subject=ends[0], object=ends[1]))
    return list(placed)
