"""Entries that say already what a new note says: the nearest passages, by meaning and by shared words.

Likeness is the cosine of the vectors, or the share of the note's terms that the passage holds, whichever is more.
Reads text_units, documents, the inverted index, vectors. Does not: refuse anything (bank/knowledge_bank.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.ranking import STOP_WORDS, prepare_question, rank_rows
from graphrag.search.rows import load_passages
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.reading.new_notes import NewNote
    from graphrag.store import Index

N_LOOKED_AT = 10  # passages
MIN_TERMS = 6  # fewer shared words say little


class NearDuplicate(NamedTuple):
    path: str
    title: str
    likeness: float


def find_near_duplicates(
    index: Index | None, notes: Sequence[NewNote], text: str, *, model: str, floor: float
) -> list[NearDuplicate]:
    """Documents and notes not yet indexed whose likeness is `floor` or more, the most alike first, each once."""
    terms = _terms(text)
    found = [NearDuplicate(note.path, note.title, _share(terms, note.text[note.body :])) for note in notes]
    if index is not None:
        question, _ = prepare_question(index, text, model=model)
        hits = {hit.owner_id: hit for hit in rank_rows(index, question, "text_units", top=N_LOOKED_AT)}
        found += [
            NearDuplicate(p.path, p.title, max(hits[p.id].cosine, _share(terms, p.text)))
            for p in load_passages(index, list(hits))
        ]
    best: dict[str, NearDuplicate] = {}
    for each in sorted(found, key=lambda each: (-round(each.likeness, 6), each.path)):
        if each.likeness >= floor:
            best.setdefault(each.path, each)
    return list(best.values())


def _terms(text: str) -> set[str]:
    return set(split_search_terms(text)) - STOP_WORDS


def _share(terms: set[str], other: str) -> float:
    return len(terms & _terms(other)) / len(terms) if len(terms) >= MIN_TERMS else 0.0
