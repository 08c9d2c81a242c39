"""Vectors of specs/context-graph.md, section 6, and what holds on any graph."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.search.walks.edges import Edge
from graphrag.search.walks.impact import Carrying, choose_carrying, choose_steps
from graphrag.search.walks.systemic_risk import Ranked, count_impacted, rank_risks
from graphrag.settings import CARRYING_PREDICATES, REVERSED_PREDICATES

from ..context_graph import R8_STATED, edges, number_edges, trace_impact

CARRYING = Carrying(frozenset(CARRYING_PREDICATES), frozenset(REVERSED_PREDICATES))
EVERYTHING = Carrying(frozenset({*CARRYING_PREDICATES, "owned_by"}), frozenset(REVERSED_PREDICATES))
R8 = [
    Edge(f"{s}{p}{t}", s, p, t, 2.0 if (s, t) == ("Auth Service", "token cache") else 1.0) for _, s, p, t in R8_STATED
]
R8 = list(dict.fromkeys(R8))


def trace(graph: list[Edge], failed: str, carrying: Carrying = CARRYING) -> list[tuple[str, int, int, int]]:
    return [(e.title, e.hops, int(e.weakest), int(e.total)) for e in trace_impact(graph, failed, carrying)]


@pytest.mark.parametrize(
    ("failed", "carrying", "expected"),
    [
        ("Redis", CARRYING, [("token cache", 1, 1, 1), ("Auth Service", 2, 1, 3), ("login flow", 3, 1, 4)]),
        (
            "PostgreSQL",
            CARRYING,
            [("user database", 1, 1, 1), ("Auth Service", 2, 1, 2), ("Billing", 2, 1, 2), ("login flow", 3, 1, 3)],
        ),
        ("user database", CARRYING, [("Auth Service", 1, 1, 1), ("Billing", 1, 1, 1), ("login flow", 2, 1, 2)]),
        ("login flow", CARRYING, []),
        ("Platform Team", CARRYING, []),
        ("Platform Team", EVERYTHING, [("Billing", 1, 1, 1)]),
    ],
)
def test_r8(failed: str, carrying: Carrying, expected: list[tuple[str, int, int, int]]) -> None:
    assert trace(R8, failed, carrying) == expected


RANKING = edges(
    "A1 depends_on X 1", "A2 depends_on X 3", "B1 depends_on A1 5", "B2 depends_on A2 2", "B3 depends_on A1 2",
    "B3 depends_on A2 1",
)  # fmt: skip


@pytest.mark.parametrize("graph", [RANKING, RANKING[::-1]])
def test_equally_far_entities_are_ranked_by_weakest_hop_then_sum(graph: list[Edge]) -> None:
    found = trace_impact(graph, "X", CARRYING)
    assert [(e.title, e.hops, e.weakest, e.total, e.path) for e in found] == [
        ("A2", 1, 3, 3, ["X", "A2"]),
        ("A1", 1, 1, 1, ["X", "A1"]),
        ("B2", 2, 2, 5, ["X", "A2", "B2"]),
        ("B1", 2, 1, 6, ["X", "A1", "B1"]),
        ("B3", 2, 1, 4, ["X", "A2", "B3"]),
    ]


def test_a_cycle_names_every_entity_once_and_the_failed_one_never() -> None:
    graph = edges("A depends_on B", "B depends_on A", "C depends_on B", "A depends_on A")
    assert [entity.path for entity in trace_impact(graph, "A", CARRYING)] == [["A", "B"], ["A", "B", "C"]]


def test_a_hub_of_5000_is_walked_through() -> None:
    graph = edges(*(f"N{i} depends_on H" for i in range(5_000)), "H depends_on Root", "N7 depends_on N7")
    found = trace(graph, "Root")
    assert found[0] == ("H", 1, 1, 1) and len(found) == 5_001 and {hops for _, hops, *_ in found} == {1, 2}


def test_parallel_relationships_count_with_their_heaviest() -> None:
    graph = edges("S uses T 1", "S depends_on T 2", "T backed_by U 1")
    found = trace_impact(graph, "U", CARRYING)
    assert [(entity.title, entity.total) for entity in found] == [("T", 1), ("S", 3)]
    assert [[edge.predicate for edge in hop] for _, hop in found[1].hops_down] == [
        ["depends_on", "uses"],
        ["backed_by"],
    ]


def test_a_failure_travels_along_reversed_predicates() -> None:
    assert trace(edges("Host7 hosts Ledger", "Shop depends_on Ledger"), "Host7") == [
        ("Ledger", 1, 1, 1),
        ("Shop", 2, 1, 2),
    ]


def test_which_predicates_carry() -> None:
    known = ["depends_on", "owned_by", "hosts", "co_occurs_with"]

    def choose(*rels: str) -> tuple[list[str], list[str]]:
        carrying = choose_carrying(
            known, predicates=CARRYING_PREDICATES, reversed_predicates=REVERSED_PREDICATES, rels=rels
        )
        return sorted(carrying.against), sorted(carrying.along)

    assert choose() == (["depends_on"], ["hosts"])
    assert choose("owned_by") == (["owned_by"], []) and choose("hosts") == ([], ["hosts"])
    assert choose("all") == (["co_occurs_with", "depends_on", "owned_by"], ["hosts"])


def test_the_default_predicates_are_those_of_the_spec_and_the_same_needs_in_other_words() -> None:
    assert " ".join(CARRYING_PREDICATES[:15]) == (
        "depends_on backed_by runs_on hosted_on requires relies_on uses calls reads_from writes_to connects_to "
        "stored_in powered_by built_on served_by"
    )
    assert REVERSED_PREDICATES[:5] == ("hosts", "backs", "serves", "powers", "supports")
    # A failed team or a link breaks nothing; no predicate carries both ways.
    nothing = {"owned_by", "links_to", "part_of", "see_also", "managed_by", "co_occurs_with"}
    assert not nothing & {*CARRYING_PREDICATES, *REVERSED_PREDICATES}
    assert not set(CARRYING_PREDICATES) & set(REVERSED_PREDICATES)


def test_what_runs_or_is_kept_inside_a_thing_fails_with_it() -> None:
    graph = edges(
        "Elasticsearch hosted_in AWS", "Finder queries Elasticsearch", "GraphQL used_by Site", "Finder uses GraphQL"
    )
    assert [title for title, *_ in trace(graph, "AWS")] == ["Elasticsearch", "Finder"]
    assert {title for title, *_ in trace(graph, "GraphQL")} == {"Finder", "Site"}


def rank(
    graph: list[Edge], *, top: int, candidates: tuple[str, ...] = ()
) -> tuple[list[tuple[str, int, float]], Ranked]:
    """(title, number of impacted, sum of the weakest hops) of those shown, and all of the ranking."""
    numbered, titles = number_edges(graph)
    steps = choose_steps(numbered, CARRYING)
    ranked = rank_risks(steps, top=top, candidates=[titles.index(candidate) for candidate in candidates])
    return [(titles[walk.number], walk.n_impacted, walk.sum_of_weakest) for walk in ranked.walks], ranked


def test_systemic_risk_of_r8() -> None:
    shown, ranked = rank(R8, top=3)
    assert shown == [("PostgreSQL", 4, 4), ("Redis", 3, 3), ("user database", 3, 3)]
    assert (ranked.n_entities, ranked.is_exact) == (5, True)


def test_beyond_the_exact_limit_candidates_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrag.search.walks.systemic_risk.MAX_EXACT", 3)
    shown, ranked = rank(R8, top=3, candidates=("Redis", "login flow", "Platform Team"))
    assert shown == [("Redis", 3, 3)] and not ranked.is_exact
    circle = edges("A depends_on B", "B depends_on C", "C depends_on A", "D depends_on A 2")
    shown, ranked = rank(circle, top=3, candidates=("C", "A", "B", "D"))
    assert shown == [("A", 3, 4), ("B", 3, 3), ("C", 3, 3)] and ranked.n_entities == 3


GRAPHS = st.lists(
    st.tuples(
        st.sampled_from("ABCDEFGH"), st.sampled_from(["depends_on", "uses", "hosts", "owned_by"]),
        st.sampled_from("ABCDEFGH"), st.integers(1, 3),
    ),
    max_size=20, unique_by=lambda edge: edge[:3],
).map(lambda rows: [Edge(f"{s}{p}{t}", s, p, t, float(w)) for s, p, t, w in rows])  # fmt: skip


@settings(deadline=None)
@given(GRAPHS, st.randoms(use_true_random=False))
def test_every_reachable_entity_is_impacted_once_along_edges_that_carry(graph: list[Edge], draw: Random) -> None:
    graph = [*graph, Edge("A", "A", "depends_on", "A", 1.0)]
    found = trace_impact(graph, "A", CARRYING)
    carrying = {
        (e.source, e.target) if e.predicate == "hosts" else (e.target, e.source)
        for e in graph
        if e.predicate != "owned_by"
    }
    reached = {"A"}
    while more := {far for near, far in carrying if near in reached} - reached:
        reached |= more
    assert sorted(entity.title for entity in found) == sorted(reached - {"A"})
    paths = {entity.title: entity.path for entity in found} | {"A": ["A"]}
    for entity in found:
        path = entity.path
        assert len(path) == entity.hops + 1 and set(pairwise(path)) <= carrying and path[:-1] == paths[path[-2]]
        weights = [hop[0].weight for _, hop in entity.hops_down]
        assert (entity.weakest, entity.total) == (min(weights), sum(weights))
    shuffled = graph.copy()
    draw.shuffle(shuffled)
    assert trace_impact(shuffled, "A", CARRYING) == found


@settings(deadline=None)
@given(GRAPHS)
def test_counts_at_once_are_those_of_each_walk(graph: list[Edge]) -> None:
    numbered, titles = number_edges(graph)
    counts, is_exact = count_impacted(choose_steps(numbered, CARRYING), [])
    assert is_exact and counts == {number: len(trace(graph, titles[number])) for number in counts}
