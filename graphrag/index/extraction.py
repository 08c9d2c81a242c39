"""Entity and relationship mentions by a language model, in the same tables as without one (nlp_extraction.py).

Reads text_units and documents; writes entity_mentions, relationship_mentions (entity_id stays null until
disambiguation) and failures. Text units in a row go to the model together (unit_groups.py), in numbered sentences; it
answers names and relations with sentence numbers. `render_extraction` and `parse_extraction` (placed_records.py, where
the rules for names and places stand) are pure; `extract_mentions` joins them through the door to the model.

Does not: retry, count money or keep replies (graphrag/llm), or decide which names mean one entity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.ids import row_id
from graphrag.index.kept_records import GroupText, is_whole, keep_records, key_group_texts, recall_records
from graphrag.index.passage_calls import PassageQuestions, ask_passages
from graphrag.index.passages import Excerpt, Passage
from graphrag.index.placed_records import Parsed, parse_extraction
from graphrag.index.unit_groups import UnitGroup, group_text_units
from graphrag.llm import Llm
from graphrag.llm.chat import ChatRequest, Message
from graphrag.memo import Memo
from graphrag.prompts import Prompt
from graphrag.replies.fields import TextNames
from graphrag.replies.graph import GraphReply, parse_graph_replies
from graphrag.tables import failure_row

STAGE = "extraction"
KEPT_REPLIES = 64  # a reply is read by the door, which accepts it, and again when it is looked at for its end
# A text unit with one of these as its reason gave nothing; the next run asks it again.
UNIT_REASONS = ("timeout", "unavailable", "too_long", "refusal", "empty_reply", "unreadable_reply")
# Tokens of a reply for each token of text: measured on the sample and on the bench corpus (docs/llm.md).
EXPECTED_REPLY_SHARE = 1.0


class Extraction(NamedTuple):
    entity_mentions: pl.DataFrame
    relationship_mentions: pl.DataFrame
    failures: pl.DataFrame


@dataclass(frozen=True, slots=True)
class ExtractionPrompts:
    extract: Prompt
    go_on: Prompt
    repair: Prompt


async def extract_mentions(
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    llm: Llm,
    prompts: ExtractionPrompts,
    entity_types: Sequence[str],
    max_passage_tokens: int,
    max_gleanings: int,
    max_records_per_unit: int,
    max_reply_tokens: int,
    memo: Memo | None = None,
    reader: str = "",
    advance: Callable[[int], None] = lambda _: None,
) -> Extraction:
    """Mentions of entities and relations, with document offsets, in order of document and offset.

    Equal texts are asked once. max_passage_tokens: of text units that are asked about together. `memo` has the rows of
    other nights, of the release that `reader` names; without it every question is put to the door, which has its own.
    `advance` gets text units done. Raises what `Llm.chat` raises (BudgetSpent, Unauthorized, ...); what was answered by
    then is in the memo.
    """
    questions = ask_about(
        prompts, entity_types=entity_types, max_gleanings=max_gleanings, max_reply_tokens=max_reply_tokens
    )
    groups = group_text_units(text_units, documents, max_tokens=max_passage_tokens)
    keys = key_group_texts(
        (group.group_text for group in groups), reader, llm.models["extract"],
        *(prompt.sha256 for prompt in (prompts.extract, prompts.go_on, prompts.repair)), *entity_types,
        *map(str, (max_gleanings, max_records_per_unit, max_reply_tokens)),
    )  # fmt: skip
    parsed = recall_records(memo, keys)
    asked = [group for group in groups if group.group_text not in parsed]
    advance(sum(len(group.units) for group in groups) - sum(len(group.units) for group in asked))
    n_units: Counter[Excerpt] = Counter()
    for group in asked:
        n_units[group.excerpt] += len(group.units)
    replies = await ask_passages(llm, n_units, questions, advance=advance)
    echoes = _prompt_names(prompts.extract, entity_types)
    read = {
        group.group_text: parse_extraction(
            replies[group.excerpt], entity_types=entity_types, max_records=max_records_per_unit * len(group.units),
            parts=group.spans, echoes=echoes,
        )
        for group in {group.group_text: group for group in asked}.values()
    }  # fmt: skip
    keep_records(memo, keys, {text: rows for text, rows in read.items() if is_whole(replies[text[0]])})
    parsed |= read
    return build_frames(groups, parsed)


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

    @lru_cache(maxsize=KEPT_REPLIES)
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
    documents: pl.DataFrame,
    *,
    prompts: ExtractionPrompts,
    entity_types: Sequence[str],
    max_passage_tokens: int,
    max_gleanings: int,
    max_reply_tokens: int,
) -> Iterator[ChatRequest]:
    """The questions of a run, as far as they are known before it: gleanings as if nothing had been answered."""
    questions = ask_about(
        prompts, entity_types=entity_types, max_gleanings=max_gleanings, max_reply_tokens=max_reply_tokens
    )
    groups = group_text_units(text_units, documents, max_tokens=max_passage_tokens)
    for excerpt in dict.fromkeys(group.excerpt for group in groups):
        passage = Passage(excerpt.text, header=excerpt.header)
        if not passage.sentences:
            continue
        request = questions.render(passage)
        yield request
        for _ in range(max_gleanings):
            request = request.followed_by(passage.numbered, questions.go_on)
            yield replace(request, expected_tokens=request.expected_tokens // 4)


def _values(prompt: Prompt, entity_types: Sequence[str]) -> dict[str, str]:
    return {"entity_types": ", ".join(entity_types)}


def _prompt_names(prompt: Prompt, entity_types: Sequence[str]) -> TextNames:
    """The words of the prompt itself, in which echoed names are found."""
    messages = prompt.render({"input_text": "", **_values(prompt, entity_types)})
    return TextNames("\n".join(message.content for message in messages))


# Rows of all text units


def build_frames(groups: Sequence[UnitGroup], parsed: Mapping[GroupText, Parsed]) -> Extraction:
    """Rows with document offsets. A place in two overlapping text units belongs to the first."""
    mentions: dict[tuple[str, int, int, str], dict[str, Any]] = {}
    relations: dict[str, dict[str, Any]] = {}
    failures: list[dict[str, Any]] = []
    for group in groups:
        found = parsed[group.group_text]
        for row in found.mentions:
            placed, parts = _place(row, group)
            mention_id = row_id("entity_mention", *parts, row["surface"])
            key = (group.document_id, placed["start_char"], placed["end_char"], row["surface"])
            mentions.setdefault(key, placed | {"id": mention_id, "entity_id": None})
        for row in found.relations:
            placed, parts = _place(row, group)
            relation_id = row_id("relationship_mention", *parts, row["subject"], row["predicate"], row["object"])
            relations.setdefault(relation_id, placed | {"id": relation_id})
        for row in found.failures:
            units = group.units_in(*row["span"])
            failures += [
                failure_row(
                    STAGE, unit.id, row["reason"], row["detail"], document_id=group.document_id,
                    raw_reply=row["raw_reply"],
                )
                for unit in (units if row["reason"] in UNIT_REASONS else units[:1])
            ]  # fmt: skip
    return Extraction(
        _as_frame(tables.ENTITY_MENTIONS, list(mentions.values())),
        _as_frame(tables.RELATIONSHIP_MENTIONS, list(relations.values())),
        tables.FAILURES.from_rows(failures),
    )


def _place(row: Mapping[str, Any], group: UnitGroup) -> tuple[dict[str, Any], tuple[str, str, str]]:
    """The row with its text unit and document offsets; and what its id is made of: the unit and offsets in it."""
    unit = group.unit_at(row["start_char"])
    start, end = group.start + row["start_char"], group.start + row["end_char"]
    place = {
        "text_unit_id": unit.id, "document_id": group.document_id, "start_char": start, "end_char": end,
    }  # fmt: skip
    return {**row, **place}, (unit.id, str(row["start_char"] - unit.start), str(row["end_char"] - unit.start))


def _as_frame(table: tables.Table, rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=table.schema, orient="row")
    return table.conform(frame.sort("document_id", "start_char", "end_char", "id"))
