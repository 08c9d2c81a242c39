"""Links become relationships of the graph: linked documents 1, with which node a document is."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.document_relations import list_related, relate_documents
from graphrag.index.documents import read_documents
from graphrag.index.graph import Graph, build_graph
from graphrag.index.links import build_links
from graphrag.index.text_units import build_text_units
from graphrag.tables import ENTITY_MENTIONS, ENTRY_RELATIONS, RELATIONSHIP_MENTIONS
from graphrag.tokens import count_tokens
from tests.mention_rows import mention, relation


def build(
    folder: Path, files: dict[str, str], *, named: dict[str, list[str]] | None = None, stated: bool = False
) -> Graph:
    """The graph of a vault. named: path -> surfaces that its text mentions; stated: the first two are in a relation
    depends_on."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    documents = read_documents(
        folder, max_file_mb=1, id_column="", title_column="", text_column="", count=count_tokens
    ).documents
    units = build_text_units(documents, max_tokens=300, overlap=0, count=count_tokens)
    relations = relate_documents(build_links(documents).links, ENTRY_RELATIONS.empty(), documents, units)
    mentions, statements = [], []
    for name, surfaces in (named or {}).items():
        (row,) = documents.filter(pl.col("path") == name).to_dicts()
        unit = units.filter(pl.col("document_id") == row["id"])["id"][0]
        mentions += [mention(row, surface) | {"text_unit_id": unit} for surface in surfaces]
        if stated:
            statements.append(relation(row, surfaces[0], "depends_on", surfaces[1]) | {"text_unit_id": unit})
    stated_rows = RELATIONSHIP_MENTIONS.from_rows(statements)
    found = disambiguate_entities(
        ENTITY_MENTIONS.from_rows(mentions), stated_rows, documents, related=list_related(relations)
    )
    return build_graph(found.clusters, found.entity_mentions, stated_rows, units, documents, relations)


def triples(graph: Graph) -> list[tuple[str, str, str, float, str]]:
    return graph.relationships.select("source", "predicate", "target", "weight", "origin").rows()


def test_the_predicate_is_what_the_line_says(tmp_path: Path) -> None:
    text = """---
up: "[[Maps]]"
---
See [[Redis]] and ![[Diagram]].

- requires [[Vault]] (for login)

owner:: [[Platform Team]]
"""
    notes = {f"{name}.md": f"About {name}." for name in ("Maps", "Redis", "Diagram", "Vault", "Platform Team")}
    graph = build(tmp_path, {"Home page.md": text, **notes})
    assert triples(graph) == [
        ("Home page", "embeds", "Diagram", 1.0, "link"),
        ("Home page", "links_to", "Redis", 1.0, "link"),
        ("Home page", "owner", "Platform Team", 1.0, "link"),
        ("Home page", "requires", "Vault", 1.0, "link"),
        ("Home page", "up", "Maps", 1.0, "link"),
    ]
    evidence = graph.evidence.join(graph.relationships.select(relationship_id="id", of="predicate"), "relationship_id")
    said = {row["of"]: row for row in evidence.iter_rows(named=True)}
    assert said["requires"]["quote"] == "[[Vault]]"
    assert said["requires"]["description"] == "for login"
    assert said["up"]["quote"] == "[[Maps]]"
    assert said["up"]["text_unit_id"] is None
    assert said["links_to"]["text_unit_id"] is not None
    assert all(row["is_verified"] for row in said.values())


def test_ten_links_are_one_relationship_of_as_many_text_units(tmp_path: Path) -> None:
    graph = build(tmp_path, {"A.md": "[[B]] and again [[B#Part]].\n" * 5, "B.md": "b"})
    assert triples(graph) == [("A", "links_to", "B", 1.0, "link")]
    assert graph.evidence.height == 10


def test_a_note_and_the_mention_of_its_name_are_one(tmp_path: Path) -> None:
    files = {
        "Redis.md": "---\naliases: [the cache server]\n---\nFast. See [[Log]].",
        "Log.md": "We moved redis and the cache server.",
    }
    graph = build(tmp_path, files, named={"Log.md": ["redis", "cache server"]})
    assert graph.entities["title"].to_list() == ["Log", "Redis"]
    assert graph.entities["frequency"].to_list() == [0, 1]
    assert graph.entities["aliases"].to_list()[1] == ["cache server", "redis", "the cache server"]
    assert triples(graph) == [("Redis", "links_to", "Log", 1.0, "link")]


def test_what_a_sentence_states_joins_the_evidence_and_the_stronger_origin_shows(tmp_path: Path) -> None:
    text = "Billing depends on Ledger.\n\n- depends on [[Ledger]]\n"
    graph = build(
        tmp_path, {"Billing.md": text, "Ledger.md": "l"}, named={"Billing.md": ["Billing", "Ledger"]}, stated=True
    )
    assert triples(graph) == [("Billing", "depends_on", "Ledger", 1.0, "link")]
    assert graph.evidence["quote"].to_list() == [text, "[[Ledger]]"]


