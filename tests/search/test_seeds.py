"""Names in a question, and the one entity that a name means."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphrag.errors import UnknownEntity, UsageError
from graphrag.search.seeds import find_named_entities, resolve_entity
from graphrag.store import Index

MakeIndex = Callable[..., Index]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What does the Auth Service depend on?", ["Auth Service"]),
        ("what does authservice depend on", ["Auth Service"]),
        ("Is AUTH-SERVICE up?", ["Auth Service"]),
        ("How is redis related to the user database?", ["Redis", "User DB"]),
        ("PostgreSQL's owner?", ["Postgres"]),
        ("Which token caches are there?", ["token cache"]),
        ("What is the best recipe for sourdough?", []),
        ("", []),
        ("'; drop table entities; -- %s {x} [a-z]+ (", []),
    ],
)
def test_names_and_aliases_are_found(r8: Index, question: str, titles: list[str]) -> None:
    named, notices = find_named_entities(r8, question)
    assert [entity.title for entity in named] == titles
    assert notices == []


def test_the_longest_name_wins(make_index: MakeIndex) -> None:
    index = make_index({"a.md": "Redis Sentinel watches Redis."}, [("a.md", "Redis Sentinel", "watches", "Redis")])
    named, _ = find_named_entities(index, "Is Redis Sentinel older than Redis?")
    assert [entity.title for entity in named] == ["Redis Sentinel", "Redis"]
    assert len(find_named_entities(index, "What is Redis Sentinel?")[0]) == 1


def test_symbols_are_part_of_a_name(make_index: MakeIndex) -> None:
    index = make_index({"a.md": "C++ extends C."}, [("a.md", "C++", "extends", "C")])
    assert [entity.title for entity in find_named_entities(index, "What is C++?")[0]] == ["C++"]
    assert [entity.title for entity in find_named_entities(index, "What is C?")[0]] == ["C"]


@pytest.fixture(scope="module")
def mercury(make_index: MakeIndex) -> Index:
    return make_index(
        {"a.md": "Mercury orbits the Sun.", "b.md": "Mercury is found in cinnabar."},
        [("a.md", "Mercury (planet)", "orbits", "Sun"), ("b.md", "Mercury (metal)", "found_in", "cinnabar")],
        aliases={"Mercury (planet)": ["Mercury"], "Mercury (metal)": ["Mercury"]},
    )


def test_homonyms_are_chosen_by_the_other_words_or_both_offered(mercury: Index) -> None:
    named, notices = find_named_entities(mercury, "Which planet is Mercury?")
    assert [entity.title for entity in named] == ["Mercury (planet)"] and notices == []
    named, notices = find_named_entities(mercury, "What is Mercury?")
    assert [entity.title for entity in named] == ["Mercury (metal)", "Mercury (planet)"]
    assert notices == ['"Mercury" means several: Mercury (metal), Mercury (planet).']


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Redis", "Redis"),
        ("the auth service", "Auth Service"),
        ("AuthService", "Auth Service"),
        ("user database", "User DB"),
        ("#2", "Redis"),
    ],
)
def test_a_name_resolves_by_title_key_alias_and_number(r8: Index, name: str, title: str) -> None:
    assert resolve_entity(r8, name)[1] == title


def test_unknown_names_say_what_is_near(r8: Index, make_index: MakeIndex) -> None:
    with pytest.raises(UnknownEntity, match=r'^No entity "Reddis"\. Nearest: Redis\.$'):
        resolve_entity(r8, "Reddis")
    with pytest.raises(UnknownEntity, match=r'^No entity "Zzz"\.$'):
        resolve_entity(r8, "Zzz")
    index = make_index({"a.md": "Redis Sentinel watches Redis."}, [("a.md", "Redis Sentinel", "watches", "Redis")])
    with pytest.raises(UnknownEntity, match=r'^No entity "Reddis"\. Nearest: Redis, Redis Sentinel\.$'):
        resolve_entity(index, "Reddis")


def test_an_ambiguous_name_is_a_usage_error(mercury: Index) -> None:
    with pytest.raises(UsageError, match=r'^"Mercury" is ambiguous: Mercury \(metal\), Mercury \(planet\)\. Use one'):
        resolve_entity(mercury, "Mercury")
