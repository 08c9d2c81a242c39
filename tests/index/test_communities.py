"""communities.py: the graphs of the indexing spec, section 5, and its invariants on random graphs."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import igraph
import leidenalg
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import ids, tables
from graphrag.errors import TableError
from graphrag.index.communities import Communities, build_communities, renumber_communities
from graphrag.tables import UNCONNECTED

from ..conftest import ROOT

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
    units_of: dict[str, list[str]] = {}
    for unit, edge in zip(units, edges, strict=True):
        for name in set(edge[:2]):
            units_of.setdefault(name, []).append(unit)
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
            "text_unit_ids": units_of.get(name, []),
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
    "two triangles and a self loop": (
        [*ABC, *DEF, "x"], extracted(*combinations(ABC, 2), *combinations(DEF, 2), ("x", "x")),
        [(0, 3), (0, 3), (0, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_the_spec(shape: str) -> None:
    entity_names, edges, expected = SHAPES[shape]
    result = cluster(make_frames(entity_names, edges))
    assert sizes(result.communities) == expected
    linked = {end for edge in edges if edge[0] != edge[1] for end in edge[:2]}
    assert (UNCONNECTED in result.communities["title"].to_list()) == bool(set(entity_names) - linked)
    assert result.failures["reason"].to_list() == ["unsplit"] * (shape == "K12")


def test_a_star_of_50000_leaves_is_one_community_that_cannot_be_split() -> None:
    leaves = [f"leaf{k}" for k in range(50_000)]
    result = cluster(make_frames(["hub", *leaves], extracted(*(("hub", leaf) for leaf in leaves))), backend="igraph")
    assert sizes(result.communities) == [(0, 50_001)]
    assert result.failures["reason"].to_list() == ["unsplit"]


def test_a_self_loop_changes_nothing() -> None:
    path = list(pairwise(names("p", 12)))
    plain = cluster(make_frames(names("p", 12), extracted(*path)), max_size=3).communities
    looped = cluster(make_frames(names("p", 12), extracted(*path, ("p03", "p03"))), max_size=3).communities
    assert plain.select("id", "level", "entity_ids").equals(looped.select("id", "level", "entity_ids"))


def test_cliques_above_the_target_are_split_within_their_parent_or_stay_whole() -> None:
    entity_names, edges, _ = SHAPES["two cliques of 8"]
    communities = cluster(make_frames(entity_names, edges), max_size=5).communities
    assert sizes(communities)[:2] == [(0, 8), (0, 8)]
    for parent in communities.filter(pl.col("children").list.len() > 0).iter_rows(named=True):
        below = communities.filter(pl.col("parent") == parent["community"])["entity_ids"].explode()
        assert sorted(below) == parent["entity_ids"]


def test_the_backend_that_ran_is_told() -> None:
    frames = make_frames(*SHAPES["three triangles"][:2])
    assert cluster(frames).backend == "leidenalg"
    assert cluster(frames, backend="igraph").backend == "igraph"


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


@given(random_graphs(), st.integers(1, 8), st.sampled_from(["modularity", "cpm"]), st.sampled_from([0.3, 1.0]))
@settings(max_examples=100, deadline=None)
def test_invariants(frames: Frames, max_size: int, quality: str, resolution: float) -> None:
    result = cluster(frames, max_size=max_size, quality=quality, resolution=resolution)
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


def test_weights_and_descriptions_of_the_evidence_change_the_content_hash() -> None:
    frames = make_frames([*ABC, *DEF], extracted(*combinations(ABC, 2), *combinations(DEF, 2)))
    before = cluster(frames).communities["content_sha256"].to_list()
    heavier = frames.relationships.with_columns(weight=pl.when(pl.col("id") == "r00005").then(2.0).otherwise("weight"))
    told = frames.evidence.with_columns(
        description=pl.when(pl.col("id") == "e5").then(pl.lit("x")).otherwise(pl.lit(""))
    )
    for changed in (frames._replace(relationships=heavier), frames._replace(evidence=told)):
        after = cluster(changed).communities["content_sha256"].to_list()
        assert after[0] == before[0] and after[1] != before[1]


def test_the_content_hash_has_no_history() -> None:
    frames = make_frames([*ABC, *DEF], extracted(*combinations(ABC, 2), *combinations(DEF, 2)))
    first = cluster(frames).communities
    earlier = first.with_columns(id=pl.lit("old") + pl.col("id"), community=pl.col("community") + 70)
    later = cluster_after(earlier, frames, frames).communities
    assert later["id"].to_list() == earlier["id"].to_list()
    assert later["content_sha256"].equals(first["content_sha256"])


def cluster_after(last: pl.DataFrame, before: Frames, now: Frames, *, max_size: int = 10) -> Communities:
    return build_communities(*now, last, before.relationships, max_community_size=max_size, seed=42)


def overlap(a: Sequence[str], b: Sequence[str]) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


@given(random_graphs(), st.integers(2, 8), st.data())
@settings(max_examples=100, deadline=None)
def test_one_new_edge_keeps_ids_where_half_of_the_members_stay(
    frames: Frames, max_size: int, data: st.DataObject
) -> None:
    """Unless the new community is to the letter another of last night's, or its half went to a better fit."""
    first = cluster(frames, max_size=max_size).communities
    titles = frames.entities["title"].to_list()
    ends = st.sampled_from(titles)
    edges = [
        (row["source"], row["target"], row["weight"], row["origin"])
        for row in frames.relationships.iter_rows(named=True)
    ]
    later = make_frames(titles, [*edges, (data.draw(ends), data.draw(ends), 1.0, "extracted")])
    second = cluster_after(first, frames, later, max_size=max_size).communities
    assert second["id"].is_unique().all() and second["community"].is_unique().all()
    before, after = first.to_dicts(), second.to_dicts()
    kept = {row["id"]: row for row in after}
    same_members = {tuple(row["entity_ids"]): row["id"] for row in before}
    for old in before:
        if old["title"] == UNCONNECTED:
            continue  # a role, not a group: it goes only where it is still played
        fits = [
            new
            for new in after
            if (new["level"], new["title"] == UNCONNECTED) == (old["level"], False)
            and overlap(new["entity_ids"], old["entity_ids"]) >= 0.5
        ]
        free = [new for new in fits if same_members.get(tuple(new["entity_ids"]), old["id"]) == old["id"]]
        if len(fits) == 1 == len(free):
            rivals = [row for row in before if row["level"] == old["level"] and row is not old
                      and overlap(row["entity_ids"], fits[0]["entity_ids"]) >= 0.5]  # fmt: skip
            if not rivals:
                assert fits[0]["id"] == old["id"]
        if any(new["entity_ids"] == old["entity_ids"] and new["title"] != UNCONNECTED for new in after):
            assert kept[old["id"]]["entity_ids"] == old["entity_ids"]


