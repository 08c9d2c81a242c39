"""Answers judged by a model: three scores an answer, and which of two answers is better, asked in both orders.

faithfulness: what the answer states stands in its context; grounding: the quotes of its citations support it;
relevancy: it answers the question. Each 0 to 3, all in one call. Two answers are put to the judge twice, each first
once: a judge that prefers a place contradicts itself. A mode is also judged against its own second run (the A/A run):
what differs there is noise.

A reply that cannot be read is asked for once more; then it counts as unread. An answer that says that there is none has
nothing to score. The judge never sees which mode an answer is of.

Asks the model of the role `judge`. Does not: answer (evaluation.py), or sum up (preferences.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from graphrag.citations import drop_citations
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.llm.door import Llm
from graphrag.prompts import Prompt
from graphrag.replies.objects import TIE, parse_preference_reply, parse_scores_reply
from graphrag.search.answer import Answer, drop_label
from graphrag.search.evaluation.evaluation import AGAIN, Answers, GoldQuestion
from graphrag.search.model_answer import ask_all
from graphrag.search.support import UNSUPPORTED

SCORES = ("faithfulness", "grounding", "relevancy")
HIGHEST = 3
SCORE_STAGE, PAIR_STAGE = "judge_answer", "judge_pair"
MAX_REPLY, USUAL_REPLY = 400, 60  # tokens
NO_QUOTES, UNKNOWN = "(the answer cites nothing)", "(not known)"
SCORE_SCHEMA: Mapping[str, pl.DataType] = {
    "method": pl.String(),
    "question_id": pl.String(),
    **dict.fromkeys(SCORES, pl.Int64()),  # null where the reply could not be read
    "reason": pl.String(),
}
VERDICT_SCHEMA: Mapping[str, pl.DataType] = {
    "method": pl.String(),
    "against": pl.String(),
    "question_id": pl.String(),
    "first": pl.String(),  # the method whose answer was shown first
    "better": pl.String(),  # first, second, tie; null where the reply could not be read
    "reason": pl.String(),
}


class Judged(NamedTuple):
    """scores: one row an answered question and method; verdicts: two rows a pair of answers, one an order."""

    scores: pl.DataFrame
    verdicts: pl.DataFrame


class Pair(NamedTuple):
    """Two methods' answers to a question, the one of `method` shown first or second."""

    method: str
    against: str
    asked: GoldQuestion
    first: str


def judge_answers(
    llm: Llm, prompts: Mapping[str, Prompt], questions: Sequence[GoldQuestion], answers: Answers
) -> Judged:
    """Scores of all answers, and each method compared with the first. All scores, then all pairs, are asked at once.

    prompts: judge_answer, judge_pair, repair_reply. Raises what the model's door raises.
    """
    repair = prompts["repair_reply"].render({})[0].content
    return Judged(
        _score_answers(llm, prompts["judge_answer"], repair, questions, answers),
        _compare_answers(llm, prompts["judge_pair"], repair, questions, answers),
    )


def write_score_request(prompt: Prompt, repair: str, question: str, answer: Answer) -> ChatRequest:
    quotes = list(dict.fromkeys(f"{c.ref}: {' '.join(c.quote.split())}" for c in answer.citations))
    values = {
        "question": question,
        "answer": _show_answer(answer),
        "context_data": answer.context,
        "quotes": "\n".join(quotes) or NO_QUOTES,
    }
    return _write_request(SCORE_STAGE, prompt, values, repair)


def write_pair_request(prompt: Prompt, repair: str, asked: GoldQuestion, first: Answer, second: Answer) -> ChatRequest:
    """Without citations: a judge of two answers sees no quotes, and their number would count as a merit."""
    values = {
        "question": asked.question,
        "expected": "\n".join(f"- {' or '.join(spellings)}" for spellings in asked.answers) or UNKNOWN,
        "first_answer": drop_citations(_show_answer(first)),
        "second_answer": drop_citations(_show_answer(second)),
    }
    return _write_request(PAIR_STAGE, prompt, values, repair)


def _write_request(stage: str, prompt: Prompt, values: Mapping[str, str], repair: str) -> ChatRequest:
    return ChatRequest(
        stage=stage,
        role="judge",
        messages=tuple(Message(message.role, message.content) for message in prompt.render(values)),
        prompt_version=prompt.sha256,
        max_tokens=MAX_REPLY,
        expected_tokens=USUAL_REPLY,
        accept=_accept_scores if stage == SCORE_STAGE else _accept_preference,
        repair=repair,
    )


def _score_answers(
    llm: Llm, prompt: Prompt, repair: str, questions: Sequence[GoldQuestion], answers: Answers
) -> pl.DataFrame:
    given = [(m, q, of[q.id]) for m, of in answers.items() for q in questions if of[q.id].answered]
    replies = ask_all(
        llm, [write_score_request(_choose(prompt, m), repair, q.question, answer) for m, q, answer in given]
    )
    rows = []
    for (method, asked, _), reply in zip(given, replies, strict=True):
        read = parse_scores_reply(reply.text if reply.is_good else None, names=SCORES, highest=HIGHEST)
        scores = {name: read.scores.get(name) for name in SCORES}
        rows.append({"method": method, "question_id": asked.id, **scores, "reason": _explain(read.reason, reply)})
    return pl.DataFrame(rows, schema=dict(SCORE_SCHEMA))


def _compare_answers(
    llm: Llm, prompt: Prompt, repair: str, questions: Sequence[GoldQuestion], answers: Answers
) -> pl.DataFrame:
    """Where neither answered it is a tie, without a call."""
    against, *others = answers
    pairs = [
        Pair(method, against, asked, first) for method in others for asked in questions for first in (method, against)
    ]
    requests, asked_pairs = [], []
    rows: dict[Pair, dict[str, Any]] = {}
    for pair in pairs:
        second = against if pair.first == pair.method else pair.method
        shown = answers[pair.first][pair.asked.id], answers[second][pair.asked.id]
        if not (shown[0].answered or shown[1].answered):
            rows[pair] = {"better": TIE, "reason": "Neither answers."}
            continue
        # Of a second run that is equal both orders are the same words: the judge is asked twice all the same.
        version = _choose(prompt, pair.method) if pair.first == pair.method else prompt
        requests.append(write_pair_request(version, repair, pair.asked, *shown))
        asked_pairs.append(pair)
    for pair, reply in zip(asked_pairs, ask_all(llm, requests), strict=True):
        read = parse_preference_reply(reply.text if reply.is_good else None)
        rows[pair] = {"better": read.better or None, "reason": _explain(read.reason, reply)}
    named = [
        {"method": p.method, "against": p.against, "question_id": p.asked.id, "first": p.first, **rows[p]}
        for p in pairs
    ]
    return pl.DataFrame(named, schema=dict(VERDICT_SCHEMA))


def _choose(prompt: Prompt, method: str) -> Prompt:
    """What is judged of a second run is judged anew."""
    return prompt.again() if method.endswith(f" {AGAIN}") else prompt


def _show_answer(answer: Answer) -> str:
    """The words alone: the label tells what wrote them, and the marks are a verdict already."""
    return drop_label(answer.text).replace(f" {UNSUPPORTED}", "").strip()


def _explain(reason: str, reply: ChatReply) -> str:
    return reason if reply.is_good else f"{reply.status}: {reply.detail}"


def _accept_scores(text: str) -> bool:
    return not parse_scores_reply(text, names=SCORES, highest=HIGHEST).problem


def _accept_preference(text: str) -> bool:
    return not parse_preference_reply(text).problem
