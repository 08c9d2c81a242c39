"""aliases.toml: what it may hold, and errors that name the lines (specs: hostile inputs C14)."""

from __future__ import annotations

import pytest

from graphrag.errors import SettingsError
from graphrag.naming.alias_rules import AliasRule, parse_alias_rules


def test_entries_with_their_lines() -> None:
    text = """# comment
[[always]]
title = "PostgreSQL"
names = ["Postgres", " primary-db "]

[[always]]
title = "Redis"

[[never]]
names = ["AWS", "Amazon Web Services"]
"""
    rules = parse_alias_rules(text)
    assert rules.always == (AliasRule(("Postgres", "primary-db"), "PostgreSQL", 2), AliasRule((), "Redis", 6))
    assert rules.never == (AliasRule(("AWS", "Amazon Web Services"), "", 9),)
    assert rules.known_names() == ["PostgreSQL", "Postgres", "primary-db", "Redis", "AWS", "Amazon Web Services"]


def test_no_entries() -> None:
    assert parse_alias_rules("") == parse_alias_rules("\ufeff# nothing\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[always]]\nnames = ["A1", "B1"]\n[[never]]\nnames = ["B1", "A1"]\n', ["line 1", "line 3", "B1", "A1"]),
        (
            '[[always]]\nnames = ["A1", "B1"]\n[[always]]\nnames = ["B1", "C1"]\n[[never]]\nnames = ["A1", "C1"]\n',
            ["1 and 3", "line 5"],
        ),
        (
            '[[always]]\ntitle = "X"\nnames = ["Y"]\n[[always]]\ntitle = "Z"\nnames = ["Y"]\n',
            ["1 and 4", "X", "Z"],
        ),
        ('[[alway]]\nnames = ["A", "B"]\n', ['unknown key "alway"', 'Did you mean "always"?']),
        ('[[always]]\nname = ["A", "B"]\n', ["line 1", 'unknown key "name"', 'Did you mean "names"?']),
        ('[[never]]\ntitle = "A"\nnames = ["A", "B"]\n', ["line 1", 'unknown key "title"']),
        ('[[never]]\nnames = ["A"]\n', ["line 1", "two names or more, has 1"]),
        ('[[always]]\nnames = ["A"]\n', ["line 1", "a title, or two names"]),
        ('[[always]]\nnames = "A"\n', ["names is 'A'"]),
        ("[[always]]\nnames = [1, 2]\n", ["names is [1, 2]"]),
        ("[[always]]\ntitle = 3\n", ["title is 3"]),
        ('always = "A"\n', ["always is str"]),
        ("[[always\n", ["aliases.toml:", "line 1"]),
    ],
)
def test_errors_name_the_place(text: str, expected: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_alias_rules(text)
    message = str(caught.value)
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_never_between_two_always_groups_is_no_contradiction() -> None:
    text = '[[always]]\nnames = ["A1", "B1"]\n[[always]]\nnames = ["C1", "D1"]\n[[never]]\nnames = ["A1", "D1"]\n'
    assert len(parse_alias_rules(text).never) == 1
