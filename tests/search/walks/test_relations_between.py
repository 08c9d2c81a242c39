"""How two named things are related: the best route in any direction, cited (context graph 29)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.walks.relations_between import asks_for_relation, find_relation
from graphrag.store import Index


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("How is Billing related to Redis?", True),
        ("How are Billing and Redis connected?", True),
        ("What connects Billing and Redis?", True),
        ("What is the relationship between Billing and Redis?", True),
        ("What has Billing to do with Redis?", True),
        ("What breaks if Redis goes down?", False),
        ("Who owns Billing and Redis?", False),
        ("How do I connect to Redis?", False),
    ],
)
def test_questions_about_relations_are_told_from_others(question: str, asks: bool) -> None:
    assert asks_for_relation(question) == asks


def test_the_route_is_the_answer(r8: Index, r8_texts: dict[str, str]) -> None:
    answer = search_local(r8, "How is the login flow related to PostgreSQL?")
    assert answer.text.splitlines()[1:] == [
        "How login flow and Postgres are related:",
        "- login flow -depends_on-> Auth Service [Data: Relationships (1)]",
        "- Auth Service -depends_on-> User DB [Data: Relationships (4)]",
        "- User DB -runs_on-> Postgres [Data: Relationships (5)]",
    ]
    assert all(r8_texts[c.path][c.start : c.end] == c.quote for c in answer.citations)


def test_a_map_of_contents_is_the_last_way(make_index: Callable[..., Index]) -> None:
    facts = [
        ("m.md", "Map", "links_to", "A"), ("m.md", "Map", "links_to", "D"),
        ("m.md", "Map", "links_to", "E"), ("f.md", "A", "uses", "B"),
        ("f.md", "B", "uses", "C"), ("f.md", "C", "uses", "D"),
    ]  # fmt: skip
    texts = {"m.md": "Map A. Map D. Map E.", "f.md": "A uses B. B uses C. C uses D."}
    index = make_index(texts, facts)
    said = dict(index.frame("select id, source || ' ' || predicate || ' ' || target from relationships").rows())
    assert [said[row] for row in find_relation(index, "A", "D")] == ["A uses B", "B uses C", "C uses D"]
    assert [said[row] for row in find_relation(index, "A", "E")] == ["Map links_to A", "Map links_to E"]
    assert find_relation(index, "A", "A") == []
