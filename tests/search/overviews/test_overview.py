"""Questions about many documents: one true sentence a document, what recurs first; and things of a type."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.overviews.picked_sentences import list_candidates
from graphrag.search.reports.global_search import search_global
from graphrag.search.rows import Passage
from graphrag.store import Index

MakeIndex = Callable[..., Index]
TEXTS = {
    "incidents/INC-1.md": "Written by Ana. The shop was down because the Payment Certificate had expired.",
    "incidents/INC-2.md": "Lunch was late. The login failed because Redis ran out of memory.",
    "incidents/INC-3.md": "I am not saying who did it. Redis was throttled by its disk, so orders queued up.",
    "services/shop.md": "The shop depends on Redis. The shop uses the Payment Certificate.",
    "services/login.md": "The login depends on Redis. It holds sessions.",
    "notes/lunch.md": "Lunch is served in the Harbour Room at noon.",
    "notes/parking.md": "Parking is free on the roof of the office.",
}
FACTS = [
    ("incidents/INC-2.md", "login", "failed_with", "Redis"),
    ("incidents/INC-3.md", "Redis", "throttled_by", "disk"),
    ("services/shop.md", "shop", "depends_on", "Redis"),
    ("services/login.md", "login", "depends_on", "Redis"),
]


@pytest.fixture(scope="module")
def reviews(make_index: MakeIndex) -> Index:
    return make_index(TEXTS, FACTS)


def test_every_document_of_the_kind_says_its_cause(reviews: Index) -> None:
    answer = search_global(reviews, "What are the recurring causes of incidents?")
    header, *lines = answer.text.splitlines()
    assert header.startswith("Extractive answer (no model); 3 documents of kind incidents")
    bullets = [line for line in lines if line.startswith("- ")]
    assert len(bullets) == 3
    assert any("because the Payment Certificate had expired." in line for line in bullets)
    assert not any(words in answer.text for words in ("Written by", "I am not", "Lunch"))
    for citation in answer.citations:
        assert TEXTS[citation.path][citation.start : citation.end] == citation.quote


def test_local_search_gives_the_same_sentences(reviews: Index) -> None:
    answer = search_local(reviews, "Why did our incidents happen?")
    assert answer.answered and {source.path for source in answer.sources} == {p for p in TEXTS if "INC" in p}


def test_a_question_about_causes_alone_takes_all_documents(reviews: Index) -> None:
    answer = search_local(reviews, "What went wrong?")
    assert "documents with words of cause" in answer.text and "Parking" not in answer.text


@pytest.mark.parametrize("question", ["Which incidents involve elephants?", "What are the colours of our incidents?"])
def test_a_kind_that_says_nothing_of_the_rest_is_no_answer(reviews: Index, question: str) -> None:
    assert not search_global(reviews, question).answered


def test_a_sentence_is_shown_with_the_one_that_leans_on_it() -> None:
    text = "# Title\n\nAn upgrade restarts all three pods. They come back sealed.\n\nThey left.\n"
    passage = Passage("u", 1, text, 0, "d", "Title", "a.md", ["Title"])
    spans = [text[start:end] for start, end, _ in list_candidates(passage)]
    assert spans == [
        "An upgrade restarts all three pods.",
        "An upgrade restarts all three pods. They come back sealed.",
    ]


def test_things_of_a_type_are_listed_with_a_sentence_each(make_index: MakeIndex) -> None:
    index = make_index(TEXTS, FACTS)
    assert not search_local(index, "Which technologies do we rely on?").answered, "no entity has that type"


@pytest.mark.parametrize("budget", [1, 40, 4000])
def test_an_overview_keeps_to_the_budget_and_says_how_much_it_shows(reviews: Index, budget: int) -> None:
    answer = search_global(reviews, "What are the recurring causes of incidents?", budget_tokens=budget)
    n = answer.text.count("\n- ")
    assert n >= 1 and answer.notices == ("The index has no vectors: matched by words only.",)
    assert answer.text.startswith(f"Extractive answer (no model); {n}{'' if n == 3 else ' of 3'} documents")


def test_what_has_no_name_here_is_said(reviews: Index) -> None:
    answer = search_local(reviews, "Who leads the Legal Team?")
    assert not answer.answered and answer.notices[-1].startswith('No entity "Legal Team".')


def test_a_report_is_cited_only_for_words_that_it_quotes(reviews: Index) -> None:
    answer = search_global(reviews, "What are the recurring causes of incidents?")
    full = dict(reviews.frame("select id, full_content from community_reports").rows())
    cited = {c.id for c in answer.citations if c.kind == "community_reports"}
    assert cited, "the sentences on Redis are quoted by a report"
    assert all(c.quote in full[c.id] for c in answer.citations if c.kind == "community_reports")
    word = "report" if len(cited) == 1 else "reports"
    assert f"from {len(cited)} community {word} at level 1" in answer.text.splitlines()[0]
