"""Forms of one word, and words that only look like forms of another."""

from __future__ import annotations

import pytest

from graphrag.naming.word_forms import inflection_stem, is_cut_short, is_related_word


@pytest.mark.parametrize(
    "forms",
    ["host hosts hosted hosting", "game games gaming", "parse parsed parsing", "map mapped mapping", "tag tags tagging",
     "automaton automata automatons", "process processes processing", "cache caches cached caching"],
)  # fmt: skip
def test_forms_of_one_word_share_a_stem(forms: str) -> None:
    assert len({inflection_stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    ["set setting", "build building", "string str", "king k", "http https", "host hoster", "bed b", "meet meeting"],
)
def test_other_words_do_not(words: str) -> None:
    assert len({inflection_stem(word) for word in words.split()}) == 2


def test_words_cut_short() -> None:
    assert is_related_word("app", "application") and is_related_word("southern", "south")
    assert not is_related_word("china", "canada")
    assert is_cut_short("webapp", "webapplication")
    assert not is_cut_short("java", "javascript")
