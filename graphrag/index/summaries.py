"""Descriptions of entities and relationships, joined from what the documents say (specs: indexing 4).

Distinct texts in order of document path and offset, up to a length; never cut inside a word. Reads entity_mentions,
evidence, documents; fills `description` of entities and relationships. With a model, the descriptions of an entity that
are longer than a threshold are summarised, in one call an entity.

Does not: summarise relationships, or anything short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import polars as pl

from graphrag import tables
from graphrag.llm import Llm
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.llm.concurrency import map_concurrently
from graphrag.prompts import Prompt
from graphrag.replies.objects import parse_description_reply
from graphrag.sentences import sentence_spans
from graphrag.tokens import TokenCounter, count_tokens

MAX_CHARACTERS = 600
STAGE = "summaries"
TOKENS_PER_WORD = 3  # above what any language needs; bounds the reply


class Summaries(NamedTuple):
    entities: pl.DataFrame
    failures: pl.DataFrame


def describe_entities(
    entities: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    max_characters: int = MAX_CHARACTERS,
) -> pl.DataFrame:
    """Entities with the descriptions of their mentions, joined."""
    said = _said_of_entities(entity_mentions, documents)
    return tables.ENTITIES.conform(_fill_descriptions(entities, said, max_characters))


async def summarise_entities(
    entities: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    llm: Llm,
    prompt: Prompt,
    min_tokens: int,
    max_input_tokens: int,
    max_words: int,
    count: TokenCounter = count_tokens,
    advance: Callable[[int], None] = lambda _: None,
) -> Summaries:
    """Entities with the descriptions of their mentions: joined whole up to `min_tokens`, else summarised by the model.

    Where its reply is empty or a refusal the joined texts stay, cut to a length, with a failures row. `advance` gets
    entities asked about. Raises what `Llm.chat` raises.
    """
    said = _said_of_entities(entity_mentions, documents)
    titles = dict(entities.select("id", "title").iter_rows())
    texts = {row[0]: _distinct(row[1]) for row in said.group_by("id", maintain_order=True).agg("description").rows()}
    texts = {entity: lines for entity, lines in texts.items() if entity in titles}
    described = {entity: " ".join(lines) for entity, lines in texts.items()}
    long = sorted(entity for entity, text in described.items() if len(text) > min_tokens and count(text) > min_tokens)

    async def ask(entity: str) -> ChatReply:
        messages = render_summary(
            titles[entity], texts[entity], prompt, max_words=max_words, max_input_tokens=max_input_tokens, count=count
        )
        return await llm.chat(_summary_request(messages, prompt, max_words))

    replies = await map_concurrently(ask, long, in_flight=llm.in_flight, on_result=lambda _, __: advance(1))
    failures = []
    for entity, reply in zip(long, replies, strict=True):
        parsed = parse_description_reply(reply.text)
        if reply.is_good and not parsed.problem:
            described[entity] = parsed.text
            continue
        described[entity] = join_texts(texts[entity], MAX_CHARACTERS)
        reason = parsed.problem if reply.is_good or reply.status == "unreadable_reply" else reply.status
        detail = f"{titles[entity]}: {reply.detail or 'no description in the reply'}; the joined descriptions stay"
        failures.append(tables.failure_row(STAGE, entity, reason, detail, raw_reply=reply.text or None))
    joined = pl.Series("description", [described.get(entity, "") for entity in entities["id"]], dtype=pl.String)
    return Summaries(tables.ENTITIES.conform(entities.with_columns(joined)), tables.FAILURES.from_rows(failures))


def render_summary(
    title: str,
    texts: Sequence[str],
    prompt: Prompt,
    *,
    max_words: int,
    max_input_tokens: int,
    count: TokenCounter = count_tokens,
) -> tuple[Message, ...]:
    """The question for one description. The texts stand in alphabetical order, so that the question does not change
    with a file's name; what does not fit is left out, and the prompt says how much."""
    kept: list[str] = []
    n_tokens = 0
    ordered = sorted(texts)
    for text in ordered:
        n_tokens += count(text) + 1
        if kept and n_tokens > max_input_tokens:
            break
        kept.append(f"- {text}")
    if n_left := len(ordered) - len(kept):
        kept.append(f"({n_left} more descriptions are left out)")
    values = {"entity_name": title, "description_list": "\n".join(kept), "max_length": str(max_words)}
    return tuple(Message(message.role, message.content) for message in prompt.render(values))


def _summary_request(messages: tuple[Message, ...], prompt: Prompt, max_words: int) -> ChatRequest:
    return ChatRequest(
        stage=STAGE,
        role="summarize",
        messages=messages,
        prompt_version=prompt.sha256,
        max_tokens=max_words * TOKENS_PER_WORD,
        expected_tokens=max_words,
        accept=lambda text: not parse_description_reply(text).problem,
    )


def _said_of_entities(entity_mentions: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """id of the entity and description, in order of document path and offset."""
    paths = documents.select(pl.col("id").alias("document_id"), "path")
    return (
        entity_mentions.filter(pl.col("description") != "")
        .join(paths, on="document_id", how="left")
        .sort("path", "start_char", "end_char", "id")
        .select(pl.col("entity_id").alias("id"), "description")
    )


def describe_relationships(
    relationships: pl.DataFrame, evidence: pl.DataFrame, *, max_characters: int = MAX_CHARACTERS
) -> pl.DataFrame:
    """Relationships with the descriptions of their evidence, joined; its quote where an extractor gave none.

    Evidence is taken in the order of its rows: by document path and offset within a relationship (index/graph.py).
    """
    text = pl.when(pl.col("description") != "").then("description").otherwise("quote")
    said = evidence.select(pl.col("relationship_id").alias("id"), text.alias("description"))
    return tables.RELATIONSHIPS.conform(_fill_descriptions(relationships, said, max_characters))


def _fill_descriptions(frame: pl.DataFrame, said: pl.DataFrame, max_characters: int) -> pl.DataFrame:
    grouped = said.group_by("id", maintain_order=True).agg("description")
    joined = grouped.with_columns(
        pl.Series("description", [join_texts(texts, max_characters) for texts in grouped["description"]], pl.String)
    )
    return (
        frame.drop("description")
        .join(joined, on="id", how="left", maintain_order="left")
        .with_columns(pl.col("description").fill_null(""))
    )


def join_texts(texts: Iterable[str], max_characters: int) -> str:
    """Distinct texts (compared without case and space) in order, as long as they fit; the first is cut if it must."""
    kept: list[str] = []
    length = 0
    for text in _distinct(texts):
        line = text if kept else cut_text(text, max_characters)
        if kept and length + len(line) > max_characters:
            break
        kept.append(line)
        length += len(line) + 1
    return " ".join(kept)


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each on one line; the first of those that differ in case or final full stop only."""
    lines: dict[str, str] = {}
    for text in texts:
        if line := " ".join(text.split()):
            lines.setdefault(line.casefold().rstrip("."), line)
    return list(lines.values())


def cut_text(text: str, max_characters: int) -> str:
    """The text up to the last sentence that fits; without one, up to the last word, with a mark."""
    if len(text) <= max_characters:
        return text
    ends = [end for _, end in sentence_spans(text) if end <= max_characters]
    if ends:
        return text[: ends[-1]]
    head = text[: max_characters - 1]
    return (head.rpartition(" ")[0] or head) + "…"
