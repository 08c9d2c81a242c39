"""Extractive selection: the sentences that say most, once each, out of many that were said.

Reports and search answers without a model are made of these. A sentence comes in with its place in its document and
leaves untouched: it is ranked by TextRank over the similarity of words (Mihalcea & Tarau 2004), biased by a weight of
its own and, where there is a question, by the question's words (as in Otterbacher, Erkan & Radev 2005); then picked one
by one, relevance against sameness (maximal marginal relevance, Carbonell & Goldstein 1998), without near-duplicates.

`trim_span` takes list marks, table bars, emphasis and attributions off the ends of a span; `rate_readability` says how
well a span stands alone. Does not: cut text into sentences (sentences.py), change a word of them, or render citations.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrag import graphs
from graphrag.tokens import split_search_terms

MAX_RANKED = 300
"""Sentences that TextRank compares pairwise; of more, those of the largest bias."""
DAMPING = 0.6
"""Share of a sentence's rank that comes from the sentences like it; the rest is its own bias."""
SAMENESS = 0.4
"""How much likeness to an already picked sentence takes off a sentence of the best rank."""
DUPLICATE_OVERLAP = 0.8
"""Two sentences are the same news when the shorter has this share of its distinct words in the other."""


class Sentence(NamedTuple):
    """A span of a document: text is documents.text[start:end]. `ids` name the rows it speaks for, `weight` (> 0) is
    how much its subject matters to the caller."""

    text: str
    document_id: str
    start: int
    end: int
    ids: tuple[str, ...] = ()
    weight: float = 1.0


class Selected(NamedTuple):
    sentence: Sentence
    score: float


def select_sentences(sentences: Sequence[Sentence], *, limit: int, question: str = "") -> list[Selected]:
    """Up to `limit` sentences, best first, scores from 1 downwards. Equal scores keep the order handed in."""
    terms = [split_search_terms(sentence.text) for sentence in sentences]
    idf = _weigh_terms(terms)
    bias = np.array([sentence.weight for sentence in sentences], dtype=np.float64)
    if question:
        bias = bias * _match_question(terms, idf, set(split_search_terms(question)))
    chosen = [int(k) for k in np.argsort(-bias, kind="stable")[:MAX_RANKED] if bias[k] > 0]
    if not chosen or limit < 1:
        return []
    similarity = _compare(terms, idf, chosen)
    rank = _rank_texts(similarity, bias[chosen])
    words = [set(terms[k]) for k in chosen]
    return [Selected(sentences[chosen[k]], score) for k, score in _pick(rank, similarity, words, limit)]


def _weigh_terms(terms: Sequence[Sequence[str]]) -> dict[str, float]:
    """Inverse document frequency of each term, a sentence being a document (BM25's form, always positive)."""
    counts = Counter(term for row in terms for term in set(row))
    return {term: math.log1p((len(terms) - n + 0.5) / (n + 0.5)) for term, n in counts.items()}


def _match_question(terms: Sequence[Sequence[str]], idf: dict[str, float], asked: set[str]) -> NDArray[np.float64]:
    """Share of the question's weight that each sentence holds, plus a little for sentences near to such sentences."""
    total = sum(idf.get(term, 0.0) for term in sorted(asked)) or 1.0
    shares = [sum(idf[term] for term in sorted(asked & set(row))) / total for row in terms]
    return 0.01 + np.array(shares, dtype=np.float64)


def _compare(terms: Sequence[Sequence[str]], idf: dict[str, float], chosen: Sequence[int]) -> NDArray[np.float64]:
    """Cosine of tf-idf vectors, all pairs; 0 on the diagonal."""
    columns = {term: k for k, term in enumerate(sorted({term for row in chosen for term in terms[row]}))}
    matrix = np.zeros((len(chosen), max(len(columns), 1)), dtype=np.float64)
    for row, k in enumerate(chosen):
        for term, count in Counter(terms[k]).items():
            matrix[row, columns[term]] = (1 + math.log(count)) * idf[term]
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix /= np.where(norms == 0, 1, norms)
    similarity: NDArray[np.float64] = matrix @ matrix.T
    np.fill_diagonal(similarity, 0)
    return similarity


def _rank_texts(similarity: NDArray[np.float64], bias: NDArray[np.float64]) -> NDArray[np.float64]:
    """TextRank, the best being 1; rounded, so that the last bits of a sum never decide an order."""
    firsts, seconds = np.nonzero(np.triu(similarity > 0.05))
    edges = list(zip(firsts.tolist(), seconds.tolist(), strict=True))
    weights = similarity[firsts, seconds].tolist()
    ranks = np.array(graphs.pagerank(len(bias), edges, weights, reset=bias.tolist(), damping=DAMPING))
    shares: NDArray[np.float64] = np.round(ranks / ranks.max(), 6)
    return shares


def _pick(
    rank: NDArray[np.float64], similarity: NDArray[np.float64], words: Sequence[set[str]], limit: int
) -> list[tuple[int, float]]:
    left = list(range(len(rank)))
    nearest = np.zeros(len(rank))
    picked: list[tuple[int, float]] = []
    while left and len(picked) < limit:
        value = np.round(rank - SAMENESS * nearest, 6)
        best = max(left, key=lambda k: (value[k], -k))
        picked.append((best, float(rank[best])))
        nearest = np.maximum(nearest, similarity[best])
        left = [k for k in left if k != best and not is_near_duplicate(words[k], words[best])]
    return picked


