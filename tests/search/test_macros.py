"""The analysts' macros give what the commands give: on R8, and on random graphs that share one index.

More graphs by hand: N_GRAPHS=200 python -m pytest tests/search/test_macros.py
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag import store
from graphrag.search.walks.chains import list_chains, render_chain
from graphrag.search.walks.edges import DIRECTIONS, open_edges
from graphrag.search.walks.impact import choose_carrying, find_impact, list_predicates
from graphrag.search.walks.paths import find_routes
from graphrag.search.walks.reach import list_neighbors, open_degrees
from graphrag.settings import BYSTANDERS, CARRYING_PREDICATES, REVERSED_PREDICATES
from graphrag.store import Index
from graphrag.tables import TABLES

from .context_graph import R8_NAMES, R8_STATED, R8_TEXTS

N_GRAPHS = int(os.environ.get("N_GRAPHS", "16"))
PREDICATES = ["depends_on", "uses", "hosts", "owned_by", "co_occurs_with"]
Edges = dict[tuple[str, str, str], int]


def draw_graph(draw: random.Random, number: int) -> tuple[list[str], Edges]:
    """2 to 8 nodes of mixed case, self-links, cycles, parallels and isolated nodes among them."""
    names = ["a", "B", "c d", "D'e", "E%", "f;", "G", "h"][: draw.randint(2, 8)]
    nodes = [f"{name} {number}" for name in names]
    n_edges = draw.randint(0, 2 * len(nodes))
    return nodes, {
        (draw.choice(nodes), draw.choice(PREDICATES), draw.choice(nodes)): draw.randint(1, 3) for _ in range(n_edges)
    }


@pytest.fixture(scope="module")
def graphs() -> list[tuple[list[str], Edges]]:
    draw = random.Random(11)
    return [draw_graph(draw, number) for number in range(N_GRAPHS)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, graphs: list[tuple[list[str], Edges]]) -> Index:
    entities = [
        {
            "id": node, "human_readable_id": 0, "title": node, "type": "person" if node[0] in "BG" else "unknown",
            "description": "", "frequency": 1, "degree": 1, "text_unit_ids": [], "aliases": [],
            "n_documents": 1, "pagerank": 0.0, "is_hub": False,
            "is_cut_vertex": False,
        }
        for nodes, _ in graphs
        for node in nodes
    ]  # fmt: skip
    relationships: list[dict[str, Any]] = [
        {
            "id": f"{a} {predicate} {b}", "human_readable_id": 0, "source": a, "target": b, "description": "",
            "weight": float(weight), "combined_degree": 2, "text_unit_ids": [], "source_id": a, "target_id": b,
            "predicate": predicate, "n_documents": 1,
            "origin": "cooccurrence" if predicate == "co_occurs_with" else "extracted",
        }
        for _, edges in graphs
        for (a, predicate, b), weight in edges.items()
    ]  # fmt: skip
    folder: Path = tmp_path_factory.mktemp("graphs")
    frames = {"entities": entities, "relationships": relationships}
    store.write_run(folder, "r1", {name: TABLES[name].from_rows(frames[name]) for name in frames}, manifest={})
    store.publish_run(folder, "r1")
    return store.open_index(folder)


def rows(index: Index, sql: str, *params: object) -> list[tuple[object, ...]]:
    return index.frame(sql, params).rows()


def check_impact(index: Index, name: str) -> None:
    known = list_predicates(index)
    carrying = choose_carrying(known, predicates=CARRYING_PREDICATES, reversed_predicates=REVERSED_PREDICATES)
    impact = find_impact(index, name, carrying, reasons=True, bystanders=BYSTANDERS)
    expected = [(rank, e.title, e.hops, e.weakest, e.total, e.path) for rank, e in enumerate(impact.impacted, start=1)]
    assert rows(index, "select rank, title, hops, weakest, total, path from impacted_by(?)", name) == expected
    assert rows(index, "from survives(?)", name) == [(title,) for title in impact.survivors]


def check_path(index: Index, a: str, b: str) -> None:
    routes = find_routes(open_edges(index), a, b, max_hops=6).routes
    expected = [
        (step, edge.source, edge.predicate, edge.target, edge.weight)
        for route in routes
        for step, (_, edges) in enumerate(route.hops, start=1)
        for edge in edges
    ]
    assert rows(index, "select step, source, predicate, target, weight from path_between(?, ?)", a, b) == expected


def test_impact_and_survivors(index: Index, graphs: list[tuple[list[str], Edges]]) -> None:
    for nodes, _ in graphs:
        for name in nodes[:2]:
            check_impact(index, name)


def test_paths(index: Index, graphs: list[tuple[list[str], Edges]]) -> None:
    found = 0
    for nodes, _ in graphs:
        for a, b in ((nodes[0], nodes[-1]), (nodes[-1], nodes[0]), (nodes[0], nodes[0])):
            check_path(index, a, b)
            found += bool(find_routes(open_edges(index), a, b, max_hops=6).routes)
    assert found > N_GRAPHS // 4  # the graphs are such that there is something to compare


def test_chains(index: Index, graphs: list[tuple[list[str], Edges]]) -> None:
    fetch = open_edges(index)
    for number, (nodes, _) in enumerate(graphs):
        depth = number % 5
        chains = list_chains(fetch, nodes[0], max_depth=depth)
        expected = [(len(chain), render_chain(chain)) for chain in chains]
        assert rows(index, "from chains_from(?, ?)", nodes[0], depth) == expected


def test_neighborhoods(index: Index, graphs: list[tuple[list[str], Edges]]) -> None:
    for number, (nodes, _) in enumerate(graphs):
        way, hops = DIRECTIONS[number % 3], number % 4
        found = list_neighbors(
            open_edges(index), open_degrees(index), nodes[0], hops=hops, direction=way, cutoff=float("inf")
        )
        asked = rows(index, "select title, hop from neighborhood(?, ?, ?)", nodes[0], hops, way)
        assert sorted(asked) == sorted((neighbor.title, neighbor.hops) for neighbor in found)


def test_r8(make_index: Callable[..., Index]) -> None:
    r8 = make_index(R8_TEXTS, R8_STATED, aliases=R8_NAMES)
    for name in r8.table("entities")["title"]:
        check_impact(r8, name)
    assert [row[1] for row in rows(r8, "from impacted_by('postgres')")] == [
        "user database", "Auth Service", "Billing", "login flow",
    ]  # fmt: skip
    assert rows(r8, "from path_between('LOGIN flow', 'redis')")[1] == (
        2, "Auth Service", "depends_on", "token cache", 2.0, ["c2.txt:0-44", "c8.txt:0-39"],
    )  # fmt: skip


@pytest.mark.parametrize("name", ["Reddis", "", "x'; drop table entities; --", "%", None])
def test_an_unknown_name_gives_no_rows(index: Index, name: str | None) -> None:
    for call in ("impacted_by(?)", "survives(?)", "neighborhood(?)", "chains_from(?)", "path_between(?, 'a 0')"):
        assert rows(index, f"from {call}", name) == []


def test_the_settings_say_what_carries(tmp_path: Path, index: Index) -> None:
    frames = {name: index.table(name) for name in ("entities", "relationships")}
    store.write_run(
        tmp_path, "r1", frames, manifest={}, impact_predicates=["owned_by"], impact_predicates_reversed=["uses"]
    )
    store.publish_run(tmp_path, "r1")
    with store.open_index(tmp_path) as other:
        known = other.frame("select predicate, is_reversed from impact_predicates order by predicate")
        assert known.rows() == [("owned_by", False), ("uses", True)]
        relationships = frames["relationships"].filter(pl.col("source") != pl.col("target"))
        owned = relationships.filter(pl.col("predicate") == "owned_by").row(0, named=True)
        impacted = [row[1] for row in rows(other, "from impacted_by(?)", owned["target"])]
        assert owned["source"] in impacted