def test_numbers_for_life_go_into_every_column_that_holds_a_number() -> None:
    clique, path = names("k", 12), names("p", 60)
    edges = extracted(*combinations(clique, 2), *pairwise(path))
    result = cluster(make_frames([*clique, *path, "x"], edges), max_size=4)
    plain = result.communities
    assert plain["children"].list.len().max() and result.failures.height
    given_ = plain.with_columns(human_readable_id=pl.col("community") * 10 + 3)
    numbered, failures = renumber_communities(given_, result.failures)
    for old, new in zip(plain.to_dicts(), numbered.to_dicts(), strict=True):
        assert new["community"] == new["human_readable_id"] == old["community"] * 10 + 3
        assert new["parent"] == (old["parent"] * 10 + 3 if old["parent"] >= 0 else -1)
        assert new["children"] == [child * 10 + 3 for child in old["children"]]
        assert new["title"] in (UNCONNECTED, f"Community {new['community']}")
    assert failures["item_id"].to_list() == [f"{item}3" for item in result.failures["item_id"]]


def test_many_nights_of_small_changes_cost_no_quality() -> None:
    """Twelve nights from one another, against one from nothing: modularity of level 0, and how much stays per night."""
    rng = random.Random(5)
    groups = [names(f"g{k}-", 25) for k in range(16)]
    edges = {pair for group in groups for pair in combinations(group, 2) if rng.random() < 0.2}
    everyone = [name for group in groups for name in group]
    frames = make_frames(everyone, extracted(*sorted(edges)))
    communities, kept = cluster(frames).communities, []
    for _ in range(12):
        edges -= set(rng.sample(sorted(edges), 5))
        edges |= {tuple(sorted(rng.sample(rng.choice([*groups, everyone]), 2))) for _ in range(5)}
        later = make_frames(everyone, extracted(*sorted(edges)))
        now = cluster_after(communities, frames, later).communities
        kept.append(now.join(communities, on=["id", "entity_ids"], how="semi").height / now.height)
        frames, communities = later, now
    afresh = modularity(frames, cluster(frames).communities)
    assert modularity(frames, communities) >= afresh - 0.01
    assert sum(kept) / len(kept) > 0.8


def modularity(frames: Frames, communities: pl.DataFrame, among: Sequence[str] | None = None) -> float:
    """Weighted modularity of level 0 over the graph of the entities `among`, or of all."""
    level = communities.filter(pl.col("level") == 0).select("community", "entity_ids").explode("entity_ids")
    number = dict(level.select("entity_ids", "community").iter_rows())
    return graph_of(frames, among).modularity([number[entity] for entity in among or frames.entities["id"]], "weight")


