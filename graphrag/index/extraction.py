"""Entity and relationship mentions by a language model, in the same tables as without one (nlp_extraction.py).

Reads text_units; writes entity_mentions, relationship_mentions (entity_id stays null until disambiguation) and
failures. A text unit goes to the model in numbered sentences; it answers names and relations with sentence numbers.
`render_extraction` and `parse_extraction` are pure; `extract_mentions` joins them through the door to the model.

Names are written to the letter of the text: a mention stands at the first place of its name that is not part of a
longer name. A name that the text does not hold (a translation, an abbreviation spelled out) is kept only where a
relation needs it, as method llm_unverified with the sentence as its span, and its relations are not verified; names
echoed from the prompt are never kept. Both are told in a failures row (not_in_text).

Does not: retry, count money or keep replies (graphrag/llm_door.py), or decide which names mean one entity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.chat import ChatRequest, Message
from graphrag.ids import row_id
from graphrag.index.passage_calls import PassageQuestions, PassageReply, ask_passages
from graphrag.index.passages import Passage, Span, surface_of
from graphrag.llm_door import Llm
from graphrag.prompts import Prompt
from graphrag.replies.fields import TextNames
from graphrag.replies.graph import Entity, GraphReply, Relation, parse_graph_replies
from graphrag.tables import failure_row

STAGE = "extraction"
# A text unit with one of these as its reason gave nothing; the next run asks it again.
UNIT_REASONS = ("timeout", "unavailable", "too_long", "refusal", "empty_reply", "unreadable_reply")
LLM, LLM_UNVERIFIED = "llm", "llm_unverified"
# Tokens of a reply for each token of text: measured on the sample and on the bench corpus (docs/llm.md).
EXPECTED_REPLY_SHARE = 1.0
MAX_NAMES_SHOWN = 5


class Extraction(NamedTuple):
    entity_mentions: pl.DataFrame
    relationship_mentions: pl.DataFrame
    failures: pl.DataFrame


@dataclass(frozen=True, slots=True)
class ExtractionPrompts:
    extract: Prompt
    go_on: Prompt
    repair: Prompt


class Parsed(NamedTuple):
    """What the replies about one text unit hold, with offsets that count from the start of the unit."""

    mentions: list[dict[str, Any]]
    relations: list[dict[str, Any]]
    failures: list[dict[str, Any]]


async def extract_mentions(
    text_units: pl.DataFrame,
    *,
    llm: Llm,
    prompts: ExtractionPrompts,
    entity_types: Sequence[str],
    max_gleanings: int,
    max_records_per_unit: int,
    max_reply_tokens: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Extraction:
    """Mentions of entities and relations, with document offsets, in order of document and offset.

    Text units of equal text are asked once. `advance` gets text units done. Raises what `Llm.chat` raises (BudgetSpent,
    Unauthorized, ...); what was answered by then is in the memo.
    """
    questions = ask_about(
        prompts, entity_types=entity_types, max_gleanings=max_gleanings, max_reply_tokens=max_reply_tokens
    )
    weights = dict(text_units.group_by("text").len().iter_rows())
    replies = await ask_passages(llm, text_units["text"], questions, weights=weights, advance=advance)
    echoes = _prompt_names(prompts.extract, entity_types)
    parsed = {
        text: parse_extraction(found, entity_types=entity_types, max_records=max_records_per_unit, echoes=echoes)
        for text, found in replies.items()
    }
    return _build_frames(text_units, parsed)


def ask_about(
    prompts: ExtractionPrompts, *, entity_types: Sequence[str], max_gleanings: int, max_reply_tokens: int
) -> PassageQuestions:
    """How to ask the model about a passage, and how to read its replies."""

    def render(passage: Passage) -> ChatRequest:
        return ChatRequest(
            stage=STAGE,
            role="extract",
            messages=render_extraction(passage, prompts.extract, entity_types=entity_types),
            prompt_version=prompts.extract.sha256,
            max_tokens=max_reply_tokens,
            expected_tokens=round(len(passage.text) / 4 * EXPECTED_REPLY_SHARE),
            accept=lambda text: not read(text).should_ask_again,
            repair=prompts.repair.render({})[0].content,
        )

    def read(text: str) -> GraphReply:
        return parse_graph_replies([text], types=entity_types)

    def measure(text: str) -> tuple[int, bool]:
        reply = read(text)
        return reply.n_records, reply.is_truncated

    go_on = "\n\n".join(message.content for message in prompts.go_on.render(_values(prompts.go_on, entity_types)))
    return PassageQuestions(render, measure, go_on, max_gleanings)


def render_extraction(passage: Passage, prompt: Prompt, *, entity_types: Sequence[str]) -> tuple[Message, ...]:
    """The first question about a passage. The same text gives the same question wherever it stands."""
    values = {"input_text": passage.numbered, **_values(prompt, entity_types)}
    return tuple(Message(message.role, message.content) for message in prompt.render(values))


def plan_extraction(
    text_units: pl.DataFrame,
    *,
    prompts: ExtractionPrompts,
    entity_types: Sequence[str],
    max_gleanings: int,
    max_reply_tokens: int,
) -> Iterator[ChatRequest]:
    """The questions of a run, as far as they are known before it: gleanings as if nothing had been answered."""
    questions = ask_about(
        prompts, entity_types=entity_types, max_gleanings=max_gleanings, max_reply_tokens=max_reply_tokens
    )
    for text in text_units["text"].unique(maintain_order=True):
        passage = Passage(text)
        if not passage.sentences:
            continue
        request = questions.render(passage)
        yield request
        for _ in range(max_gleanings):
            said = (Message("assistant", passage.numbered), Message("user", questions.go_on))
            request = ChatRequest(
                STAGE, "extract", (*request.messages, *said), max_tokens=max_reply_tokens,
                expected_tokens=request.expected_tokens // 4,
            )  # fmt: skip
            yield request


def _values(prompt: Prompt, entity_types: Sequence[str]) -> dict[str, str]:
    return {"entity_types": ", ".join(entity_types)}


def _prompt_names(prompt: Prompt, entity_types: Sequence[str]) -> TextNames:
    """The words of the prompt itself, in which echoed names are found."""
    messages = prompt.render({"input_text": "", **_values(prompt, entity_types)})
    return TextNames("\n".join(message.content for message in messages))


def parse_extraction(
    replies: Sequence[PassageReply],
    *,
    entity_types: Collection[str] = (),
    max_records: int,
    echoes: TextNames | None = None,
) -> Parsed:
    """What was answered about one text unit, its halves together. `echoes`: names of the prompt's own examples."""
    parsed = Parsed([], [], [])
    for reply in replies:
        if not reply.turns:
            parsed.failures.append(_failure(reply.problem, reply.detail, None))
            continue
        graph = parse_graph_replies(
            reply.turns, text=reply.passage.text, n_sentences=len(reply.passage.sentences), types=entity_types,
            are_cut=reply.are_cut,
        )  # fmt: skip
        parsed.failures.extend(_reply_failures(reply, graph, max_records))
        left = max(0, max_records - len(graph.entities))
        placed = _Placed(reply.passage, graph.entities[:max_records], graph.relations[:left], echoes)
        parsed.mentions.extend(placed.mentions)
        parsed.relations.extend(placed.relations)
        parsed.failures.extend(placed.failures())
    return parsed


