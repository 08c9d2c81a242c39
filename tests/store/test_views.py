"""Macros give what a walk over the relationships gives; views agree with the tables they sum up."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from graphrag import store
from graphrag.tables import TABLES

from ..sql_docs import ask_sql

Frames = dict[str, pl.DataFrame]
N_NODES = 24


@pytest.fixture(scope="module")
def edges() -> list[tuple[str, str]]:
    draw = random.Random(7)
    nodes = [f"Node {i}" for i in range(N_NODES)]
    pairs = {(draw.choice(nodes), draw.choice(nodes)) for _ in range(36)}
    return sorted({(a, b) for a, b in pairs if a != b} | {("Node 0", "Node 1"), ("Node 1", "Node 0")})


@pytest.fixture(scope="module")
def graph_index(tmp_path_factory: pytest.TempPathFactory, frames: Frames, edges: list[tuple[str, str]]) -> store.Index:
    entity, relationship = frames["entities"].row(0, named=True), frames["relationships"].row(0, named=True)
    entities = [{**entity, "id": f"Node {i}", "title": f"Node {i}", "aliases": []} for i in range(N_NODES)]
    relationships = [
        {**relationship, "id": f"{a}-{b}", "source": a, "target": b, "source_id": a, "target_id": b} for a, b in edges
    ]
    rows = {"entities": entities, "relationships": relationships}
    folder = tmp_path_factory.mktemp("graph")
    store.write_run(folder, "r1", {name: TABLES[name].from_rows(rows[name]) for name in rows}, manifest={})
    store.publish_run(folder, "r1")
    return store.open_index(folder)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("hops", [1, 2, 6])
def test_neighborhood_is_the_breadth_first_walk(
    graph_index: store.Index, edges: list[tuple[str, str]], direction: str, hops: int
) -> None:
    forward, backward = direction in ("out", "both"), direction in ("in", "both")
    for start in range(N_NODES):
        hop_of = {f"Node {start}": 0}
        for hop in range(1, hops + 1):
            for a, b in edges:
                if forward and hop_of.get(a) == hop - 1:
                    hop_of.setdefault(b, hop)
                if backward and hop_of.get(b) == hop - 1:
                    hop_of.setdefault(a, hop)
        found = graph_index.frame("select title, hop from neighborhood(?, ?, ?)", [f"node_{start}", hops, direction])
        assert dict(found.rows()) == hop_of


def test_a_title_wins_over_another_entitys_alias(tmp_path: Path, frames: Frames) -> None:
    entity = frames["entities"].row(0, named=True)
    rows = [
        {**entity, "id": "1", "title": "Apollo", "aliases": ["Mercury"], "degree": 99},
        {**entity, "id": "2", "title": "Mercury", "aliases": [], "degree": 1},
        {**entity, "id": "3", "title": "Zeus", "aliases": ["Jupiter"], "degree": 5},
        {**entity, "id": "4", "title": "Hera", "aliases": ["Jupiter"], "degree": 9},
    ]
    store.write_run(tmp_path, "r1", {"entities": TABLES["entities"].from_rows(rows)}, manifest={})
    store.publish_run(tmp_path, "r1")
    with store.open_index(tmp_path) as index:
        assert index.frame("select resolve_entity('mercury')").item() == "Mercury"
        assert index.frame("select resolve_entity('JUPITER')").item() == "Hera"


@pytest.mark.parametrize(
    ("view", "table"),
    [("top_entities", "entities"), ("relationship_evidence", "evidence"), ("document_overview", "documents"),
     ("community_overview", "communities"), ("duplicate_suspects", "alias_candidates")],
)  # fmt: skip
def test_views_neither_lose_nor_repeat_rows(tmp_path: Path, frames: Frames, view: str, table: str) -> None:
    store.write_run(tmp_path, "r1", frames, manifest={})
    store.publish_run(tmp_path, "r1")
    assert ask_sql(tmp_path, f"select count(*) from {view}").item() == frames[table].height


def publish_vault(folder: Path, texts: dict[str, list[str]], links: list[tuple[str, str, str]], frames: Frames) -> None:
    """A run of notes by path, each with the titles it names; links are (from, to, status)."""
    document, entity = frames["documents"].row(0, named=True), frames["entities"].row(0, named=True)
    mention = frames["entity_mentions"].row(0, named=True)
    titles = sorted({title for named in texts.values() for title in named})
    rows = {
        "documents": [{**document, "id": p, "path": p, "title": p[:-3], "content_sha256": p} for p in texts],
        "entities": [{**entity, "id": title, "title": title, "aliases": []} for title in titles],
        "entity_mentions": [
            {**mention, "id": f"{path} {n}", "document_id": path, "entity_id": title}
            for path, named in texts.items()
            for n, title in enumerate(named)
        ],
        "links": [
            {"document_id": a, "ordinal": n, "line": 1, "syntax": "wikilink", "raw": f"[[{b}]]", "target": b,
             "subpath": "", "display": "", "status": status, "target_document_id": b if b in texts else None,
             "predicate": "links_to", "description": "", "start_char": 0, "end_char": 5, "source_document_id": a}
            for n, (a, b, status) in enumerate(links)
        ],
    }  # fmt: skip
    store.write_run(folder, "r1", {name: TABLES[name].from_rows(rows[name]) for name in rows}, manifest={})
    store.publish_run(folder, "r1")


def test_notes_that_name_the_same_rare_things_and_are_not_linked_are_related(tmp_path: Path, frames: Frames) -> None:
    common = {f"n{i:02}.md": ["Everyone"] for i in range(20)}
    texts = {
        "a.md": ["Redis", "Kafka", "Everyone", "Redis"], "b.md": ["Redis", "Kafka", "Everyone"],
        "c.md": ["Redis", "Kafka", "Vault"], "d.md": ["Redis", "Everyone"], **common,
    }  # fmt: skip
    publish_vault(tmp_path, texts, [("b.md", "a.md", "resolved"), ("a.md", "x", "unresolved")], frames)
    found = ask_sql(tmp_path, "select path_a, path_b, n_shared, score, shared from unlinked_but_related")
    # Redis is in four notes, Kafka in three; Everyone is in more than twenty. a and b are linked; d shares one only.
    score = round(1 / 4 + 1 / 3, 3)
    assert [(*row[:4], *row[4]) for row in found.rows()] == [
        ("a.md", "c.md", 2, score, "Kafka", "Redis"),
        ("b.md", "c.md", 2, score, "Kafka", "Redis"),
    ]


def test_a_link_to_what_the_text_never_names_is_listed(tmp_path: Path, frames: Frames) -> None:
    texts = {"a.md": ["Redis"], "Redis.md": ["Redis"], "Kafka.md": ["Kafka"], "notes.md": []}
    links = [("a.md", "Redis.md", "resolved"), ("a.md", "Kafka.md", "ambiguous"), ("a.md", "notes.md", "resolved"),
             ("Kafka.md", "Kafka.md", "self")]  # fmt: skip
    publish_vault(tmp_path, texts, links, frames)
    found = ask_sql(tmp_path, "select path, raw, target_path, entity from linked_but_never_mentioned")
    assert found.rows() == [("a.md", "[[Kafka.md]]", "Kafka.md", "Kafka")]


def test_a_note_that_is_named_and_not_linked_is_listed_with_the_names(tmp_path: Path, frames: Frames) -> None:
    texts = {"a.md": ["Redis", "Redis", "Kafka"], "b.md": ["Redis"], "Redis.md": ["Redis"], "Kafka.md": ["Kafka"]}
    links = [("b.md", "Redis.md", "resolved"), ("a.md", "Kafka.md", "ambiguous"), ("a.md", "x", "unresolved")]
    publish_vault(tmp_path, texts, links, frames)
    found = ask_sql(tmp_path, "select path, target_path, entity, n_mentions from mentioned_but_unlinked")
    assert found.rows() == [("a.md", "Redis.md", "Redis", 2)]
