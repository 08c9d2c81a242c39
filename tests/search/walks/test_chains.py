"""Chains that start at an entity: the vectors of specs/context-graph.md, section 7."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from graphrag.search.walks.chains import list_chains, render_chain
from graphrag.search.walks.edges import Edge, list_edges

from ..context_graph import edges
from .test_paths import GRAPHS

CVE = edges(
    "CheckoutAPI dispatches_to OrderProcessor", "OrderProcessor writes_transaction_to LegacyLedger",
    "LegacyLedger exposed_to CVE-2026-9011",
)  # fmt: skip
CVE_LINES = [
    "(CheckoutAPI) --[DISPATCHES_TO]--> (OrderProcessor)",
    "(OrderProcessor) --[WRITES_TRANSACTION_TO]--> (LegacyLedger)",
    "(LegacyLedger) --[EXPOSED_TO]--> (CVE-2026-9011)",
]


def show(graph: list[Edge], start: str, max_depth: int) -> list[str]:
    return [render_chain(chain) for chain in list_chains(list_edges(graph), start, max_depth=max_depth)]


@pytest.mark.parametrize(("max_depth", "n"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
def test_every_prefix_is_a_chain(max_depth: int, n: int) -> None:
    assert show(CVE, "CheckoutAPI", max_depth) == [" -> ".join(CVE_LINES[:depth]) for depth in range(1, n + 1)]


def test_a_relationship_back_is_listed_once_and_not_followed() -> None:
    found = show([*CVE, *edges("LegacyLedger calls_back CheckoutAPI")], "CheckoutAPI", 5)
    back = "(LegacyLedger) --[CALLS_BACK]--> (CheckoutAPI)"
    assert found == [
        CVE_LINES[0], " -> ".join(CVE_LINES[:2]), " -> ".join([*CVE_LINES[:2], back]), " -> ".join(CVE_LINES),
    ]  # fmt: skip


def test_of_parallel_relationships_the_first_is_followed() -> None:
    ab, ba, bc = "(A) --[R1]--> (B)", "(A) --[R2]--> (B)", "(B) --[R3]--> (C)"
    assert show(edges("A r1 B", "A r2 B", "B r3 C"), "A", 3) == [ab, ba, f"{ab} -> {bc}"]


@settings(deadline=None)
@given(GRAPHS)
def test_each_relationship_that_is_reached_ends_one_chain(graph: list[Edge]) -> None:
    chains = list_chains(list_edges(graph), "A", max_depth=9)
    ends = [chain[-1] for chain in chains]
    reached = {"A", *(edge.target for edge in ends)}
    assert sorted(ends) == sorted(e for e in graph if e.source in reached and e.source != e.target)
    assert [len(chain) for chain in chains] == sorted(len(chain) for chain in chains)
