"""Front matter: specs/hostile-inputs.md A24, specs/linked-documents.md rows 8-10."""

from __future__ import annotations

from typing import Any

import pytest

from graphrag.reading.front_matter import find_body, parse_front_matter

VALUES: list[tuple[str, dict[str, Any]]] = [
    ("title: A", {"title": "A"}),
    ("country: NO\nok: true\nn: 3\nx: 1.5\nnil:\n", {"country": "NO", "ok": True, "n": 3, "x": 1.5, "nil": None}),
    ("time: 12:30\nid: 007\nbig: 1234567890123456789012\ne: 1e400\nsha: 1e10", {
        "time": "12:30", "id": "007", "big": "1234567890123456789012", "e": "1e400", "sha": "1e10"}),
    ("date: 2024-01-18\nat: 2024-01-18T06:12:00Z", {"date": "2024-01-18", "at": "2024-01-18T06:12:00Z"}),
    ("tags: [a, b]\naliases:\n  - K8s\n", {"tags": ["a", "b"], "aliases": ["K8s"]}),
    ("up: [[Target]]", {"up": [["Target"]]}),
    ('up: "[[Target]]"', {"up": "[[Target]]"}),
    ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
    ("1: one", {"1": "one"}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "metadata"), VALUES)
def test_values_survive_as_json(source: str, metadata: dict[str, Any]) -> None:
    text = f"---\n{source.rstrip()}\n---\nBody"
    assert parse_front_matter(text, "md") == (metadata, "")
    assert text[find_body(text, "md") :] == "Body"


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
REFUSED = [
    ("a list", "- a\n- b"),
    ("a number", "42"),
    ("1 MB string", "title: " + "x" * 1_000_000),
    ("an anchor bomb", BOMB),
    ("an object", "x: !!python/object/apply:os.system ['touch /tmp/pwned']"),
    ("a recursive anchor", "a: &a [*a]"),
    ("broken", "title: [a\nb: c"),
    ("a template", "{{date}}: {{x}}"),
    ("deep", "a: " + "[" * 20_000),
    ("tabs", "a:\n\t- b"),
]


@pytest.mark.parametrize("source", [source for _, source in REFUSED], ids=[name for name, _ in REFUSED])
def test_bad_front_matter_is_a_warning_and_the_body_is_read(source: str) -> None:
    text = f"---\n{source.rstrip()}\n---\n# Body\n"
    metadata, warning = parse_front_matter(text, "md")
    assert metadata == {}
    assert warning.startswith("line ")
    assert text[find_body(text, "md") :] == "# Body\n"


def test_broken_yaml_names_the_line() -> None:
    _, warning = parse_front_matter("---\ntitle: a\nb: [c\nd: e\n---\nBody", "md")
    assert warning.startswith("line 4: front matter is not valid YAML (")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# No front matter",
        "---\n\nA rule above prose, not YAML\n\n---\nmore",
        "---\ntitle: never closed",
        "text\n---\na: b\n---\n",
    ],
)
def test_no_front_matter(text: str) -> None:
    assert find_body(text, "md") == 0
    assert parse_front_matter(text, "md") == ({}, "")


def test_only_text_kinds_have_front_matter() -> None:
    assert find_body("---\na: b\n---\nBody", "csv") == 0


def test_empty_front_matter_and_front_matter_alone() -> None:
    assert find_body("---\n---\nBody", "md") == 8
    text = "---\ntitle: nothing\n---"
    assert parse_front_matter(text, "md").metadata == {"title": "nothing"}
    assert find_body(text, "md") == len(text)
