"""Neighborhoods and their hub cutoff: R8, the hub of specs/context-graph.md section 5, the table of vault17."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphrag.errors import UsageError
from graphrag.search.walks.edges import Direction, Edge, list_edges
from graphrag.search.walks.reach import Neighbor, choose_cutoff, list_neighbors
from graphrag.store import Index

from ..context_graph import edges
from .test_impact import R8


def walk(graph: list[Edge], anchor: str, hops: int, direction: Direction, cutoff: float = math.inf) -> list[Neighbor]:
    near: dict[str, set[str]] = defaultdict(set)
    for edge in graph:
        near[edge.source].add(edge.target)
        near[edge.target].add(edge.source)

    def degrees(titles: Sequence[str]) -> dict[str, int]:
        return {title: len(near[title] - {title}) for title in titles}

    return list_neighbors(list_edges(graph), degrees, anchor, hops=hops, direction=direction, cutoff=cutoff)


@pytest.mark.parametrize(
    ("anchor", "hops", "direction", "expected"),
    [
        ("login flow", 0, "out", "login flow"),
        ("login flow", 1, "out", "Auth Service, login flow"),
        ("login flow", 2, "out", "Auth Service, login flow, token cache, user database"),
        ("login flow", 3, "out", "Auth Service, login flow, PostgreSQL, Redis, token cache, user database"),
        ("login flow", 4, "out", "Auth Service, login flow, PostgreSQL, Redis, token cache, user database"),
        ("Redis", 1, "in", "Redis, token cache"),
        ("Redis", 2, "in", "Auth Service, Redis, token cache"),
        ("Billing", 1, "both", "Billing, Platform Team, user database"),
        ("Billing", 2, "both", "Auth Service, Billing, Platform Team, PostgreSQL, user database"),
        ("Redis", 2, "out", "Redis"),
        ("PostgreSQL", 1, "in", "PostgreSQL, user database"),
    ],
)
def test_r8(anchor: str, hops: int, direction: Direction, expected: str) -> None:
    found = [neighbor.title for neighbor in walk(R8, anchor, hops, direction)]
    assert ", ".join(sorted(found, key=str.lower)) == expected and found[0] == anchor


def test_order_is_hops_then_weight_then_title() -> None:
    graph = edges("A x C", "A x B", "A x E 3", "C x D", "E x D 2")
    found = walk(graph, "A", 2, "out")
    assert [neighbor.title for neighbor in found] == ["A", "E", "B", "C", "D"]
    assert found[-1].hop is not None and found[-1].hop[0] == "E"


HUB = edges("A x H", "A x B", *(f"H x N{i}" for i in range(1, 21)))


def test_a_hub_is_shown_and_not_walked_through_unless_the_walk_starts_there() -> None:
    found = walk(HUB, "A", 2, "both", cutoff=15)
    assert [(neighbor.title, neighbor.is_stub) for neighbor in found] == [("A", False), ("B", False), ("H", True)]
    assert len(walk(HUB, "A", 2, "both")) == 23
    assert len(walk(HUB, "A", 2, "both", cutoff=21)) == 23
    assert [len(walk(HUB, "H", 1, "both", cutoff)) for cutoff in (0, 15, math.inf)] == [22, 22, 22]


def test_a_hub_of_5000_is_one_entry_of_a_neighborhood_and_all_of_its_own() -> None:
    star = edges("A x H", *(f"N{i} x H" for i in range(5_000)), *(f"N{i} x M{i}" for i in range(5_000)))
    assert [(n.title, n.degree, n.is_stub) for n in walk(star, "A", 3, "both", cutoff=15)] == [
        ("A", 1, False), ("H", 5_001, True),
    ]  # fmt: skip
    found = walk(star, "H", 1, "both", cutoff=15)
    assert len(found) == 5_002 and not found[0].is_stub


@pytest.fixture(scope="session")
def vault17(shared: Path) -> list[Edge]:
    notes = sorted((shared / "specs" / "vault17").glob("*.md"))
    links = {(p.stem, target) for p in notes for target in re.findall(r"\[\[([^\]|#]+)", p.read_text(encoding="utf-8"))}
    return [Edge(f"{a} {b}", a, "links_to", b, 1.0) for a, b in sorted(links)]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("anchor", "hops", "cutoff", "n_notes"),
    [
        *(("Graph Engineering", 2, cutoff, 4) for cutoff in (0, 1, 2)),
        *(("Graph Engineering", 2, cutoff, 6) for cutoff in (3, 4, 15)),
        *(("Graph Engineering", 2, cutoff, 17) for cutoff in (16, 999, math.inf)),
        ("Graph Engineering", 0, 4, 1),
        ("Graph Engineering", 1, 4, 4),
        ("Graph Engineering", 3, 4, 6),
        ("Graph Engineering", 4, 4, 6),
        ("Tax Papers For 2026", 2, 4, 2),
        ("MOC - All Posts", 1, 4, 17),
    ],
)
def test_vault17(vault17: list[Edge], anchor: str, hops: int, cutoff: float, n_notes: int) -> None:
    found = walk(vault17, anchor, hops, "both", cutoff)
    assert len(found) == n_notes
    assert [n.title for n in found if n.is_stub and n.degree == 16] == (
        ["MOC - All Posts"] if hops > 0 and cutoff < 16 and anchor != "MOC - All Posts" else []
    )


@pytest.mark.shared
def test_vault17_in_order(vault17: list[Edge]) -> None:
    assert [neighbor.title for neighbor in walk(vault17, "Graph Engineering", 2, "both", 4)] == [
        "Graph Engineering", "Harness Engineering", "MOC - All Posts", "Obsidian Retrieval", "PARA Method",
        "Stripe Blueprint",
    ]  # fmt: skip


def test_cutoffs(r8: Index) -> None:
    assert choose_cutoff(r8, "auto") == 15 and choose_cutoff(r8, "off") == math.inf and choose_cutoff(r8, "0") == 0
    with pytest.raises(UsageError, match=r'--hub-cutoff must be auto, off or a number of 0 or more, got "-1"'):
        choose_cutoff(r8, "-1")
