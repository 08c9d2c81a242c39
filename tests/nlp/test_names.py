"""Declared names in a sentence: the longest at each place, from left to right, whoever else begins alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.markup import Clean, clean_markup
from graphrag.nlp.names import is_same_name, known_names
from graphrag.nlp.words import Name, Word, find_words

WORDS = st.sampled_from(["Note", "note", "Alpha", "alpha", "Beta", "Gate", "7"])
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


def find_one_by_one(clean: Clean, words: list[Word], lexicon: Lexicon, names: list[str]) -> list[Name]:
    """All names tried at each place."""
    tried = sorted((tuple(word.text for word in find_words(name)) for name in set(names)), key=lambda p: (-len(p), p))
    tried = [parts for parts in tried if " ".join(parts).casefold() in lexicon.declared]
    found, position = [], 0
    while position < len(words):
        for parts in tried:
            here = words[position : position + len(parts)]
            same = [word.fold for word in here] == [part.casefold() for part in parts]
            if same and is_same_name(parts, here, clean.text, lexicon):
                found.append(Name(here[0].start, here[-1].end, "unknown", "known"))
                position += len(parts) - 1
                break
        position += 1
    return found


@given(st.lists(PHRASES, max_size=8), st.lists(PHRASES, max_size=5))
def test_names_are_those_of_a_search_name_by_name(names: list[str], phrases: list[str]) -> None:
    clean = clean_markup(", then ".join(phrases))
    lexicon = Lexicon()
    lexicon.declare(dict.fromkeys(names, "unknown"))
    words = find_words(clean.text)
    assert known_names(clean, words, lexicon) == find_one_by_one(clean, list(words), lexicon, names)


def test_one_of_very_many_titles_that_begin_alike_is_found() -> None:
    lexicon = Lexicon()
    lexicon.declare({f"Note {number}": "unknown" for number in range(20_000)})
    text = "Note 17 and Note 19999 follow Note 20001."
    found = known_names(clean_markup(text), find_words(text), lexicon)
    assert [text[name.start : name.end] for name in found] == ["Note 17", "Note 19999"]
