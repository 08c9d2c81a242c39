"""The corpus R8 of specs/context-graph.md, section 2, as the search rooms' tests index it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphrag.search.walks.edges import Edge
from graphrag.search.walks.failure_walk import walk_failure
from graphrag.search.walks.impact import Carrying, Impacted, choose_steps, list_impacted
from graphrag.store.numbered_graph import NumberedGraph, build_graph, number_graph

R8_TEXTS = {
    "c1.txt": "The login flow depends on the Auth Service.",
    "c2.txt": "The Auth Service depends on the token cache.",
    "c3.txt": "The token cache is backed by Redis.",
    "c4.txt": "The auth service depends on the User DB.",
    "c5.txt": "The user database runs on Postgres.",
    "c6.txt": "Billing depends on the user database.",
    "c7.txt": "Billing is owned by the Platform Team.",
    "c8.txt": "AuthService depends on the token cache.",
}
R8_STATED = [
    ("c1.txt", "login flow", "depends_on", "Auth Service"),
    ("c2.txt", "Auth Service", "depends_on", "token cache"),
    ("c3.txt", "token cache", "backed_by", "Redis"),
    ("c4.txt", "Auth Service", "depends_on", "user database"),
    ("c5.txt", "user database", "runs_on", "PostgreSQL"),
    ("c6.txt", "Billing", "depends_on", "user database"),
    ("c7.txt", "Billing", "owned_by", "Platform Team"),
    ("c8.txt", "Auth Service", "depends_on", "token cache"),
]
R8_NAMES = {"PostgreSQL": ["Postgres"], "user database": ["User DB"], "Auth Service": ["AuthService"]}


def edges(*lines: str) -> list[Edge]:
    """Edges from lines such as `A depends_on B` or `A depends_on B 3`, the number being the weight; names are words."""
    found = []
    for line in lines:
        source, predicate, target, *weight = line.split()
        found.append(Edge(line, source, predicate, target, float(weight[0]) if weight else 1.0))
    return found


def number_edges(graph: Sequence[Edge]) -> tuple[NumberedGraph, list[str]]:
    """The graph as an index has it in numbers, and the titles by number."""
    titles = sorted({end for edge in graph for end in (edge.source, edge.target)})
    entities = pl.DataFrame({"id": titles, "title": titles}, schema={"id": pl.String, "title": pl.String})
    relationships = pl.DataFrame(
        [(edge.source, edge.predicate, edge.target, edge.weight, "extracted") for edge in graph],
        schema={"source_id": pl.String, "predicate": pl.String, "target_id": pl.String, "weight": pl.Float64,
                "origin": pl.String},
        orient="row",
    )  # fmt: skip
    tables = number_graph(entities.with_columns(type=pl.lit("")), relationships)
    predicates = sorted({edge.predicate for edge in graph})
    numbered = build_graph(tables["entity_components"], tables["numbered_relationships"], predicates)
    return numbered, tables["entity_components"]["title"].to_list()


def trace_impact(graph: Sequence[Edge], failed: str, carrying: Carrying) -> list[Impacted]:
    """All that breaks, ranked, as find_impact lists it."""
    numbered, titles = number_edges(graph)
    steps = choose_steps(numbered, carrying)
    reached = walk_failure(steps, titles.index(failed)).rank()
    return list_impacted(
        numbered, steps, reached, dict(enumerate(titles)), lambda rows: {row: graph[row].id for row in rows}
    )
