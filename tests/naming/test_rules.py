"""Structural rules: what they find."""

from __future__ import annotations

from graphrag.names import parse_name
from graphrag.naming.nodes import Node
from graphrag.naming.rules import by_acronym, by_acronym_inside, by_code_shape, by_numeronym


def nodes(*surfaces: str) -> list[Node]:
    return [Node(parse_name(surface), (surface,)) for surface in surfaces]


def test_acronyms_and_numeronyms_name_their_full_forms() -> None:
    names = nodes("AWS", "Amazon Web Services", "Bank of China", "BC", "BOC", "Amazon Web Services (AWS)")
    pairs = {(names[c.short].name.surface, names[c.long].name.surface) for c in by_acronym(names)}
    assert pairs == {
        ("AWS", "Amazon Web Services"),
        ("BC", "Bank of China"),
        ("BOC", "Bank of China"),
        ("Amazon Web Services", "Amazon Web Services (AWS)"),
        ("AWS", "Amazon Web Services (AWS)"),
    }
    assert [c.method for c in by_numeronym(nodes("i18n", "internationalization", "k8s"))] == ["numeronym"]


def test_acronyms_in_mixed_case_and_with_digits() -> None:
    names = nodes("WoT", "Web of Things", "P2P", "peer-to-peer", "WOt", "PGO", "PyGObject", "RSS", "RSpec Styleguide")
    pairs = {(names[c.short].name.surface, names[c.long].name.surface) for c in by_acronym(names)}
    assert pairs == {("WoT", "Web of Things"), ("P2P", "peer-to-peer")}


def test_acronym_of_some_words_of_a_longer_name() -> None:
    names = nodes(
        "AI for science", "artificial-intelligence-for-science", "ML for science", "Ai for art", "AI for arts"
    )
    names += nodes("artificial intelligence for art", "artificial intelligence")
    pairs = {(names[c.short].name.surface, names[c.long].name.surface) for c in by_acronym_inside(names)}
    assert pairs == {("AI for science", "artificial-intelligence-for-science")}


def test_apostrophes_and_slashes_stand_between_the_same_letters() -> None:
    names = nodes("Garry's Mod", "garrys-mod", "Squeak/Smalltalk", "squeak-smalltalk", "I/O", "i-o")
    assert [(c.short, c.long) for c in by_code_shape(names)] == [(0, 1), (2, 3)]
