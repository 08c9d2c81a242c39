"""The corpus R8 of specs/context-graph.md, section 2, as the search rooms' tests index it."""

from __future__ import annotations

from graphrag.search.edges import Edge

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
