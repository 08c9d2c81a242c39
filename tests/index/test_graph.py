"""Aggregation vectors of specs/indexing.md section 4, and the eight facts of specs/context-graph.md section 2."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest

from graphrag import tables
from graphrag.index.disambiguation import disambiguate_entities, parse_alias_rules
from graphrag.index.graph import Graph, build_graph, hub_cutoff
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


def aggregation() -> Graph:
    """u1, u2 in d1; u3 in d2; u4 in d3, a copy of d2."""
    d1 = document("d1", "A calls B. A calls B again.\n\nA calls B. B calls A.")
    d2 = document("d2", "A calls B. A owns B. A calls A.")
    d3 = document("d3", str(d2["text"]))
    u1, u2, u3, u4 = text_unit(d1, 0, 27), text_unit(d1, 29), text_unit(d2), text_unit(d3)
    mentions = []
    for unit, doc in ((u1, d1), (u2, d1), (u3, d2), (u4, d3)):
        for surface in ("A", "B"):
            at = str(doc["text"]).index(surface, int(str(unit["start_char"])))
            row = mention(doc, surface) | {"text_unit_id": unit["id"], "start_char": at, "end_char": at + 1}
            mentions.append(row | {"id": f"{unit['id']}{surface}"})

    def said(doc: Row, unit: Row, quote: str, strength: float | None = None, nth: int = 0) -> Row:
        start = int(str(unit["start_char"])) + str(unit["text"]).index(quote)
        subject, predicate, object_ = quote.rstrip(".").split()[:3]
        place = {"start_char": start, "end_char": start + len(quote), "text_unit_id": unit["id"], "strength": strength}
        return relation(doc, subject, predicate, object_) | place | {"id": f"{unit['id']}{quote}{nth}"}

    relations = [
        said(d1, u1, "A calls B.", 3),
        said(d1, u1, "A calls B again.", 5),
        said(d1, u2, "A calls B."),
        said(d2, u3, "A calls B.", 8),
        said(d3, u4, "A calls B.", 8),
        said(d1, u2, "B calls A.", 2),
        said(d2, u3, "A owns B.", 1),
        said(d2, u3, "A calls A."),
    ]
    return build([d1, d2, d3], [u1, u2, u3, u4], mentions, relations)


def test_weights_count_distinct_text_units_and_copies_once() -> None:
    graph = aggregation()
    columns = ("source", "predicate", "target", "weight", "n_documents", "combined_degree")
    assert graph.relationships.select(columns).rows() == [
        ("A", "calls", "B", 3.0, 2, 2),
        ("A", "owns", "B", 1.0, 1, 2),
        ("B", "calls", "A", 1.0, 1, 2),
    ]
    calls = graph.relationships.row(0, named=True)
    assert graph.evidence.filter(relationship_id=calls["id"]).height == 5
    assert len(calls["text_unit_ids"]) == 4
    entity = graph.entities.row(0, named=True)
    assert (entity["title"], entity["frequency"], entity["degree"], entity["n_documents"]) == ("A", 3, 1, 2)
    assert len(entity["text_unit_ids"]) == 4
    assert graph.failures["reason"].to_list() == ["self_relationship"]
    texts = dict(graph.documents.select("id", "text").iter_rows())
    for row in graph.evidence.iter_rows(named=True):
        assert texts[row["document_id"]][row["start_char"] : row["end_char"]] == row["quote"]


def test_id_lists_of_text_units_and_documents_are_filled() -> None:
    graph = aggregation()
    by_entity = {
        (entity, unit) for entity, units in graph.entities.select("id", "text_unit_ids").iter_rows() for unit in units
    }
    by_unit = {
        (entity, unit)
        for unit, entities in graph.text_units.select("id", "entity_ids").iter_rows()
        for entity in entities
    }
    assert by_entity == by_unit
    assert graph.documents["text_unit_ids"].list.len().to_list() == [2, 1, 1]
    starts = dict(graph.text_units.select("id", "start_char").iter_rows())
    assert [starts[unit] for unit in graph.documents["text_unit_ids"][0]] == [0, 29]


def small(relations: list[tuple[str, str, str, dict[str, object]]], surfaces: str = "A B C") -> Graph:
    doc = document("d", "A, B and C are here.")
    rows = [relation(doc, s, p, o) | {"id": f"r{n}"} | extra for n, (s, p, o, extra) in enumerate(relations)]
    return build([doc], [text_unit(doc)], [mention(doc, surface) for surface in surfaces.split()], rows)


def test_sentence_in_two_overlapping_windows_counts_once() -> None:
    doc = document("d", "One. A calls B. Two.")
    units = [text_unit(doc, 0, 15), text_unit(doc, 5, 20)]
    at = {"start_char": 5, "end_char": 15}
    rows = [
        relation(doc, "A", "calls", "B") | at | {"id": f"r{n}", "text_unit_id": u["id"]} for n, u in enumerate(units)
    ]
    mentions = [mention(doc, s) | {"text_unit_id": units[0]["id"]} for s in ("A", "B")]
    graph = build([doc], units, mentions, rows)
    assert graph.relationships["weight"].to_list() == [1.0]
    assert graph.evidence["text_unit_id"].to_list() == [units[0]["id"]]


def test_authored_evidence_has_no_text_unit_and_weight_one() -> None:
    authored: dict[str, object] = {"text_unit_id": None, "origin": "authored"}
    graph = small([("A", "owns", "B", authored), ("A", "calls", "C", {}), ("A", "calls", "C", {"origin": "link"})])
    found = graph.relationships.select("predicate", "origin", "weight").rows()
    assert found == [("calls", "link", 1.0), ("owns", "authored", 1.0)]
    assert graph.relationships["text_unit_ids"].list.len().to_list() == [1, 0]


def test_cooccurrence_gives_way_to_typed_edges_in_either_direction() -> None:
    loose: dict[str, object] = {"origin": "cooccurrence"}
    graph = small([("B", "co_occurs", "A", loose), ("A", "calls", "B", {}), ("C", "co_occurs", "B", loose)])
    assert graph.relationships.select("source", "predicate", "target", "origin").rows() == [
        ("A", "calls", "B", "extracted"),
        ("B", "co_occurs", "C", "cooccurrence"),
    ]
    assert dict(graph.entities.select("title", "degree").iter_rows()) == {"A": 1, "B": 1, "C": 0}


@pytest.mark.parametrize(
    ("strength", "expected"),
    [(-3.0, 1.0), (0.0, 1.0), (99.0, 10.0), (7.5, 7.5), (math.nan, None), (math.inf, None), (-math.inf, None)],
)
def test_strength_is_clamped_and_does_not_touch_weight(strength: float, expected: float | None) -> None:
    graph = small([("A", "calls", "B", {"strength": strength})])
    assert graph.evidence["strength"].to_list() == [expected]
    assert graph.relationships["weight"].to_list() == [1.0]


def test_relation_of_a_name_nobody_mentions_is_a_failure() -> None:
    graph = small([("A", "calls", "Z", {})])
    assert graph.relationships.is_empty()
    assert graph.failures["reason"].to_list() == ["unknown_endpoint"]


def test_ends_resolve_to_the_homonym_of_the_text_unit() -> None:
    sky, lab = document("a", "Mercury orbits the Sun."), document("b", "Mercury melts in the Lab.")
    mentions = [
        mention(sky, "Mercury", type="planet", method="declared"),
        mention(sky, "Sun"),
        mention(lab, "Mercury", type="metal", method="declared"),
        mention(lab, "Lab"),
    ]
    relations = [relation(sky, "Mercury", "orbits", "Sun"), relation(lab, "Mercury", "melts_in", "Lab")]
    graph = build([sky, lab], [text_unit(sky), text_unit(lab)], mentions, relations)
    assert graph.relationships.select("source", "target").rows() == [
        ("Mercury (metal)", "Lab"),
        ("Mercury (planet)", "Sun"),
    ]


def test_hub_is_above_fifteen_and_the_95th_percentile() -> None:
    assert hub_cutoff(pl.Series([1] * 20 + [21])) == 15
    assert hub_cutoff(pl.Series(list(range(101)))) == 95
    assert hub_cutoff(pl.Series([], dtype=pl.Int64)) == 15


def test_no_rows_give_typed_empty_tables() -> None:
    graph = build([document("a", "Hello, world")], [], [], [])
    assert (graph.entities.height, graph.relationships.height, graph.evidence.height) == (0, 0, 0)


def test_cut_vertices_hold_the_eight_facts_together() -> None:
    """All that has neighbours on two sides; what stands at an end is none."""
    cut = eight_facts().entities.filter("is_cut_vertex")["title"].to_list()
    assert sorted(cut) == ["Auth Service", "Billing", "token cache", "user database"]


def test_names_that_only_share_a_sentence_hold_nothing_together() -> None:
    graph = small([("A", "calls", "B", {}), ("B", "with", "C", {"origin": "cooccurrence"})])
    assert not graph.entities["is_cut_vertex"].any()


def test_entities_without_relations_have_equal_pagerank() -> None:
    graph = small([])
    assert graph.entities["pagerank"].to_list() == [pytest.approx(1 / 3, abs=1e-8)] * 3
    assert graph.entities["degree"].to_list() == [0, 0, 0]
