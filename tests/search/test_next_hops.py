"""The second and third hop: passages that the best one leads to, though they share few words with the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from graphrag.search.local_search import search_local
from graphrag.search.next_hops import N_NEXT, rank_next_hops
from graphrag.search.ranking import Likeness, prepare_question
from graphrag.search.seeds import find_named_entities
from graphrag.store import Index

TEXTS = {
    "Thumb League.md": "Thumb League is shown on Harbour Vision every Friday.",
    "Harbour Vision.md": "It was founded by Mira Lang in an old lighthouse.",
    "Mira Lang.md": "She paints boats and was born in Piran.",
    "Friday Soup.md": "The canteen serves soup.",
    "League of Cooks.md": "The league of cooks meets every Friday and founded a soup prize.",
}
FACTS = [
    ("Thumb League.md", "Thumb League", "shown_on", "Harbour Vision"),
    ("Harbour Vision.md", "Harbour Vision", "founded_by", "Mira Lang"),
]
UNMEASURED = Likeness(None, None)
QUESTION = "Who founded the network that Thumb League is shown on?"


@pytest.fixture(scope="module")
def broadcasts(make_index: Callable[..., Index]) -> Index:
    return make_index(TEXTS, FACTS)


def _follow(index: Index, question: str, ranked: Sequence[str]) -> list[str]:
    """Paths of the next hops from passages given by path."""
    rows = index.frame("select d.path, u.id from text_units u join documents d on d.id = u.document_id").rows()
    unit, path = dict(rows), {unit: path for path, unit in rows}
    asked, _ = prepare_question(index, question, model="none")
    names = [entity.entity_id for entity in find_named_entities(index, question)[0]]
    found = rank_next_hops(index, asked, [unit[name] for name in ranked], UNMEASURED, names)
    return [path[unit_id] for unit_id in found.text_units]


def test_a_passage_about_what_the_first_one_states_is_the_second_hop(broadcasts: Index) -> None:
    assert _follow(broadcasts, QUESTION, ["Thumb League.md"])[:1] == ["Harbour Vision.md"]


def test_the_third_hop_follows_the_second(broadcasts: Index) -> None:
    asked = "Where was who founded the network that Thumb League is shown on born?"
    assert _follow(broadcasts, asked, ["Thumb League.md"]) == ["Harbour Vision.md", "Mira Lang.md"]


def test_nothing_leads_on_from_nothing(broadcasts: Index) -> None:
    assert _follow(broadcasts, QUESTION, []) == []
    assert _follow(broadcasts, QUESTION, ["Friday Soup.md"]) == []
    assert _follow(broadcasts, "the of?", ["Thumb League.md"]) == []


def test_local_search_lists_the_next_hop_right_behind_the_first_passage(broadcasts: Index) -> None:
    paths = [source.path for source in search_local(broadcasts, QUESTION, model="none").sources]
    assert paths[:2] == ["Thumb League.md", "Harbour Vision.md"]


def test_the_relationship_of_the_second_hop_stands_before_those_that_only_touch_what_is_named(
    make_index: Callable[..., Index],
) -> None:
    shows = [f"Sunday Show {letter}" for letter in "BCDF"]
    texts = TEXTS | {f"{show}.md": f"{show} is liked by Thumb League." for show in shows}
    index = make_index(texts, [*FACTS, *((f"{show}.md", show, "liked_by", "Thumb League") for show in shows)])
    found = search_local(index, QUESTION, model="none").relationships[:2]
    assert [(fact["source"], fact["target"]) for fact in found] == [
        ("Thumb League", "Harbour Vision"),
        ("Harbour Vision", "Mira Lang"),
    ]


def test_a_passage_full_of_names_brings_a_few_documents_only(make_index: Callable[..., Index]) -> None:
    names = [f"Harbour {letter}{letter.lower()}x" for letter in "BCDFGHJKLM"]
    texts = {f"{name}.md": "A ship." for name in names} | {"Fleet List.md": "Ships: " + ", ".join(names) + "."}
    facts = [("Fleet List.md", "Fleet", "has", name) for name in names]
    assert len(_follow(make_index(texts, facts), "Which ships are there?", ["Fleet List.md"])) == N_NEXT


def test_of_two_places_that_name_the_entity_the_one_that_holds_the_rest_of_the_question_comes_first(
    make_index: Callable[..., Index],
) -> None:
    texts = {
        "issuer.md": "The Issuer asks the Resolver to answer the challenge.",
        "plans.md": "The Resolver will be replaced one day.",
        "rooms.md": "The Resolver runs on a machine in the cellar.",
    }
    facts = [
        ("issuer.md", "Issuer", "asks", "Resolver"),
        ("plans.md", "Resolver", "replaced_by", "Plan"),
        ("rooms.md", "Resolver", "runs_on", "Machine"),
    ]
    asked = "On which machine does the service run that answers the challenge of the Issuer?"
    assert _follow(make_index(texts, facts), asked, ["issuer.md"])[0] == "rooms.md"
