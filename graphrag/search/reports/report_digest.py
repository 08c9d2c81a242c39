"""What reports say about a question, without a model: their best quotes, grouped by community, each cited.

Candidates are the sentences that the reports quote. For a question about the whole, what many of them say weighs more
than what one says (TextRank, graphrag/digest.py).

Reads documents. Does not: choose the reports (global_search.py), or answer from documents of a kind (overview.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.citations import KINDS, cite
from graphrag.digest import (
    Sentence,
    is_near_duplicate,
    rate_readability,
    select_sentences,
    show_quote,
)
from graphrag.search.answer import Citation
from graphrag.search.cues import is_denied
from graphrag.search.ranking import Question
from graphrag.search.rows import Report, load_paths
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_REPORTS, MAX_QUOTES_A_REPORT, MAX_QUOTES_A_DOCUMENT, MAX_EMBEDDED = 5, 2, 2, 20
MAX_REFS = 5
QUOTED = ("relationships", "text_units")
RELATIVE_FLOOR = 0.4  # of the best quote's weight


class Quote(NamedTuple):
    """A sentence of a document, the report it is shown under, and what it is cited by: dataset, number, row id."""

    report_id: str
    text: str
    document: str
    start: int
    end: int
    refs: tuple[tuple[str, int, str], ...]
    weight: float = 0.0


def digest_reports(question: Question, reports: Sequence[Report]) -> dict[str, list[Quote]]:
    """Quotes by report id, in the order of the reports."""
    quotes = [quote for report in reports[:MAX_REPORTS] for quote in list_quotes(report)]
    quotes = _weigh(question, [quote for quote in quotes if not is_denied(question.text, quote.text)])
    quotes = _weigh_meaning(question, quotes) if question.terms else _weigh_centrality(quotes)
    chosen = _choose(quotes, limit=MAX_QUOTES_A_REPORT)
    return {report.id: chosen[report.id] for report in reports if report.id in chosen}


def list_quotes(report: Report) -> list[Quote]:
    """The report's quotes, each once with the relationships and text units it is cited by, in the report's order."""
    found: dict[tuple[str, int, int], Quote] = {}
    for row in report.citations:
        if row["kind"] not in QUOTED or row["document_id"] is None:
            continue  # a model's report cites entities and reports too, and facts that no document states
        place = (row["document_id"], row["start"], row["end"])
        quote = found.get(place, Quote(report.id, row["quote"], *place, refs=()))
        ref = (row["ref"].partition(" (")[0], row["human_readable_id"], row["id"])
        found[place] = quote._replace(refs=(*quote.refs, ref))
    return list(found.values())


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
    """Best first, up to `limit` a report, none said twice in the answer, none far below the best; of several documents
    none has more than its share."""
    chosen: dict[str, list[Quote]] = {}
    words: list[set[str]] = []
    n_of: dict[str, int] = {}
    ordered = sorted(quotes, key=lambda quote: -round(quote.weight, 6))
    share = MAX_QUOTES_A_DOCUMENT if len({quote.document for quote in quotes}) > 1 else len(quotes)
    for quote in ordered:
        if quote.weight < RELATIVE_FLOOR * ordered[0].weight:
            break
        terms = set(split_search_terms(quote.text))
        if len(chosen.get(quote.report_id, ())) >= limit or n_of.get(quote.document, 0) >= share:
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
    paths = load_paths(index, documents)
    citations = []
    for report_id, shown in quotes.items():
        report = reports[report_id]
        for quote in shown:
            place = (quote.document, paths.get(quote.document, ""), quote.start, quote.end, quote.text)
            for dataset, number, row_id in (("Reports", report.human_readable_id, report.id), *quote.refs):
                citations.append(Citation(f"{dataset} ({number})", KINDS[dataset], row_id, number, *place))
    return citations
