"""The sample corpus: its gold file is consistent, its scorer counts right, the pipeline meets the marks of issue 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.gold import (
    Gold,
    find_denied_edges,
    fold,
    gold_surfaces,
    load_gold,
    names_in,
    predicate_key,
    score_aliases,
    score_edges,
    score_entities,
)

SAMPLE = Path(__file__).resolve().parent.parent / "data" / "sample"
MIN_ENTITY_RECALL, MIN_ENTITY_PRECISION = 0.85, 0.80
MIN_EDGE_RECALL, MIN_EDGE_PRECISION = 0.60, 0.80


@pytest.fixture(scope="module")
def gold() -> Gold:
    return load_gold(SAMPLE / "gold.json")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    docs = SAMPLE / "docs"
    return {p.relative_to(docs).as_posix(): p.read_text(encoding="utf-8") for p in sorted(docs.rglob("*.md"))}


def test_corpus_has_the_promised_size(texts: dict[str, str]) -> None:
    assert 40 <= len(texts) <= 60
    assert 30_000 <= sum(len(text.encode()) for text in texts.values()) <= 60_000


def test_every_quote_is_verbatim(gold: Gold, texts: dict[str, str]) -> None:
    assert [edge for edge in gold["edges"] if edge["quote"] not in texts.get(edge["path"], "")] == []


def test_edges_by_name_name_both_ends(gold: Gold) -> None:
    surfaces = gold_surfaces(gold)
    for edge in gold["edges"]:
        both = all(names_in(edge["quote"], surfaces[edge[end]]) for end in ("source", "target"))
        assert both == (edge["stated"] == "by name"), edge


def test_every_end_and_every_name_is_a_gold_entity(gold: Gold) -> None:
    names = [entity["name"] for entity in gold["entities"]]
    assert len(names) == len(set(names))
    ends = {
        edge[end]
        for part in ("edges", "edges_also_ok", "not_edges")
        for edge in gold[part]
        for end in ("source", "target")
    }
    asked = {name for question in gold["questions"] for name in question["entities"]}
    assert sorted((ends | asked) - set(names)) == []


def test_every_name_and_alias_occurs(gold: Gold, texts: dict[str, str]) -> None:
    for entity in gold["entities"]:
        for surface in gold_surfaces(gold)[entity["name"]][1 if "(" in entity["name"] else 0 :]:
            assert any(names_in(text, [surface]) for text in texts.values()), surface
    for name in {name for group in gold["alias_groups"] for name in group}:
        assert any(names_in(text, [name]) for text in texts.values()), name


def test_paths_exist(gold: Gold, texts: dict[str, str]) -> None:
    paths = {edge["path"] for edge in gold["edges"] + gold["not_edges"]}
    paths |= {path for part in ("entities", "questions") for row in gold[part] for path in row["documents"]}
    assert sorted(paths - set(texts)) == []


def test_no_edge_is_both_stated_and_denied(gold: Gold) -> None:
    def key(edge: dict[str, Any]) -> tuple[str, str, str]:
        return edge["source"], predicate_key(edge["predicate"]), edge["target"]

    stated = {key(edge) for edge in gold["edges"] + gold["edges_also_ok"]}
    assert sorted(stated & {key(edge) for edge in gold["not_edges"]}) == []


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("The Auth Service", "AuthService", True),
        ("token-cache", "token cache", True),
        ("Osterhaus's", "Osterhaus", True),
        ("PostgreSQL 14", "PostgreSQL 16", False),
        ("INC-104", "INC 104", True),
        ("PostgreSQL", "postgresql", True),
    ],
)
def test_fold(a: str, b: str, equal: bool) -> None:
    assert (fold(a) == fold(b)) == equal


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("writes_to", "wrote_to", True),
        ("leads", "led", True),
        ("uses", "used", True),
        ("copies", "copied", True),
        ("owns", "owned_by", False),
        ("runs_on", "runs_in", False),
    ],
)
def test_predicate_key(a: str, b: str, equal: bool) -> None:
    assert (predicate_key(a) == predicate_key(b)) == equal


TINY_GOLD: Gold = {
    "entities": [
        {"name": "Auth Service", "aliases": ["AuthService"]},
        {"name": "Redis", "aliases": []},
        {"name": "Billing", "aliases": []},
        {"name": "Team A", "aliases": []},
        {"name": "Team B", "aliases": []},
        {"name": "Moon (place)", "aliases": []},
        {"name": "Moon (service)", "aliases": []},
    ],
    "also_ok": ["PDF"],
    "alias_groups": [["Auth Service", "AuthService"]],
    "not_same": [["Team A", "Team B"], ["Moon (place)", "Moon (service)"]],
    "edges": [
        {
            "source": "Auth Service",
            "predicate": "uses",
            "target": "Redis",
            "predicate_also": ["depends_on"],
            "stated": "by name",
        },
        {"source": "Billing", "predicate": "calls", "target": "Auth Service", "stated": "by name"},
        {"source": "Billing", "predicate": "owned_by", "target": "Team A", "stated": "by reference"},
    ],
    "edges_also_ok": [{"source": "Moon (service)", "predicate": "calls", "target": "Redis"}],
    "not_edges": [{"source": "Billing", "predicate": "uses", "target": "Redis"}],
}


def frame(**aliases: list[str]) -> pl.DataFrame:
    titles = [title.replace("_", " ") for title in aliases]
    return pl.DataFrame(
        {"title": titles, "aliases": list(aliases.values())}, schema={"title": pl.String, "aliases": pl.List(pl.String)}
    )


def test_scores_of_a_small_index() -> None:
    entities = frame(
        Auth_Service=["AuthService"], redis=[], Billing=[], Moon=[], Team_A=["Team B"], PDF=[], Nonsense=[]
    )
    score = score_entities(entities, TINY_GOLD)
    assert (score.n_right, score.n_judged, score.n_found, score.n_wanted) == (6, 7, 6, 7)
    assert (score.wrong, score.missed) == (["Nonsense"], ["Team B"])
    aliases = score_aliases(entities, TINY_GOLD)
    assert (aliases.unmerged, aliases.absent) == ([], [])
    assert [line.split(":")[0] for line in aliases.wrongly_merged] == [
        "Team A and Team B",
        "Moon (place) and Moon (service)",
    ]

    rows = [
        ("Auth Service", "depends_on", "redis", "extracted"),
        ("Auth Service", "calls", "Billing", "extracted"),  # the wrong way round
        ("Moon", "called", "redis", "extracted"),
        ("Billing", "uses", "redis", "extracted"),
        ("Billing", "links_to", "redis", "link"),
        ("Nonsense", "uses", "redis", "extracted"),
    ]
    relationships = pl.DataFrame(rows, schema=["source", "predicate", "target", "origin"], orient="row")
    edges = score_edges(relationships, entities, TINY_GOLD)
    assert (edges.n_right, edges.n_judged, edges.n_found, edges.n_wanted) == (2, 4, 1, 2)
    assert edges.missed == ["Billing -calls-> Auth Service"]
    assert score_edges(relationships, entities, TINY_GOLD, stated=("by name", "by reference")).n_wanted == 3
    assert find_denied_edges(relationships, entities, TINY_GOLD) == ["Billing -uses-> redis"]


def test_two_spellings_in_two_entities_are_unmerged() -> None:
    scored = score_aliases(frame(Auth_Service=[], AuthService=[]), TINY_GOLD)
    assert len(scored.unmerged) == 1
    assert score_aliases(frame(Redis=[]), TINY_GOLD).absent == ["Auth Service", "AuthService"]


def read_current(output: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(output / "current" / f"{table}.parquet")


def test_entities_of_the_sample(sample_index: Path, gold: Gold) -> None:
    score = score_entities(read_current(sample_index, "entities"), gold)
    print("\n" + score.line("entities"), "wrong:", score.wrong, "missed:", score.missed, sep="\n  ")
    assert score.recall >= MIN_ENTITY_RECALL, score.missed
    assert score.precision >= MIN_ENTITY_PRECISION, score.wrong


def test_alias_groups_of_the_sample(sample_index: Path, gold: Gold) -> None:
    scored = score_aliases(read_current(sample_index, "entities"), gold)
    assert scored == ([], [], [])


def test_typed_edges_of_the_sample(sample_index: Path, gold: Gold) -> None:
    entities, relationships = read_current(sample_index, "entities"), read_current(sample_index, "relationships")
    score = score_edges(relationships, entities, gold)
    every = score_edges(relationships, entities, gold, stated=("by name", "by reference"))
    print("\n" + score.line("edges stated by name"), every.line("all edges"), "wrong:", score.wrong, sep="\n  ")
    print("missed:", score.missed, sep="\n  ")
    assert score.recall >= MIN_EDGE_RECALL, score.missed
    assert score.precision >= MIN_EDGE_PRECISION, score.wrong


def test_denied_edges_are_not_in_the_graph(sample_index: Path, gold: Gold) -> None:
    entities, relationships = read_current(sample_index, "entities"), read_current(sample_index, "relationships")
    assert find_denied_edges(relationships, entities, gold) == []
