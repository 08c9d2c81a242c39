"""One name in two spellings: which pairs the rules find, and which they leave."""

from __future__ import annotations

import pytest

from graphrag.names import parse_name
from graphrag.naming.nodes import Node
from graphrag.naming.spelling_rules import (
    american_spelling,
    by_compound,
    by_inflection,
    by_initials_compound,
    by_kind_suffix,
    by_short_form,
    by_spelling,
)


def nodes(*surfaces: str, common: str = "", notes: str = "", family: str = "") -> list[Node]:
    return [
        Node(
            parse_name(surface), (surface,), frozenset(common.split()) & set(parse_name(surface).words), family,
            surface in notes.split("|"),
        )
        for surface in surfaces
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("organisation", "organization"), ("organisers", "organizers"), ("analyse", "analyze"), ("colour", "color"),
        ("centre", "center"), ("catalogue", "catalog"), ("modelling", "modeling"), ("defence", "defense"),
        ("filling", "filling"), ("hour", "hour"), ("rise", "rise"), ("redis", "redis"),
    ],
)  # fmt: skip
def test_american_spelling(british: str, american: str) -> None:
    assert american_spelling(british) == american


def test_spelling_joins_whole_names() -> None:
    names = nodes("Data Centre", "data center", "data", "Centre (north)", "Center (south)")
    assert [(c.short, c.long) for c in by_spelling(names)] == [(1, 0)]


@pytest.mark.parametrize(
    ("long", "short", "is_found"),
    [
        ("Vue.js", "Vue", True),
        ("vuejs", "Vue", True),
        ("rust-lang", "Rust", True),
        ("rustlang", "Rust", True),
        ("Rust programming language", "Rust", True),
        ("JavaScript", "Java", False),
        ("clang", "C", False),
        ("js", "JS", False),
    ],
)
def test_kind_suffix(long: str, short: str, is_found: bool) -> None:
    assert bool(list(by_kind_suffix(nodes(long, short)))) == is_found


def test_kind_suffix_needs_a_name_that_is_no_word_and_no_second_note() -> None:
    assert not list(by_kind_suffix(nodes("Node.js", "node", common="node")))
    assert not list(by_kind_suffix(nodes("Discord.js", "Discord", notes="Discord.js|Discord")))
    assert not list(by_kind_suffix(nodes("Basque language", "Basque", family="place")))


def test_compound() -> None:
    names = nodes("webdev", "web development", "Sports", "Source Ports", "webapp", "Web App Server", "web")
    assert [(c.short, c.long) for c in by_compound(names)] == [(0, 1)]


@pytest.mark.parametrize(
    ("a", "b", "is_found"),
    [
        ("integration-tests", "Integration testing", True),
        ("retro-game", "retrogaming", True),
        ("self-hosted", "self-host", True),
        ("cellular-automata", "Cellular automaton", True),
        ("parse", "Parsing", False),  # one word each
        ("code", "coding", False),
        ("https", "HTTP", False),
        ("load balancer", "load balancing", False),  # who does it, and what is done
        ("default set", "default setting", False),
        ("Order Processing", "order process", False),  # a name in capitals
        ("game server", "gaming server", False),
    ],
)
def test_inflection(a: str, b: str, is_found: bool) -> None:
    assert bool(list(by_inflection(nodes(a, b)))) == is_found
    assert bool(list(by_inflection(nodes(b, a)))) == is_found


def test_short_forms_and_initials() -> None:
    names = nodes("web application", "web app", "lib", "library", "DB_OWNER", "Database Owner")
    assert [(c.short, c.long) for c in by_short_form(names)] == [(1, 0)]
    names = nodes("vscode", "Visual Studio Code", "Sports", "Source Ports", "dlang", "dart-lang")
    names += nodes("estate", "End State", common="estate")
    assert [(c.short, c.long) for c in by_initials_compound(names)] == [(0, 1)]
