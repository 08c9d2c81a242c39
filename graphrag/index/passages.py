"""A passage as a model sees it: text units in a row, or half of them, in numbered sentences; and where its words stand.

A model answers with names and sentence numbers. Here the numbers become spans of the text and the names the places
where they are written: to the letter and as whole words where they are, else without regard to case, accents' encoding,
quotes, and hyphens, underscores or blanks between words. Where the passage begins in the midst of a table, the table's
header stands above the sentences, without a number: nothing can be quoted from it.

Does not: read replies (graphrag/replies), call a model, or make rows (extraction.py, claims.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from graphrag.index.table_headers import header_at_end
from graphrag.prompts import number_sentences
from graphrag.replies.fields import joins
from graphrag.sentences import sentence_spans

Span = tuple[int, int]
_FULL_STOP = re.compile(r"\.(?=\s)")  # a model writes Mr Bennet where the text has Mr. Bennet
HEADER_MARK = "(A table goes on here. Its header, to read the rows by:)"
LONGEST_RUN = 3  # sentences that one quote may hold, where a part of them holds both names
_SAME = {
    **dict.fromkeys(map(ord, "-_‐‑‒–—―"), " "),
    **dict.fromkeys(map(ord, "’‘ʼ`´"), "'"),
    **dict.fromkeys(map(ord, "\t\n\r\f\v\u00a0"), " "),
}


class Excerpt(NamedTuple):
    """What a model is asked about: a text, and the header of the table in whose midst it begins (else empty)."""

    text: str
    header: str = ""


class Passage:
    """`text`, the offset at which it starts in what it was taken from, and the `header` of the table in whose midst it
    begins (else empty). All spans count from the start of `text`."""

    def __init__(self, text: str, start: int = 0, *, header: str = "") -> None:
        self.text, self.start, self.header = text, start, header
        self._found: dict[str, list[Span]] = {}

    @cached_property
    def sentences(self) -> list[Span]:
        return sentence_spans(self.text)

    @property
    def numbered(self) -> str:
        """`[1] First sentence.` a line; above them the header of a table that goes on, if there is one."""
        numbered = number_sentences([self.text[start:end] for start, end in self.sentences])
        return f"{HEADER_MARK} {self.header}\n{numbered}" if self.header else numbered

    def halves(self) -> list[Passage]:
        """Two passages, cut at the sentence boundary nearest to the middle; none for a single sentence."""
        starts = [start for start, _ in self.sentences[1:]]
        if not starts:
            return []
        cut = min(starts, key=lambda start: (abs(start - len(self.text) / 2), start))
        first, second = self.text[:cut], self.text[cut:]
        goes_on = second.startswith("|") and first.endswith("\n") and not first.endswith("\n\n")
        header = header_at_end(first, self.header) if goes_on else ""
        return [
            Passage(first, self.start, header=self.header), Passage(second, self.start + cut, header=header),
        ]  # fmt: skip

    def find(self, name: str) -> list[Span]:
        """All places of a name, in order: those written exactly so, else those written alike."""
        if name not in self._found:
            self._found[name] = self._find_exact(name) or self._find_alike(name)
        return self._found[name]

    def find_in(self, name: str, span: Span) -> Span | None:
        """The first place of a name inside a span."""
        return next((place for place in self.find(name) if span[0] <= place[0] and place[1] <= span[1]), None)

    def quotes(self, numbers: Sequence[int], subject: str, object_: str) -> list[Span]:
        """The spans that a relation rests on: one for each run of its sentences, at least one.

        A long run is narrowed to its sentences that hold both names. Without numbers it is the first sentence that
        holds both names, else the first that holds one, else the first.
        """
        known = [number for number in numbers if 1 <= number <= len(self.sentences)]
        if not known:
            return self.sentences[:1] if not self.sentences else [self._likeliest(subject, object_)]
        spans: list[Span] = []
        for first, last in _runs(known):
            both = [
                span for span in self.sentences[first - 1 : last]
                if last - first >= LONGEST_RUN and self.find_in(subject, span) and self.find_in(object_, span)
            ]  # fmt: skip
            spans += both or [(self.sentences[first - 1][0], self.sentences[last - 1][1])]
        return spans

    def _likeliest(self, subject: str, object_: str) -> Span:
        held = [sum(self.find_in(name, span) is not None for name in {subject, object_}) for span in self.sentences]
        return self.sentences[held.index(max(held))]

    def _find_exact(self, name: str) -> list[Span]:
        spans = []
        position = self.text.find(name) if name else -1
        while position >= 0:
            end = position + len(name)
            if _is_whole(self.text, position, end):
                spans.append((position, end))
            position = self.text.find(name, end)
        return spans

    def _find_alike(self, name: str) -> list[Span]:
        words = _fold(name)[0].split()
        if not words:
            return []
        folded, origin = self._folded
        spans = []
        for match in re.finditer(" +".join(map(re.escape, words)), folded):
            start, end = origin[match.start()], origin[match.end() - 1] + 1
            if _is_whole(self.text, start, end):
                spans.append((start, end))
        return spans

    @cached_property
    def _folded(self) -> tuple[str, Sequence[int]]:
        return _fold(self.text)


def surface_of(text: str, span: Span) -> str:
    """The words of a span as a mention's surface: on one line, single blanks."""
    return " ".join(text[slice(*span)].split())


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """The text without case, decomposed (NFKD), and for each of its characters the offset of the one it comes from."""
    text = _FULL_STOP.sub(" ", text)
    if text.isascii():
        return text.translate(_SAME).lower(), range(len(text))
    pieces: list[str] = []
    origin: list[int] = []
    for offset, char in enumerate(text):
        piece = char.translate(_SAME)
        if not piece.isascii():
            piece = unicodedata.normalize("NFKD", piece.casefold()).casefold()
            piece = "".join(part for part in piece if unicodedata.category(part) != "Cf")
        else:
            piece = piece.lower()
        pieces.append(piece)
        origin += [offset] * len(piece)
    return "".join(pieces), origin


def _runs(numbers: Iterable[int]) -> list[Span]:
    """Consecutive numbers as (first, last)."""
    runs: list[Span] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _is_whole(text: str, start: int, end: int) -> bool:
    """No word of a script that separates words goes on across an end of the span; no accent behind it is cut off."""
    behind = text[end : end + 1]
    if behind and unicodedata.combining(behind):
        return False
    return not (joins(text[start - 1 : start], text[start]) or joins(text[end - 1], behind))
