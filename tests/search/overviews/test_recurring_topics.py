"""What recurs in documents of a kind: groups in which each line says why it stands there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.reports.global_search import search_global
from graphrag.store import Index

MakeIndex = Callable[..., Index]
TEXTS = {
    "incidents/INC-1.md": "The login failed because Redis ran out of memory. Invoices of Billing were late.",
    "incidents/INC-2.md": "The shop was down because a certificate had expired. Billing could not charge for an hour.",
    "incidents/INC-3.md": "Redis was throttled by its disk, so orders queued up.",
    "incidents/INC-4.md": "A cable broke.\n\n| what | when |\n|---|---|\n| Billing | noon |\n",
    **{f"notes/n{n}.md": f"Note {n} is on parking, on the roof of house {n}." for n in range(10)},
    "services/redis.md": "The login depends on Redis.",
}
FACTS = [
    ("incidents/INC-1.md", "login", "failed_with", "Redis"),
    ("incidents/INC-1.md", "invoices", "part_of", "Billing"),
    ("incidents/INC-2.md", "Billing", "charges", "shop"),
    ("incidents/INC-3.md", "Redis", "throttled_by", "disk"),
    ("incidents/INC-4.md", "cable", "stopped", "Billing"),
    ("services/redis.md", "login", "depends_on", "Redis"),
]


@pytest.fixture(scope="module")
def index(make_index: MakeIndex) -> Index:
    return make_index(TEXTS, FACTS)


def lines_of(index: Index, question: str, **knobs: int) -> list[str]:
    answer = search_global(index, question, **knobs)
    for citation in answer.citations:
        assert TEXTS[citation.path][citation.start : citation.end] == citation.quote
    return [line.partition(" [Data")[0] for line in answer.text.splitlines()[1:]]


def test_themes_are_what_recurs_and_each_line_names_it(index: Index) -> None:
    answer = search_global(index, "What themes recur across the incidents?")
    assert [line.partition(" [Data")[0] for line in answer.text.splitlines()[1:]] == [
        "What recurs: Redis in 2 of 4.",
        "Redis, named in 2 of 4:",
        "- incidents/INC-1 — The login failed because Redis ran out of memory.",
        "- incidents/INC-3 — Redis was throttled by its disk, so orders queued up.",
        "Each on its own:",
        "- incidents/INC-2 — The shop was down because a certificate had expired.",
        "- incidents/INC-4 — A cable broke.",
    ]
    assert "could not charge" not in answer.text


def test_a_document_that_does_not_name_the_topic_in_its_sentence_shows_one_that_does(make_index: MakeIndex) -> None:
    texts = {path: text for path, text in TEXTS.items() if path != "incidents/INC-3.md"}
    index = make_index(texts, [fact for fact in FACTS if fact[0] in texts])
    answer = search_global(index, "What themes recur across the incidents?")
    _, recurs, *lines = answer.text.splitlines()
    assert (recurs, lines[0]) == ("What recurs: Billing in 2 of 3.", "Billing, named in 2 of 3:")
    assert (
        "because Redis ran out of memory. [Data: " in lines[1] and "Invoices of Billing were late. [Data: " in lines[1]
    )
    assert "Billing could not charge for an hour. [Data: " in lines[2]
    assert "INC-1 (names Billing, as 2 of 3 do)|" in answer.context
    assert {c.quote for c in answer.citations if c.path == "incidents/INC-2.md"} == {
        "The shop was down because a certificate had expired.",
        "Billing could not charge for an hour.",
    }


def test_what_is_told_beside_a_cause_is_no_cause(make_index: MakeIndex) -> None:
    texts = {path: text for path, text in TEXTS.items() if path != "incidents/INC-3.md"}
    index = make_index(texts, [fact for fact in FACTS if fact[0] in texts])
    assert "Billing" not in search_global(index, "What are the recurring causes of incidents?").text


def test_a_budget_for_less_cuts_the_second_sentence_too(index: Index) -> None:
    for budget in (1, 30, 60, 100):
        lines = lines_of(index, "What themes recur across the incidents?", budget_tokens=budget)
        assert lines
