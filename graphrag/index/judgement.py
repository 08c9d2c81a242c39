"""Pairs of names that rules left open, put to a model: the judge (specs: indexing 3; prompt judge_same_entity).

Thirty pairs make one question. Each verdict is also kept in the memo by what was shown of its pair, so that tomorrow
only new pairs are asked about, and nothing when a user's rule takes a pair away.
Writes verdicts (naming/verdicts.SCHEMA), with which index/disambiguation.py decides once more, and failures. Pairs that
get no verdict stay proposals.

Does not: merge anything, or look at pairs that a veto keeps apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag import tables
from graphrag.index.judged_pairs import Pair, describe_pairs, number_pairs
from graphrag.llm import Llm
from graphrag.llm.chat import ChatRequest, Message
from graphrag.llm.concurrency import map_concurrently
from graphrag.memo import Memo, memo_key
from graphrag.naming.verdicts import SCHEMA
from graphrag.prompts import Prompt
from graphrag.replies.objects import Verdict, parse_verdicts_reply

STAGE = "judgement"
MEMO_KIND = "verdict"
PAIRS_PER_CALL = 30
REPLY_TOKENS_PER_PAIR, EXPECTED_TOKENS_PER_PAIR = 80, 25


class Judgement(NamedTuple):
    """`verdicts`: one row a pair that was judged. `failures`: questions without a usable reply."""

    verdicts: pl.DataFrame
    failures: pl.DataFrame


@dataclass(frozen=True, slots=True)
class JudgePrompts:
    judge: Prompt
    repair: Prompt


class _Answer(NamedTuple):
    verdicts: dict[Pair, Verdict]
    failures: list[dict[str, Any]]


async def judge_candidates(
    alias_candidates: pl.DataFrame,
    clusters: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    llm: Llm,
    prompts: JudgePrompts,
    max_judged_pairs: int,
    memo: Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Judgement:
    """Verdicts on the open pairs, the most alike first where there are more than `max_judged_pairs`.

    `memo` holds the verdicts of other nights; without it every question is put to the door, which has its own.
    `advance` gets pairs as they are judged. Raises what `Llm.chat` raises; what was answered by then is in the memo.
    """
    chosen = choose_pairs(alias_candidates, max_judged_pairs=max_judged_pairs)
    pairs = describe_pairs(chosen, clusters, entity_mentions, relationship_mentions, documents)

    keys = _key_pairs(pairs, prompts, llm.models["judge"])
    verdicts = _recall(memo, keys)
    batches = _cut_batches([pair for pair in pairs if pair not in verdicts])

    async def ask(batch: Sequence[Pair]) -> _Answer:
        return await _ask_batch(llm, batch, prompts)

    def keep(batch: Sequence[Pair], answer: _Answer) -> None:
        if memo is not None:
            memo.put_many(
                MEMO_KIND, {keys[pair]: orjson.dumps([*verdict]) for pair, verdict in answer.verdicts.items()}
            )
        advance(len(batch))

    answers = await map_concurrently(ask, batches, in_flight=llm.in_flight, on_result=keep)
    for answer in answers:
        verdicts |= answer.verdicts
    rows = [(*pair[:4], *verdict) for pair, verdict in verdicts.items()]
    return Judgement(
        verdicts=pl.DataFrame(rows, schema=SCHEMA, orient="row").sort(SCHEMA.names()),
        failures=tables.FAILURES.from_rows([row for answer in answers for row in answer.failures]),
    )


def plan_judgement(
    alias_candidates: pl.DataFrame,
    entities: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    prompts: JudgePrompts,
    model: str,
    max_judged_pairs: int,
    memo: Memo | None = None,
) -> Iterator[ChatRequest]:
    """The questions about the open pairs of an index whose verdicts the memo does not hold."""
    clusters = entities.select(pl.col("id").alias("entity_id"), "title", "type", pl.col("aliases").alias("surfaces"))
    chosen = choose_pairs(alias_candidates, max_judged_pairs=max_judged_pairs)
    pairs = describe_pairs(chosen, clusters, entity_mentions, relationship_mentions, documents)
    known = _recall(memo, _key_pairs(pairs, prompts, model))
    for batch in _cut_batches([pair for pair in pairs if pair not in known]):
        yield render_question(batch, prompts)


def _key_pairs(pairs: Sequence[Pair], prompts: JudgePrompts, model: str) -> dict[Pair, str]:
    return {pair: memo_key(model, prompts.judge.sha256, pair.text) for pair in pairs}


def _cut_batches(pairs: Sequence[Pair]) -> list[Sequence[Pair]]:
    return [pairs[start : start + PAIRS_PER_CALL] for start in range(0, len(pairs), PAIRS_PER_CALL)]


def _recall(memo: Memo | None, keys: Mapping[Pair, str]) -> dict[Pair, Verdict]:
    held = memo.get_many(MEMO_KIND, list(keys.values())) if memo is not None else {}
    return {pair: Verdict(*orjson.loads(held[key])) for pair, key in keys.items() if key in held}


def choose_pairs(alias_candidates: pl.DataFrame, *, max_judged_pairs: int) -> pl.DataFrame:
    """The open rows of alias_candidates that are worth a question (as in the view duplicate_suspects), the most alike
    first, up to a number."""
    open_pairs = alias_candidates.filter(pl.col("verdict") == "propose", pl.col("score") >= tables.SUSPECT_SCORE)
    order = (-pl.col("score"), "surface_a", "surface_b", "entity_id_a", "entity_id_b")
    return open_pairs.sort(*order).head(max_judged_pairs)


def render_question(pairs: Sequence[Pair], prompts: JudgePrompts) -> ChatRequest:
    messages = prompts.judge.render({"pairs": number_pairs(pairs)})
    return ChatRequest(
        stage=STAGE,
        role="judge",
        messages=tuple(Message(message.role, message.content) for message in messages),
        prompt_version=prompts.judge.sha256,
        max_tokens=REPLY_TOKENS_PER_PAIR * (len(pairs) + 1),
        expected_tokens=EXPECTED_TOKENS_PER_PAIR * len(pairs),
        accept=lambda text: not parse_verdicts_reply(text, n_pairs=len(pairs)).problem,
        repair=prompts.repair.render({})[0].content,
    )


async def _ask_batch(llm: Llm, pairs: Sequence[Pair], prompts: JudgePrompts) -> _Answer:
    """Pairs that the reply leaves out (it was cut, say) are asked about once more; too long a question in halves."""
    answer, is_too_long = await _ask(llm, pairs, prompts)
    if is_too_long and len(pairs) > 1:
        half = len(pairs) // 2
        first, second = await _ask_batch(llm, pairs[:half], prompts), await _ask_batch(llm, pairs[half:], prompts)
        return _Answer(first.verdicts | second.verdicts, first.failures + second.failures)
    missing = [pair for pair in pairs if pair not in answer.verdicts]
    if not answer.verdicts or not missing:
        return answer
    again, _ = await _ask(llm, missing, prompts)
    left = [pair for pair in missing if pair not in again.verdicts]
    failures = again.failures or [
        tables.failure_row(STAGE, _name(pair), "missing_verdict", "the judge left this pair out, twice")
        for pair in left
    ]
    return _Answer(answer.verdicts | again.verdicts, failures)


async def _ask(llm: Llm, pairs: Sequence[Pair], prompts: JudgePrompts) -> tuple[_Answer, bool]:
    reply = await llm.chat(render_question(pairs, prompts))
    parsed = parse_verdicts_reply(reply.text, n_pairs=len(pairs))
    if reply.is_good and not parsed.problem:
        return _Answer({pairs[number - 1]: verdict for number, verdict in parsed.verdicts.items()}, []), False
    reason = parsed.problem if reply.is_good or reply.status == "unreadable_reply" else reply.status
    detail = f"{len(pairs)} pairs of names stay open: {reply.detail or 'no verdict in the reply'}"
    row = tables.failure_row(STAGE, _name(pairs[0]), reason, detail, raw_reply=reply.text or None)
    return _Answer({}, [row]), reply.status == "too_long"


def _name(pair: Pair) -> str:
    return f"{pair.surface_a} / {pair.surface_b}"
