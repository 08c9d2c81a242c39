"""The bounded neighbourhood: relationships of the seeds, the heaviest; PageRank that sums and settles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.neighborhood import MAX_EDGES, Neighborhood, expand_neighborhood, rank_neighborhood
from graphrag.search.seeds import resolve_entity
from graphrag.store import Index

MakeIndex = Callable[..., Index]


def _titles(index: Index, around: Neighborhood) -> set[str]:
    titles = dict(index.frame("select id, title from entities").rows())
    return {titles[entity] for entity in around.entities}


def test_what_a_seed_is_related_to_and_no_more(r8: Index) -> None:
    redis, cache = (resolve_entity(r8, name)[0] for name in ("Redis", "token cache"))
    assert _titles(r8, expand_neighborhood(r8, [redis])) == {"Redis", "token cache"}
    assert _titles(r8, expand_neighborhood(r8, [redis, cache])) == {"Redis", "token cache", "Auth Service"}


def test_of_a_hub_the_heaviest_relationships_are_taken(make_index: MakeIndex) -> None:
    leaves = [f"service{number}" for number in range(MAX_EDGES + 5)]
    texts = {"all.md": " ".join(f"{leaf} runs on Kubernetes." for leaf in leaves)}
    texts["again.md"] = f"{leaves[-1]} runs on Kubernetes."
    facts = [("all.md", leaf, "runs_on", "Kubernetes") for leaf in leaves]
    index = make_index(texts, [*facts, ("again.md", leaves[-1], "runs_on", "Kubernetes")])
    around = expand_neighborhood(index, [resolve_entity(index, "Kubernetes")[0]])
    assert len(around.edges) == MAX_EDGES
    assert leaves[-1] in _titles(index, around)


def test_ranks_fall_with_distance_and_passages_take_part(r8: Index) -> None:
    redis, cache, auth = (resolve_entity(r8, name)[0] for name in ("Redis", "token cache", "Auth Service"))
    around = expand_neighborhood(r8, [redis, cache])
    ranks = rank_neighborhood(around, {redis: 1.0}, {})
    assert ranks[redis] > ranks[cache] > ranks[auth] > 0
    assert sum(ranks.values()) == pytest.approx(1, abs=1e-6)
    raised = rank_neighborhood(around, {redis: 1.0}, {"a passage": [auth]})
    assert raised[auth] / raised[cache] > ranks[auth] / ranks[cache]


def test_no_seeds_no_ranks(r8: Index) -> None:
    assert expand_neighborhood(r8, []).edges == []
    assert rank_neighborhood(Neighborhood([], [], {}), {}, {}) == {}


def test_a_passage_ranks_the_entities_that_it_names_where_the_question_names_none(r8: Index) -> None:
    ranks = rank_neighborhood(Neighborhood([], [], {}), {}, {"best": ["a"], "second": ["b"]})
    assert ranks["a"] > ranks["b"] > 0
