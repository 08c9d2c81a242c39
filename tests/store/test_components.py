"""entity_components: the parts of the graph that stated relationships connect."""

from __future__ import annotations

import polars as pl

from graphrag.store.database import number_components


def test_co_occurrence_and_bare_links_connect_nothing() -> None:
    entities = pl.DataFrame({"id": ["a", "b", "c", "d"]})
    relationships = pl.DataFrame(
        {
            "source_id": ["b", "c", "a", "a"],
            "predicate": ["uses", "owner", "related_to", "links_to"],
            "target_id": ["a", "d", "d", "c"],
            "origin": ["extracted", "link", "cooccurrence", "link"],
        }
    )
    assert number_components(entities, relationships).rows() == [("a", 0), ("b", 0), ("c", 1), ("d", 1)]
    assert number_components(entities, relationships.clear())["component"].to_list() == [0, 1, 2, 3]
    assert number_components(entities.clear(), relationships.clear()).is_empty()
