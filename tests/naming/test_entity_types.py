"""Names of types made one, and the type of an entity by its mentions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag import tables
from graphrag.naming.entity_types import choose_type, name_types, normalise_types
from graphrag.settings import ENTITY_TYPES
from tests.mention_rows import document, mention


def one(name: str, *, others: dict[str, int] | None = None, known: tuple[str, ...] = ENTITY_TYPES, **words: str) -> str:
    return name_types({name: 1, **(others or {})}, type_names=words, known_types=known)[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ORG", "organization"), ("Organisation", "organization"), ("ORGANIATION", "organization"),
        ("organizations", "organization"), ("organisations", "organization"), ("Organization", "organization"),
        ("people", "person"), ("location", "place"), ("SEVICE", "service"), ("databse", "database"),
        # Other words are other types.
        ("persona", "persona"), ("plane", "plane"), ("concert", "concert"), ("teams", "team"), ("unknown", "unknown"),
        ("message broker", "message broker"), ("", "unknown"),
    ],
)  # fmt: skip
def test_types_as_models_write_them(name: str, expected: str) -> None:
    assert one(name) == expected


def test_a_type_that_the_settings_know_is_never_renamed() -> None:
    assert one("org", known=("org", "service")) == "org"
    assert one("location", known=("location",)) == "location"
    assert one("location", known=("service",)) == "location"
    assert one("county", others={"country": 50}, known=("county",)) == "county"


def test_a_typing_error_gives_way_to_a_far_more_frequent_type_only() -> None:
    assert one("algoritm", others={"algorithm": 10}, known=()) == "algorithm"
    assert one("algoritm", others={"algorithm": 9}, known=()) == "algoritm"
    assert one("visualisation", others={"visualization": 12}, known=()) == "visualization"


def test_the_users_own_word_wins() -> None:
    assert one("ORG", ORG="company") == "company"
    assert one("cloud_provider", **{"Cloud Provider": "organization"}) == "organization"
    assert one("service", service="system") == "system"


def test_blanks_and_underscores_are_one_type() -> None:
    found = name_types({"cloud provider": 3, "Cloud_Provider": 1}, type_names={}, known_types=())
    assert set(found.values()) == {"cloud provider"}


@given(st.dictionaries(st.text("abOG _s", max_size=8), st.integers(1, 30), max_size=6))
def test_naming_types_twice_changes_nothing(counts: dict[str, int]) -> None:
    first = name_types(counts, type_names={}, known_types=ENTITY_TYPES)
    total: dict[str, int] = {}
    for name, n in counts.items():
        total[first[name]] = total.get(first[name], 0) + n
    again = name_types(total, type_names={}, known_types=ENTITY_TYPES)
    assert all(again[name] == name for name in total)


def test_mentions_keep_what_they_say_and_the_majority_types_the_entity() -> None:
    doc = document("a", "Acme Acme Acme Acme")
    rows = [
        mention(doc, "Acme", nth=n, type=name, method="llm") for n, name in enumerate(["ORG", "organiation", "team"])
    ]
    mentions = normalise_types(tables.ENTITY_MENTIONS.from_rows(rows), type_names={}, known_types=ENTITY_TYPES)
    assert mentions["type"].to_list() == ["organization", "organization", "team"]
    counts = {(name, "llm"): n for name, n in mentions.group_by("type").len().iter_rows()}
    assert choose_type(counts) == "organization"


def test_the_better_evidence_counts_more() -> None:
    assert choose_type({("person", "spacy"): 3, ("database", "llm"): 1}) == "database"
    assert choose_type({("person", "spacy"): 5, ("database", "llm"): 1}) == "person"
    assert choose_type({("person", "spacy"): 50, ("database", "declared"): 1}) == "database"
    assert choose_type({("unknown", "llm"): 9, ("team", "lite"): 1}) == "team"
    assert choose_type({}) == "unknown"
