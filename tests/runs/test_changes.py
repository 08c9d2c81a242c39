"""run_changes from frames made by hand: what counts as the same row, and what is told of a change."""

from __future__ import annotations

import polars as pl

from graphrag.ids import document_id
from graphrag.runs.changes import compare_runs, count_changes, match_communities
from graphrag.tables import RUN_CHANGES

Rows = list[tuple[object, ...]]
SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "documents": dict.fromkeys(("id", "path", "title", "content_sha256", "metadata"), pl.String()),
    "entities": dict.fromkeys(("id", "title", "type", "description"), pl.String())
    | dict.fromkeys(("frequency", "degree"), pl.Int64())
    | {"aliases": pl.List(pl.String()), "n_documents": pl.Int64()},
    "relationships": dict.fromkeys(("id", "source", "predicate", "target", "description"), pl.String())
    | {"weight": pl.Float64(), "n_documents": pl.Int64(), "origin": pl.String()},
    "communities": {"id": pl.String(), "community": pl.Int64(), "level": pl.Int64(), "title": pl.String()}
    | dict.fromkeys(("entity_ids", "relationship_ids"), pl.List(pl.String()))
    | {"content_sha256": pl.String()},
    "community_reports": {
        "id": pl.String(),
        "community": pl.Int64(),
        "title": pl.String(),
        "full_content": pl.String(),
    },
}


def frames(**rows: Rows) -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(rows.get(name, []), schema=schema, orient="row") for name, schema in SCHEMAS.items()}


def told(before: dict[str, pl.DataFrame], after: dict[str, pl.DataFrame]) -> list[tuple[str, str, str, str]]:
    changes = RUN_CHANGES.conform(compare_runs(before, after, "r2"))
    return changes.select("table", "change", "label", "detail").rows()


def document(path: str, content: str, title: str = "T") -> tuple[object, ...]:
    return document_id(path), path, title, content, "{}"


def test_documents_move_with_their_content_each_once() -> None:
    before = frames(documents=[document("a", "x"), document("b", "x"), document("c", "y"), document("d", "z")])
    after = frames(documents=[document("e", "x"), document("f", "x"), document("g", "x"), document("d", "z2", "U")])
    assert told(before, after) == [
        ("documents", "added", "g", ""),
        ("documents", "removed", "c", ""),
        ("documents", "renamed", "e", "from a"),
        ("documents", "renamed", "f", "from b"),
        ("documents", "changed", "d", "title, text"),
    ]
    assert told(before, before) == []
    assert count_changes(compare_runs(before, after, "r2")) == {
        "documents": {"added": 1, "removed": 1, "renamed": 2, "changed": 1}
    }


def test_texts_are_named_and_numbers_told() -> None:
    secret = "what a deleted document said"
    before = frames(
        entities=[("1", "Redis", "database", secret, 2, 2, ["redis"], 2), ("2", "Kafka", "queue", "", 1, 1, [], 1)],
        relationships=[("r", "Auth", "depends_on", "Redis", secret, 2.0, 2, "extracted")],
    )
    after = frames(
        entities=[("1", "Redis", "database", "", 2, 3, ["redis"], 2), ("2", "Apache Kafka", "queue", "", 1, 1, [], 1)],
        relationships=[("r", "Auth", "depends_on", "Redis", "", 1.0, 1, "extracted")],
    )
    assert told(before, after) == [
        ("entities", "renamed", "Apache Kafka", "from Kafka"),
        ("entities", "changed", "Redis", "description, degree 2 -> 3"),
        ("relationships", "changed", "Auth depends_on Redis", "description, weight 2 -> 1, n_documents 2 -> 1"),
    ]
    assert secret not in str(told(before, after))


def community(number: int, level: int, members: str, content: str = "") -> tuple[object, ...]:
    return f"{level}{members}", number, level, f"Community {number}", list(members), [], content or members


def report(number: int, title: str, text: str) -> tuple[object, ...]:
    return f"{number}{text}", number, title, text


def test_a_community_is_the_one_that_shares_most_members() -> None:
    before = frames(
        communities=[community(0, 0, "abcd"), community(1, 0, "efg"), community(2, 1, "ab"), community(3, 0, "xy")],
        community_reports=[report(0, "One", "x [Data: Sources (1)]"), report(1, "Two", "y"), report(3, "Gone", "z")],
    )
    after = frames(
        communities=[community(0, 0, "efgh"), community(1, 0, "abcd"), community(2, 1, "ab"), community(3, 0, "uvw")],
        community_reports=[report(0, "Two!", "y2"), report(1, "One", "x [Data: Sources (7)]"), report(3, "New", "n")],
    )
    assert match_communities(before["communities"], after["communities"]) == {0: 1, 1: 0, 2: 2}
    assert told(before, after) == [
        ("communities", "added", "New", ""),
        ("communities", "removed", "Gone", ""),
        ("communities", "changed", "Two!", "entities +1"),
        ("community_reports", "added", "New", ""),
        ("community_reports", "removed", "Gone", ""),
        ("community_reports", "changed", "Two!", "title, text"),
    ]
