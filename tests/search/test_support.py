"""Which sentences of an answer the context supports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.search.support import UNSUPPORTED, choose_span, drop_unsupported, list_statements, mark_unsupported

CONTEXT = "-----Sources-----\nid|text\n3|The token cache is backed by Redis and runs in Fulda.\n4|Lunch is at noon.\n"


@pytest.mark.parametrize(
    ("text", "marked", "n_sentences", "n_unsupported"),
    [
        ("The cache uses Redis [Data: Sources (3)].", "", 1, 0),
        ("The cache uses Redis. [Data: Sources (3)]", "", 1, 0),
        ("The token cache is backed by Redis.", "", 1, 0),
        (
            "Redis was written in Sicily by Antirez.",
            f"Redis was written in Sicily by Antirez. {UNSUPPORTED}",
            1,
            1,
        ),
        (
            "The cache uses Redis [Data: Sources (3)]. Redis was written in Sicily. Lunch is at noon.",
            f"The cache uses Redis [Data: Sources (3)]. Redis was written in Sicily. {UNSUPPORTED} Lunch is at noon.",
            3,
            1,
        ),
        (
            "The cache uses Redis. [Data: Sources (3)] Redis was written in Sicily.",
            f"The cache uses Redis. [Data: Sources (3)] Redis was written in Sicily. {UNSUPPORTED}",
            2,
            1,
        ),
        (
            "# What of Sicily\n\nThese depend on Redis:\n\n- token cache [Data: Sources (3)]\n- harbour crane",
            "# What of Sicily\n\nThese depend on Redis:\n\n- token cache [Data: Sources (3)]\n"
            f"- harbour crane {UNSUPPORTED}",
            2,
            1,
        ),
        (
            "| service | place |\n|---|---|\n| token cache | moon base |\n",
            f"| service | place |\n|---|---|\n| token cache | moon base {UNSUPPORTED} |\n",
            1,
            1,
        ),
        ("Yes.", "", 0, 0),
        ("", "", 0, 0),
    ],
)
def test_statements_without_citation_or_words_in_the_context_are_marked(
    text: str, marked: str, n_sentences: int, n_unsupported: int
) -> None:
    found = mark_unsupported(text, CONTEXT)
    assert found.text == (marked or text)
    assert (found.n_sentences, found.n_unsupported) == (n_sentences, n_unsupported)


@given(st.text(alphabet=st.sampled_from("ab C.!?\n#-|*[]():;Data1Sources` 。"), max_size=120))
def test_marks_are_all_that_is_added(text: str) -> None:
    found = mark_unsupported(text, CONTEXT)
    assert found.text.count(UNSUPPORTED) == found.n_unsupported <= found.n_sentences
    assert "".join(found.text.replace(UNSUPPORTED, "").split()) == "".join(text.split())
    for statement in list_statements(text):
        assert text[statement.start : statement.end] == statement.text


def test_what_nothing_supports_can_be_left_out() -> None:
    text = "Cats own palaces. The token cache depends on Redis. It is blue on Mondays. So [Data: Sources (3)]."
    assert drop_unsupported(text, "3|the token cache depends on Redis") == (
        "The token cache depends on Redis.  So [Data: Sources (3)]."
    )
    assert drop_unsupported("Cats own palaces.", CONTEXT) == ""


def test_the_span_that_says_most_of_the_claim_is_chosen() -> None:
    text = "# Redis cache\n\nThe crane is blue. The token cache is backed by Redis. Lunch is at noon."
    span = choose_span(text, "Redis backs the token cache [Data: Sources (3)].")
    assert span is not None and text[slice(*span)] == "The token cache is backed by Redis."
    assert choose_span("", "Redis") is None
