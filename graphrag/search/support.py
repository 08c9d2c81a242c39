"""Which sentences of a model's answer the context supports.

A sentence that states something is supported when it cites a row of the context, or when one row holds most of its
words: then it gets that row's citation. The others get a mark, so that a reader sees what rests on nothing. So does a
sentence that shares no word with any row it cites, unless it is in another language than the context: of its words
nothing can be said, and its citations are believed. Headings, code, a line that ends in a colon and sentences of fewer
than two words with meaning state nothing.

Does not: check that the context holds what is cited (graphrag/citations.py does, before), or see a negation: words are
compared, not their sense.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from graphrag.citations import CITATION, Cited, cite, drop_citations
from graphrag.search.ranking import STOP_WORDS, stem_term
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

UNSUPPORTED = "[unsupported]"
SHARE_HELD = 0.75  # of a sentence's words in one row: what is added to a paraphrase beyond a quarter is new
FEWEST_WORDS = 2
LONGEST_QUOTE = 600  # characters; longer evidence is a whole text unit, as an import has it, and no sentence
_STOPS = ".!?。"
MAX_ADDED = 5  # numbers in a citation that is added
_CITATION_AND_STOP = re.compile(rf"{CITATION.pattern}([.!?。]*)", re.IGNORECASE)

_HEADING = re.compile(r"-----([A-Z][a-z]+)-----")
_NUMBER = re.compile(r"(\d{1,18})\|")
_DATASET = re.compile(r"([A-Z][a-z]+) \(([\d, ]*)\)")  # of checked citations

_RULE_OF_TABLE = re.compile(r"\|[\s|:-]+")


class CheckedSentence(NamedTuple):
    """A statement of the answer: text[start:end] is the sentence, its citations up to the next one included."""

    start: int
    end: int
    text: str
    has_citation: bool


class ContextRow(NamedTuple):
    """A line of the context: what it is cited by, and the stems of its words."""

    cited: tuple[Cited, ...]
    stems: frozenset[str]


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


def read_rows(context: str) -> list[ContextRow]:
    """The lines of a context: a row of a table is cited by its dataset and number, a point by the reports it cites."""
    rows, dataset = [], ""
    for line in context.splitlines():
        if heading := _HEADING.fullmatch(line):
            dataset = heading[1]
        elif line.strip():
            number = _NUMBER.match(line) if dataset else None
            known = ((dataset, int(number[1])),) if number else _list_cited(line) if not dataset else ()
            rows.append(ContextRow(known, frozenset(stem_words(line))))
    return rows


def cite_supported(text: str, context: str) -> str:
    """The text with a citation behind each uncited statement that one row holds: of the rows that hold most of its
    words, the first that can be cited."""
    rows: list[ContextRow] | None = None
    parts, at = [], 0
    for statement in list_statements(text):
        if statement.has_citation:
            continue
        rows = [row for row in read_rows(context) if row.cited] if rows is None else rows
        stems = stem_words(statement.text)
        best = max(rows, key=lambda row: len(stems & row.stems), default=None)
        if best is not None and len(stems & best.stems) >= SHARE_HELD * len(stems):
            end = _end_of_words(statement)
            numbers: dict[str, list[int]] = {}
            for dataset, number in best.cited[:MAX_ADDED]:
                numbers.setdefault(dataset, []).append(number)
            parts += [text[at:end], f" {cite(**numbers)}"]
            at = end
    return "".join([*parts, text[at:]])


def mark_unsupported(text: str, context: str) -> MarkedText:
    """The text with a mark behind each statement that no line of the context supports: neither one that it cites, nor,
    without a citation, any."""
    statements = list_statements(text)
    rows: list[ContextRow] | None = None
    marked, n_unsupported, at = [], 0, 0
    for statement in statements:
        rows = read_rows(context) if rows is None else rows
        if not is_supported(statement, rows):
            end = statement.end - (1 if statement.text.endswith("|") else 0)  # inside the last cell of a table's row
            end = len(text) - len(text[end:].lstrip(_STOPS))
            marked += [text[at:end].rstrip(), f" {UNSUPPORTED}", " " if text[end:].startswith("|") else ""]
            n_unsupported, at = n_unsupported + 1, end
    return MarkedText("".join([*marked, text[at:]]), len(statements), n_unsupported)


def drop_unsupported(text: str, context: str) -> str:
    """The text without the statements that no line of the context supports."""
    rows = read_rows(context)
    kept, at = [], 0
    for statement in list_statements(text):
        if not is_supported(statement, rows):
            kept.append(text[at : statement.start])
            at = statement.end
    return "".join([*kept, text[at:]]).strip()


def is_supported(statement: CheckedSentence, rows: Sequence[ContextRow]) -> bool:
    """Whether the rows that a statement cites share a word with it, or without citations one row holds most of it."""
    stems = stem_words(statement.text)
    if not statement.has_citation:
        return any(len(stems & row.stems) >= SHARE_HELD * len(stems) for row in rows)
    cited = set(_list_cited(statement.text))
    found = [row for row in rows if cited & set(row.cited)]
    if not found or any(stems & row.stems for row in found):
        return True
    return not _is_same_language(statement.text, rows)


def _is_same_language(sentence: str, rows: Sequence[ContextRow]) -> bool:
    """Whether a sentence has a word of grammar that we know, or one with meaning that the context has."""
    terms = split_search_terms(drop_citations(sentence))
    return any(term in STOP_WORDS for term in terms) or any(stem_words(sentence) & row.stems for row in rows)


def _list_cited(text: str) -> tuple[Cited, ...]:
    return tuple(
        (name, int(number))
        for match in CITATION.finditer(text)
        for name, listing in _DATASET.findall(match[2])
        for number in re.findall(r"\d{1,18}", listing)
    )


def _end_of_words(statement: CheckedSentence) -> int:
    """Where its citation goes: before the full stop, inside the last cell of a row."""
    words = statement.text.rstrip(f"{_STOPS} |")
    return statement.start + len(words)


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
