"""Block structure of Markdown, reStructuredText and plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.blocks import scan_blocks


def kinds(text: str, dialect: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in scan_blocks(text, dialect=dialect)]


CASES: list[tuple[str, str, list[str]]] = [
    ("md", "# A\ntext\nmore\n\n- x\n- y", ["heading", "paragraph", "item", "item"]),
    ("md", "A\n===\n\nB\n---\n\n---\n\ntext", ["heading", "heading", "rule", "paragraph"]),
    ("md", "text\n# A", ["paragraph", "heading"]),
    ("md", "#tag is no heading", ["paragraph"]),
    ("rst", "# a comment", ["paragraph"]),
    ("rst", "=====\nTitle\n=====\n\nSub\n~~~~~\n\ntext::\n\n    code\n\n    more\n\nend", [
        "heading", "heading", "paragraph", "code", "paragraph"]),
    ("rst", "=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n\ntext", ["row"] * 5 + ["paragraph"]),
    ("rst", "+---+---+\n| a | b |\n+---+---+", ["row"] * 3),
    ("rst", "PEP: 1\nTitle: x\n  y\n\ntext", ["field", "field", "paragraph"]),
    ("md", "```\na\n\n# b\n```\n# c", ["fence", "heading"]),
    ("md", "~~~\n```\n~~~\ntext", ["fence", "paragraph"]),
    ("md", "````\n```\n````\ntext", ["fence", "paragraph"]),
    ("md", "```a` is inline", ["paragraph"]),
    ("md", "- a\n  ```\n  x\n  ```\n- b", ["item", "fence", "item"]),
    ("md", "a | b\n--|--\n1 | 2\n\ntext | bar", ["row", "row", "row", "paragraph"]),
    ("txt", "CHAPTER IV\n\nChapter and verse", ["heading", "paragraph"]),
    ("txt", "CHAPTER I. The Start\nof it", ["heading", "paragraph"]),
    ("md", "CHAPTER IV", ["paragraph"]),
    ("md", "text\n[a]: /b\n[Note]: prose here", ["paragraph", "reference", "paragraph"]),
    ("rst", ".. _PEP 8: https://x.y\n\n.. note:: text", ["reference", "paragraph"]),
    ("", "> quote\n> more", ["paragraph"]),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text", "expected"), CASES)
def test_kinds(dialect: str, text: str, expected: list[str]) -> None:
    assert [kind for kind, _ in kinds(text, dialect)] == expected


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# The *Auth* `api` ##", "The Auth api"), ("## C#", "C#"),
        ("# [Redis](x.md) and [[Note|note]]", "Redis and note"),
        ("# snake_case __bold__", "snake_case bold"), ("#", ""), ("# ##", ""),
    ],
)  # fmt: skip
def test_heading_titles(line: str, title: str) -> None:
    assert scan_blocks(line, dialect="md")[0].title == title


def test_levels() -> None:
    text = "# a\n\n## b\n\nc\n===\n\nd\n---\n"
    assert [block.level for block in scan_blocks(text, dialect="md")] == [1, 2, 1, 2]
    text = "===\nTop\n===\n\nSub\n===\n\nLow\n---\n\nSub2\n====\n"
    assert [block.level for block in scan_blocks(text, dialect="rst")] == [1, 2, 3, 2]


@given(st.lists(st.text("ab #-=~`|+:1.>*_ \t", max_size=8)).map("\n".join), st.sampled_from(["", "md", "rst", "txt"]))
def test_blocks_are_trimmed_in_order_and_hold_every_character(text: str, dialect: str) -> None:
    position = 0
    for block in scan_blocks(text, dialect=dialect):
        assert position <= block.start <= block.content <= block.end
        assert not text[position : block.start].strip()
        assert text[block.start : block.end].strip() == text[block.start : block.end] != ""
        position = block.end
    assert not text[position:].strip()
