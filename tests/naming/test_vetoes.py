"""What keeps names apart, beyond the pairs of tests/index/test_disambiguation.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.names import parse_name
from graphrag.naming.vetoes import find_veto, is_spelling_variant


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Team A", "Team", "single letters differ: a and none"),
        ("Redis 7.0", "Redis", "numbers differ: 7.0 and none"),
        ("Project 1 2", "Project 12", "numbers differ: 1 2 and 12"),
        ("INC104", "INC 104", ""),
        ("e-mail", "email", ""),
        ("K8s", "Kubernetes", ""),
        ("Phase II", "Phase 2", ""),
        ("Phase II", "Phase", "numbers differ: 2 and none"),
        ("IV drip", "drip", ""),
        ("AWS", "Amazon Web Services", ""),
        ("North", "South", "opposites: north and south"),
        ("Second Tenant", "Third Tenant", "opposites: second and third"),
        ("Big boxes", "Big box", ""),
        ("Search APIs", "Search API", ""),
        ("Redis Sentinel", "Redis Cluster", "one word differs: cluster and sentinel"),
        ("Acme Inc.", "Acme", ""),
        ("Acme Inc.", "Acme Incorporated", ""),
        ("Mercury (planet)", "Mercury", ""),
        ("Same", "same", ""),
    ],
)
def test_reason(a: str, b: str, reason: str) -> None:
    assert find_veto(parse_name(a), parse_name(b)) == reason


@pytest.mark.parametrize(
    ("a", "b", "is_vetoed"),
    [
        ("John F. Kennedy", "John Kennedy", False),
        ("J. Kennedy", "John F. Kennedy", False),
        ("Kennedy, John", "John Kennedy", False),
        ("John Kennedy", "Robert Kennedy", True),
        ("J. Kennedy", "R. Kennedy", True),
        ("Ana Maria Kovač", "Ana Maria Horvat", True),
        ("Zoë Kim", "Zoe Kim", False),
        ("Java", "JavaScript", True),
    ],
)
def test_persons(a: str, b: str, is_vetoed: bool) -> None:
    assert bool(find_veto(parse_name(a, person="yes"), parse_name(b, person="yes"))) is is_vetoed


@pytest.mark.parametrize(
    ("a", "b", "is_vetoed"),
    [
        ("Mr. Allen", "Mrs. Allen", True),
        ("Miss Darcy", "Mr. Darcy", True),
        ("Miss Lucas", "Lady Lucas", True),
        ("Sir Walter", "Lord Walter", True),
        ("Mr. Henry Tilney", "Miss Tilney", True),
        ("Ms. Allen", "Miss Allen", False),
        ("Frau Huber", "Mrs. Huber", False),
        ("Ms. Allen", "Mr. Allen", True),
        ("Dr. Allen", "Mrs. Allen", False),
        ("Rev. Mr. Allen", "Mrs. Allen", True),
        ("Mr. Allen", "Allen", False),
    ],
)
@pytest.mark.parametrize("person", ["yes", "guess", "maybe"])
def test_titles_that_no_one_person_bears(a: str, b: str, is_vetoed: bool, person: str) -> None:
    veto = find_veto(parse_name(a, person=person), parse_name(b, person=person))
    assert veto.startswith("titles of persons differ") is is_vetoed


NAMES = st.text(alphabet="abAB12 .-+(),зИIVX#éß", min_size=1, max_size=12)


@given(NAMES, NAMES, st.sampled_from(["yes", "no", "maybe"]))
def test_vetoes_are_symmetric_and_none_stands_against_itself(a: str, b: str, person: str) -> None:
    one, other = parse_name(a, person=person), parse_name(b, person=person)
    assert find_veto(one, other) == find_veto(other, one)
    assert find_veto(one, one) == ""


def test_spelling_variants() -> None:
    assert is_spelling_variant("kubernetes", "kuberentes")
    assert is_spelling_variant("box", "boxes")
    assert not is_spelling_variant("wei", "wen")
    assert not is_spelling_variant("r2d2", "r2d3")


def test_forms_of_one_word_are_no_differing_words() -> None:
    for a, b in (
        ("Integration testing", "integration tests"),
        ("Web app", "web application"),
        ("South X", "Southern X"),
    ):
        assert not find_veto(parse_name(a), parse_name(b)), (a, b)
    for a, b in (("Redis Host", "Redisson Host"), ("Bank of China", "Bank of Canada"), ("Data API", "Data App")):
        assert find_veto(parse_name(a), parse_name(b)), (a, b)


def test_letters_inside_a_word_are_no_single_letters() -> None:
    assert not find_veto(parse_name("GMod"), parse_name("Garry's Mod"))
    assert not find_veto(parse_name("WoT"), parse_name("Web of Things"))
    assert not find_veto(parse_name("Vysoké učení technické v Brně"), parse_name("Brno University of Technology"))
    for a, b in (("Team A", "Team"), ("TeamA", "TeamB"), ("team a", "team")):
        assert find_veto(parse_name(a), parse_name(b)), (a, b)


def test_acronyms_with_a_digit_are_no_numbers_of_their_full_form() -> None:
    assert not find_veto(parse_name("P2P"), parse_name("peer-to-peer"))
    assert find_veto(parse_name("P3P"), parse_name("peer-to-peer"))


def test_one_run_of_letters_with_its_last_word_cut_short() -> None:
    assert not find_veto(parse_name("webapp"), parse_name("webapplication"))
    assert find_veto(parse_name("Java"), parse_name("JavaScript"))
