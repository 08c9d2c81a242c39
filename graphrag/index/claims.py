"""Claims about entities, by a language model (table covariates). Off by default (`claims.enabled`).

Reads text_units, entities, entity_mentions; writes covariates, covariate_ids of text_units, and failures. A claim has
a subject that is an entity, the sentences that make it as its quote (source_text), a status and dates.

Does not: judge whether a claim is true, or make entities of subjects that extraction has not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.ids import row_id
from graphrag.index.passage_calls import PassageQuestions, PassageReply, ask_passages
from graphrag.index.passages import Excerpt, Passage
from graphrag.index.table_headers import find_table_headers
from graphrag.llm import Llm
from graphrag.llm.chat import ChatRequest, Message
from graphrag.names import name_key
from graphrag.prompts import Prompt
from graphrag.replies.claims import Claim, ClaimsReply, parse_claims_reply
from graphrag.tables import failure_row

STAGE = "claims"
COVARIATE_TYPE = "claim"
EXPECTED_REPLY_TOKENS = 100


class Claims(NamedTuple):
    covariates: pl.DataFrame
    text_units: pl.DataFrame
    failures: pl.DataFrame


@dataclass(frozen=True, slots=True)
class ClaimPrompts:
    extract: Prompt
    go_on: Prompt
    repair: Prompt


class FoundClaim(NamedTuple):
    claim: Claim
    quote: str


async def extract_claims(
    text_units: pl.DataFrame,
    entities: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    *,
    llm: Llm,
    prompts: ClaimPrompts,
    entity_types: Sequence[str],
    description: str,
    max_reply_tokens: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Claims:
    """Claims whose subject is an entity, sorted by text unit and place in the reply. Text units of equal text are asked
    once. `entity_mentions` carry entity_id. Raises what `Llm.chat` raises."""
    questions = ask_about(
        prompts, entity_types=entity_types, description=description, max_reply_tokens=max_reply_tokens
    )
    excerpts = _excerpts(text_units)
    replies = await ask_passages(llm, Counter(excerpts.values()), questions, advance=advance)
    parsed = {excerpt: parse_claims(found) for excerpt, found in replies.items()}
    found = {unit: parsed[excerpt] for unit, excerpt in excerpts.items()}
    return _build_frames(text_units, _Names(entities, entity_mentions), found)


def _excerpts(text_units: pl.DataFrame) -> dict[str, Excerpt]:
    """What is asked about each text unit, by its id."""
    headers = find_table_headers(text_units)
    return {unit: Excerpt(text, headers.get(unit, "")) for unit, text in text_units.select("id", "text").iter_rows()}


def ask_about(
    prompts: ClaimPrompts, *, entity_types: Sequence[str], description: str, max_reply_tokens: int
) -> PassageQuestions:
    """How to ask the model about a passage, and how to read its replies."""

    def render(passage: Passage) -> ChatRequest:
        return ChatRequest(
            stage=STAGE,
            role="extract",
            messages=render_claims(passage, prompts.extract, entity_types=entity_types, description=description),
            prompt_version=prompts.extract.sha256,
            max_tokens=max_reply_tokens,
            expected_tokens=EXPECTED_REPLY_TOKENS,
            accept=lambda text: not parse_claims_reply(text).should_ask_again,
            repair=prompts.repair.render({})[0].content,
        )

    def measure(text: str) -> tuple[int, bool]:
        reply = parse_claims_reply(text)
        return reply.n_records, reply.is_truncated

    messages = prompts.go_on.render({"entity_types": ", ".join(entity_types)})
    return PassageQuestions(render, measure, "\n\n".join(message.content for message in messages))


def render_claims(
    passage: Passage, prompt: Prompt, *, entity_types: Sequence[str], description: str
) -> tuple[Message, ...]:
    values = {
        "input_text": passage.numbered, "entity_specs": ", ".join(entity_types), "claim_description": description,
    }  # fmt: skip
    return tuple(Message(message.role, message.content) for message in prompt.render(values))


def plan_claims(
    text_units: pl.DataFrame,
    *,
    prompts: ClaimPrompts,
    entity_types: Sequence[str],
    description: str,
    max_reply_tokens: int,
) -> Iterator[ChatRequest]:
    """The first questions of a run."""
    questions = ask_about(
        prompts, entity_types=entity_types, description=description, max_reply_tokens=max_reply_tokens
    )
    for excerpt in dict.fromkeys(_excerpts(text_units).values()):
        passage = Passage(excerpt.text, header=excerpt.header)
        if passage.sentences:
            yield questions.render(passage)


def parse_claims(replies: Sequence[PassageReply]) -> tuple[list[FoundClaim], list[dict[str, Any]]]:
    """The distinct claims about one text unit with their quotes, and failures (reason, detail, raw_reply)."""
    found: dict[FoundClaim, None] = {}
    failures: list[dict[str, Any]] = []
    for reply in replies:
        if not reply.turns:
            failures.append({"reason": reply.problem, "detail": reply.detail, "raw_reply": None})
            continue
        for turn, is_cut in zip(reply.turns, reply.are_cut, strict=True):
            read = parse_claims_reply(turn, n_sentences=len(reply.passage.sentences), is_cut=is_cut)
            found |= dict.fromkeys(FoundClaim(claim, _quote(claim, reply.passage)) for claim in read.claims)
            failures += _line_failures(read, turn, is_last=turn is reply.turns[-1])
        if reply.problem not in ("", "unreadable_reply"):
            failures.append({"reason": reply.problem, "detail": reply.detail, "raw_reply": None})
    return list(found), failures


def _line_failures(read: ClaimsReply, turn: str, *, is_last: bool) -> Iterator[dict[str, Any]]:
    if read.problem and is_last:
        yield {"reason": read.problem, "detail": "no record in the reply", "raw_reply": turn}
    for line in read.unreadable:
        if line.reason != "truncated" or is_last:
            yield {"reason": line.reason, "detail": "a line of the reply", "raw_reply": line.raw}


def _quote(claim: Claim, passage: Passage) -> str:
    """The words of the passage that make the claim: those quoted, where they are there, else its sentences."""
    if claim.source_text and claim.source_text in " ".join(passage.text.split()):
        return claim.source_text
    spans = passage.quotes(claim.sentences, claim.subject, claim.object or claim.subject)
    return " ".join(passage.text[start:end] for start, end in spans)


class _Names:
    """The title of the entity that a name means: by its mention in the text unit, else by title or alias."""

    def __init__(self, entities: pl.DataFrame, entity_mentions: pl.DataFrame) -> None:
        titles = dict(entities.select("id", "title").iter_rows())
        self._anywhere: dict[str, str] = {}
        named = entities.select("title", "aliases").sort("title").rows()
        for title, _ in named:
            self._anywhere.setdefault(name_key(title), title)
        for title, aliases in named:
            for alias in aliases:
                self._anywhere.setdefault(name_key(alias), title)
        self._in_unit: dict[tuple[str, str], str] = {}
        for unit, surface, entity in entity_mentions.select("text_unit_id", "surface", "entity_id").iter_rows():
            if entity in titles:
                self._in_unit.setdefault((unit, name_key(surface)), titles[entity])

    def title(self, unit_id: str, name: str) -> str | None:
        key = name_key(name)
        return self._in_unit.get((unit_id, key)) or self._anywhere.get(key)


def _build_frames(
    text_units: pl.DataFrame,
    names: _Names,
    parsed: Mapping[str, tuple[list[FoundClaim], list[dict[str, Any]]]],
) -> Claims:
    rows: dict[str, dict[str, Any]] = {}
    failures = []
    ids: dict[str, list[str]] = {}
    units = text_units.sort("document_id", "start_char", "id").select("id", "document_id")
    for unit_id, document_id in units.iter_rows():
        found, failed = parsed[unit_id]
        for row in failed:
            failures.append(failure_row(STAGE, unit_id, **row, document_id=document_id))
        for claim, quote in found:
            subject = names.title(unit_id, claim.subject)
            if subject is None:
                detail = f'"{claim.subject}": {claim.description}'
                failures.append(failure_row(STAGE, unit_id, "unknown_endpoint", detail, document_id=document_id))
                continue
            claim_id = row_id(
                "covariate", unit_id, subject, claim.object, claim.type, claim.status, claim.description, quote
            )
            rows[claim_id] = {
                "id": claim_id, "human_readable_id": len(rows), "covariate_type": COVARIATE_TYPE, "type": claim.type,
                "description": claim.description, "subject_id": subject,
                "object_id": (names.title(unit_id, claim.object) or claim.object) if claim.object else None,
                "status": claim.status, "start_date": claim.start_date, "end_date": claim.end_date,
                "source_text": quote, "text_unit_id": unit_id,
            }  # fmt: skip
            ids.setdefault(unit_id, []).append(claim_id)
    lists = pl.Series([sorted(set(ids.get(unit, ()))) for unit in text_units["id"]], dtype=pl.List(pl.String))
    return Claims(
        tables.COVARIATES.from_rows(list(rows.values())),
        tables.TEXT_UNITS.conform(text_units.with_columns(covariate_ids=lists)),
        tables.FAILURES.from_rows(failures),
    )
