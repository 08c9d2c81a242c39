"""Rows ranked for a question by words (BM25) and by meaning (vectors), fused by reciprocal rank; and whether the best
of them have to do with the question at all.

Fusion: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning
methods" (2009), constant 60. On HotpotQA paragraphs BM25 and MiniLM fused beat either alone.

Does not: walk the graph (local_search.py) or know which rows are shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphrag import vectors
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.store import Index

RRF_CONSTANT = 60
MAX_QUESTION_CHARACTERS = 4_000  # a pasted log is cut: nothing after this changes what is found, only how long it takes
# A passage is taken to have to do with the question when it holds this share of the question's terms, by their idf.
COVERAGE_FLOOR = 0.5

# Function words and words that ask, not words that name. Kept short: a word left in only costs a little precision.
_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can cannot could did do does doing down during each else ever few for from further get give had has have
    having he her here hers him his how however i if in into is it its itself just let like list many may me might
    more most much must my myself need no nor not of off on once one only or other our ours out over own per please
    same say shall she should show since so some such tell than that the their theirs them then there these they
    this those through to too under until up upon us very want was we were what when where whether which while who
    whom whose why will with would yes you your yours explain describe happen happens happened s t don doesn isn
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True)
class Question:
    """A question ready to be matched: its content terms with their idf, and its vector where the index has vectors."""

    text: str
    terms: tuple[str, ...]
    idf: Mapping[str, float]
    vector: NDArray[np.float32] | None = None
    embedder: vectors.Embedder | None = None

    def coverage(self, text: str) -> float:
        """Share of the question's terms, weighted by idf, that a text holds; 0 without content terms."""
        total = sum(self.idf.values())
        held = set(split_search_terms(text))
        return sum(self.idf[term] for term in self.terms if term in held) / total if total else 0.0


@dataclass(frozen=True)
class Hit:
    """A ranked row: fused score (higher is better), its BM25 score and its cosine (0 where a list does not hold it)."""

    owner_id: str
    score: float
    bm25: float
    cosine: float


def question_terms(question: str) -> list[str]:
    """Search terms without stop words, each once, in order."""
    terms = list(dict.fromkeys(split_search_terms(question)))
    return [term for term in terms if term not in STOP_WORDS]


def prepare_question(index: Index, question: str, *, model: str = "") -> tuple[Question, list[str]]:
    """The question with idf of its terms in text units and its vector, and notices on what could not be used.

    model `none` leaves vectors out; otherwise the model that made the index's vectors is the one that counts.
    """
    text = " ".join(question.split())[:MAX_QUESTION_CHARACTERS]
    terms = question_terms(text)
    notices: list[str] = []
    vector, embedder = None, None
    if model != "none":
        models = index.frame("select distinct model from embeddings order by model")["model"].to_list()
        if not models:
            notices.append("The index has no vectors: matched by words only.")
        elif problem := vectors.is_available(models[0]):
            notices.append(f"{problem} Matched by words only.")
        else:
            embedder = vectors.load_embedder(models[0])
            vector = embedder.embed([text], is_query=True)[0]
    return Question(text, tuple(terms), _idf(index, terms), vector, embedder), notices


def rank_rows(index: Index, question: Question, owner_table: str, *, top: int) -> list[Hit]:
    """The best rows of a table by words and meaning, fused by rank; ties in table order of the better list."""
    by_words = _search_words(index, question, owner_table, top=top)
    by_meaning = _search_vectors(index, question, owner_table, top=top)
    fused: dict[str, float] = {}
    for ranked in (by_words, by_meaning):
        for rank, owner_id in enumerate(ranked, start=1):
            fused[owner_id] = fused.get(owner_id, 0.0) + 1 / (RRF_CONSTANT + rank)
    order = sorted(fused, key=lambda owner_id: (-fused[owner_id], owner_id))[:top]
    return [Hit(o, round(fused[o], 9), by_words.get(o, 0.0), by_meaning.get(o, 0.0)) for o in order]


def is_relevant(question: Question, hit: Hit, text: str) -> bool:
    """Whether a row has to do with the question: near enough in meaning, or it holds enough of its terms."""
    floor = question.embedder.floor if question.embedder else None
    if floor is not None and hit.cosine >= floor:
        return True
    return hit.bm25 > 0 and question.coverage(text) >= COVERAGE_FLOOR


def _idf(index: Index, terms: Sequence[str]) -> dict[str, float]:
    """idf of Lucene's BM25 over text units; a term that no text unit holds weighs most."""
    n_units = int(index.frame("select count(*) as n from search_owners where owner_table = 'text_units'").item())
    rows = index.frame(
        "select term, count(*) as df from search_postings where owner_table = 'text_units' "
        "and term in (select unnest(?::varchar[])) group by term",
        (list(terms),),
    ).rows()
    found = dict(rows)
    return {term: math.log(1 + (n_units - found.get(term, 0) + 0.5) / (found.get(term, 0) + 0.5)) for term in terms}


def _search_words(index: Index, question: Question, owner_table: str, *, top: int) -> dict[str, float]:
    if not question.terms:
        return {}
    return dict(index.search_bm25(list(question.terms), owner_table, top=top).select("owner_id", "score").rows())


def _search_vectors(index: Index, question: Question, owner_table: str, *, top: int) -> dict[str, float]:
    if question.vector is None:
        return {}
    import numpy as np

    ids, matrix = index.vectors(owner_table)
    if not ids:
        return {}
    cosines = np.asarray(matrix @ question.vector, dtype=np.float32)
    best = np.argpartition(-cosines, top)[:top] if len(ids) > top else np.arange(len(ids))
    order = sorted(best.tolist(), key=lambda row: (-float(cosines[row]), row))
    return {ids[row]: round(float(cosines[row]), 6) for row in order}
