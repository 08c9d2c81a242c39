"""An answer cites what its context holds."""

from __future__ import annotations

from graphrag.context import Packed
from graphrag.search.answer import Answer, Citation, compose_answer


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