def is_near_duplicate(words: Set[str], others: Set[str]) -> bool:
    """Whether two sets of distinct words say the same: the smaller lies nearly whole in the other."""
    smaller = min(len(words), len(others))
    return words == others or (smaller > 2 and len(words & others) >= DUPLICATE_OVERLAP * smaller)


_LEAD = re.compile(r"(?:\s+|[-*+•–]\s+|>\s?|#{1,6}\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+|\|\s*)+")
_LABEL = re.compile(r"\*\*[^*\n]{1,40}[.:]\*\*:?\s+(?=\S)|__[^_\n]{1,40}[.:]__:?\s+(?=\S)")
_TRAIL = re.compile(r"(?:\s|\||\\)+\Z")
# Whose words or task it is, after a dash and without a full stop: "Slots are dropped after an hour — Jonas Müller".
_ATTRIBUTION = re.compile(r"(?<=\w)[.!?]?\s+[—–]{1,2}\s*(?:[A-Z][\w.'’-]*)(?:\s+[A-Z][\w.'’-]*){0,3}\Z")


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of text without list marks, heading marks, bold labels, table bars, loose emphasis and an attribution
    ("— Jonas Müller") at its ends.

    Characters are only left off the ends, so the trimmed span is as verbatim as the given one. A span that is all
    marks comes back empty (start == end).
    """
    for _ in range(4):  # marks nest: "> - [x] **Done:** ..."
        before = (start, end)
        for pattern in (_LEAD, _LABEL):
            if found := pattern.match(text, start, end):
                start = found.end()
        if found := _TRAIL.search(text[start:end]):
            end = start + found.start()
        if (found := _ATTRIBUTION.search(text[start:end])) and not text[start:end].endswith((".", "!", "?")):
            end = start + found.start() + (found[0][0] in ".!?")
        start, end = _trim_emphasis(text, start, end)
        if (start, end) == before:
            break
    return start, max(start, end)


def _trim_emphasis(text: str, start: int, end: int) -> tuple[int, int]:
    """Without an emphasis mark that wraps the whole span, or has no partner in it."""
    for mark in ("**", "__", "*", "_"):
        inner = text[start:end]
        opens, closes = inner.startswith(mark), inner.endswith(mark)
        if opens and closes and inner.count(mark) == 2 and len(inner) > 2 * len(mark):
            return start + len(mark), end - len(mark)
        if inner.count(mark) == 1 and len(inner) > len(mark):
            if opens:
                return start + len(mark), end
            if closes:
                return start, end - len(mark)
    return start, end


_DANGLING = re.compile(
    r"(?:it|its|they|their|them|this|that|these|those|he|she|his|her|there|then|so|but|and|or|also|here|such|both|"
    r"however|therefore|thus|instead|meanwhile|otherwise|(?:since|until|by|before|after|for|because of|at|in)"
    r" (?:then|that|this))\b",
    re.I,
)
_KEY_VALUE = re.compile(r"[\w.-]+:\s+\S")
_CODE = re.compile(r"[{}\[\]<>=;\\/_`$|]")
_TERMINAL = re.compile(r"[.!?。！？؟।…][\"'”’»)\]*_]*\Z")
MIN_WORDS, MAX_WORDS, MAX_CHARACTERS, MAX_LINKS = 4, 45, 320, 3


def leans_on_others(text: str) -> bool:
    """Whether a sentence opens with a word that points back to an earlier one: it, this, they, so, but ..."""
    return _DANGLING.match(text) is not None


@lru_cache(maxsize=1 << 16)
def rate_readability(text: str) -> float:
    """0 to 1: how well a span reads by itself. Tables, code, fragments and sentences that lean on others rate low.

    Scripts without spaces are judged by their characters, two to a word.
    """
    n_wide = 0 if text.isascii() else sum(char > "\u2e7f" for char in text)
    n_words = max(len(text.split()), n_wide // 2)
    rate = 1.0
    if " | " in text or text.count("|") > 1:
        rate *= 0.15
    if n_words < MIN_WORDS or n_words > MAX_WORDS:
        rate *= 0.4
    if len(text) > MAX_CHARACTERS:  # addresses of links make a short sentence long
        rate *= 0.6
    if not _TERMINAL.search(text):
        rate *= 0.4 if text.endswith(":") else 0.7
    if text.endswith("?"):
        rate *= 0.5
    if text.count('"') % 2 or text.count("“") != text.count("”") or text.count("(") != text.count(")"):
        rate *= 0.4  # cut in the middle of something
    if text.count("[[") + text.count(" · ") > MAX_LINKS:
        rate *= 0.2
    if len(_CODE.findall(text)) > 0.06 * len(text):
        rate *= 0.4
    if leans_on_others(text):
        rate *= 0.5
    if _KEY_VALUE.match(text) and "\n" not in text and not _TERMINAL.search(text):
        rate *= 0.4
    return rate


def show_quote(quote: str) -> str:
    """A quote on one line: runs of white space become one space, nothing else changes."""
    return " ".join(quote.split())
