"""Titles, front matter aliases and phrases as documents write them."""

from __future__ import annotations

import json

import pytest

from graphrag.naming.declared_aliases import read_notes, read_persons
from graphrag.naming.phrases import find_phrases
from graphrag.tables import DOCUMENTS, ENTITY_MENTIONS
from tests.mention_rows import document, mention


@pytest.mark.parametrize(
    ("aliases", "expected"),
    [
        (["K8s", "Kube"], ("K8s", "Kube")),
        ("K8s, Kube", ("K8s", "Kube")),
        ("K8s", ("K8s",)),
        (["K8s", "K8s", "", 7, None, ["x"]], ("K8s", "7")),
        (None, ()),
        ({"a": 1}, ()),
    ],
)
def test_aliases_of_front_matter(aliases: object, expected: tuple[str, ...]) -> None:
    notes = read_notes(DOCUMENTS.from_rows([document("k.md", "x", title="Kubernetes", aliases=aliases)]))
    assert notes[0].aliases == expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("deciders", ["Nora Lind", "Ana Kovač"], {"nora lind", "ana kovač"}),
        ("Authors", "Nora Lind, Jan van Dyck", {"nora lind", "jan van dyck"}),
        ("author", "Acme Inc.", set()),
        ("author", "nora", set()),
        ("reviewers", ["@nora", 7, "Release 7 Crew"], set()),
        ("reviewers", {"a": "Nora Lind"}, set()),
        ("tags", ["Nora Lind"], set()),
    ],
)
def test_persons_of_front_matter(field: str, value: object, expected: set[str]) -> None:
    row = document("k.md", "x") | {"metadata": json.dumps({field: value})}
    assert read_persons(DOCUMENTS.from_rows([row])) == expected


def test_notes_by_path_copies_once_and_bare_stems_are_no_casing() -> None:
    rows = [
        document("b/redis.md", "same"),
        document("a/redis.md", "same"),
        document("Cache.md", "other"),
        document("README.md", "read"),
        document("z.md", "more") | {"metadata": "[1]"},
    ]
    notes = read_notes(DOCUMENTS.from_rows(rows))
    assert [(n.path, n.title_is_cased, n.is_generic) for n in notes] == [
        ("Cache.md", True, False),
        ("README.md", True, True),
        ("a/redis.md", False, False),
        ("z.md", False, False),
    ]


@pytest.mark.parametrize(
    ("text", "surface", "expected"),
    [
        ("Web Shop (WS) sells.", "Web Shop", ("WS", "brackets", True)),
        ("Web Shop (the “WS”, for short) sells.", "Web Shop", ("WS", "brackets", True)),
        ("Web Shop (or WS) sells.", "Web Shop", ("WS", "or", True)),
        ("Web Shop, a.k.a. the Kiosk, sells.", "Web Shop", ("Kiosk", "a.k.a.", True)),
        ("Web Shop also known as Kiosk sells.", "Web Shop", ("Kiosk", "also known as", True)),
        ("Web Shop, formerly Kiosk.", "Web Shop", ("Kiosk", "formerly", True)),
        ("Web Shop (Kiosk) sells.", "Web Shop", ("Kiosk", "brackets", False)),
        ("Amazon Web Shop (WS) sells.", "Amazon Web Shop", ("WS", "brackets", True)),
        ("Web Shop (see Kiosk) sells.", "Web Shop", None),
        ("Web Shop (unknown) sells.", "Web Shop", None),
        ("Web Shop, Kiosk and WS.", "Web Shop", None),
        ("Web Shop", "Web Shop", None),
    ],
)
def test_phrases(text: str, surface: str, expected: tuple[str, str, bool] | None) -> None:
    doc = document("a", text)
    known = {"WS", "Kiosk", "Web Shop"}
    mentions = ENTITY_MENTIONS.from_rows([mention(doc, surface)])
    found = find_phrases(mentions, DOCUMENTS.from_rows([doc]), is_known=known.__contains__)
    assert [(p.other, p.words, p.is_sure) for p in found] == ([expected] if expected else [])
