"""Descriptions: order, repeats, length."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path

import orjson
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.ids import content_sha256
from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.graph import build_graph
from graphrag.index.summaries import (
    KEPT_SUMMARIES,
    Summaries,
    choose_texts,
    cut_text,
    describe_entities,
    describe_relationships,
    join_texts,
    render_summary,
    summarise_entities,
)
from graphrag.llm.replay import ScriptedLlm
from graphrag.memo import Memo
from graphrag.prompts import load_prompt
from graphrag.tables import DOCUMENTS, ENTITY_MENTIONS, RELATIONSHIP_MENTIONS, TEXT_UNITS
from tests.mention_rows import document, mention, relation, text_unit


def test_descriptions_are_joined_by_path_and_offset() -> None:
    later, first = document("b", "Redis. Kafka. Redis."), document("a", "Redis calls Kafka.")
    mentions = [
        mention(later, "Redis", nth=1) | {"description": "It is slow."},
        mention(later, "Redis") | {"description": "A cache."},
        mention(first, "Redis") | {"description": "a  cache"},
        mention(first, "Kafka"),
    ]
    documents = DOCUMENTS.from_rows([later, first])
    statements = RELATIONSHIP_MENTIONS.from_rows([relation(first, "Redis", "calls", "Kafka")])
    found = disambiguate_entities(ENTITY_MENTIONS.from_rows(mentions), statements, documents)
    units = TEXT_UNITS.from_rows([text_unit(later), text_unit(first)])
    graph = build_graph(found.clusters, found.entity_mentions, statements, units, documents)
    entities = describe_entities(graph.entities, found.entity_mentions, documents)
    assert dict(entities.select("title", "description").iter_rows()) == {"Kafka": "", "Redis": "a cache It is slow."}
    relationships = describe_relationships(graph.relationships, graph.evidence)
    assert relationships["description"].to_list() == ["Redis calls Kafka."]


def test_join_stops_at_the_limit_and_leaves_out_repeats() -> None:
    assert join_texts(["One two.", "one  two", "", "Three four.", "Five."], 20) == "One two. Three four."
    assert join_texts([], 20) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Short.", "Short."),
        ("First one. Second one is longer.", "First one."),
        ("no sentence end within these words", "no sentence end…"),
        ("x" * 40, "x" * 19 + "…"),
    ],
)
def test_cut_at_a_sentence_else_a_word(text: str, expected: str) -> None:
    assert cut_text(text, 20) == expected


Said = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


def said_of_redis(facts: Iterable[int]) -> Said:
    """entities, entity_mentions, documents: Redis with a description of 20 words for each number, Kafka with one."""
    texts = [document(f"d{i:03}", "Redis calls Kafka.") for i in facts]
    mentions = [
        mention(doc, "Redis") | {"description": f"Fact {i}: {'word ' * 18}."}
        for i, doc in zip(facts, texts, strict=True)
    ]
    mentions.append(mention(texts[0], "Kafka") | {"description": "A queue."})
    documents, statements = DOCUMENTS.from_rows(texts), RELATIONSHIP_MENTIONS.from_rows([])
    found = disambiguate_entities(ENTITY_MENTIONS.from_rows(mentions), statements, documents)
    units = TEXT_UNITS.from_rows([text_unit(doc) for doc in texts])
    graph = build_graph(found.clusters, found.entity_mentions, statements, units, documents)
    return graph.entities, found.entity_mentions, documents


def summarise(llm: ScriptedLlm, said: Said, *, max_input_tokens: int = 2000, memo: Memo | None = None) -> Summaries:
    """Above 100 tokens: five facts."""
    work = summarise_entities(
        *said, llm=llm, prompt=load_prompt("summarize_descriptions"), min_tokens=100,
        max_input_tokens=max_input_tokens, max_words=50, memo=memo,
    )  # fmt: skip
    return llm.run(work)


def test_only_long_descriptions_are_summarised_in_one_call_an_entity() -> None:
    short = ScriptedLlm(lambda request: "never")
    described = summarise(short, said_of_redis(range(3))).entities
    assert short.requests == [] and described.filter(title="Redis")["description"][0].count("Fact") == 3
    llm = ScriptedLlm(lambda request: "Redis does it all.")
    found = summarise(llm, said_of_redis(range(30)))
    assert dict(found.entities.select("title", "description").iter_rows()) == {
        "Kafka": "A queue.", "Redis": "Redis does it all.",
    }  # fmt: skip
    (request,) = llm.requests
    assert (request.role, request.stage) == ("summarize", "summaries")
    assert request.text.count("- Fact") == 30 and found.failures.is_empty()


def test_more_descriptions_than_fit_are_left_out_with_a_word() -> None:
    llm = ScriptedLlm(lambda request: "Redis.")
    summarise(llm, said_of_redis(range(60)), max_input_tokens=200)
    assert "more descriptions are left out)" in llm.requests[0].text
    assert 5 < llm.requests[0].text.count("- Fact") < 15


@pytest.mark.parametrize(("reply", "reason"), [("", "empty_reply"), ("I'm sorry, I cannot do that.", "refusal")])
def test_without_a_summary_the_joined_texts_stay(reply: str, reason: str) -> None:
    """hostile-inputs B22."""
    found = summarise(ScriptedLlm(lambda request: reply), said_of_redis(range(30)))
    description = found.entities.filter(title="Redis")["description"][0]
    assert description.startswith("Fact 0:") and len(description) <= 600
    assert found.failures["reason"].to_list() == [reason]


def test_a_renamed_file_changes_no_question() -> None:
    asked = []
    for names in ("ab", "ba"):
        lines = [f"Said by {name}." for name in names]
        prompt = load_prompt("summarize_descriptions")
        asked.append(render_summary("Redis", lines, prompt, max_words=9, max_input_tokens=99))
    assert asked[0] == asked[1]


class Nights:
    """A memo, and a model that says how many facts it was shown."""

    def __init__(self, memo: Memo) -> None:
        self.memo = memo

    def night(self, facts: Iterable[int]) -> tuple[int, str]:
        """How many questions were asked, and the description of Redis."""
        llm = ScriptedLlm(lambda request: f"Redis does {request.text.count('- Fact')} things.", memo=self.memo)
        entities = summarise(llm, said_of_redis(sorted(facts)), memo=self.memo).entities
        return len(llm.requests), str(entities.filter(title="Redis")["description"][0])


def test_what_is_said_later_stands_behind_the_summary_until_it_is_long_too(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        night = Nights(memo).night
        assert night(range(30)) == (1, "Redis does 30 things.")
        n_asked, described = night(range(-2, 31))
        assert n_asked == 0
        assert re.sub("( word)+ .", "", described) == "Redis does 30 things. Fact -1: Fact -2: Fact 30:"
        assert night(range(36)) == (1, "Redis does 36 things.")
        assert night(range(1, 36)) == (1, "Redis does 35 things.")  # a fact is gone: no summary that holds it stays
        assert night(range(36)) == (0, "Redis does 36 things.")
        assert night(range(30)) == (0, "Redis does 30 things.")


def test_an_entity_whose_summary_failed_is_asked_about_whole(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        summarise(ScriptedLlm(lambda request: "", memo=memo), said_of_redis(range(30)), memo=memo)
        assert Nights(memo).night(range(31)) == (1, "Redis does 31 things.")


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sets(st.integers(0, 14), min_size=1), min_size=1, max_size=6))
def test_after_any_nights_the_description_is_that_of_a_fresh_run_with_the_memo(nights: list[set[int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memo(Path(folder) / "memo.sqlite") as memo:
        night = Nights(memo).night
        for facts in nights:
            _, described = night(facts)
            assert night(facts) == (0, described)


HASHES = {text: content_sha256(text)[:16] for text in "abcdef"}


@pytest.mark.parametrize(
    ("texts", "summarised", "expected"),
    [
        ("abc", [], "abc"),
        ("cba", ["ab"], "ab"),
        ("abcde", ["ab"], "abcde"),  # three more are too many
        ("abcde", ["ab", "abc", "de"], "abc"),
        ("abc", ["abd"], "abc"),
        ("abcd", ["cd", "ab"], "cd"),  # of two as large the same one each time
    ],
)  # fmt: skip
def test_the_largest_summary_that_holds_is_kept(texts: str, summarised: list[str], expected: str) -> None:
    known = [[HASHES[text] for text in one] for one in summarised]
    for order in (known, known[::-1]):
        found = choose_texts(list(texts), order, max_rest_tokens=2, count=lambda text: len(text.split()))
        assert "".join(found) == expected


def test_the_memo_keeps_few_summaries_of_an_entity(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        for n in range(KEPT_SUMMARIES + 3):
            Nights(memo).night(range(10 + 10 * n))
        connection = sqlite3.connect(tmp_path / "memo.sqlite")
        ((kept,),) = connection.execute("select value from memo where kind = 'summarised'").fetchall()
        connection.close()
    assert [len(texts) for texts in orjson.loads(kept)] == [40, 50, 60, 70, 80]
