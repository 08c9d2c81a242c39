"""Notes that were learned since the published run, beside an answer: those that hold most words of the question, and
those that are as near to it in meaning as the best passages of the index.

They are listed before the passages of the index and said in a paragraph of their own, with their path: they have no
number that a citation could name before the next run. Their vectors are kept in the memo.

Reads vectors of text_units. Does not: read notes (reading/new_notes.py), ask a service for vectors, or reach the
words of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphrag.reading.new_notes import NewNote
from graphrag.search.answer import NOTHING, Answer, Source
from graphrag.search.entries.entry_summary import summarise_entry
from graphrag.search.ranking import (
    COVERAGE_ALONE,
    is_relevant,
    measure_likeness,
    prepare_question,
    question_terms,
    stem_term,
)
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.memo import Memo
    from graphrag.store import Index

HEADING = "Learned since the last run:"
MAX_NOTES = 3
MAX_CHARACTERS, MAX_EMBEDDED = 1_200, 200  # of a note; notes: beyond, a run is overdue


def add_new_notes(
    answer: Answer, notes: Sequence[NewNote], *, top: int, nearness: Mapping[str, float] = MappingProxyType({})
) -> Answer:
    """The answer with up to three notes, best first, ties by path: those that hold three quarters of the question's
    terms, and those of `nearness` (find_near_notes)."""
    asked = {stem_term(term) for term in question_terms(answer.question)}
    scores: dict[str, float] = {}
    for note in notes:
        share = len(asked & _stems(note)) / len(asked) if asked else 0.0
        if share >= COVERAGE_ALONE or note.document_id in nearness:
            scores[note.path] = round(max(share, nearness.get(note.document_id, 0.0)), 6)
    if not scores:
        return answer
    found = [note for note in notes if note.path in scores]
    shown = sorted(found, key=lambda note: (-scores[note.path], note.path))[:MAX_NOTES]
    sources = [Source(0, n.document_id, n.document_id, n.title, n.path, scores[n.path]) for n in shown]
    listed = [replace(source, rank=rank) for rank, source in enumerate([*sources, *answer.sources], 1)]
    lines = [f"- {summarise_entry('', note.text[note.body :]) or note.title} ({note.path})" for note in shown]
    said = [] if answer.text == NOTHING else ["", answer.text]
    return replace(answer, text="\n".join([HEADING, *lines, *said]), answered=True, sources=tuple(listed[:top]))


def find_near_notes(
    index: Index, notes: Sequence[NewNote], text: str, *, model: str, memo: Memo | None
) -> dict[str, float]:
    """Nearness, up to 1, of the notes that have to do with a question and would be among the three nearest passages, by
    document id. Without notes no model is loaded; without vectors, or a measure of what they mean, there are none.

    model: as prepare_question takes it.
    """
    if not notes:
        return {}
    question, _ = prepare_question(index, text, model=model)
    if question.vector is None or question.embedder is None or question.embedder.floor is None:
        return {}
    from graphrag.vectors import embed_texts

    some = notes[:MAX_EMBEDDED]
    bodies = [f"{note.title}\n{note.text[note.body :].strip()[:MAX_CHARACTERS]}" for note in some]
    cosines = (embed_texts(bodies, model=question.embedder.name, memo=memo) @ question.vector).tolist()
    likeness = measure_likeness(index, question, "text_units")
    passages = sorted(likeness.of(likeness.best(MAX_NOTES)).values())
    bar = passages[0] if len(passages) == MAX_NOTES else 0.0
    return {
        note.document_id: round(min(1.0, question.nearness(cosine)), 6)
        for note, body, cosine in zip(some, bodies, cosines, strict=True)
        if cosine >= bar and is_relevant(question, cosine, body)
    }


def _stems(note: NewNote) -> set[str]:
    return {stem_term(term) for term in split_search_terms(f"{note.title}\n{note.text[note.body :]}")}
