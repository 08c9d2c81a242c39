"""Descriptions: order, repeats, length."""

from __future__ import annotations

import polars as pl
import pytest

from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.graph import build_graph
from graphrag.index.summaries import (
    Summaries,
    cut_text,
    describe_entities,
    describe_relationships,
    join_texts,
    render_summary,
    summarise_entities,
)
from graphrag.llm.replay import ScriptedLlm
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


def said_of_redis(n: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """entities, entity_mentions, documents: Redis with n descriptions of 20 words, Kafka with one."""
    texts = [document(f"d{i:03}", "Redis calls Kafka.") for i in range(n)]
    mentions = [mention(doc, "Redis") | {"description": f"Fact {i}: {'word ' * 18}."} for i, doc in enumerate(texts)]
    mentions.append(mention(texts[0], "Kafka") | {"description": "A queue."})
    documents, statements = DOCUMENTS.from_rows(texts), RELATIONSHIP_MENTIONS.from_rows([])
    found = disambiguate_entities(ENTITY_MENTIONS.from_rows(mentions), statements, documents)
    units = TEXT_UNITS.from_rows([text_unit(doc) for doc in texts])
    graph = build_graph(found.clusters, found.entity_mentions, statements, units, documents)
    return graph.entities, found.entity_mentions, documents


def summarise(llm: ScriptedLlm, n: int, *, max_input_tokens: int = 2000) -> Summaries:
    work = summarise_entities(
        *said_of_redis(n), llm=llm, prompt=load_prompt("summarize_descriptions"), min_tokens=100,
        max_input_tokens=max_input_tokens, max_words=50,
    )  # fmt: skip
    return llm.run(work)


def test_only_long_descriptions_are_summarised_in_one_call_an_entity() -> None:
    short = ScriptedLlm(lambda request: "never")
    described = summarise(short, 3).entities
    assert short.requests == [] and described.filter(title="Redis")["description"][0].count("Fact") == 3
    llm = ScriptedLlm(lambda request: "Redis does it all.")
    found = summarise(llm, 30)
    assert dict(found.entities.select("title", "description").iter_rows()) == {
        "Kafka": "A queue.", "Redis": "Redis does it all.",
    }  # fmt: skip
    (request,) = llm.requests
    assert (request.role, request.stage) == ("summarize", "summaries")
    assert request.text.count("- Fact") == 30 and found.failures.is_empty()


def test_more_descriptions_than_fit_are_left_out_with_a_word() -> None:
    llm = ScriptedLlm(lambda request: "Redis.")
    summarise(llm, 60, max_input_tokens=200)
    assert "more descriptions are left out)" in llm.requests[0].text
    assert 5 < llm.requests[0].text.count("- Fact") < 15


@pytest.mark.parametrize(("reply", "reason"), [("", "empty_reply"), ("I'm sorry, I cannot do that.", "refusal")])
def test_without_a_summary_the_joined_texts_stay(reply: str, reason: str) -> None:
    """hostile-inputs B22."""
    found = summarise(ScriptedLlm(lambda request: reply), 30)
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
