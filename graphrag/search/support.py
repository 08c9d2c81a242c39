"""Which sentences of a model's answer the context supports.

A sentence that states something is supported when it cites a row of the context, or when one row holds most of its
words. The others get a mark, so that a reader sees what rests on nothing. Headings, code, a line that ends in a colon
and sentences of fewer than two words with meaning state nothing.

Does not: check citations (graphrag/citations.py does, before), or see a negation: words are compared, not their sense.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from graphrag.citations import CITATION, drop_citations
from graphrag.search.ranking import STOP_WORDS, stem_term
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

UNSUPPORTED = "[unsupported]"
SHARE_HELD = 0.75  # of a sentence's words in one row: what is added to a paraphrase beyond a quarter is new
FEWEST_WORDS = 2
LONGEST_QUOTE = 600  # characters; longer evidence is a whole text unit, as an import has it, and no sentence
_CITATION_AND_STOP = re.compile(rf"{CITATION.pattern}([.!?。]*)", re.IGNORECASE)

_RULE_OF_TABLE = re.compile(r"\|[\s|:-]+")


class CheckedSentence(NamedTuple):
    """A statement of the answer: text[start:end] is the sentence, its citations up to the next one included."""

    start: int
    end: int
    text: str
    has_citation: bool


class MarkedText(NamedTuple):
    text: str
    n_sentences: int
    n_unsupported: int


def list_statements(text: str) -> list[CheckedSentence]:
    """The sentences of a Markdown text that state something, in order. A citation after a full stop belongs to the
    sentence before it."""
    masked = _CITATION_AND_STOP.sub(_mask, text)
    spans = sentence_spans(masked)
    found = []
    for (start, end), (after, after_end) in pairwise([*spans, (len(text), len(text))]):
        if _RULE_OF_TABLE.fullmatch(masked, after, after_end):
            continue  # the heads of the columns
        last = max((m.end() for m in CITATION.finditer(text, start, after)), default=0)
        whole = text[start : max(end, last)].rstrip()
        is_statement = not masked.startswith(("#", "```", "~~~"), start) and not whole.rstrip(" *_").endswith(":")
        if is_statement and len(stem_words(whole)) >= FEWEST_WORDS:
            found.append(CheckedSentence(start, start + len(whole), whole, last > 0))
    return found


def mark_unsupported(text: str, context: str) -> MarkedText:
    """The text with a mark behind each statement that has no citation and that no line of the context supports."""
    statements = list_statements(text)
    rows: list[set[str]] | None = None
    marked, n_unsupported, at = [], 0, 0
    for statement in statements:
        if statement.has_citation:
            continue
        rows = [stem_words(line) for line in context.splitlines()] if rows is None else rows
        if not is_held(statement.text, rows):
            end = statement.end - (1 if statement.text.endswith("|") else 0)  # inside the last cell of a table's row
            marked += [text[at:end].rstrip(), f" {UNSUPPORTED}", " " if end < statement.end else ""]
            n_unsupported, at = n_unsupported + 1, end
    return MarkedText("".join([*marked, text[at:]]), len(statements), n_unsupported)


def drop_unsupported(text: str, context: str) -> str:
    """The text without the statements that have no citation and that no line of the context supports."""
    rows = [stem_words(line) for line in context.splitlines()]
    kept, at = [], 0
    for statement in list_statements(text):
        if not statement.has_citation and not is_held(statement.text, rows):
            kept.append(text[at : statement.start])
            at = statement.end
    return "".join([*kept, text[at:]]).strip()


def is_held(sentence: str, rows: Sequence[set[str]]) -> bool:
    """Whether one row (its stems) holds most of a sentence's words."""
    stems = stem_words(sentence)
    return any(len(stems & row) >= SHARE_HELD * len(stems) for row in rows)


def choose_span(text: str, claim: str) -> tuple[int, int] | None:
    """The sentence of `text` that shares most words with `claim`, the earliest among equals; None without one."""
    wanted = stem_words(claim)
    spans = [span for span in sentence_spans(text) if not text.startswith(("#", "```", "~~~"), span[0])]
    spans = spans or sentence_spans(text)
    return max(spans, key=lambda span: (len(stem_words(text[slice(*span)]) & wanted), -span[0]), default=None)


def narrow_quote(quote: str, start: int, claim: str) -> tuple[str, int, int]:
    """What is shown of evidence, with its place: all of it, or of a whole text unit the sentence most like `claim`."""
    span = choose_span(quote, claim) if len(quote) > LONGEST_QUOTE else None
    first, end = span or (0, len(quote))
    return quote[first:end], start + first, start + end


def stem_words(text: str) -> set[str]:
    """The words with meaning, as stems; those of a text without citations."""
    return {stem_term(term) for term in split_search_terms(drop_citations(text)) if term not in STOP_WORDS}


def _mask(match: re.Match[str]) -> str:
    """Blanks of the same length, the full stop first: `A uses B [Data: Sources (3)]. C` ends its sentence at B."""
    stop = match[match.re.groups]
    return stop + " " * (len(match[0]) - len(stop))
