"""Structural rules: what they find."""

from __future__ import annotations

from graphrag.names import parse_name
from graphrag.naming.nodes import Node
from graphrag.naming.rules import by_acronym, by_numeronym


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