def test_two_notes_of_one_name_are_two_entities_called_by_their_paths(tmp_path: Path) -> None:
    files = {"a/Note.md": "[[b/Note]]", "b/Note.md": "n", "c/README.md": "[[a/Note]]"}
    graph = build(tmp_path, files)
    assert triples(graph) == [
        ("a/Note", "links_to", "b/Note", 1.0, "link"),
        ("README", "links_to", "a/Note", 1.0, "link"),
    ]


def test_copies_under_one_title_are_one_document_and_a_link_between_them_is_a_self_relationship(
    tmp_path: Path,
) -> None:
    text = "# Plan\n\n[[Copy]] [[B]]"
    graph = build(tmp_path, {"A.md": text, "Copy.md": text, "B.md": "b"})
    assert triples(graph) == [("Plan", "links_to", "B", 1.0, "link")]
    assert graph.relationships["n_documents"].to_list() == [1]
    assert graph.failures["reason"].to_list() == ["self_relationship"]


def test_notes_of_equal_text_and_other_names_are_several(tmp_path: Path) -> None:
    graph = build(tmp_path, {"A.md": "[[C]]", "B.md": "[[C]]", "C.md": "c"})
    assert triples(graph) == [("A", "links_to", "C", 1.0, "link"), ("B", "links_to", "C", 1.0, "link")]


@pytest.mark.parametrize("text", ["[[Nowhere]]", "[[A]] [[#Part]]", "![[x.png]]", "[x](https://example.org)"])
def test_what_leads_to_no_other_document_makes_no_entity(tmp_path: Path, text: str) -> None:
    graph = build(tmp_path, {"A.md": text, "B.md": "b"})
    assert graph.entities.is_empty()
    assert graph.relationships.is_empty()


def test_arrows_on_a_canvas_relate_the_files_with_the_canvas_as_evidence(tmp_path: Path) -> None:  # edge case 29
    nodes = [
        {"id": "1", "type": "file", "file": "A.md"}, {"id": "2", "type": "file", "file": "B.md"},
        {"id": "3", "type": "text", "text": "see [[C]]"}, {"id": "4", "type": "file", "file": "Gone.md"},
    ]  # fmt: skip
    edges = [
        {"fromNode": "1", "toNode": "2", "label": "Depends on"}, {"fromNode": "2", "toNode": "1"},
        {"fromNode": "4", "toNode": "1", "label": "lost"}, {"fromNode": "1", "toNode": "1"},
    ]  # fmt: skip
    canvas = json.dumps({"nodes": nodes, "edges": edges})
    notes = {"A.md": "a", "B.md": "b", "C.md": "c", "boards/A.md": "another"}
    graph = build(tmp_path, {**notes, "boards/Map.canvas": canvas})
    assert triples(graph) == [
        ("A", "depends_on", "B", 1.0, "link"),
        ("B", "links_to", "A", 1.0, "link"),
        ("Map", "links_to", "A", 1.0, "link"),
        ("Map", "links_to", "B", 1.0, "link"),
        ("Map", "links_to", "C", 1.0, "link"),
    ]
    (quote,) = graph.evidence.filter(pl.col("predicate_surface") == "depends_on")["quote"]
    assert quote == "Depends on"


def test_cycles_and_a_hub_of_five_thousand_links(tmp_path: Path) -> None:
    notes = {f"n/Note {n}.md": "[[Hub page]]" for n in range(500)}
    hub = "\n".join(f"[[Note {n}]]" for n in range(500) for _ in range(10))
    graph = build(tmp_path, {**notes, "Hub page.md": hub})
    degrees = dict(graph.entities.select("title", "degree").iter_rows())
    assert degrees["Hub page"] == 500
    assert graph.relationships.height == 1000
    assert graph.entities.filter("is_hub")["title"].to_list() == ["Hub page"]


def test_an_alias_of_twenty_notes_joins_none_of_them(tmp_path: Path) -> None:
    notes = {f"n/Plan {n}.md": f"---\naliases: [the plan]\n---\n{n}. See [[Home page]]." for n in range(20)}
    files = {**notes, "Home page.md": "The plan is old. [[n/Plan 3]]"}
    graph = build(tmp_path, files, named={"Home page.md": ["The plan"]})
    titles = graph.entities["title"].to_list()
    assert sorted(titles) == sorted(["Home page", "plan", *(f"Plan {n}" for n in range(20))])
    assert graph.relationships.height == 21
    assert graph.entities.filter(pl.col("title") == "plan")["degree"].to_list() == [0]


def test_no_links_no_rows(tmp_path: Path) -> None:
    graph = build(tmp_path, {"A.md": "nothing"})
    assert graph.relationships.is_empty()
