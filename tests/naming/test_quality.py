"""Scores on names that people labelled (../shared/data): what rules and declared text must not fall below.

Figures, and how to read them: docs/benchmarks.md. The gold of Re-DocRED leaves one pair in six unmarked that is one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.bench_disambiguation import (
    make_judge,
    read_spellings,
    read_topics,
    run_disambiguation,
    score_mentions,
    score_topics,
    score_within,
    topic_groups,
)

pytestmark = pytest.mark.shared


def test_topics_and_their_aliases(shared: Path) -> None:
    topics = read_topics(shared / "data")
    score, wrong = score_topics(topics, run_disambiguation(topics.docs, topics.mentions))
    assert wrong <= 0.005
    assert score.precision >= 0.98
    assert score.recall >= 0.25
    assert score.ceiling >= 0.59


def test_a_judge_of_topics_is_held_back_by_vetoes_alone(shared: Path) -> None:
    """bitcoin-wallet and bitcoin-payment are both called Bitcoin there; a veto keeps the two apart, and wins."""
    topics = read_topics(shared / "data")
    judge = make_judge(topic_groups(topics))
    score, wrong = score_topics(topics, run_disambiguation(topics.docs, topics.mentions, judge))
    assert wrong <= 0.005
    assert score.precision >= 0.99
    assert score.recall >= 0.49


def test_spellings_within_documents(shared: Path) -> None:
    spellings = read_spellings(shared / "data")
    result = run_disambiguation(spellings.docs, spellings.mentions)
    mentions = score_mentions(spellings, result)
    assert mentions.precision >= 0.95
    assert mentions.recall >= 0.78
    names = score_within(spellings, result)
    assert names.precision >= 0.79
    assert names.recall >= 0.35
    assert names.ceiling >= 0.70


def test_a_judge_that_is_always_right_reaches_the_ceiling(shared: Path) -> None:
    spellings = read_spellings(shared / "data")
    judge = make_judge(names for entities in spellings.entities for _, names in entities)
    before = score_within(spellings, run_disambiguation(spellings.docs, spellings.mentions))
    after = score_within(spellings, run_disambiguation(spellings.docs, spellings.mentions, judge))
    assert after.recall >= before.ceiling - 0.02
    assert after.f1 >= before.f1 + 0.2