def graph_of(frames: Frames, among: Sequence[str] | None = None) -> igraph.Graph:
    node = {entity: k for k, entity in enumerate(among or frames.entities["id"])}
    rows = frames.relationships.select("source_id", "target_id", "weight").iter_rows()
    inside = [(node[a], node[b], weight) for a, b, weight in rows if a in node and b in node and a != b]
    graph = igraph.Graph(len(node), [edge[:2] for edge in inside])
    graph.es["weight"] = [edge[2] for edge in inside]
    return graph.simplify(combine_edges="sum")


def test_another_process_with_another_hash_seed_gives_equal_tables(tmp_path: Path) -> None:
    program = (
        "import sys, polars as pl\n"
        "from tests.index.test_communities import cluster, extracted, make_frames, names\n"
        "edges = extracted(*((f'n{a:02d}', f'n{a * a % 37:02d}') for a in range(1, 37)), ('n00', 'n05'))\n"
        "cluster(make_frames(names('n', 40), edges), max_size=4).communities.write_parquet(sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        environ = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", program, tmp_path / seed], env=environ, cwd=ROOT, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


MS_INDEXES = ("msrepo_dulce_current", "msrepo_verbs_testdata", "piyo_v3.0.1_edo")


def read_reference_index(path: Path) -> tuple[Frames, pl.DataFrame]:
    """Entities and relationships of an index that microsoft/graphrag made, as our frames, and its communities."""
    with zipfile.ZipFile(path) as index:
        entities, relationships, communities = (
            pl.read_parquet(io.BytesIO(index.read(f"{name}.parquet")))
            for name in ("entities", "relationships", "communities")
        )
    known = set(entities["title"])
    edges = [
        (a, b, float(weight), "extracted")
        for a, b, weight in relationships.select("source", "target", "weight").iter_rows()
        if a in known and b in known
    ]
    frames = make_frames(entities["title"].to_list(), edges)
    ours = dict(zip(entities["id"], frames.entities["id"], strict=True))
    members = [[ours[entity] for entity in ids_] for ids_ in communities["entity_ids"]]
    return frames, communities.select("community", "level").with_columns(entity_ids=pl.Series(members))


@pytest.mark.shared
@pytest.mark.parametrize("backend", ["leidenalg", "igraph"])
@pytest.mark.parametrize("index", MS_INDEXES)
def test_real_graphs_are_covered_whole_at_the_quality_of_leidenalg(shared: Path, index: str, backend: str) -> None:
    """Beside leidenalg run until stable, on all nodes and on those that the reference covers, and its own partition."""
    frames, reference = read_reference_index(shared / "data" / "ms-index" / f"{index}.zip")
    communities = cluster(frames, backend=backend).communities
    everyone = frames.entities["id"].to_list()
    assert sorted(communities.filter(pl.col("level") == 0)["entity_ids"].explode()) == sorted(everyone)
    for parent in communities.filter(pl.col("children").list.len() > 0).iter_rows(named=True):
        below = communities.filter(pl.col("parent") == parent["community"])["entity_ids"].explode()
        assert sorted(below) == parent["entity_ids"]
    covered = sorted(set(reference.filter(pl.col("level") == 0)["entity_ids"].explode()))
    print(f"\n{index}, {backend}: the reference covers {len(covered)} of {len(everyone)} entities")
    for among, name in ((everyone, "all entities"), (covered, "those that the reference covers")):
        plain = leidenalg.find_partition(
            graph_of(frames, among), leidenalg.ModularityVertexPartition, weights="weight", seed=1, n_iterations=-1
        )
        best = graph_of(frames, among).modularity(plain.membership, "weight")
        some = make_subgraph(frames, among)
        ours = modularity(frames, cluster(some, backend=backend).communities, among)
        theirs = f", reference {modularity(frames, reference, among):.4f}" if among is covered else ""
        print(f"  modularity of level 0 on {name}: ours {ours:.4f}, leidenalg {best:.4f}{theirs}")
        assert ours >= best - 0.005


def make_subgraph(frames: Frames, among: Sequence[str]) -> Frames:
    inside = pl.col("source_id").is_in(among) & pl.col("target_id").is_in(among)
    relationships = frames.relationships.filter(inside)
    evidence = frames.evidence.join(relationships.select(relationship_id="id"), on="relationship_id", how="semi")
    return frames._replace(
        entities=frames.entities.filter(pl.col("id").is_in(among)), relationships=relationships, evidence=evidence
    )
