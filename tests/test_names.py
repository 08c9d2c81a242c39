"""Keys and parts of single names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.names import (
    acronyms_of,
    compact_key,
    display_name,
    is_acronym,
    is_numeronym_of,
    name_key,
    singular_key,
    split_honorifics,
    split_legal_form,
)


@pytest.mark.parametrize(
    ("surface", "key"),
    [
        ("The Auth Service", "auth service"),
        ("AuthService", "auth service"),
        ("HTTPServer", "http server"),
        ("the APIs", "apis"),
        ("K8s", "k8s"),
        ("S3Bucket", "s3 bucket"),
        ("user_id", "user id"),
        ("U.S.A.", "usa"),
        ("U.S.", "us"),
        ("J.R.R. Tolkien", "jrr tolkien"),
        ("Node.js", "node js"),
        (".NET", ".net"),
        ("C++.", "c++"),
        ("api v1.2", "api 1.2"),
        ("v1.2", "v1.2"),
        ("Simon & Garfunkel", "simon and garfunkel"),
        ("AT&T", "at&t"),
        ("An Nguyen", "an nguyen"),
        ("an API", "api"),
        ("The", "the"),
        ("A. Kovač", "a kovač"),
        ("A.B. Kovač", "ab kovač"),
        ("A", "a"),
        ("Müller GmbH", "müller gmbh"),
        ("007", "007"),
        ("🚀", "🚀"),
        ("--", "--"),
        ("Mercury (planet)", "mercury (planet)"),
        ("(Redis)", "redis"),
        ("Redis' ", "redis"),
    ],
)
def test_name_key(surface: str, key: str) -> None:
    assert name_key(surface) == key


@given(st.text(min_size=1, max_size=30))
def test_key_is_empty_only_for_blank_names(surface: str) -> None:
    if surface.strip():
        assert name_key(surface)
    assert name_key(surface) == name_key(surface)
    assert "  " not in name_key(surface).strip() or not any(c.isalnum() for c in surface)


def test_compact_key() -> None:
    assert compact_key("PostgreSQL") == compact_key("postgresql") == "postgresql"


@pytest.mark.parametrize(
    ("surface", "shown"),
    [
        ("The Auth Service", "Auth Service"),
        ("“Token Cache”", "Token Cache"),
        ("Stripe's", "Stripe"),
        ("Acme Inc.", "Acme Inc."),
        ("Redis.", "Redis"),
        ("the", "the"),
        ("line\nbreak", "line break"),
    ],
)
def test_display_name(surface: str, shown: str) -> None:
    assert display_name(surface) == shown


def test_parts() -> None:
    assert singular_key("token caches") == "token cache"
    assert singular_key("Token Caches") == "token caches"
    assert singular_key("public APIs") == "public api"
    assert singular_key("policies") == "policy"
    assert singular_key("cljs") == "cljs"
    assert singular_key("public CVEs") == "public cve"
    assert acronyms_of(["international", "monetary", "fund"]) == {"imf"}
    assert acronyms_of(["bank", "of", "china"]) == {"boc", "bc"}
    assert acronyms_of(["redis"]) == set()
    assert is_acronym("A.W.S.")
    assert not is_acronym("Aws")
    assert is_numeronym_of("k8s", "kubernetes")
    assert not is_numeronym_of("k7s", "kubernetes")
    assert split_legal_form(["acme", "co", "limited"]) == (("acme",), "co ltd")
    assert split_honorifics(["prof", "dr", "li"]) == (("li",), "prof dr")


def test_a_role_that_numbers_a_document_is_its_name() -> None:
    assert name_key(":pep:`600`") == name_key("PEP 600") == name_key("PEP-600")
    assert display_name(":rfc:`2119`") == "RFC 2119"
    assert display_name(":ref:`600`") == ":ref:`600`"
