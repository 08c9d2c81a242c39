"""Sentence spans: exact, in order, never across blocks; abbreviations and versions are not cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in sentence_spans(text)]


CASES = [
    ("", []),
    ("  \n\n ", []),
    ("api v1.2 depends on redis 7.0", ["api v1.2 depends on redis 7.0"]),
    ("It needs v1.2. It works.", ["It needs v1.2.", "It works."]),
    ("Dr. Ana uses Node.js, e.g. Express. Is 3.5 out?", ["Dr. Ana uses Node.js, e.g. Express.", "Is 3.5 out?"]),
    ("The U.S. Army vs. i.e. Redis, cf. Smith et al. 2020.", ["The U.S. Army vs. i.e. Redis, cf. Smith et al. 2020."]),
    ("A hard\nwrapped line. Next\none.", ["A hard\nwrapped line.", "Next\none."]),
    ("One para\n\nanother para", ["One para", "another para"]),
    ("# Auth Service\nIt runs.", ["# Auth Service", "It runs."]),
    ("Title\n=====\n\nText.", ["Title", "Text."]),
    ("- First. Second.\n- Third\n  goes on\n1. Four", ["First.", "Second.", "Third\n  goes on", "Four"]),
    ("| a | b |\n|---|---|\n| x. Y | 2 |", ["| a | b |", "|---|---|", "| x. Y | 2 |"]),
    ("a | b\n--- | ---\nc | d", ["a | b", "--- | ---", "c | d"]),
    ("Text.\n```\nx = 1.\n\ny\n```\nMore.", ["Text.", "```\nx = 1.\n\ny\n```", "More."]),
    ("```\nnever closed", ["```\nnever closed"]),
    ("これは文です。次！「はい。」と", ["これは文です。", "次！", "「はい。」", "と"]),
    ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
    ("यह है। दूसरा।", ["यह है।", "दूसरा।"]),
    ("line with break  \nother line", ["line with break", "other line"]),
    ('"Really?" he said. Yes!', ['"Really?" he said.', "Yes!"]),
    ("Owner: Ana\nStatus: done", ["Owner: Ana", "Status: done"]),
    ("Wrapped in\n1984. It went on.", ["Wrapped in\n1984.", "It went on."]),
    ("Text ![img](b.png) more.", ["Text ![img](b.png) more."]),
    ('See [x].\n[x]: /a/b.html\n[y z]: <http://c.d> "t"\n\n[^1]: A note.', ["See [x].", "[^1]: A note."]),
    ("---\n\nText", ["Text"]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


MARKDOWN = st.lists(
    st.sampled_from(
        ["# H", "para one. Two", "- item", "1. x", "| a | b |", "|---|---|", "```", "~~~", "> quote", "", "",
         "===", "---", "  indented", "Key: value", ":field: x", "e.g. a", "文。字", "$", "\\", "+--+", "== ==", "::"]
    )
    | st.text(max_size=12)
).map("\n".join)  # fmt: skip


@given(MARKDOWN)
def test_spans_are_trimmed_ordered_and_cover_all_words(text: str) -> None:
    spans = sentence_spans(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        outside = text[position:start]
        assert not any(char.isalpha() and not _is_marker(outside) for char in outside)
        position = end
    assert not any(char.isalpha() for char in text[position:])


def _is_marker(outside: str) -> bool:
    """Only the marker of a lettered list item, a), may lie outside with a letter in it."""
    return all(len(word) == 2 and word.endswith(")") for word in outside.split() if any(c.isalpha() for c in word))


@pytest.mark.parametrize(
    "unit", ["[", "```\n", "- ", "# [", "|a|\n", "==== ==\na\n", "Dr. ", "。", "a: b\n", "# a" + " " * 50]
)
def test_hostile_repetition_ends(unit: str) -> None:
    assert sentence_spans(unit * 20_000) is not None
