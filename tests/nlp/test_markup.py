"""Plain sentences are read without a search for marks: the same as with it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.nlp.markup import PLAIN, _clean_marks, clean_markup

PIECES = (
    "Redis", "a", "_b", "*", "**", "`c`", "[d](e)", "[[f]]", "<br>", "::", "www.g.de", "h@i.de", "\\#", "- ", "1.",
    "'s", "“j”", "!", "(k)", "ß", "\u00a0", "\n", "  ", " ", " ", " ",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@example("The “Auth Service” depends on Redis (a cache), doesn't it?")
@example("See (www.example.com) there")
def test_the_short_way_gives_the_same(raw: str) -> None:
    assert clean_markup(raw) == _clean_marks(raw)


def test_most_sentences_go_the_short_way() -> None:
    assert PLAIN.fullmatch("The “Auth Service” depends on Redis (a cache), doesn't it?")
    assert not PLAIN.fullmatch("The **Auth Service** depends on `redis`.")
