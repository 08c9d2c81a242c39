"""What a model said about a passage, at its places in the text: mentions, relation statements, failures. Pure.

A mention stands where its name is written, once in each text unit of the passage, and not inside a longer name if it
can be helped. A name that the text does not hold (a translation, an abbreviation spelled out) is kept only where a
relation needs it, as method llm_unverified with the sentence as its span, and its relations are not verified. Names
echoed from the prompt's examples are never kept. Both are told in a failure (not_in_text).

Does not: ask a model, or make rows of tables (extraction.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from graphrag.index.passage_calls import PassageReply
from graphrag.index.passages import Passage, Span, surface_of
from graphrag.replies.fields import TextNames
from graphrag.replies.graph import GraphReply, parse_graph_replies
from graphrag.replies.graph_records import Entity, Relation

LLM, LLM_UNVERIFIED = "llm", "llm_unverified"
MAX_NAMES_SHOWN = 5


class Parsed(NamedTuple):
    """Rows with offsets that count from the start of the text asked about. Each failure has reason, detail, raw_reply
    and the span that it is about."""

    mentions: list[dict[str, Any]]
    relations: list[dict[str, Any]]
    failures: list[dict[str, Any]]


def parse_extraction(
    replies: Sequence[PassageReply],
    *,
    entity_types: Collection[str] = (),
    max_records: int,
    parts: Sequence[Span] = (),
    echoes: TextNames | None = None,
) -> Parsed:
    """What was answered about a text, its halves together. `parts`: spans of its text units (default: one, the whole);
    `echoes`: names of the prompt's own examples; `max_records`: of each reply, further ones are left out."""
    parsed = Parsed([], [], [])
    for reply in replies:
        start, end = reply.passage.start, reply.passage.start + len(reply.passage.text)
        failures = []
        if reply.turns:
            inside = [(a - start, b - start) for a, b in parts or [(start, end)] if a < end and start < b]
            failures = _parse_reply(reply, parsed, inside, entity_types, max_records, echoes)
        else:
            failures = [_failure(reply.problem, reply.detail, None)]
        parsed.failures.extend(failure | {"span": (start, end)} for failure in failures)
    return parsed


def _parse_reply(
    reply: PassageReply,
    parsed: Parsed,
    parts: Sequence[Span],
    entity_types: Collection[str],
    max_records: int,
    echoes: TextNames | None,
) -> list[dict[str, Any]]:
    """Appends the mentions and relations of a reply to `parsed`; the failures are given back."""
    graph = parse_graph_replies(
        reply.turns, text=reply.passage.text, n_sentences=len(reply.passage.sentences), types=entity_types,
        are_cut=reply.are_cut,
    )  # fmt: skip
    left = max(0, max_records - len(graph.entities))
    placed = _Placed(reply.passage, parts, graph.entities[:max_records], graph.relations[:left], echoes)
    parsed.mentions.extend(placed.mentions)
    parsed.relations.extend(placed.relations)
    return [*_reply_failures(reply, graph, max_records), *placed.failures()]


def _reply_failures(reply: PassageReply, graph: GraphReply, max_records: int) -> Iterator[dict[str, Any]]:
    raw = "\n".join(reply.turns)
    if graph.problem:
        yield _failure(graph.problem, reply.detail or "no record in the reply", raw)
    elif reply.problem == "unreadable_reply" and not graph.n_records:
        yield _failure(reply.problem, reply.detail, raw)
    elif reply.problem and reply.problem != "unreadable_reply":
        yield _failure(reply.problem, reply.detail, None)
    for line in graph.unreadable:
        yield _failure(line.reason, "a line of the reply", line.raw)
    if (n_over := len(graph.entities) + len(graph.relations) - max_records) > 0:
        detail = f"{n_over} records more than extraction.max_records_per_unit ({max_records}) were left out"
        yield _failure("too_many_records", detail, None)


def _failure(reason: str, detail: str, raw: str | None) -> dict[str, Any]:
    return {"reason": reason, "detail": detail, "raw_reply": raw}


