"""Search measured on one's own questions: the modes beside BM25, vectors and their fusion, on the same index.

A file of questions is JSON Lines: `question`; `gold_documents`, the documents that it takes to answer it, each a path,
a title, an id of the index or the `id` of the record it came from; `answers`, what the answer must say, each a text or
a list of its spellings; at least one of the two; `id`, else the number of the line.

A method's documents are those of its best passages, each once, at the place of its first.

Reads documents, text_units and what the modes read. Does not: compute the measures (measures.py), or judge answers
(judging.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from graphrag.errors import InputError, did_you_mean, shown_path
from graphrag.search import answer_question
from graphrag.search.answer import Answer
from graphrag.search.evaluation.measures import (
    RESULT_SCHEMA,
    choose_baseline,
    compare_methods,
    count_valid,
    measure_documents,
    measure_said,
    summarise_methods,
)
from graphrag.search.ranking import measure_likeness, prepare_question, rank_rows

if TYPE_CHECKING:
    from graphrag.llm.concurrency import MapMany
    from graphrag.search.model_answer import SearchModel
    from graphrag.store import Index

BASELINES = ("bm25", "vectors", "fusion")
# Passages that a method may list; the baselines rank more, so that a fusion has what to fuse.
N_PASSAGES, N_RANKED = 20, 50
MAX_NAMED = 5
KEYS = ("id", "question", "gold_documents", "answers")
AGAIN = "again"  # `basic again`: the first mode, asked a second time

Answers = dict[str, dict[str, Answer]]
"""By method and id of the question."""


@dataclass(frozen=True)
class GoldQuestion:
    """A question, ids of the documents that it takes, and what its answer must say, each with its spellings."""

    id: str
    question: str
    documents: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...], ...] = ()


class Evaluation(NamedTuple):
    """results: one row a method and question (measures.RESULT_SCHEMA); summary: one a method; comparison: each method
    against `baseline`, the best one; empty where no question has gold documents. answers: of the modes,
    and where asked for those of the first mode given a second time."""

    k: int
    results: pl.DataFrame
    summary: pl.DataFrame
    baseline: str
    comparison: pl.DataFrame
    notices: list[str]
    answers: Answers


def read_questions(path: Path, index: Index) -> list[GoldQuestion]:
    """The questions of a file, in its order, gold documents resolved.

    Raises InputError, naming the line, for a row that is not such an object or an id that comes twice; and for gold
    documents that the index does not hold, or a title that several have.
    """
    shown = shown_path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"Cannot read the questions in {shown}: {reason}.") from error
    questions = [
        _read_question(line, f"{shown} line {number}", str(number))
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not questions:
        raise InputError(f"{shown} holds no question. Write one JSON object a line, with the keys {', '.join(KEYS)}.")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise InputError(f'{shown}: the id "{question.id}" comes twice. Give each question an id of its own.')
        seen.add(question.id)
    return _resolve_documents(index, questions, shown)


def evaluate_search(
    index: Index,
    questions: Sequence[GoldQuestion],
    *,
    modes: Sequence[str] = ("basic", "local"),
    baselines: Sequence[str] = BASELINES,
    k: int = 5,
    level: int = 1,
    budget_tokens: int = 4000,
    model: str = "",
    llm: SearchModel | None = None,
    is_repeated: bool = False,
    map_many: MapMany = map,
) -> Evaluation:
    """Ask every question by every baseline and mode; figures of time are of this machine, all others repeat.

    model: `none` leaves vectors out, and the baselines that need them. llm: writes the answers; None: extracts.
    is_repeated: the first mode answers twice, for a judge (judging.py). map_many: asks several questions at once, where
    a model answers.
    """
    document_of = dict(index.frame("select id, document_id from text_units").iter_rows())
    has_vectors = prepare_question(index, questions[0].question, model=model)[0].vector is not None
    rows: list[dict[str, Any]] = []
    for method in baselines if has_vectors else [name for name in baselines if name == "bm25"]:
        rank = _BASELINES[method]
        for asked in questions:
            began = time.perf_counter()
            units = rank(index, asked.question, model)
            seconds = time.perf_counter() - began
            found = list(dict.fromkeys(document_of[unit] for unit in units[: max(k, N_PASSAGES)]))[:k]
            rows.append(_row(method, asked, found, seconds=seconds))
    knobs = {"level": level, "top": max(k, N_PASSAGES), "budget_tokens": budget_tokens, "model": model, "llm": llm}
    answers: Answers = {}
    for mode in modes:
        answers[mode] = answer_all(index, questions, mode=mode, map_many=map_many, **knobs)
        for asked in questions:
            answer = answers[mode][asked.id]
            found = list(dict.fromkeys(source.document for source in answer.sources))[:k]
            measured = _measure_answer(index, asked, answer)
            rows.append(_row(mode, asked, found, seconds=answer.usage.seconds, **measured))
    if is_repeated and modes:
        again = replace(llm, prompts={name: prompt.again() for name, prompt in llm.prompts.items()}) if llm else None
        knobs |= {"llm": again}
        answers[f"{modes[0]} {AGAIN}"] = answer_all(index, questions, mode=modes[0], map_many=map_many, **knobs)
    results = pl.DataFrame(rows, schema=dict(RESULT_SCHEMA))
    summary = summarise_methods(results)
    baseline = choose_baseline(summary, baselines)
    notices = [] if has_vectors else ["The index has no vectors that can be used: words only, one baseline."]
    return Evaluation(k, results, summary, baseline, compare_methods(results, baseline), notices, answers)


def answer_all(
    index: Index, questions: Sequence[GoldQuestion], *, mode: str, map_many: MapMany = map, **knobs: Any
) -> dict[str, Answer]:
    """The answers of a mode by id of the question; knobs as those of answer_question."""

    def ask(asked: GoldQuestion) -> Answer:
        return answer_question(index, asked.question, mode=mode, **knobs)

    return {asked.id: answer for asked, answer in zip(questions, map_many(ask, questions), strict=True)}


def _row(method: str, asked: GoldQuestion, found: list[str], **figures: Any) -> dict[str, Any]:
    empty = dict.fromkeys(RESULT_SCHEMA)
    measured = measure_documents(found, asked.documents)
    return {**empty, "method": method, "question_id": asked.id, "documents": found, **measured, **figures}


def _measure_answer(index: Index, asked: GoldQuestion, answer: Answer) -> dict[str, Any]:
    cited = sorted({citation.document for citation in answer.citations})
    texts = index.frame("select id, text from documents where id in (select unnest(?::varchar[]))", (cited,))
    return {
        "answered": float(answer.answered),
        "said": measure_said(answer, asked.answers),
        "n_citations": len(answer.citations),
        "n_valid": count_valid(answer, dict(texts.iter_rows())),
        "context_tokens": answer.usage.context_tokens,
    }


def _rank_by_words(index: Index, question: str, model: str) -> list[str]:
    asked, _ = prepare_question(index, question, model="none")
    return [hit.owner_id for hit in rank_rows(index, asked, "text_units", top=N_RANKED)]


def _rank_by_vectors(index: Index, question: str, model: str) -> list[str]:
    asked, _ = prepare_question(index, question, model=model)
    return measure_likeness(index, asked, "text_units").best(N_RANKED)


def _rank_by_both(index: Index, question: str, model: str) -> list[str]:
    asked, _ = prepare_question(index, question, model=model)
    return [hit.owner_id for hit in rank_rows(index, asked, "text_units", top=N_RANKED)]


_BASELINES: Mapping[str, Callable[[Index, str, str], list[str]]] = {
    "bm25": _rank_by_words,
    "vectors": _rank_by_vectors,
    "fusion": _rank_by_both,
}


def _read_question(line: str, place: str, number: str) -> GoldQuestion:
    """A row as it is written: `documents` are still names. Raises InputError, naming the place."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is not JSON. Write one object a line.") from error
    question = row.get("question") if isinstance(row, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise InputError(f'{place} has no "question". Write one object a line, with the keys {", ".join(KEYS)}.')
    documents, answers = row.get("gold_documents") or [], row.get("answers") or []
    if not isinstance(documents, list) or not all(isinstance(name, str | int) for name in documents):
        raise InputError(f'{place}: "gold_documents" must be a list of paths, titles or ids.')
    spellings = [[answer] if isinstance(answer, str) else answer for answer in _as_list(answers)]
    if not all(isinstance(s, list) and s and all(isinstance(x, str) and x.strip() for x in s) for s in spellings):
        raise InputError(f'{place}: "answers" must be a list of texts, or of lists of spellings.')
    if not documents and not answers:
        unknown = next((key for key in row if key not in KEYS and did_you_mean(key, KEYS)), "")
        hint = f' "{unknown}" is not read.{did_you_mean(unknown, KEYS)}' if unknown else ""
        raise InputError(f'{place} has neither "gold_documents" nor "answers": nothing to measure.{hint}')
    names = tuple(dict.fromkeys(str(name) for name in documents))
    return GoldQuestion(str(row.get("id", number)), question, names, tuple(tuple(s) for s in spellings))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _resolve_documents(index: Index, questions: Sequence[GoldQuestion], shown: str) -> list[GoldQuestion]:
    """Names to ids of documents: an id, else a path, else the id in the metadata, else a title."""
    rows = index.frame(
        "select id, path, coalesce(json_extract_string(metadata, '$.id'), '') as record, title from documents "
        "order by path"
    ).rows()
    known: list[dict[str, list[str]]] = []
    for column in range(4):
        by_name: dict[str, list[str]] = {}
        for row in rows:
            by_name.setdefault(row[column], []).append(row[0])
        known.append(by_name)
    wanted = list(dict.fromkeys(name for question in questions for name in question.documents))
    found = {name: next((by_name[name] for by_name in known if name and name in by_name), []) for name in wanted}
    if unknown := [name for name in wanted if not found[name]]:
        more = f" and {len(unknown) - MAX_NAMED} more" if len(unknown) > MAX_NAMED else ""
        listed = ", ".join(f'"{name}"' for name in unknown[:MAX_NAMED])
        hint = did_you_mean(unknown[0], [name for row in rows for name in (row[1], row[3]) if name])
        raise InputError(f"{shown}: no such document in the index: {listed}{more}.{hint}")
    for name, ids in found.items():
        if len(ids) > 1:
            raise InputError(f'{shown}: "{name}" are {len(ids)} documents. Name the path of the one that is meant.')
    return [
        GoldQuestion(q.id, q.question, tuple(dict.fromkeys(found[name][0] for name in q.documents)), q.answers)
        for q in questions
    ]
