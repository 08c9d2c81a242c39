"""Mode auto: look-ups and dependency questions to local, themes to global, and the reason in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.choose_mode import choose_mode
from graphrag.store import Index


@pytest.mark.parametrize(
    ("question", "mode", "why"),
    [
        ("What breaks if Redis goes down?", "local", "the question asks what depends on Redis"),
        ("Who owns the payment service?", "local", "the question names payment service"),
        ("What common problems does Redis have?", "local", "the question names Redis"),
        ("What themes recur across the incident reviews?", "global", 'the question is about the whole ("theme")'),
        ("What are the main topics?", "global", 'the question is about the whole ("main")'),
        ("What is most important?", "global", "the question names nothing but the whole"),
        ("Which single dependency is our highest systemic risk?", "local",
         "the question asks what most others depend on"),
        ("Where is lunch served?", "local", "the question is a look-up"),
        ("What does c8 say?", "local", "the question is a look-up"),
        ("the of and", "local", "the question is a look-up"),
        ("'; drop table entities; --", "local", "the question is a look-up"),
    ],
)  # fmt: skip
def test_the_mode_and_why(r8: Index, question: str, mode: str, why: str) -> None:
    assert choose_mode(r8, question) == (mode, why)


def test_without_a_graph_or_reports(make_r8: Callable[..., Index]) -> None:
    assert choose_mode(make_r8(without=["relationships", "evidence"]), "Who owns Redis?").mode == "basic"
    assert choose_mode(make_r8(without=["community_reports"]), "What are the main topics?").mode == "local"
