"""A community report before it is a row of community_reports, and the row: rank, citations, Markdown, JSON.

A neighbour of reports.py. Does not: write a report (extractive_reports.py, report_calls.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphrag.citations import KINDS, Cited
from graphrag.digest import Sentence
from graphrag.ids import row_id
from graphrag.index.report_corpus import Corpus, is_stated
from graphrag.index.report_wording import cited_relationships
from graphrag.tables import UNCONNECTED

LLM, EXTRACTIVE, TEMPLATE = "llm", "extractive", "template"  # who wrote a report: column method


class Finding(NamedTuple):
    summary: str
    explanation: str


@dataclass(frozen=True)
class Report:
    """A report before it is a row.

    `quotes` are all that its text cites, `digest` those a parent may repeat, `facts` relationships that it cites
    without a quote, because no document states them. A model's report has a `rating` of its own (null: as structure
    says), `cited` rows as they stand in the column citations, and what did not fit its prompt (`left_out`).
    """

    title: str
    summary: str
    findings: list[Finding]
    method: str
    quotes: list[Sentence] = field(default_factory=list)
    digest: list[Sentence] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    rating: float | None = None
    rating_explanation: str = ""
    cited: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def rate_by_structure(row: dict[str, Any], corpus: Corpus) -> tuple[float, str]:
    """rank = 10/3 * (size/(size + 10) + weight/(weight + 20) + documents/(documents + 5)), and the figures in words.

    Of its stated relationships the summed weight and the number of distinct documents that state them: each part is one
    half at a typical community of the finest level, none depends on other communities, so an unchanged community keeps
    its rank.
    """
    stated = [r for r in row["relationship_ids"] if is_stated(r, corpus)]
    weight = sum(corpus.relationships[r]["weight"] for r in stated)
    contents = {corpus.documents[q.document_id]["content_sha256"] for r in stated for q in corpus.quotes_of.get(r, [])}
    size, n_documents = row["size"], len(contents)
    if row["title"] == UNCONNECTED:
        return 0.0, f"Rank 0 of 10: {say_count(size, 'entity', 'entities')}, none related to another."
    parts = size / (size + 10) + weight / (weight + 20) + n_documents / (n_documents + 5)
    rank = round(10 / 3 * parts, 1)
    entities, facts = say_count(size, "entity", "entities"), say_count(len(stated), "stated relationship")
    if not stated:
        return rank, f"Rank {rank:g} of 10: {entities} that stand in the same sentences; no relationship is stated."
    figures = f"{entities}, {facts} of total weight {weight:.0f}"
    return rank, f"Rank {rank:g} of 10: {figures}, from {say_count(n_documents, 'document')}."


def say_count(n: int, noun: str, plural: str = "") -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {plural or noun + 's'}"


def list_citations(report: Report, row: dict[str, Any], corpus: Corpus) -> list[dict[str, Any]]:
    """Every cited row with the place of its quote; null and "" for a fact that no document states."""
    listed = list(report.cited)
    for quote in dict.fromkeys(report.quotes):
        place = {"document_id": quote.document_id, "start": quote.start, "end": quote.end, "quote": quote.text}
        listed += [_cite_relationship(r, corpus) | place for r in cited_relationships(quote, row, corpus)]
        if unit := corpus.unit_of.get((quote.document_id, quote.start, quote.end)):
            listed.append(name_row(("Sources", corpus.unit_numbers[unit]), unit) | place)
    return listed + [_cite_relationship(fact, corpus) | NOWHERE for fact in report.facts]


NOWHERE: dict[str, Any] = {"document_id": None, "start": None, "end": None, "quote": ""}


def name_row(cited: Cited, row_id_: str) -> dict[str, Any]:
    """The first half of a citation: what is cited. The other half is its place, or NOWHERE."""
    dataset, number = cited
    return {
        "ref": f"{dataset} ({number})", "kind": KINDS[dataset], "id": row_id_, "human_readable_id": number
    }  # fmt: skip


def _cite_relationship(relationship_id: str, corpus: Corpus) -> dict[str, Any]:
    return name_row(("Relationships", corpus.relationships[relationship_id]["human_readable_id"]), relationship_id)


def finish_row(row: dict[str, Any], report: Report, corpus: Corpus) -> dict[str, Any]:
    """The row of community_reports for a row of communities."""
    if report.rating is None:
        rank, explanation = rate_by_structure(row, corpus)
    else:
        rank, explanation = report.rating, report.rating_explanation or "The model gave no reason for its rating."
    findings = [finding._asdict() for finding in report.findings]
    sections = [f"## {finding.summary}\n\n{finding.explanation}".rstrip() for finding in report.findings]
    full_content = "\n\n".join([f"# {report.title}", report.summary, *sections])
    as_json = {
        "title": report.title, "summary": report.summary, "findings": findings, "rating": rank,
        "rating_explanation": explanation,
    }  # fmt: skip
    copied = ("human_readable_id", "community", "level", "parent", "children", "period", "size")
    return {
        "id": row_id("community_report", row["id"], full_content),
        **{name: row[name] for name in copied},
        "title": report.title, "summary": report.summary, "full_content": full_content, "rank": rank,
        "rating_explanation": explanation, "findings": findings, "method": report.method,
        "full_content_json": json.dumps(as_json, ensure_ascii=False, indent=4),
        "citations": json.dumps(list_citations(report, row, corpus), ensure_ascii=False),
        "left_out": json.dumps(report.left_out),
    }  # fmt: skip
