"""entity_components: the parts of the graph that stated relationships connect."""

from __future__ import annotations

import numpy as np
import polars as pl

from graphrag.store.numbered_graph import build_graph, number_components, number_graph


def test_co_occurrence_and_bare_links_connect_nothing() -> None:
    entities = pl.DataFrame({"id": ["a", "b", "c", "d"], "title": ["a", "b", "C", "d"], "type": [""] * 4})
    relationships = pl.DataFrame(
        {
            "source_id": ["b", "c", "a", "a"],
            "predicate": ["uses", "owner", "related_to", "links_to"],
            "target_id": ["a", "d", "d", "c"],
            "origin": ["extracted", "link", "cooccurrence", "link"],
        }
    )
    found = number_components(entities, relationships)
    assert found.select("entity_id", "component").rows() == [("a", 0), ("b", 0), ("c", 1), ("d", 1)]
    assert number_components(entities, relationships.clear())["component"].to_list() == [0, 1, 2, 3]
    assert number_components(entities.clear(), relationships.clear()).is_empty()


def test_entities_are_numbered_by_title_and_relationships_by_entities() -> None:
    entities = pl.DataFrame({"id": ["1", "2", "3"], "title": ["beta", "Alpha", "Beta"], "type": ["x", "y", "x"]})
    relationships = pl.DataFrame(
        {
            "source_id": ["1", "2", "3", "3"],
            "source": ["beta", "Alpha", "Beta", "Beta"],
            "predicate": ["uses", "calls", "uses", "related_to"],
            "target_id": ["2", "1", "3", "1"],
            "weight": [1.0, 2.0, 1.0, 1.0],
            "origin": ["extracted", "link", "extracted", "cooccurrence"],
        }
    )
    tables = number_graph(entities, relationships)
    assert tables["entity_components"].select("number", "title").rows() == [(0, "Alpha"), (1, "Beta"), (2, "beta")]
    graph = build_graph(tables["entity_components"], tables["numbered_relationships"], ["calls", "related_to", "uses"])
    assert [graph.types[n] for n in graph.type] == ["y", "x", "x"]
    names = [graph.predicates[n] for n in graph.predicate]
    edges = zip(graph.source.tolist(), names, graph.target.tolist(), graph.is_stated.tolist(), strict=True)
    assert list(edges) == [(2, "uses", 0, True), (0, "calls", 2, True), (1, "related_to", 2, False)]
    steps = graph.turn("all", graph.is_stated, ~graph.is_stated)
    rows, place = steps.leave(np.array([0, 2, 1]))
    assert (steps.far[rows].tolist(), steps.weight[rows].tolist()) == ([2, 0, 2], [1.0, 2.0, 1.0])
    assert place.tolist() == [0, 1, 2]
