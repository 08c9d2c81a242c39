"""communities.py: the graphs of the indexing spec, section 5, and its invariants on random graphs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import ids, tables
from graphrag.errors import TableError
from graphrag.index.communities import Communities, build_communities
from graphrag.tables import UNCONNECTED

Edge = tuple[str, str, float, str]


class Frames(NamedTuple):
    entities: pl.DataFrame
    relationships: pl.DataFrame
    evidence: pl.DataFrame
    documents: pl.DataFrame


def make_frames(names: Sequence[str], edges: Sequence[Edge], *, dates: Sequence[str] = ("",)) -> Frames:
    """Entities by title, edges (source, target, weight, origin); edge k has its evidence in unit u{k}.

    Units are dealt out to as many documents as there are dates.
    """
    units = [f"u{k}" for k in range(len(edges))]
    documents = [
        {
            "id": f"d{d}", "human_readable_id": d, "title": f"d{d}", "text": "",
            "text_unit_ids": units[d :: len(dates)], "creation_date": date,
            "path": f"d{d}.md", "kind": "md", "content_sha256": "", "n_tokens": 0,
            "metadata": "{}",
        }
        for d, date in enumerate(dates)
    ]  # fmt: skip
    entities = [
        {
            "id": ids.entity_id(name.casefold()), "human_readable_id": k, "title": name, "type": "unknown",
            "description": "", "frequency": 1, "degree": 0, "aliases": [], "n_documents": 1, "pagerank": 0.0,
            "is_hub": False, "is_cut_vertex": False,
            "text_unit_ids": [u for u, e in zip(units, edges, strict=True) if name in e[:2]],
        }
        for k, name in enumerate(names)
    ]  # fmt: skip
    by_title = {row["title"]: row["id"] for row in entities}
    relationships = [
        {
            "id": f"r{k:05d}", "human_readable_id": k, "source": a, "target": b, "description": "", "weight": weight,
            "combined_degree": 0, "text_unit_ids": [units[k]], "source_id": by_title[a], "target_id": by_title[b],
            "predicate": "p", "n_documents": 1, "origin": origin,
        }
        for k, (a, b, weight, origin) in enumerate(edges)
    ]  # fmt: skip
    evidence = [
        {
            "id": f"e{k}", "relationship_id": row["id"], "text_unit_id": units[k], "start_char": k, "end_char": k + 1,
            "document_id": f"d{k % len(dates)}", "quote": f"{row['source']} p {row['target']}", "subject_surface": "",
            "predicate_surface": "", "object_surface": "", "description": "", "strength": None, "is_verified": True,
        }
        for k, row in enumerate(relationships)
    ]  # fmt: skip
    return Frames(
        tables.ENTITIES.from_rows(entities), tables.RELATIONSHIPS.from_rows(relationships),
        tables.EVIDENCE.from_rows(evidence), tables.DOCUMENTS.from_rows(documents),
    )  # fmt: skip


def extracted(*pairs: tuple[str, str]) -> list[Edge]:
    return [(a, b, 1.0, "extracted") for a, b in pairs]


def cluster(frames: Frames, *, max_size: int = 10, **knobs: Any) -> Communities:
    return build_communities(*frames, max_community_size=max_size, seed=42, **knobs)


def names(prefix: str, n: int) -> list[str]:
    return [f"{prefix}{k:02d}" for k in range(n)]


def sizes(communities: pl.DataFrame) -> list[tuple[int, int]]:
    return list(zip(communities["level"].to_list(), communities["size"].to_list(), strict=True))


ABC, DEF, GHI = ("a", "b", "c"), ("d", "e", "f"), ("g", "h", "i")
LEFT, RIGHT = names("l", 8), names("r", 8)
SHAPES: dict[str, tuple[list[str], list[Edge], list[tuple[int, int]]]] = {
    "no entity": ([], [], []),
    "one entity": (["a"], [], [(0, 1)]),
    "315 isolated": (names("n", 315), [], [(0, 315)]),
    "two entities, one edge": (["a", "b"], extracted(("a", "b")), [(0, 2)]),
    "two parallel edges": (["a", "b"], extracted(("a", "b"), ("b", "a")), [(0, 2)]),
    "three triangles": (
        [*ABC, *DEF, *GHI], extracted(*combinations(ABC, 2), *combinations(DEF, 2), *combinations(GHI, 2)),
        [(0, 3), (0, 3), (0, 3)],
    ),
    "triangle, pair, two isolated": (
        [*ABC, "p", "q", "x", "y"], extracted(*combinations(ABC, 2), ("p", "q")), [(0, 3), (0, 2), (0, 2)],
    ),
    "K12": (names("k", 12), extracted(*combinations(names("k", 12), 2)), [(0, 12)]),
    "two cliques of 8": (
        [*LEFT, *RIGHT], extracted(*combinations(LEFT, 2), *combinations(RIGHT, 2), (LEFT[0], RIGHT[0])),
        [(0, 8), (0, 8)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_the_spec(shape: str) -> None:
    entity_names, edges, expected = SHAPES[shape]
    result = cluster(make_frames(entity_names, edges))
    assert sizes(result.communities) == expected
    linked = {end for edge in edges for end in edge[:2]}
    assert (UNCONNECTED in result.communities["title"].to_list()) == bool(set(entity_names) - linked)
    assert result.failures["reason"].to_list() == (["unsplit"] if shape == "K12" else [])


def test_unconnected_entities_come_last_and_have_no_relationships() -> None:
    entity_names, edges, _ = SHAPES["triangle, pair, two isolated"]
    last = cluster(make_frames(entity_names, edges)).communities.row(-1, named=True)
    assert (last["community"], last["title"], last["parent"], last["children"]) == (2, UNCONNECTED, -1, [])
    assert last["relationship_ids"] == last["text_unit_ids"] == []
    assert last["entity_ids"] == sorted(ids.entity_id(name) for name in "xy")


def test_an_unsplit_community_is_a_row_that_says_so() -> None:
    entity_names, edges, _ = SHAPES["K12"]
    row = cluster(make_frames(entity_names, edges)).failures.row(0, named=True)
    assert (row["stage"], row["item_id"]) == ("communities", "0")
    assert row["detail"].startswith("12 entities, more than the target of 10")


def test_cooccurrence_counts_by_its_weight_and_zero_leaves_it_out() -> None:
    edges = [*extracted(("a", "b")), ("b", "c", 1.0, "cooccurrence")]
    frames = make_frames(["a", "b", "c"], edges)
    assert sizes(cluster(frames, layer_weights={"cooccurrence": 0.5}).communities) == [(0, 3)]
    apart = cluster(frames, layer_weights={"cooccurrence": 0.0}).communities
    assert sizes(apart) == [(0, 2), (0, 1)]
    assert apart["title"].to_list() == ["Community 0", UNCONNECTED]
    assert apart["relationship_ids"].to_list() == [["r00000"], []]


def test_period_is_the_newest_date_of_the_members_documents() -> None:
    edges = extracted(*combinations(ABC, 2), ("p", "q"))
    frames = make_frames([*ABC, "p", "q", "x"], edges, dates=["2024-02-01", "", "2026-05-09", "2023"])
    assert cluster(frames).communities["period"].to_list() == ["2026-05-09", "2023", ""]


def test_content_hash_follows_members_and_quotes_only() -> None:
    edges = extracted(*combinations(ABC, 2), *combinations(DEF, 2))
    frames = make_frames([*ABC, *DEF], edges)
    before = cluster(frames).communities["content_sha256"].to_list()
    moved = frames.evidence.with_columns(
        pl.col("start_char") + 7, pl.col("end_char") + 7, id=pl.col("id") + "x", document_id=pl.lit("d9")
    )
    copied = pl.concat([frames.evidence, moved])
    assert cluster(frames._replace(evidence=copied)).communities["content_sha256"].to_list() == before
    said = frames.evidence.with_columns(quote=pl.when(pl.col("id") == "e5").then(pl.lit("new")).otherwise("quote"))
    after = cluster(frames._replace(evidence=said)).communities["content_sha256"].to_list()
    assert after[0] == before[0] and after[1] != before[1]


def test_a_relationship_without_its_entity_is_an_error() -> None:
    frames = make_frames(["a", "b"], extracted(("a", "b")))
    with pytest.raises(TableError, match="1 rows name no entity"):
        cluster(frames._replace(entities=frames.entities.head(1)))


@st.composite
def random_graphs(draw: st.DrawFn) -> Frames:
    entity_names = names("n", draw(st.integers(1, 36)))
    name = st.sampled_from(entity_names)
    edge = st.tuples(name, name, st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from(["extracted", "cooccurrence"]))
    edges = draw(st.lists(edge.filter(lambda e: e[0] != e[1]), max_size=110))
    return make_frames(entity_names, edges, dates=["2024-01-01", "2025-01-01", ""])


@given(random_graphs(), st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_invariants(frames: Frames, max_size: int) -> None:
    result = cluster(frames, max_size=max_size)
    communities = result.communities
    rows = communities.to_dicts()
    everyone = sorted(frames.entities["id"].to_list())
    assert sorted(e for row in rows if row["level"] == 0 for e in row["entity_ids"]) == everyone
    assert communities["community"].to_list() == list(range(len(rows)))
    title = dict(frames.entities.select("id", "title").iter_rows())
    order = [
        (row["level"], row["title"] == UNCONNECTED, -row["size"], min(title[e] for e in row["entity_ids"]))
        for row in rows
    ]
    assert order == sorted(order)
    for row in rows:
        assert row["size"] == len(row["entity_ids"]) and row["entity_ids"] == sorted(row["entity_ids"])
        assert (row["parent"] == -1) == (row["level"] == 0)
        if row["parent"] >= 0:
            parent = rows[row["parent"]]
            assert parent["level"] == row["level"] - 1 and row["community"] in parent["children"]
            assert row["size"] < parent["size"] > max_size
        if row["children"]:
            children = [rows[child] for child in row["children"]]
            assert sorted(e for child in children for e in child["entity_ids"]) == row["entity_ids"]
            assert all(child["parent"] == row["community"] for child in children) and len(children) > 1
        members = set(row["entity_ids"])
        inner = [r for r in frames.relationships.to_dicts() if {r["source_id"], r["target_id"]} <= members]
        assert row["relationship_ids"] == sorted(r["id"] for r in inner)
        assert row["text_unit_ids"] == sorted({u for r in inner for u in r["text_unit_ids"]})
    large = {
        str(row["community"])
        for row in rows
        if row["size"] > max_size and not row["children"] and row["title"] != UNCONNECTED
    }
    assert set(result.failures["item_id"].to_list()) == large


@given(random_graphs(), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_the_order_of_input_rows_has_no_effect(frames: Frames, salt: int) -> None:
    def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
        order = list(range(len(frame)))
        random.Random(salt).shuffle(order)
        return frame[order]

    other = Frames(*(shuffled(frame) for frame in frames))
    assert cluster(frames, max_size=4).communities.equals(cluster(other, max_size=4).communities)
