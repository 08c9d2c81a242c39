"""How many quotes of one document the digest of reports holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphrag.search.ranking import Question
from graphrag.search.reports.report_digest import MAX_QUOTES_A_DOCUMENT, digest_reports
from graphrag.search.rows import Report

THINGS = ("ledgers in Fulda", "parsers from Kassel", "queues without limits", "caches of tokens", "lamps on towers")


def make_report(number: int, document: str) -> Report:
    quotes = [f"The {word} {THINGS[number]} were mended by hand that {word} day." for word in ("first", "second")]
    citations: list[dict[str, Any]] = [
        {"ref": f"Relationships ({number * 10 + n})", "kind": "relationships", "id": f"r{number}{n}",
         "human_readable_id": number * 10 + n, "document_id": document, "start": number * 200 + n * 100,
         "end": number * 200 + n * 100 + len(quote), "quote": quote}
        for n, quote in enumerate(quotes)
    ]  # fmt: skip
    return Report(f"report{number}", number, number, 0, "T", "", "", 1.0, citations, 4, "extractive")


def count_quotes(documents: list[str]) -> Counter[str]:
    question = Question("What are the main themes?", (), {})
    found = digest_reports(question, [make_report(n, document) for n, document in enumerate(documents)])
    return Counter(quote.document for quotes in found.values() for quote in quotes)


def test_of_several_documents_none_says_it_all() -> None:
    assert count_quotes(["book"] * 4 + ["note"])["book"] == MAX_QUOTES_A_DOCUMENT


def test_a_single_document_may() -> None:
    assert count_quotes(["book"] * 5)["book"] > MAX_QUOTES_A_DOCUMENT
