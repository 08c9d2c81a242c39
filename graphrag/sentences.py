"""Sentence spans of a text, exact to the character, aware of Markdown and reStructuredText.

Headings, table rows, fences and fields are one span each, the words of a list item start a new one, and no sentence
crosses a block; a paragraph hard-wrapped over several lines is joined. English abbreviations, initials, versions and
numbers are known to nupunkt (Punkt: Kiss and Strunk 2006, model trained by its authors); sentences of other scripts
end at their own marks (。！？ ؟ ।).

Does not: change text, or parse inline markup.
"""

from __future__ import annotations

import re

import nupunkt

from graphrag import blocks

# Full stops of other scripts; in the ideographic ones no blank follows, in Arabic and Indic scripts one does.
_OTHER_STOP = re.compile(r"[。！？｡]+[」』）”’\"')\]]*|[؟۔।॥።։။។]+[\"')\]”’»]*(?=\s|$)")
_HARD_BREAK = re.compile(r"(?:[ \t]{2,}|\\)\n(?=[ \t]*\S)")
# What nupunkt's legal model does not know: these never end a sentence.
_NEVER_LAST = re.compile(
    r"(?:^|[\s(\[\"'“])(?:e\.g|i\.e|cf|vs|viz|approx|resp|incl|excl|Dr|Mr|Mrs|Ms|Prof|Fig|Figs|Eq)\.$", re.IGNORECASE
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences of `text`, trimmed, in order, not overlapping.

    A heading keeps its `#`, a table row its `|` and a fence its marks, so that callers know them by their first
    character. Outside all spans lie the marker of a list item, adornment lines, rules, and link definitions such as
    `[x]: address`.
    """
    spans: list[tuple[int, int]] = []
    for block in blocks.scan_blocks(text):
        if block.kind in (blocks.PARAGRAPH, blocks.ITEM):
            _append_prose(spans, text, block.content, block.end)
        elif block.kind == blocks.HEADING:
            newline = text.find("\n", block.content, block.end)
            _append_trimmed(spans, text, block.content, newline if newline >= 0 else block.end)
        elif block.kind not in (blocks.RULE, blocks.REFERENCE):
            spans.append((block.start, block.end))
    return spans


def _append_prose(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Cuts a paragraph at hard breaks, then at English stops, then at the stops of other scripts."""
    for part_start, part_end in _cut(text, start, end, _HARD_BREAK):
        part = text[part_start:part_end]
        merged: list[tuple[int, int]] = []
        for a, b in nupunkt.sent_spans(part):
            if merged and (not part[a - 1].isspace() or _NEVER_LAST.search(part[merged[-1][0] : a].rstrip()[-12:])):
                merged[-1] = (merged[-1][0], b)
            else:
                merged.append((a, b))
        for a, b in merged:
            for c, d in _cut(text, part_start + a, part_start + b, _OTHER_STOP):
                _append_trimmed(spans, text, c, d)


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if stripped := piece.strip():
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(stripped)))


def _cut(text: str, start: int, end: int, stop: re.Pattern[str]) -> list[tuple[int, int]]:
    """text[start:end] in pieces that end where `stop` ends."""
    pieces = []
    for match in stop.finditer(text, start, end):
        pieces.append((start, match.end()))
        start = match.end()
    if start < end:
        pieces.append((start, end))
    return pieces
