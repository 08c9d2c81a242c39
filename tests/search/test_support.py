"""Which sentences of an answer the context supports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.citations import drop_citations
from graphrag.search.support import (
    LONGEST_QUOTE,
    UNSUPPORTED,
    choose_span,
    cite_supported,
    drop_unsupported,
    list_statements,
    mark_unsupported,
    narrow_quote,
)

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


TABLES = (
    "-----Relationships-----\nid|source|predicate|target\n7|token cache|backed_by|Redis\n\n"
    "-----Sources-----\nid|text\n3|The token cache is backed by Redis and runs in Fulda.\n4|Lunch is at noon.\n"
)
POINTS = "score|point\n80|The token cache is backed by Redis [Data: Reports (2, 9)]\n40|Lunch is at noon\n"


@pytest.mark.parametrize(
    ("context", "text", "cited"),
    [
        (
            TABLES,
            "The token cache is backed by Redis.",
            "The token cache is backed by Redis [Data: Relationships (7)].",
        ),
        (TABLES, "Lunch is at noon. Cats purr.", "Lunch is at noon [Data: Sources (4)]. Cats purr."),
        (TABLES, "- Lunch: at noon\n- cats", "- Lunch: at noon [Data: Sources (4)]\n- cats"),
        (TABLES, "| Lunch | noon |", "| Lunch | noon [Data: Sources (4)] |"),
        (TABLES, "Lunch is at noon [Data: Sources (3)].", "Lunch is at noon [Data: Sources (3)]."),
        (POINTS, "The token cache is backed by Redis!", "The token cache is backed by Redis [Data: Reports (2, 9)]!"),
        (POINTS, "Lunch is at noon.", "Lunch is at noon."),
        ("", "Lunch is at noon.", "Lunch is at noon."),
    ],
)
def test_a_statement_that_a_row_holds_gets_its_citation(context: str, text: str, cited: str) -> None:
    assert cite_supported(text, context) == cited


@pytest.mark.parametrize(
    ("text", "is_marked"),
    [
        ("The cache depends on Redis [Data: Sources (3)].", False),
        ("Lunch is at noon [Data: Sources (3)].", True),  # another row says it
        ("Lunch is at noon [Data: Sources (3, 4)].", False),
        ("Marmalade engines are under violet moons [Data: Sources (3)].", True),
        ("Zwischenspeicher stützen sich darauf [Data: Sources (3)].", False),  # of another language nothing can be said
        ("Der Zwischenspeicher liegt auf Redis [Data: Sources (3)].", False),
        ("令牌缓存依赖它 [Data: Sources (3)].", False),
        ("Zwischenspeicher stützen sich darauf.", True),  # but it has to cite
    ],
)
def test_a_citation_that_shares_no_word_with_its_sentence_supports_nothing(text: str, is_marked: bool) -> None:
    assert (mark_unsupported(text, TABLES).n_unsupported == 1) is is_marked


@given(st.text(alphabet=st.sampled_from("ab C.!?\n#-|*[]():;Data1Sources` 。"), max_size=120))
def test_citations_are_all_that_is_added(text: str) -> None:
    found = cite_supported(text, TABLES)
    assert drop_citations(found).split() == drop_citations(text).split() or found == text
    assert cite_supported(found, TABLES).count("[Data: ") >= text.count("[Data: ")


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


@given(st.text(max_size=2_000), st.integers(0, 50), st.text(max_size=60))
def test_a_narrowed_quote_stands_where_it_says(quote: str, start: int, claim: str) -> None:
    text, first, last = narrow_quote(quote, start, claim)
    assert (" " * start + quote)[first:last] == text
    assert text == quote or len(quote) > LONGEST_QUOTE


def test_of_a_whole_text_unit_the_sentence_nearest_to_the_claim_is_quoted() -> None:
    unit = " ".join(f"Lunch number {n} is at noon in the hall." for n in range(40))
    unit += " The token cache is backed by Redis. Nobody knows why."
    assert narrow_quote(unit, 7, "token cache Redis")[0] == "The token cache is backed by Redis."
    assert narrow_quote("The cache. It uses Redis.", 7, "Redis") == ("The cache. It uses Redis.", 7, 32)