class _Placed:
    """Entities and relations of a reply at their places in the passage."""

    def __init__(
        self,
        passage: Passage,
        parts: Sequence[Span],
        entities: Sequence[Entity],
        relations: Sequence[Relation],
        echoes: TextNames | None,
    ) -> None:
        self.passage, self._parts, self._echoes = passage, parts, echoes
        self.relations: list[dict[str, Any]] = []
        self._by_span: dict[Span, dict[str, Any]] = {}
        self._made_up: dict[str, dict[str, Any]] = {}
        self._surfaces: dict[str, str] = {}
        self._missing = [entity for entity in entities if not passage.find(entity.name)]
        self._dropped: dict[str, None] = {}
        self._circles: list[str] = []
        self._place_entities([entity for entity in entities if passage.find(entity.name)])
        for relation in relations:
            self._place_relation(relation)
        kept = self._made_up.keys()
        self._dropped = dict.fromkeys([*self._dropped, *(e.name for e in self._missing if e.name not in kept)])

    @property
    def mentions(self) -> list[dict[str, Any]]:
        return [*self._by_span.values(), *self._made_up.values()]

    def failures(self) -> Iterator[dict[str, Any]]:
        for names, what in ((self._dropped, "left out"), (self._made_up, "kept as unverified")):
            if names:
                shown = ", ".join(f'"{name}"' for name in list(names)[:MAX_NAMES_SHOWN])
                more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
                yield _failure("not_in_text", f"{what}, the text does not hold: {shown}{more}", None)
        for statement in self._circles:
            yield _failure("self_relationship", f"{statement}: both are one name in the text", None)

    def _place_entities(self, entities: Sequence[Entity]) -> None:
        """Longest names first, so that a name inside a longer one looks for a place of its own."""
        taken: list[Span] = []
        places: dict[str, list[Span]] = {}
        for name in sorted({entity.name for entity in entities}, key=lambda name: (-len(name), name)):
            found = self.passage.find(name)
            places[name] = [span for span in found if not _is_part_of_longer(span, taken)] or found
            taken += found
        for entity in entities:
            free = places[entity.name]
            by_part = [[span for span in free if _is_inside(span, part)] for part in self._parts]
            for number, spans in enumerate([spans for spans in by_part if spans] or [free]):
                row = self._mention(self._choose_place(spans, entity.type), entity.type)
                if number == 0:
                    _add_descriptions(row, entity.descriptions)
                    self._surfaces.setdefault(entity.name, row["surface"])

    def _mention(self, span: Span, entity_type: str) -> dict[str, Any]:
        """The mention at a place, made where there is none."""
        row = self._by_span.get(span)
        if row is None:
            row = self._mention_row(surface_of(self.passage.text, span), entity_type, span, LLM)
            self._by_span[span] = row
        elif row["type"] == "unknown":
            row["type"] = entity_type
        return row

    def _choose_place(self, spans: Sequence[Span], entity_type: str) -> Span:
        """A second entity of the same name and another type gets a place of its own, if there is one."""
        for span in spans:
            row = self._by_span.get(span)
            if row is None or row["type"] == entity_type or "unknown" in (row["type"], entity_type):
                return span
        return spans[0]

    def _place_relation(self, relation: Relation) -> None:
        spans = self.passage.quotes(relation.sentences, relation.subject, relation.object)
        ends = [self._surface(name, spans[0]) for name in (relation.subject, relation.object)]
        if not all(ends):
            return
        if ends[0].casefold() == ends[1].casefold():
            self._circles.append(f'"{relation.subject}" {relation.predicate} "{relation.object}"')
            return
        self.relations += [self._relation_row(relation, ends, span) for span in spans]

    def _surface(self, name: str, span: Span) -> str:
        """The surface of an end's mention; empty where there can be none."""
        if name in self._surfaces:
            return self._surfaces[name]
        if self._echoes is not None and self._echoes.holds(name):
            self._dropped.setdefault(name)
            return ""
        if name not in self._made_up:
            entity = next((entity for entity in self._missing if entity.name == name), None)
            row = self._mention_row(" ".join(name.split()), entity.type if entity else "unknown", span, LLM_UNVERIFIED)
            _add_descriptions(row, entity.descriptions if entity else ())
            self._made_up[name] = row
        return str(self._made_up[name]["surface"])

    def _mention_row(self, surface: str, entity_type: str, span: Span, method: str) -> dict[str, Any]:
        start = self.passage.start
        return {
            "surface": surface, "type": entity_type, "description": "", "start_char": start + span[0],
            "end_char": start + span[1], "method": method,
        }  # fmt: skip

    def _relation_row(self, relation: Relation, ends: Sequence[str], span: Span) -> dict[str, Any]:
        passage = self.passage
        written = [passage.find_in(name, span) for name in (relation.subject, relation.object)]
        subject_surface, object_surface = (
            surface_of(passage.text, place) if place else end for place, end in zip(written, ends, strict=True)
        )
        phrase = relation.predicate.replace("_", " ")
        said = passage.find_in(phrase, span)
        return {
            "subject": ends[0], "predicate": relation.predicate, "object": ends[1],
            "subject_surface": subject_surface,
            "predicate_surface": surface_of(passage.text, said) if said else phrase,
            "object_surface": object_surface, "description": relation.description, "strength": relation.strength,
            "start_char": passage.start + span[0], "end_char": passage.start + span[1],
            "is_verified": all(place is not None for place in written), "origin": "extracted", "method": LLM,
        }  # fmt: skip


def _add_descriptions(row: dict[str, Any], descriptions: Sequence[str]) -> None:
    for text in descriptions:
        if text and text not in row["description"]:
            row["description"] = f"{row['description']} {text}".strip()


def _is_inside(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


def _is_part_of_longer(span: Span, others: Sequence[Span]) -> bool:
    return any(span != other and _is_inside(span, other) for other in others)
