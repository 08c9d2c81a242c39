"""Candidate generation: blocking loses no pair that it promises."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from graphrag.names import parse_name
from graphrag.naming.nodes import Node
from graphrag.naming.rules import SHORTEST_EDIT, by_acronym, by_edits, by_numeronym, by_token_subset


def nodes(*surfaces: str) -> list[Node]:
    return [Node(parse_name(surface), (surface,)) for surface in surfaces]


@settings(deadline=None)
@given(st.sets(st.text(alphabet="abc", min_size=4, max_size=9), min_size=2, max_size=25))
def test_edit_search_finds_every_pair_within_two_edits(words: set[str]) -> None:
    names = sorted(words)
    found = {tuple(sorted((names[c.short], names[c.long]))) for c in by_edits(nodes(*names))}
    expected = {
        (a, b)
        for a, b in combinations(names, 2)
        if min(len(a), len(b)) >= SHORTEST_EDIT and Levenshtein.distance(a, b) <= 2
    }
    assert found == expected


def test_edit_search_compares_only_equal_numbers() -> None:
    assert not list(by_edits(nodes("INC-1041", "INC-1042", "release 1.2", "release 1.3", "plan a b", "plan a c")))


def test_acronyms_and_numeronyms_name_their_full_forms() -> None:
    names = nodes("AWS", "Amazon Web Services", "Bank of China", "BC", "BOC", "Amazon Web Services (AWS)")
    pairs = {(names[c.short].name.surface, names[c.long].name.surface) for c in by_acronym(names)}
    assert pairs == {
        ("AWS", "Amazon Web Services"),
        ("BC", "Bank of China"),
        ("BOC", "Bank of China"),
        ("Amazon Web Services (AWS)", "Amazon Web Services"),
    }
    assert [c.method for c in by_numeronym(nodes("i18n", "internationalization", "k8s"))] == ["numeronym"]


def test_token_subsets_are_found_without_comparing_all_pairs() -> None:
    names = nodes("Redis", "Redis Sentinel", "the big Redis cluster of the north wing in Graz", "Kafka")
    pairs = {(names[c.short].name.surface, names[c.long].name.surface) for c in by_token_subset(names)}
    assert pairs == {("Redis", "Redis Sentinel")}
