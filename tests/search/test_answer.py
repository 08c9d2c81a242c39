"""Citations are checked against the context and rewritten to what it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.context import Packed
from graphrag.search.answer import Answer, Citation, check_citations, cite, compose_answer

KNOWN = {"Entities": [5], "Sources": [1, 2, 3], "Reports": [3, 7]}


@pytest.mark.parametrize(
    ("text", "checked", "n_removed"),
    [
        ("A [Data: Sources (3)].", "A [Data: Sources (3)].", 0),
        ("A [Data: Entities (5); Sources (1, 2)].", "A [Data: Entities (5); Sources (1, 2)].", 0),
        ("A [Data: Entities (999999)].", "A.", 1),
        ("A [Data: Reports (7, +more)].", "A [Data: Reports (7)].", 0),
        ("A [Data: Sources (1; 2)].", "A [Data: Sources (1, 2)].", 0),
        ("A [Data: Reports(3)].", "A [Data: Reports (3)].", 0),
        ("A [data: reports (3), sources (9)] b", "A [Data: Reports (3)] b", 1),
        ("A [Data: Chunks (1)] b", "A  b", 1),
        ("A [Data: Sources (2, 2)].", "A [Data: Sources (2)].", 0),
        ("See [the page](x) and [1].", "See [the page](x) and [1].", 0),
        ("A [Data: Sources (99999999999999999999999999)].", "A.", 2),
    ],
)
def test_citations_are_understood_and_checked(text: str, checked: str, n_removed: int) -> None:
    result = check_citations(text, KNOWN)
    assert (result.text, result.n_removed) == (checked, n_removed)


def test_cited_ids_come_in_order_each_once() -> None:
    result = check_citations("[Data: Sources (2, 1)] [Data: Entities (5); Sources (2)]", KNOWN)
    assert result.cited == (("Sources", 2), ("Sources", 1), ("Entities", 5))


@given(st.text(alphabet="[]() Data:Sources;,0123456789", max_size=60))
def test_checking_is_total_and_settles(text: str) -> None:
    once = check_citations(text, KNOWN)
    assert check_citations(once.text, KNOWN).n_removed == 0


def test_cite_renders_as_the_reference_does() -> None:
    assert cite(Relationships=[1, 2], Sources=[3]) == "[Data: Relationships (1, 2); Sources (3)]"
    assert cite(Sources=[]) == ""


def test_an_answer_keeps_only_citations_that_the_context_holds() -> None:
    packed = Packed("-----Sources-----\n1|x\n", {"Sources": [1]}, {}, 9)
    citations = [Citation(f"Sources ({n})", "text_units", f"u{n}", n, "d", "a.md", 0, 1, "x") for n in (1, 4)]
    draft = Answer("basic", "q", "", False)
    answer = compose_answer(draft, ["- a [Data: Sources (1)]", "- b [Data: Sources (4)]"], citations, packed=packed)
    assert answer.text == "Extractive answer (no model):\n- a [Data: Sources (1)]\n- b"
    assert [citation.human_readable_id for citation in answer.citations] == [1]
    assert answer.notices == ("1 citation was not in the context and was removed.",)
    assert answer.answered and answer.usage.context_tokens == 9


def test_json_has_the_documented_keys() -> None:
    assert list(Answer("basic", "q", "", False).to_json()) == [
        "mode", "question", "answer", "answered", "citations", "sources", "entities", "relationships", "reports",
        "usage",
    ]  # fmt: skip
    assert Answer("basic", "q", "", False, notices=("One.",)).to_json()["notices"] == ["One."]
