"""Questions about documents of a kind are answered from those documents."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.overviews.documents_of_kind import find_documents_of_kind
from graphrag.search.ranking import prepare_question
from graphrag.search.reports.global_search import search_global
from graphrag.search.seeds import find_named_documents
from graphrag.store import Index

MakeIndex = Callable[..., Index]
TEXTS = {
    "incidents/INC-1.md": "The payment service failed because the certificate had expired. The billing team found it.",
    "incidents/INC-2.md": "The token cache failed because a certificate had expired at night. Redis was not at fault.",
    "services/payment.md": "The payment service depends on Stripe. The billing team owns the payment service.",
    "services/cache.md": "The token cache is backed by Redis. It holds sessions of all merchants.",
    "teams/billing.md": "The billing team has seven people in Porto. Their stand-up is at nine.",
}
FACTS = [
    ("incidents/INC-1.md", "billing team", "found", "payment service"),
    ("incidents/INC-2.md", "token cache", "failed_with", "Redis"),
    ("services/payment.md", "payment service", "depends_on", "Stripe"),
    ("services/cache.md", "token cache", "backed_by", "Redis"),
    ("services/cache.md", "merchants", "use", "token cache"),
    ("services/payment.md", "billing team", "owns", "payment service"),
]


def _paths(index: Index, ids: Collection[str]) -> list[str]:
    rows = index.frame(
        "select path from documents where id in (select unnest(?::varchar[])) order by path", [sorted(ids)]
    )
    return rows["path"].to_list()


@pytest.fixture(scope="module")
def incidents(make_index: MakeIndex) -> Index:
    return make_index(TEXTS, FACTS, model="embedded")


@pytest.fixture(scope="module")
def longer_names(make_index: MakeIndex) -> Index:
    return make_index({path.replace("INC-", "INC-20"): text for path, text in TEXTS.items()}, [])


def test_a_kind_is_a_folder_or_type_that_the_question_names(incidents: Index) -> None:
    def paths(question: str) -> list[str]:
        asked, _ = prepare_question(incidents, question, model="none")
        return _paths(incidents, find_documents_of_kind(incidents, asked).documents)

    assert paths("What themes recur across the incident reviews?") == ["incidents/INC-1.md", "incidents/INC-2.md"]
    assert paths("Who leads the team?") == ["teams/billing.md"]
    assert paths("What is the best recipe for sourdough?") == []


def test_a_theme_of_a_kind_is_quoted_from_its_documents(incidents: Index) -> None:
    answer = search_global(incidents, "What themes recur across the incident reviews?")
    assert answer.answered
    assert {citation.path for citation in answer.citations} == {"incidents/INC-1.md", "incidents/INC-2.md"}
    assert "certificate had expired" in answer.text
    for citation in answer.citations:
        assert TEXTS[citation.path][citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What happened in INC-202?", ["INC-202"]),
        ("inc-201 and INC-202", ["INC-201", "INC-202"]),
        ("What happened?", []),
    ],
)
def test_documents_are_found_by_name(longer_names: Index, question: str, names: list[str]) -> None:
    found = find_named_documents(longer_names, question)
    assert _paths(longer_names, found) == [f"incidents/{name}.md" for name in names]


def test_a_named_document_answers(longer_names: Index) -> None:
    answer = search_local(longer_names, "What happened in INC-202?")
    assert answer.answered and answer.sources[0].path == "incidents/INC-202.md"
    assert "The token cache failed because a certificate had expired at night." in answer.text
