"""Notes that were learned since the published run, beside an answer: those that hold most words of the question.

They are listed before the passages of the index and said in a paragraph of their own, with their path: they have no
number that a citation could name before the next run. Pure. Does not: read notes (graphrag/new_notes.py), use vectors,
or reach the words of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphrag.new_notes import NewNote
from graphrag.search.answer import NOTHING, Answer, Source
from graphrag.search.entry_summary import summarise_entry
from graphrag.search.ranking import COVERAGE_ALONE, question_terms, stem_term
from graphrag.tokens import split_search_terms

HEADING = "Learned since the last run:"
MAX_NOTES = 3


def add_new_notes(answer: Answer, notes: Sequence[NewNote], *, top: int) -> Answer:
    """The answer with up to three notes that hold three quarters of the question's terms, best first, ties by path."""
    asked = {stem_term(term) for term in question_terms(answer.question)}
    if not asked:
        return answer
    held = [(len(asked & _stems(note)) / len(asked), note) for note in notes]
    found = sorted(((share, note) for share, note in held if share >= COVERAGE_ALONE), key=lambda f: (-f[0], f[1].path))
    if not found:
        return answer
    shown = found[:MAX_NOTES]
    sources = [Source(0, n.document_id, n.document_id, n.title, n.path, round(share, 6)) for share, n in shown]
    listed = [replace(source, rank=rank) for rank, source in enumerate([*sources, *answer.sources], 1)]
    lines = [f"- {summarise_entry('', note.text[note.body :]) or note.title} ({note.path})" for _, note in shown]
    said = [] if answer.text == NOTHING else ["", answer.text]
    return replace(answer, text="\n".join([HEADING, *lines, *said]), answered=True, sources=tuple(listed[:top]))


def _stems(note: NewNote) -> set[str]:
    return {stem_term(term) for term in split_search_terms(f"{note.title}\n{note.text[note.body :]}")}
