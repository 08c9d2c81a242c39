"""Aggregation vectors of specs/indexing.md section 4, and the eight facts of specs/context-graph.md section 2."""

from __future__ import annotations

import math
import random

from graphrag import tables
from graphrag.index.disambiguation import disambiguate_entities, parse_alias_rules
from graphrag.index.graph import Graph, build_graph
from tests.mention_rows import Row, document, mention, relation, text_unit

EIGHT_FACTS = {
    "c1": ("The login flow depends on the Auth Service.", "login flow", "depends_on", "Auth Service"),
    "c2": ("The Auth Service depends on the token cache.", "Auth Service", "depends_on", "token cache"),
    "c3": ("The token cache is backed by Redis.", "token cache", "backed_by", "Redis"),
    "c4": ("The auth service depends on the User DB.", "auth service", "depends_on", "User DB"),
    "c5": ("The user database runs on Postgres.", "user database", "runs_on", "Postgres"),
    "c6": ("Billing depends on the user database.", "Billing", "depends_on", "user database"),
    "c7": ("Billing is owned by the Platform Team.", "Billing", "owned_by", "Platform Team"),
    "c8": ("AuthService depends on the token cache.", "AuthService", "depends_on", "token cache"),
}
ALIASES = """
[[always]]
title = "PostgreSQL"
names = ["Postgres"]
[[always]]
title = "user database"
names = ["User DB"]
"""
RELATIONSHIPS = """
Auth Service | depends_on | token cache | 2 | c2,c8
Auth Service | depends_on | user database | 1 | c4
Billing | depends_on | user database | 1 | c6
Billing | owned_by | Platform Team | 1 | c7
login flow | depends_on | Auth Service | 1 | c1
token cache | backed_by | Redis | 1 | c3
user database | runs_on | PostgreSQL | 1 | c5
"""


def build(docs: list[Row], units: list[Row], mentions: list[Row], relations: list[Row], rules: str = "") -> Graph:
    documents = tables.DOCUMENTS.from_rows(docs)
    relationship_mentions = tables.RELATIONSHIP_MENTIONS.from_rows(relations)
    found = disambiguate_entities(
        tables.ENTITY_MENTIONS.from_rows(mentions), relationship_mentions, documents, rules=parse_alias_rules(rules)
    )
    units_frame = tables.TEXT_UNITS.from_rows(units)
    return build_graph(found.clusters, found.entity_mentions, relationship_mentions, units_frame, documents)


def eight_facts(order: list[str] | None = None) -> Graph:
    docs, units, mentions, relations = [], [], [], []
    for name in order or list(EIGHT_FACTS):
        text, subject, predicate, object_ = EIGHT_FACTS[name]
        doc = document(name, text)
        docs.append(doc)
        units.append(text_unit(doc))
        mentions += [mention(doc, subject), mention(doc, object_)]
        relations.append(relation(doc, subject, predicate, object_))
    return build(docs, units, mentions, relations, ALIASES)


def test_eight_facts_give_the_table_of_the_spec() -> None:
    graph = eight_facts()
    stem = _unit_paths(graph)
    found = [
        f"{row['source']} | {row['predicate']} | {row['target']} | {row['weight']:g} | "
        + ",".join(sorted(stem[unit] for unit in row["text_unit_ids"]))
        for row in graph.relationships.iter_rows(named=True)
    ]
    assert found == RELATIONSHIPS.strip().split("\n")
    assert dict(graph.entities.select("title", "degree").iter_rows()) == {
        "Auth Service": 3,
        "Billing": 2,
        "login flow": 1,
        "Platform Team": 1,
        "PostgreSQL": 1,
        "Redis": 1,
        "token cache": 2,
        "user database": 3,
    }
    assert graph.evidence.height == 8
    assert sorted(graph.evidence["quote"]) == sorted(fact[0] for fact in EIGHT_FACTS.values())
    assert graph.failures.is_empty()
    assert math.isclose(graph.entities["pagerank"].sum(), 1, abs_tol=1e-7)


def _unit_paths(graph: Graph) -> dict[str, str]:
    paths = dict(graph.documents.select("id", "path").iter_rows())
    pairs = graph.text_units.select("id", "document_id").iter_rows()
    return {unit: paths[doc].removesuffix(".txt") for unit, doc in pairs}


def test_order_of_documents_does_not_matter() -> None:
    first = eight_facts()
    order = list(EIGHT_FACTS)
    random.Random(3).shuffle(order)
    second = eight_facts(order)
    for name in ("entities", "relationships", "evidence"):
        assert getattr(first, name).equals(getattr(second, name))
