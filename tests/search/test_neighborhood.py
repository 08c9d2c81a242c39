"""The bounded neighbourhood: two hops, hubs shown but not walked through; PageRank that sums and settles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.search.neighborhood import Neighborhood, expand_neighborhood, rank_neighborhood
from graphrag.search.seeds import resolve_entity
from graphrag.store import Index

MakeIndex = Callable[..., Index]


def _titles(index: Index, around: Neighborhood) -> set[str]:
    titles = dict(index.frame("select id, title from entities").rows())
    return {titles[entity] for entity in around.entities}


def test_two_hops_and_no_more(r8: Index) -> None:
    around = expand_neighborhood(r8, [resolve_entity(r8, "Redis")[0]])
    assert _titles(r8, around) == {"Redis", "token cache", "Auth Service"}


@pytest.fixture(scope="module")
def with_hub(make_index: MakeIndex) -> Index:
    leaves = [f"service{number}" for number in range(20)]
    texts = {f"{leaf}.md": f"{leaf} runs on Kubernetes." for leaf in leaves} | {"far.md": "service0 uses far thing."}
    facts = [(f"{leaf}.md", leaf, "runs_on", "Kubernetes") for leaf in leaves]
    return make_index(texts, [*facts, ("far.md", "service0", "uses", "far thing")])


def test_a_hub_is_shown_but_not_walked_through(with_hub: Index) -> None:
    around = expand_neighborhood(with_hub, [resolve_entity(with_hub, "far thing")[0]])
    assert _titles(with_hub, around) == {"far thing", "service0", "Kubernetes"}


def test_a_hub_that_the_question_names_is_walked_through(with_hub: Index) -> None:
    hub = resolve_entity(with_hub, "Kubernetes")[0]
    assert len(expand_neighborhood(with_hub, [hub]).edges) == 21


def test_ranks_fall_with_distance_and_passages_take_part(r8: Index) -> None:
    redis, cache, auth = (resolve_entity(r8, name)[0] for name in ("Redis", "token cache", "Auth Service"))
    around = expand_neighborhood(r8, [redis])
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
