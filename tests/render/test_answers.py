"""What commands print of an answer."""

from __future__ import annotations

from graphrag.render.answers import render_answer
from graphrag.search.answer import Answer, Citation


def test_a_place_that_several_citations_share_is_shown_once() -> None:
    place = ("d1", "a.md", 4, 14, "It\nfailed.")
    report, source = (
        Citation("Reports (15)", "community_reports", "r", 15, *place),
        Citation("Sources (10)", "text_units", "u", 10, *place),
    )
    other = Citation("Sources (11)", "text_units", "v", 11, "d2", "b.md", 0, 3, "No.")
    answer = Answer("local", "Why?", "Text.", True, citations=(report, source, other, report))
    printed = render_answer(answer, json=False, context_only=False, show_sources=True).splitlines()
    assert printed[2:] == [
        "Sources",
        "  Reports (15), Sources (10)  a.md [4:14]",
        "    It failed.",
        "  Sources (11)  b.md [0:3]",
        "    No.",
    ]
