"""Descriptions: order, repeats, length."""

from __future__ import annotations

import pytest

from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.graph import build_graph
from graphrag.index.summaries import cut_text, describe_entities, describe_relationships, join_texts
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
