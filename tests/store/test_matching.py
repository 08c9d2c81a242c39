"""An index restricted to some documents: nothing in it comes from another document, and nothing dangles."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphrag import store

WHERE = [
    "type = 'incident'",
    "path like 'places/%'",
    "type <> 'incident'",
    "title = 'INC-158: Scans arrive four hours late'",
]
LISTS = {
    ("entities", "text_unit_ids"): "text_units",
    ("relationships", "text_unit_ids"): "text_units",
    ("communities", "text_unit_ids"): "text_units",
    ("communities", "entity_ids"): "entities",
    ("communities", "relationship_ids"): "relationships",
}


@pytest.fixture(scope="module")
def whole(sample_index: Path) -> Iterator[store.Index]:
    with store.open_index(sample_index) as index:
        yield index


@pytest.mark.parametrize("where", WHERE)
def test_nothing_comes_from_another_document(sample_index: Path, whole: store.Index, where: str) -> None:
    with store.open_index(sample_index, where=where) as index:
        documents = set(index.frame("select id from documents")["id"])
        assert 0 < len(documents) < 60 and index.restriction == f"{len(documents)} of 60 documents match --where."
        for table in ("text_units", "entity_mentions", "evidence", "links"):
            assert set(index.frame(f"select document_id from {table}")["document_id"]) <= documents
        for (table, column), of in LISTS.items():
            dangling = f"select count(*) from (select unnest({column}) as id from {table}) anti join {of} using (id)"
            assert index.frame(dangling).item() == 0, (table, column)
        ends = "select count(*) from relationships r where r.source_id not in (select id from entities) or "
        assert index.frame(ends + "r.target_id not in (select id from entities)").item() == 0
        numbers = set(index.frame("select community from communities")["community"])
        assert set(index.frame("select unnest(children) as child from communities")["child"]) <= numbers
        assert set(index.frame("select community from community_reports")["community"]) == numbers
        assert index.frame("select min(len(text_unit_ids)) from communities").item() >= 1
        for table in ("entities", "relationships", "text_units", "community_reports"):
            ids, vectors = index.vectors(table)
            assert len(ids) == len(vectors) and set(ids) <= set(index.frame(f"select id from {table}")["id"])
            every, all_vectors = whole.vectors(table)
            assert all((vectors[row] == all_vectors[every.index(owner)]).all() for row, owner in enumerate(ids))
        found = set(index.search_bm25(["mercury", "redis", "service"], "text_units", top=1000)["owner_id"])
        assert found <= set(index.frame("select id from text_units")["id"])


def test_counts_are_those_of_the_matching_evidence(sample_index: Path, whole: store.Index) -> None:
    with store.open_index(sample_index, where="type = 'incident'") as index:
        counted = (
            "select r.id, r.weight, r.description from relationships r join evidence v on v.relationship_id = r.id "
            "group by all having r.weight > greatest(1, count(distinct v.text_unit_id))"
        )
        assert index.frame(counted).is_empty()
        lighter = whole.frame("select id, weight, description from relationships").join(
            index.frame("select id, weight as now, description as said from relationships"), on="id"
        )
        assert (lighter["now"] <= lighter["weight"]).all() and (lighter["now"] < lighter["weight"]).any()
        changed = lighter.filter(lighter["now"] < lighter["weight"])
        quotes = index.frame("select relationship_id as id, quote from evidence").join(changed, on="id")
        assert all(quote in said for quote, said in quotes.select("quote", "said").iter_rows())


def test_a_condition_that_all_documents_meet_changes_nothing(sample_index: Path, whole: store.Index) -> None:
    with store.open_index(sample_index, where="true") as index:
        for table in ("documents", "text_units", "entities", "relationships", "evidence", "links"):
            assert index.table(table).equals(whole.table(table)), table


def test_several_threads_may_read(sample_index: Path) -> None:
    with store.open_index(sample_index, where="type = 'incident'") as index, ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: index.frame("select count(*) from text_units").item(), range(40)))
    assert set(counts) == {8}
