"""aliases.toml edited as a careful person would: nothing else changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.errors import SettingsError
from graphrag.naming.alias_file import add_rule, remove_name, remove_rule
from graphrag.naming.alias_rules import parse_alias_rules

TEXT = """\
# ours   (do not sort)
[[always]]
title = 'PostgreSQL'   # the database
names = [ "Postgres",
  # said by the old team
  "primary-db",
  "PG", ]

# apart
[[never]]
names = ["Redis", "Redis Sentinel"]  # two things

[[never]]
names = ["A", "B", "C"]
# the end
"""


def test_a_rule_is_added_at_the_end() -> None:
    assert add_rule(TEXT, "always", ["K8s"], title="Kubernetes") == (
        TEXT + '\n[[always]]\ntitle = "Kubernetes"\nnames = ["K8s"]\n'
    )
    assert add_rule("", "never", ["A", 'B "b" \\']) == '[[never]]\nnames = ["A", "B \\"b\\" \\\\"]\n'
    assert add_rule("# x", "always", [], title="A") == '# x\n\n[[always]]\ntitle = "A"\n'
    assert add_rule("# x\r\n", "never", ["A", "B"]) == '# x\r\n\r\n[[never]]\r\nnames = ["A", "B"]\r\n'


def test_a_rule_is_removed_with_its_keys_only() -> None:
    rules = parse_alias_rules(TEXT)
    without = remove_rule(TEXT, "never", rules.never[0])
    assert without == TEXT.replace('[[never]]\nnames = ["Redis", "Redis Sentinel"]  # two things\n', "")
    assert remove_rule(TEXT, "never", rules.never[1]) == TEXT.replace('[[never]]\nnames = ["A", "B", "C"]\n', "")
    always = remove_rule(TEXT, "always", rules.always[0])
    assert always.startswith("# ours   (do not sort)\n\n# apart\n[[never]]")
    only = '[[never]]\nnames = ["A", "B"]\n'
    assert remove_rule(only, "never", parse_alias_rules(only).never[0]) == ""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("Postgres", '[ "Postgres",\n  # said', "[ \n  # said"),
        ("primary-db", '  "primary-db",\n', ""),
        ("PG", '  "PG", ]', "  ]"),
    ],
)
def test_a_name_is_removed(name: str, before: str, after: str) -> None:
    assert remove_name(TEXT, "always", parse_alias_rules(TEXT).always[0], name) == TEXT.replace(before, after)


def test_the_last_name_goes_with_the_comma_before_it() -> None:
    new = remove_name(TEXT, "never", parse_alias_rules(TEXT).never[1], "C")
    assert new == TEXT.replace('"B", "C"]', '"B"]')


def test_what_cannot_be_edited_safely_is_left_to_the_user() -> None:
    inline = 'always = [{ title = "A", names = ["B"] }]\n'
    with pytest.raises(SettingsError, match="by hand"):
        add_rule(inline, "always", ["D"], title="C")
    multiline = '[[never]]\nnames = ["""A""", "B", "C"]\n'
    with pytest.raises(SettingsError, match='remove "A" from line 1'):
        remove_name(multiline, "never", parse_alias_rules(multiline).never[0], "A")


names = st.text(min_size=1, max_size=12).filter(lambda name: name.strip() == name and "\x00" not in name)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(names, min_size=2, max_size=3, unique=True), max_size=3), st.lists(names, min_size=2, max_size=3)
)
def test_added_and_removed_again_is_the_file_of_before(rules: list[list[str]], new: list[str]) -> None:
    text = "# top\n"
    for rule in rules:
        text = add_rule(text, "never", rule)
    more = add_rule(text, "never", new)
    assert more.startswith(text)
    assert tomllib.loads(more)["never"] == [{"names": [*rule]} for rule in [*rules, new]]
    if len(set(new)) > 1:
        last = parse_alias_rules(more).never[-1]
        assert remove_rule(more, "never", last) == text
