"""What reports say about a question, without a model: their best quotes, grouped by community, each cited.

Candidates are the sentences that the reports quote. A question about documents of a kind ("our incidents") is answered
from those documents: all their sentences are candidates, each under the best report whose community they are evidence
of, and what many of them say weighs more than what one says (TextRank, graphrag/digest.py).

Reads documents, communities, community_reports, text_units. Does not: choose the reports (global_search.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.digest import (
    Sentence,
    is_near_duplicate,
    rate_readability,
    select_sentences,
    show_quote,
    trim_span,
)
from graphrag.search.answer import KINDS, Citation, cite
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Passage, Report, list_text_units, load_passages
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_REPORTS, MAX_QUOTES_A_REPORT, MAX_QUOTES_A_DOCUMENT, MAX_EMBEDDED = 5, 2, 2, 20
MAX_QUOTES_OF_KIND = 3
MAX_REFS = 5
SUBJECT_WORTH = 1.4
RELATIVE_FLOOR = 0.4  # of the best quote's weight
READABLE = 0.6


class Quote(NamedTuple):
    """A sentence of a document, the report it is shown under, and what it is cited by: dataset, number, row id."""

    report_id: str
    text: str
    document: str
    start: int
    end: int
    refs: tuple[tuple[str, int, str], ...]
    weight: float = 0.0


class Kind(NamedTuple):
    """Documents of the kind that a question asks about, and the words of the question (by stem) that say so."""

    documents: frozenset[str]
    stems: frozenset[str]


def find_documents_of_kind(index: Index, question: Question) -> Kind:
    """The documents whose folder or declared type is a word of the question: incidents/, `type: incident`.

    A kind that more than half of the documents have says nothing.
    """
    rows = index.frame(
        "select id, path, coalesce(json_extract_string(try_cast(metadata as json), '$.type'), '') from documents"
    ).rows()
    asked = set(question.idf)
    stems: dict[str, set[str]] = {}
    for document, path, kind in rows:
        terms = {stem_term(term) for part in (*path.split("/")[:-1], kind) for term in split_search_terms(part)}
        if asked & terms:
            stems[document] = asked & terms
    if len(stems) > len(rows) / 2:
        return Kind(frozenset(), frozenset())
    return Kind(frozenset(stems), frozenset(stem for found in stems.values() for stem in found))


def digest_reports(
    index: Index, question: Question, reports: Sequence[Report], *, kind: Kind
) -> dict[str, list[Quote]]:
    """Quotes by report id, reports in the order to show: as given, or by how many documents of the kind they join."""
    quotes = [quote for report in reports for quote in list_quotes(report)]
    if kind.documents:
        quotes = [quote for quote in quotes if quote.document in kind.documents]
        quotes += _list_sentences(index, reports, kind.documents, known=quotes)
        quotes = _prefer_subject(question, _weigh_centrality(_weigh(question, quotes)), kind)
        limit = MAX_QUOTES_OF_KIND
    else:
        first = {report.id for report in reports[:MAX_REPORTS]}
        quotes = _weigh(question, [quote for quote in quotes if quote.report_id in first])
        quotes = _weigh_meaning(question, quotes) if question.terms else _weigh_centrality(quotes)
        limit = MAX_QUOTES_A_REPORT
    chosen = _choose(quotes, limit=limit)
    order = [report.id for report in reports if report.id in chosen]
    if kind.documents:
        order.sort(key=lambda report_id: -len({quote.document for quote in chosen[report_id]}))
    return {report_id: chosen[report_id] for report_id in order[:MAX_REPORTS]}


def _prefer_subject(question: Question, quotes: Sequence[Quote], kind: Kind) -> list[Quote]:
    """More weight for the sentences that hold a word of the question besides those that name the kind: of
    "decisions about databases" those on databases."""
    rest = {stem: idf for stem, idf in question.idf.items() if stem not in kind.stems}
    subject = replace(question, idf=rest)
    return [
        quote._replace(weight=quote.weight * (SUBJECT_WORTH if subject.coverage(quote.text) > 0 else 1))
        for quote in quotes
    ]


def list_quotes(report: Report) -> list[Quote]:
    """The report's quotes, each once with all it is cited by, in the report's order."""
    found: dict[tuple[str, int, int], Quote] = {}
    for row in report.citations:
        place = (row["document_id"], row["start"], row["end"])
        quote = found.get(place, Quote(report.id, row["quote"], *place, refs=()))
        ref = (row["ref"].partition(" (")[0], row["human_readable_id"], row["id"])
        found[place] = quote._replace(refs=(*quote.refs, ref))
    return list(found.values())


def _list_sentences(
    index: Index, reports: Sequence[Report], kind: Collection[str], *, known: Sequence[Quote]
) -> list[Quote]:
    """Sentences of documents of a kind, under the first report whose community has their text unit as evidence."""
    rows = index.frame(
        "select r.id, unnest(c.text_unit_ids) from communities c join community_reports r on r.community = c.community "
        "where r.id in (select unnest(?::varchar[]))",
        ([report.id for report in reports],),
    ).rows()
    rank = {report.id: position for position, report in enumerate(reports)}
    report_of: dict[str, str] = {}
    for report_id, unit in sorted(rows, key=lambda row: (-rank[row[0]], row[1])):
        report_of[unit] = report_id
    taken = {(quote.document, position) for quote in known for position in (quote.start, quote.end)}
    sentences = []
    for passage in load_passages(index, list_text_units(index, sorted(kind))):
        if passage.id in report_of:
            for quote in _cut_sentences(passage, report_of[passage.id]):
                if not taken & {(quote.document, quote.start), (quote.document, quote.end)}:
                    sentences.append(quote)
    return sentences


def _cut_sentences(passage: Passage, report_id: str) -> list[Quote]:
    quotes = []
    for span in sentence_spans(passage.text):
        start, end = trim_span(passage.text, *span)
        text = passage.text[start:end]
        if passage.text.startswith("#", span[0]) or rate_readability(text) < READABLE:
            continue
        ref = ("Sources", passage.human_readable_id, passage.id)
        quotes.append(Quote(report_id, text, passage.document, passage.start + start, passage.start + end, (ref,)))
    return quotes


def _weigh(question: Question, quotes: Sequence[Quote]) -> list[Quote]:
    base = 0.1 if question.terms else 0.5
    return [
        quote._replace(weight=rate_readability(quote.text) * (base + question.coverage(quote.text))) for quote in quotes
    ]


def _weigh_centrality(quotes: Sequence[Quote]) -> list[Quote]:
    """For themes: what many of the quotes say weighs more than what one of them says."""
    sentences = [Sentence(q.text, q.document, q.start, q.end, (q.report_id,), 0.3 + q.weight) for q in quotes]
    ranks = {pick.sentence: pick.score for pick in select_sentences(sentences, limit=len(sentences))}
    return [quote._replace(weight=ranks.get(sentence, 0.0)) for quote, sentence in zip(quotes, sentences, strict=True)]


def _weigh_meaning(question: Question, quotes: Sequence[Quote]) -> list[Quote]:
    """The few best, with their nearness to the question added."""
    best = sorted(quotes, key=lambda quote: -quote.weight)[:MAX_EMBEDDED]
    if question.embedder is None or question.vector is None or not best:
        return best
    cosines = question.embedder.embed([quote.text for quote in best]) @ question.vector
    return [
        quote._replace(weight=quote.weight + 0.4 * round(question.nearness(float(c)), 6) * rate_readability(quote.text))
        for quote, c in zip(best, cosines, strict=True)
    ]


def _choose(quotes: Sequence[Quote], *, limit: int) -> dict[str, list[Quote]]:
    """Best first, up to `limit` a report, none said twice in the answer, none far below the best."""
    chosen: dict[str, list[Quote]] = {}
    words: list[set[str]] = []
    n_of: dict[str, int] = {}
    ordered = sorted(quotes, key=lambda quote: -round(quote.weight, 6))
    for quote in ordered:
        if quote.weight < RELATIVE_FLOOR * ordered[0].weight:
            break
        terms = set(split_search_terms(quote.text))
        if len(chosen.get(quote.report_id, ())) >= limit or n_of.get(quote.document, 0) >= MAX_QUOTES_A_DOCUMENT:
            continue
        if not any(is_near_duplicate(terms, others) for others in words):
            chosen.setdefault(quote.report_id, []).append(quote)
            words.append(terms)
            n_of[quote.document] = n_of.get(quote.document, 0) + 1
    return chosen


def render_digest(reports: Mapping[str, Report], quotes: Mapping[str, Sequence[Quote]]) -> list[str]:
    """A line a report, under it a line a quote with what it is cited by."""
    lines = []
    for report_id, shown in quotes.items():
        report = reports[report_id]
        lines.append(f"{report.title} {cite(Reports=[report.human_readable_id])}")
        for quote in shown:
            refs: dict[str, list[int]] = {}
            for dataset, number, _ in quote.refs:
                refs.setdefault(dataset, []).append(number)
            cut = {dataset: sorted(set(numbers))[:MAX_REFS] for dataset, numbers in refs.items()}
            lines.append(f"- {show_quote(quote.text)} {cite(**cut)}")
    return lines


def resolve_digest(
    index: Index, reports: Mapping[str, Report], quotes: Mapping[str, Sequence[Quote]]
) -> list[Citation]:
    """A citation for each id in the digest; a report's resolve to the quotes shown under it."""
    documents = sorted({quote.document for shown in quotes.values() for quote in shown})
    rows = index.frame("select id, path from documents where id in (select unnest(?::varchar[]))", (documents,)).rows()
    paths = dict(rows)
    citations = []
    for report_id, shown in quotes.items():
        report = reports[report_id]
        for quote in shown:
            place = (quote.document, paths.get(quote.document, ""), quote.start, quote.end, quote.text)
            for dataset, number, row_id in (("Reports", report.human_readable_id, report.id), *quote.refs):
                citations.append(Citation(f"{dataset} ({number})", KINDS[dataset], row_id, number, *place))
    return citations
