"""Types of names by what the corpus shows of them: tables of names that the news model gets wrong."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.evidence import has_person_shape, settle_types

TECHNICAL = {"n_sentences": 10, "n_technical": 10}


def settle(
    mentions: list[tuple[str, str]],
    relations: list[tuple[str, str, str]] = [],  # noqa: B006 - never written to
    *,
    defined: dict[str, str] | None = None,
    placed: dict[str, int] | None = None,
    technical: bool = True,
    method: str = "spacy",
    **lower: int,
) -> list[str]:
    """The types of (surface, guessed type) mentions of one document."""
    found = pl.DataFrame(
        [(surface, kind, method, "a") for surface, kind in mentions],
        schema=["surface", "type", "method", "document_id"],
        orient="row",
    )
    edges = pl.DataFrame(
        [(*relation, "extracted") for relation in relations],
        schema=dict.fromkeys(["subject", "predicate", "object", "origin"], pl.String),
        orient="row",
    )
    lexicon = Lexicon(lower=Counter(lower), n_sentences=10, n_technical=10 if technical else 0)
    types = pl.DataFrame(
        [(name, kind, 1) for name, kind in (defined or {}).items()],
        schema={"surface": pl.String, "type": pl.String, "n": pl.Int64},
        orient="row",
    )
    places = pl.DataFrame(list((placed or {}).items()), schema={"surface": pl.String, "n": pl.Int64}, orient="row")
    return settle_types(found, edges, types, places, lexicon)["type"].to_list()


# name, what the model took it for, what it is in a technical corpus
GUESSED = [
    ("Router", "organization", "unknown"),
    ("Dex", "person", "tool"),
    ("Petr Viktorin", "organization", "person"),
    ("Guido van Rossum", "unknown", "person"),
    ("Python", "location", "language"),
    ("PostgreSQL", "unknown", "database"),
    ("Paystrand", "location", "unknown"),
    ("Java", "person", "language"),
    ("GitHub Actions", "organization", "tool"),
    ("Kibana", "location", "tool"),
    ("Admin Credentials", "organization", "unknown"),
    ("Rake Tasks", "organization", "unknown"),
    ("Steering Council", "organization", "organization"),
    ("Office for National Statistics", "organization", "organization"),
    ("Croatia", "unknown", "location"),
    ("Checkout API", "organization", "service"),
]


@pytest.mark.parametrize(("name", "guess", "kind"), GUESSED, ids=[name for name, _, _ in GUESSED])
def test_the_model_is_believed_where_the_name_has_the_shape(name: str, guess: str, kind: str) -> None:
    assert settle([(name, guess)]) == [kind]


def test_a_place_nobody_knows_stands_where_places_do() -> None:
    assert settle([("Burgenland", "location")] * 2, placed={"Burgenland": 1}) == ["location"] * 2


def test_roles_in_relations_give_types() -> None:
    mentions = [("Yearly Plan", "unknown"), ("Lysandros Nikolaou", "organization"), ("Blub", "location")]
    relations = [("Yearly Plan", "authored_by", "Lysandros Nikolaou"), ("Ledger", "written_in", "Blub")]
    assert settle(mentions, relations) == ["document", "person", "language"]
    assert settle([("Frobnitz", "unknown")], [("Ledger", "runs_on", "Frobnitz")]) == ["technology"]
    assert settle([("Platform Team", "unknown")], [("Ledger", "maintained_by", "Platform Team")]) == ["team"]


def test_words_that_the_corpus_writes_small_are_no_person() -> None:
    assert settle([("Core Metadata", "person")], core=9, metadata=20) == ["unknown"]
    assert settle([("Ana Kovač", "person")]) == ["person"]


def test_a_definition_and_a_declared_type_stand() -> None:
    assert settle([("Vault", "unknown")], defined={"Vault": "service"}) == ["service"]
    assert settle([("Helm", "unknown")], defined={"Helm": "person"}) == ["tool"]  # a package manager
    assert settle([("PostgreSQL", "topic")], method="declared") == ["topic"]
    assert settle([("PostgreSQL", "unknown")], method="declared") == ["database"]


def test_a_surname_alone_is_the_person_of_its_document() -> None:
    mentions = [("Nat Robeson", "person"), ("Robeson", "organization"), ("Australia", "organization")]
    assert settle(mentions, technical=False) == ["person", "person", "location"]


def test_a_type_holds_for_a_name_in_any_case() -> None:
    assert (
        settle([("Kubernetes", "unknown"), ("KUBERNETES", "location"), ("kubernetes", "unknown")]) == ["platform"] * 3
    )


@pytest.mark.parametrize("name", ["Guido van Rossum", "J. R. Smith", "Tzu-ping Chung", "Łukasz Langa", "Inada Naoki"])
def test_shapes_of_persons(name: str) -> None:
    assert has_person_shape(name)


@pytest.mark.parametrize(
    "name",
    [
        "Python",
        "Search API",
        "GOV.UK Chat",
        "van Rossum",
        "the Team",
        "Redis 7",
        "Ana K",
        "Dart Sass",
        "Rebooting Redis",
    ],
)
def test_shapes_of_things(name: str) -> None:
    assert not has_person_shape(name)
