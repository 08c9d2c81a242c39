"""The frames that a community report is written from, as look-ups, and what matters most in a community.

A neighbour of reports.py. A quote is a digest.Sentence whose `ids` are the relationships it states. Its span is the
evidence's, less list marks, table bars and an attribution ("— Data Team") at the ends; where it opens with "It" or the
like, the sentence before it comes along. Its text is documents.text[start:end] to the letter.

Does not: write or choose sentences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from graphrag.digest import Sentence, leans_on_others, trim_span
from graphrag.sentences import sentence_spans

COOCCURRENCE_WORTH = 0.2
"""What a co-occurrence counts beside a stated relation when members and sentences are ranked."""
MAX_REACH = 400
"""Characters that a quote may have together with the sentences it leans on."""

Span = tuple[str, int, int]
"""document_id, and offsets in the document's text."""


@dataclass(frozen=True)
class Corpus:
    """The frames as look-ups. A quote is a Sentence whose ids are its relationships; quotes are gathered when the first
    is asked for, which a report of a model does not."""

    entities: dict[str, dict[str, Any]]
    relationships: dict[str, dict[str, Any]]
    documents: dict[str, dict[str, Any]]
    evidence: pl.DataFrame
    unit_numbers: dict[str, int]

    @property
    def quotes_of(self) -> dict[str, list[Sentence]]:
        return self._gathered[0]

    @property
    def unit_of(self) -> dict[Span, str]:
        return self._gathered[1]

    @cached_property
    def _gathered(self) -> tuple[dict[str, list[Sentence]], dict[Span, str]]:
        return _gather_quotes(self.evidence, self.documents)


def read_corpus(
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
) -> Corpus:
    columns = ["id", "human_readable_id", "title", "pagerank", "n_documents"]
    papers = documents.select("id", "title", "text", "path", "content_sha256").rows_by_key(
        "id", named=True, unique=True
    )
    return Corpus(
        entities={row["id"]: row for row in entities.select(columns).to_dicts()},
        relationships={row["id"]: row for row in relationships.drop("text_unit_ids", "description").to_dicts()},
        documents=papers,
        evidence=evidence,
        unit_numbers=dict(text_units.select("id", "human_readable_id").iter_rows()),
    )


def _gather_quotes(
    evidence: pl.DataFrame, documents: dict[str, dict[str, Any]]
) -> tuple[dict[str, list[Sentence]], dict[Span, str]]:
    """The sentences of each relationship, trimmed, in order of path and offset; and the text unit of each span."""
    spans: dict[Span, set[str]] = {}
    unit_of: dict[Span, str] = {}
    quoted: dict[Span, Span | None] = {}  # one sentence may state several relationships
    columns = ("document_id", "start_char", "end_char", "relationship_id", "quote", "text_unit_id")
    for document, start, end, relationship, quote, unit in evidence.select(columns).sort(columns[:4]).iter_rows():
        paper = documents.get(document)
        if paper is None or paper["text"][start:end] != quote:
            continue  # authored relations stand in no document
        if (document, start, end) not in quoted:
            quoted[document, start, end] = _find_quote(paper["text"], document, start, end)
        if (span := quoted[document, start, end]) is not None:
            spans.setdefault(span, set()).add(relationship)
            if unit is not None:
                unit_of[span] = unit
    quotes_of: dict[str, list[Sentence]] = {}
    for document, start, end in sorted(spans, key=lambda span: (documents[span[0]]["path"], *span[1:])):
        related = tuple(sorted(spans[document, start, end]))
        quote = Sentence(documents[document]["text"][start:end], document, start, end, related)
        for relationship in related:
            quotes_of.setdefault(relationship, []).append(quote)
    return quotes_of, unit_of


def _find_quote(text: str, document: str, first: int, last: int) -> Span | None:
    """What to quote of a span of evidence; None where nothing is left, or where a document imitates our citations."""
    start, end = trim_span(text, first, last)
    if start == first:  # a list item or table cell stands alone
        start = _find_antecedent(text, start, end)
    return (document, start, end) if start < end and "[Data:" not in text[start:end] else None


def _find_antecedent(text: str, start: int, end: int) -> int:
    """Where to begin so that a span that leans on the sentence before it, in its own paragraph or list item, can be
    understood; a sentence that leans on another in its turn is no help."""
    if not leans_on_others(text[start:end]):
        return start
    blank = text.rfind("\n\n", 0, start)
    paragraph = blank + 2 if blank >= 0 else 0
    if start - paragraph > 10 * MAX_REACH:  # a page without a blank line: not worth cutting into sentences
        return start
    before = [span for span in sentence_spans(text[paragraph:end]) if paragraph + span[1] <= start]
    if not before:
        return start
    first, last = (paragraph + place for place in before[-1])
    is_apart = bool(text[last:start].strip()) or text[first] in "#|>-*+`" or end - first > MAX_REACH
    return start if is_apart or leans_on_others(text[first:last]) else first


def worth_of(relationship: dict[str, Any]) -> float:
    return float(relationship["weight"]) * (COOCCURRENCE_WORTH if relationship["origin"] == "cooccurrence" else 1.0)


def is_stated(relationship_id: str, corpus: Corpus) -> bool:
    return bool(corpus.relationships[relationship_id]["origin"] != "cooccurrence")


def touches(relationship_id: str, entity_id: str, corpus: Corpus) -> bool:
    relationship = corpus.relationships[relationship_id]
    return entity_id in (relationship["source_id"], relationship["target_id"])


def weigh_members(row: dict[str, Any], corpus: Corpus) -> dict[str, float]:
    """Summed worth of each member's relationships inside the community."""
    worth = dict.fromkeys(row["entity_ids"], 0.0)
    for relationship_id in row["relationship_ids"]:
        relationship = corpus.relationships[relationship_id]
        for end in (relationship["source_id"], relationship["target_id"]):
            worth[end] += worth_of(relationship)
    return worth


def order_members(row: dict[str, Any], corpus: Corpus) -> list[str]:
    """Most important first: by worth inside, then PageRank, then title."""
    worth = weigh_members(row, corpus)
    entities = corpus.entities
    return sorted(worth, key=lambda e: (-round(worth[e], 6), -entities[e]["pagerank"], entities[e]["title"]))


def name_by_spread(entity_ids: Iterable[str], corpus: Corpus) -> list[str]:
    found = [corpus.entities[entity] for entity in entity_ids]
    return [e["title"] for e in sorted(found, key=lambda e: (-e["n_documents"], e["title"].casefold(), e["title"]))]


def order_relationships(relationship_ids: Iterable[str], corpus: Corpus) -> list[str]:
    """Heaviest first, stated before co-occurring, ties by the names."""

    def key(relationship_id: str) -> tuple[float, str, str, str]:
        row = corpus.relationships[relationship_id]
        return -worth_of(row), row["source"], row["predicate"], row["target"]

    return sorted(relationship_ids, key=key)


def quotes_inside(row: dict[str, Any], corpus: Corpus) -> list[Sentence]:
    """All sentences that state a relationship of the community, each once, in order of relationship and place."""
    found: dict[Sentence, None] = {}
    for relationship_id in row["relationship_ids"]:
        found.update(dict.fromkeys(corpus.quotes_of.get(relationship_id, [])))
    return sorted(found, key=lambda quote: (corpus.documents[quote.document_id]["path"], quote.start, quote.end))
