"""What a model cites, resolved: each row to a document, its path, offsets and the quote that supports the sentence.

A row that several sentences cite has a quote for each. Of a passage, the sentence most like the one that cites it; of a
relationship, its evidence; of a report, the most like of the sentences that it quotes; of an entity, a sentence about
it. A row for which no document can be quoted is not resolved: the caller takes its citation out of the text.

Reads the published tables. Does not: check whether the context holds a row (graphrag/citations.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphrag.citations import KINDS, Cited, check_citations
from graphrag.search.answer import Citation
from graphrag.search.reports.report_digest import Quote, list_quotes
from graphrag.search.rows import Passage, Report, load_facts, load_passages, load_paths, load_reports
from graphrag.search.support import CheckedSentence, choose_span, stem_words

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_PASSAGES_OF_ENTITY = 8

Claims = Mapping[int, Sequence[str]]
"""The sentences that cite a row, by its number."""


def list_claims(statements: Iterable[CheckedSentence], known: Mapping[str, Sequence[int]]) -> dict[Cited, list[str]]:
    """Of each row that is cited, the sentences that cite it."""
    claims: dict[Cited, list[str]] = {}
    for statement in statements:
        for cited in check_citations(statement.text, known).cited:
            claims.setdefault(cited, []).append(statement.text)
    return claims


def resolve_citations(index: Index, cited: Sequence[Cited], claims: Mapping[Cited, Sequence[str]]) -> list[Citation]:
    """The citations of each row that can be quoted, in the order given, one for each quote that `claims`, the sentences
    that cite it, lead to."""
    numbers: dict[str, list[int]] = {}
    for dataset, number in cited:
        numbers.setdefault(dataset, []).append(number)
    found: dict[Cited, dict[Citation, None]] = {}
    for dataset, resolve in (
        ("Sources", _resolve_sources),
        ("Relationships", _resolve_relationships),
        ("Reports", _resolve_reports),
        ("Entities", _resolve_entities),
    ):
        if wanted := numbers.get(dataset):
            by_number = {number: claims.get((dataset, number), [""]) for number in wanted}
            for citation in resolve(index, by_number):
                found.setdefault((dataset, citation.human_readable_id), {})[citation] = None
    return [citation for row in cited for citation in found.get(row, ())]


def _ids(index: Index, table: str, numbers: Iterable[int]) -> list[str]:
    """`table` is a name of ours, never a word of a user or a model."""
    return index.frame(
        f"select id from {table} where human_readable_id in (select unnest(?::bigint[])) order by human_readable_id",
        (list(numbers),),
    )["id"].to_list()


def _resolve_sources(index: Index, claims: Claims) -> list[Citation]:
    passages = load_passages(index, _ids(index, "text_units", claims))
    return [
        _quote(passage, span, "Sources", passage.human_readable_id, passage.id)
        for passage in passages
        for claim in claims[passage.human_readable_id]
        if (span := choose_span(passage.text, claim))
    ]


def _resolve_relationships(index: Index, claims: Claims) -> list[Citation]:
    return [fact.to_citation() for fact in load_facts(index, _ids(index, "relationships", claims))]


def _resolve_reports(index: Index, claims: Claims) -> list[Citation]:
    reports = load_reports(index, _ids(index, "community_reports", claims))
    quotes = {report.id: list_quotes(report) for report in reports}
    documents = sorted({quote.document for found in quotes.values() for quote in found})
    paths = load_paths(index, documents)
    return [
        _cite_report(report, quotes[report.id], claim, paths)
        for report in reports
        if quotes[report.id]
        for claim in claims[report.human_readable_id]
    ]


def _cite_report(report: Report, quotes: Sequence[Quote], claim: str, paths: Mapping[str, str]) -> Citation:
    wanted = stem_words(claim)
    quote = max(quotes, key=lambda quote: len(stem_words(quote.text) & wanted))
    number = report.human_readable_id
    place = (quote.document, paths.get(quote.document, ""), quote.start, quote.end, quote.text)
    return Citation(f"Reports ({number})", KINDS["Reports"], report.id, number, *place)


def _resolve_entities(index: Index, claims: Claims) -> list[Citation]:
    rows = index.frame(
        "select id, human_readable_id, title, text_unit_ids from entities "
        "where human_readable_id in (select unnest(?::bigint[])) order by human_readable_id",
        (list(claims),),
    ).rows()
    found = []
    for entity_id, number, title, units in rows:
        passages = load_passages(index, sorted(units)[:MAX_PASSAGES_OF_ENTITY])
        for claim in (f"{title} {claim}" for claim in claims[number]):
            places = [(passage, span) for passage in passages if (span := choose_span(passage.text, claim))]
            wanted = stem_words(claim)
            if places:
                passage, span = max(places, key=lambda place: len(stem_words(place[0].text[slice(*place[1])]) & wanted))
                found.append(_quote(passage, span, "Entities", number, entity_id))
    return found


def _quote(passage: Passage, span: tuple[int, int], dataset: str, number: int, row_id: str) -> Citation:
    place = (
        passage.document,
        passage.path,
        passage.start + span[0],
        passage.start + span[1],
        passage.text[slice(*span)],
    )
    return Citation(f"{dataset} ({number})", KINDS[dataset], row_id, number, *place)
