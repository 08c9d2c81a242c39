"""Pairs of misspelt names: blocking loses none that it promises."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from graphrag.naming.blocking import EDITS, SHORTEST_NAME, SHORTEST_WORD, find_near_names


def distance(a: str, b: str) -> int:
    """Edits, 9 for a word that may not differ."""
    found, shorter = Levenshtein.distance(a, b), min(len(a), len(b))
    allowed = 0 if shorter < SHORTEST_WORD else 1 if shorter == SHORTEST_WORD else EDITS
    return found if found <= allowed else 9


WORDS = st.text(alphabet="abc", min_size=3, max_size=9)


@settings(deadline=None)
@given(st.sets(st.lists(WORDS, min_size=1, max_size=3).map(tuple), min_size=2, max_size=25))
def test_every_pair_within_two_edits_is_found(made: set[tuple[str, ...]]) -> None:
    names = sorted(made)
    found = {(a, b): d for a, b, d in find_near_names(names).pairs.iter_rows()}
    expected = {}
    for i, j in combinations(range(len(names)), 2):
        is_long = min(len(" ".join(names[n])) for n in (i, j)) >= SHORTEST_NAME
        if is_long and len(names[i]) == len(names[j]):
            total = sum(distance(a, b) for a, b in zip(names[i], names[j], strict=True))
            if total <= EDITS:
                expected[i, j] = total
    assert found == expected


def test_numbers_and_short_words_have_to_be_equal() -> None:
    names = [("inc", "1041"), ("inc", "1042"), ("li", "wei"), ("li", "wen"), ("plan", "a", "x"), ("plan", "b", "x")]
    assert find_near_names(names).pairs.is_empty()
    assert find_near_names([]).pairs.is_empty()


def test_a_form_that_too_many_words_share_is_counted() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [(f"start{a}{b}",) for a in letters for b in letters]
    assert find_near_names(words).n_large_blocks > 0
