"""Code and comments of a Markdown text, hidden behind a filler of equal length: nothing in there is a link.

Hidden are fenced and indented code (in lists and quotes too), `code spans` and <!-- comments -->. Obsidian's own
comments, %% like this %%, are text: links in them count. One linear pass over the lines, one over the marks.

Does not: read front matter (the caller says where the body begins), or tell what kind of code it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

FILLER = "\0"  # stands in no document: decoding removes control characters

_INDENTED = re.compile(r"^[ >]*(?: {4}|\t)", re.MULTILINE)
_LINE = re.compile(r"^(?P<quote>(?: {0,3}> ?)*)(?P<indent>[ \t]*)(?P<words>[^\n]*)$", re.MULTILINE)
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?=\S)")
_NO_PARAGRAPH = re.compile(r"#{1,6}(?:[ \t]|$)|(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_MARK = re.compile(r"`+|<!--")
# Where a code span ends at the latest: a blank line, or a line that begins an item, a heading, a row.
_BREAK = re.compile(r"\n(?=[ \t>]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\|))")


def mask_code(text: str, start: int = 0) -> str:
    """`text` with all before `start`, and code and comments after it, as FILLER; line ends stay where they are."""
    masked = _hide(text, [(0, start)]) if start else text
    if "```" in masked or "~~~" in masked or _INDENTED.search(masked):
        masked = _hide(masked, list(_find_code_lines(masked)))
    if "`" in masked or "<!--" in masked:
        masked = _hide(masked, list(_find_spans(masked)))
    return masked


def _hide(text: str, spans: list[tuple[int, int]]) -> str:
    parts, position = [], 0
    for start, end in spans:
        parts.append(text[position:start])
        parts.append("\n".join(FILLER * len(line) for line in text[start:end].split("\n")))
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _find_code_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines of fenced code, their fences included, and of indented code, as CommonMark has it."""
    fence, fence_depth = "", 0
    contents: list[int] = []  # columns at which the words of the open list items begin
    depth = 0
    in_paragraph = False
    for line in _LINE.finditer(text):
        words, last_depth = line["words"], depth
        depth = line["quote"].count(">")
        if fence and depth >= fence_depth:
            yield line.span()
            if words.startswith(fence) and not words.strip().strip(fence[0]):
                fence = ""
            continue
        fence = ""
        if not words:
            in_paragraph = False
            continue
        if depth != last_depth:
            contents, in_paragraph = [], in_paragraph and depth < last_depth
        column = len(line["indent"].expandtabs(4))
        item = _ITEM.match(words)
        while contents and contents[-1] > column and (item or not in_paragraph):
            contents.pop()
        if column - (contents[-1] if contents else 0) >= 4 and not in_paragraph:
            yield line.span()
            continue
        if item:
            gap = len(item["gap"].expandtabs(4))
            contents.append(column + item.start("gap") + (gap if gap <= 4 else 1))
            words = words[item.end() :]
        if opened := _FENCE.match(words):
            fence, fence_depth = opened[1] or opened[2], depth
            in_paragraph = False
            yield line.span()
        else:
            in_paragraph = not _NO_PARAGRAPH.match(words)


def _find_spans(text: str) -> Iterator[tuple[int, int]]:
    """Code spans and comments, from left to right; what begins first hides the marks in it."""
    runs: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        runs.setdefault(len(run[0]), []).append(run.start())
    breaks = [found.start() for found in _BREAK.finditer(text)]
    is_open_ended = False
    position = 0
    while mark := _MARK.search(text, position):
        start, position = mark.span()
        if mark[0] == "<!--":
            end = -1 if is_open_ended else text.find("-->", position)
            if end >= 0:
                yield start, end + 3
                position = end + 3
            elif not text[text.rfind("\n", 0, start) + 1 : start].strip(" "):
                yield start, len(text)
                return
            else:
                is_open_ended = True
        elif is_escaped(text, start):
            position = start + 1
        else:
            same = runs.get(len(mark[0]), [])
            closing = bisect_left(same, position)
            next_break = bisect_left(breaks, start)
            limit = breaks[next_break] if next_break < len(breaks) else len(text)
            if closing < len(same) and same[closing] < limit:
                position = same[closing] + len(mark[0])
                yield start, position


def is_escaped(text: str, position: int) -> bool:
    """An odd number of backslashes stands before it."""
    before = position
    while before > 0 and text[before - 1] == "\\":
        before -= 1
    return (position - before) % 2 == 1
