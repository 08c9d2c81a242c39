"""Descriptions of entities and relationships, joined from what the documents say (specs: indexing 4).

Distinct texts in order of document path and offset, up to a length; never cut inside a word. Reads entity_mentions,
evidence, documents; fills `description` of entities and relationships. With a model, the descriptions of an entity that
are longer than a threshold are summarised, in one call an entity. What is said of it later stands behind the summary as
it was said, until that too is longer than the threshold: an entity of which a word more is said asks nothing. The memo
knows which texts have been summarised; where one of them is gone, what is left is summarised afresh.

Does not: summarise relationships, or anything short; or summarise a summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag import tables
from graphrag.ids import content_sha256
from graphrag.llm import Llm
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.llm.concurrency import map_concurrently
from graphrag.memo import Memo, memo_key
from graphrag.prompts import Prompt
from graphrag.replies.objects import parse_description_reply
from graphrag.sentences import sentence_spans
from graphrag.tokens import TokenCounter, count_tokens

MAX_CHARACTERS = 600
STAGE = "summaries"
MEMO_KIND = "summarised"
KEPT_SUMMARIES = 5  # of an entity: a document that was changed is often changed back
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
    memo: Memo | None = None,
    count: TokenCounter = count_tokens,
    advance: Callable[[int], None] = lambda _: None,
) -> Summaries:
    """Entities with the descriptions of their mentions: joined whole up to `min_tokens`, else summarised by the model.

    `memo` knows what was summarised on other nights: up to `min_tokens` more are joined behind that summary. Without it
    all texts of an entity are put to the model. Where the reply is empty or a refusal the joined texts stay, cut to a
    length, with a failures row. `advance` gets entities asked about. Raises what `Llm.chat` raises.
    """
    titles = dict(entities.select("id", "title").iter_rows())
    texts = _gather_texts(titles, entity_mentions, documents)
    described = {entity: " ".join(lines) for entity, lines in texts.items()}
    long = sorted(entity for entity, text in described.items() if len(text) > min_tokens and count(text) > min_tokens)
    keys = {entity: memo_key(llm.models["summarize"], prompt.sha256, entity, titles[entity]) for entity in long}
    known = _recall_summarised(memo, keys)
    chosen = {
        entity: choose_texts(texts[entity], known.get(entity, ()), max_rest_tokens=min_tokens, count=count)
        for entity in long
    }

    async def ask(entity: str) -> ChatReply:
        messages = render_summary(
            titles[entity], chosen[entity], prompt, max_words=max_words, max_input_tokens=max_input_tokens, count=count
        )
        return await llm.chat(_summary_request(messages, prompt, max_words))

    def keep(entity: str, reply: ChatReply) -> None:
        hashes, before = [_hash_text(text) for text in chosen[entity]], known.get(entity, [])
        if memo is not None and reply.is_good and hashes not in before:
            memo.put_many(MEMO_KIND, {keys[entity]: orjson.dumps([*before, hashes][-KEPT_SUMMARIES:])})
        advance(1)

    replies = await map_concurrently(ask, long, in_flight=llm.in_flight, on_result=keep)
    failures = []
    for entity, reply in zip(long, replies, strict=True):
        parsed = parse_description_reply(reply.text)
        if reply.is_good and not parsed.problem:
            rest = [text for text in texts[entity] if text not in set(chosen[entity])]
            described[entity] = " ".join([parsed.text, *rest])
        else:
            described[entity] = join_texts(texts[entity], MAX_CHARACTERS)
            failures.append(_failed_summary(entity, titles[entity], reply, parsed.problem))
    joined = pl.Series("description", [described.get(entity, "") for entity in entities["id"]], dtype=pl.String)
    return Summaries(tables.ENTITIES.conform(entities.with_columns(joined)), tables.FAILURES.from_rows(failures))


def _gather_texts(
    titles: Mapping[str, str], entity_mentions: pl.DataFrame, documents: pl.DataFrame
) -> dict[str, list[str]]:
    """Distinct descriptions of each entity, in order of document path and offset."""
    said = _said_of_entities(entity_mentions, documents).group_by("id", maintain_order=True).agg("description")
    return {entity: _distinct(lines) for entity, lines in said.iter_rows() if entity in titles}


def _failed_summary(entity: str, title: str, reply: ChatReply, problem: str) -> dict[str, Any]:
    reason = problem if reply.is_good or reply.status == "unreadable_reply" else reply.status
    detail = f"{title}: {reply.detail or 'no description in the reply'}; the joined descriptions stay"
    return tables.failure_row(STAGE, entity, reason, detail, raw_reply=reply.text or None)


def choose_texts(
    texts: Sequence[str],
    summarised: Sequence[Sequence[str]],
    *,
    max_rest_tokens: int,
    count: TokenCounter = count_tokens,
) -> list[str]:
    """The texts of an entity that one question is about: those of the largest summary of other nights that still holds,
    where no more than `max_rest_tokens` are said beside them; else all.

    `summarised`: for each of those summaries the hashes of its texts. It holds while all of them are still said.
    """
    by_hash = {_hash_text(text): text for text in texts}
    for hashes in sorted(summarised, key=lambda known: (-len(known), *known)):
        if by_hash.keys() >= set(hashes):
            rest = " ".join(text for key, text in by_hash.items() if key not in set(hashes))
            if count(rest) <= max_rest_tokens:
                return [by_hash[key] for key in hashes]
    return sorted(texts)


def _recall_summarised(memo: Memo | None, keys: Mapping[str, str]) -> dict[str, list[list[str]]]:
    """By entity, the texts of each summary that the memo knows of, as hashes in order; the newest last."""
    held = memo.get_many(MEMO_KIND, list(keys.values())) if memo is not None else {}
    return {entity: orjson.loads(held[key]) for entity, key in keys.items() if key in held}


def _hash_text(text: str) -> str:
    return content_sha256(text)[:16]


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
