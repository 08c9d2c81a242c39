"""A name, a word, and the words of a readable sentence with their tags.

Shared by the rooms that find names: nlp/corpus, nlp/runs, nlp/spans, nlp/names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from graphrag.nlp.lexicon import TYPE_OF_HEAD, TYPE_OF_PROPER_HEAD
from graphrag.nlp.parsing import Parse

WORD = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:[-.&'’][\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)*(?:\+\+|\+|\#)?")
POSSESSIVE = regex.compile(r"['’](?:s|S)?$")
CAPITAL_DUE = regex.compile(r"[:.!?•|]\s*[\"'(]?$|^\s*[–—]\s|[\"(']$")
HUMP = regex.compile(r"(\p{Ll})(\p{Lu})")
BETWEEN_PARTS = regex.compile(r"[\s_./-]+")
VERSION = regex.compile(r"v?\d+(?:\.\d+)*(?:\.x)?|[IVX]{1,4}")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clean text. `is_due`: its place asks for a capital (sentence, quote, link or label begins)."""

    start: int
    end: int
    text: str
    tag: str = ""
    is_due: bool = False

    @property
    def fold(self) -> str:
        return self.text.casefold()

    @property
    def is_plain(self) -> bool:
        """No capital or digit but at the start of it or of its parts: Redis, Post-History."""
        return all(part[1:].islower() or len(part) == 1 for part in self.text.split("-") if part)

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a clean text. `kind` is the rule that found it; where not `is_sure`, only a relation confirms it."""

    start: int
    end: int
    type: str
    kind: str
    is_sure: bool = True


def name_order(name: Name) -> tuple[int, int, str, str, bool]:
    """Names of one text in a fixed order: by place, then by everything else that tells two of them apart."""
    return name.start, name.end, name.kind, name.type, not name.is_sure


def find_words(text: str, parse: Parse | None = None, opens: Sequence[int] = ()) -> list[Word]:
    """The words of a text, with the tag of the last token of each where there is a parse.

    opens: offsets where a link, a label or bold text begins.
    """
    words: list[Word] = []
    position = 0
    for match in WORD.finditer(text):
        start, end, value = match.start(), match.end(), match[0]
        if (possessive := POSSESSIVE.search(value)) and value.casefold() not in {"let's", "let’s"}:
            end -= len(possessive[0])
            value = value[: possessive.start()]
        tag = ""
        if parse:
            while position < len(parse.ends) and parse.ends[position] < end:
                position += 1
            if position < len(parse.tags) and parse.starts[position] < end:
                tag = parse.tags[position]
        if value:
            gap = text[words[-1].end : start] if words else ""
            is_due = not words or start in opens or CAPITAL_DUE.search(gap) is not None
            words.append(Word(start, end, value, tag, is_due))
    return words


def is_shouted(words: Sequence[Word]) -> bool:
    return len(words) >= 4 and sum(word.text.isupper() for word in words) > 0.6 * len(words)


@lru_cache(maxsize=1 << 16)
def head_type(text: str) -> str:
    """The type that the last word of a name gives it, also the last hump of CamelCase; empty if none."""
    pieces = [piece for piece in BETWEEN_PARTS.split(HUMP.sub(r"\1 \2", text)) if piece]
    is_counted = False
    while len(pieces) > 1 and (VERSION.fullmatch(pieces[-1]) or len(pieces[-1]) == 1):
        pieces.pop()
        is_counted = True  # "Team B", "Host 7": one of several, so the head may stand alone
    if len(pieces) < 2 and not is_counted:
        return ""
    head = pieces[-1].casefold()
    return TYPE_OF_HEAD.get(head) or TYPE_OF_PROPER_HEAD.get(head) or ""
