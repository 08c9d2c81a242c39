"""The bounded neighbourhood: relationships of the seeds, the heaviest."""

from __future__ import annotations

from collections.abc import Callable

from graphrag.search.neighborhood import MAX_EDGES, expand_neighborhood
from graphrag.search.seeds import resolve_entity
from graphrag.store import Index

MakeIndex = Callable[..., Index]


def _titles(index: Index, around: dict[str, tuple[str, str]]) -> set[str]:
    titles = dict(index.frame("select id, title from entities").rows())
    return {titles[end] for ends in around.values() for end in ends}


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
    assert len(around) == MAX_EDGES
    assert leaves[-1] in _titles(index, around)


def test_nothing_is_around_nothing(r8: Index) -> None:
    assert expand_neighborhood(r8, []) == {}