def _reply_failures(reply: PassageReply, graph: GraphReply, max_records: int) -> Iterator[dict[str, Any]]:
    raw = "\n".join(reply.turns)
    if graph.problem:
        yield _failure(graph.problem, reply.detail or "no record in the reply", raw)
    elif reply.problem == "unreadable_reply" and not graph.n_records:
        yield _failure(reply.problem, reply.detail, raw)
    elif reply.problem in ("truncated", "gleaning_failed"):
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
        self, passage: Passage, entities: Sequence[Entity], relations: Sequence[Relation], echoes: TextNames | None
    ) -> None:
        self.passage, self._echoes = passage, echoes
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
            places[name] = [span for span in found if not any(_is_inside(span, other) for other in taken)] or found
            taken += found
        for entity in entities:
            span = self._choose_place(places[entity.name], entity.type)
            row = self._by_span.get(span)
            if row is None:
                row = self._mention_row(surface_of(self.passage.text, span), entity.type, span, LLM)
                self._by_span[span] = row
            elif row["type"] == "unknown":
                row["type"] = entity.type
            _add_descriptions(row, entity.descriptions)
            self._surfaces.setdefault(entity.name, row["surface"])

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
    return other[0] <= span[0] and span[1] <= other[1] and span != other


# Rows of all text units


def _build_frames(text_units: pl.DataFrame, parsed: dict[str, Parsed]) -> Extraction:
    """Rows with document offsets. A place in two overlapping text units belongs to the first."""
    mentions: dict[tuple[str, int, int, str], dict[str, Any]] = {}
    relations: dict[str, dict[str, Any]] = {}
    failures: list[dict[str, Any]] = []
    units = text_units.sort("document_id", "start_char", "id").select("id", "document_id", "text", "start_char")
    for unit_id, document_id, text, unit_start in units.iter_rows():
        found = parsed[text]
        place = {"text_unit_id": unit_id, "document_id": document_id}
        for row in found.mentions:
            start, end = unit_start + row["start_char"], unit_start + row["end_char"]
            named = (unit_id, str(row["start_char"]), str(row["end_char"]))
            ids = {"id": row_id("entity_mention", *named, row["surface"]), "entity_id": None}
            mentions.setdefault(
                (document_id, start, end, row["surface"]), row | place | ids | {"start_char": start, "end_char": end}
            )
        for row in found.relations:
            span = {"start_char": unit_start + row["start_char"], "end_char": unit_start + row["end_char"]}
            named = (unit_id, str(row["start_char"]), str(row["end_char"]))
            relation_id = row_id("relationship_mention", *named, row["subject"], row["predicate"], row["object"])
            relations.setdefault(relation_id, row | place | span | {"id": relation_id})
        failures += [
            failure_row(
                STAGE, unit_id, row["reason"], row["detail"], document_id=document_id, raw_reply=row["raw_reply"]
            )
            for row in found.failures
        ]
    return Extraction(
        _as_frame(tables.ENTITY_MENTIONS, list(mentions.values())),
        _as_frame(tables.RELATIONSHIP_MENTIONS, list(relations.values())),
        tables.FAILURES.from_rows(failures),
    )


def _as_frame(table: tables.Table, rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=table.schema, orient="row")
    return table.conform(frame.sort("document_id", "start_char", "end_char", "id"))
