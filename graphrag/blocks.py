"""The block structure of a text: headings, paragraphs, list items, table rows, fences. One linear pass over its lines.

Reads Markdown, reStructuredText and plain text alike, since real folders mix them; `dialect` decides the few cases
where they contradict each other. Blocks are in order, do not overlap, and together hold every non-blank character.
sentences.py cuts blocks into sentences, index/text_units.py packs them into text units.

Does not: read inline markup, links or front matter, or build a tree (nested list items follow one another).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADING, PARAGRAPH, ITEM, ROW, FENCE, CODE, FIELD, RULE, REFERENCE = (
    "heading", "paragraph", "item", "row", "fence", "code", "field", "rule", "reference",
)  # fmt: skip


class Block(NamedTuple):
    """text[start:end] from the first character that is not blank to the last; end excludes the newline."""

    start: int
    end: int
    kind: str
    level: int = 0  # of a heading, 1 = outermost
    title: str = ""  # of a heading, without its marks
    content: int = 0  # where the words begin: after the marker of an item, at the title of an overlined heading


class _Line(NamedTuple):
    start: int  # first non-blank character
    end: int  # after the last non-blank character
    indent: int
    text: str  # stripped
    is_broken: bool  # ends in a Markdown hard break


_ATX = re.compile(r"#{1,6}(?=[ \t]|$)")
_FENCE = re.compile(r"(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"(?:[-*+•‣◦]|\d{1,9}[.)]|#\.|[a-z]\))[ \t]+(?=\S)")
_RULE = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$|={3,}$")
_ADORNMENT = re.compile(r"([=\-~^\"'`#*+:.<>_])\1{2,}$")
_PIPE_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+$")
_SIMPLE_BORDER = re.compile(r"=+(?:[ \t]+=+)+$")
_FIELD = re.compile(r":[\w][^:\n]{0,60}:(?:[ \t]|$)|[A-Z][\w-]{0,30}:(?:[ \t]+\S|$)")
# Where links lead: Markdown's [name]: address, reStructuredText's .. _name: address. Footnotes are prose.
_REFERENCE = re.compile(
    r"\[(?!\^)[^\]]{1,200}\]:[ \t]*<?\S*[/.#:]\S*>?(?:[ \t]+[\"'(].*)?$|\.\. _[^:]{1,200}:[ \t]*\S+$"
)
_CHAPTER = re.compile(
    r"(?:CHAPTER|Chapter|BOOK|Book|PART|Part|VOLUME|Volume|STAVE|Stave|LETTER|Letter|ACT|Act|SCENE|Scene)"
    r"[ \t]+(?:[IVXLCDM]+|\d+|[A-Z][a-z]+|[A-Z]+)\b[.:]?(?:[ \t]+\S.{0,60})?$"
)


def scan_blocks(text: str, *, dialect: str = "") -> list[Block]:
    """The blocks of `text` (line ends are \\n).

    dialect: "md", "rst", "txt", or "" where it is not known. Only "rst" takes every adornment line for an underline
    and no `#` for a heading; only "rst" and "txt" read "CHAPTER I" or fields such as "PEP: 600" at a paragraph's start.
    """
    lines = _split_lines(text)
    blocks = list(_scan(lines, dialect))
    return _number_styles(blocks) if dialect == "rst" else blocks


def _split_lines(text: str) -> list[_Line | None]:
    """One entry a line; None for a blank one."""
    lines: list[_Line | None] = []
    position = 0
    for raw in text.split("\n"):
        stripped = raw.strip()
        if stripped:
            indent = len(raw) - len(raw.lstrip())
            start = position + indent
            broken = raw.endswith("  ") or stripped.endswith("\\")
            lines.append(_Line(start, start + len(stripped), indent, stripped, broken))
        else:
            lines.append(None)
        position += len(raw) + 1
    return lines


def _scan(lines: list[_Line | None], dialect: str) -> Iterator[Block]:
    simple_table_end = _simple_table_ends(lines)
    fence_closers = _FenceClosers(lines)
    n, i = len(lines), 0
    after_colons = False  # a paragraph ended in "::", so that an indented block is code
    while i < n:
        line = lines[i]
        if line is None:
            i += 1
            continue
        first, here = line.text[0], i
        if first in "`~" and (fence := _FENCE.match(line.text)) and not _is_inline(fence):
            closer = fence_closers.after(i, fence[1])
            last = closer if closer is not None else n - 1
            yield _span(lines, i, last, FENCE)
            i = last + 1
        elif first == "#" and dialect != "rst" and (atx := _ATX.match(line.text)) and line.indent <= 3:
            yield Block(line.start, line.end, HEADING, atx.end(), _atx_title(line.text), line.start)
            i += 1
        elif (overlined := _overlined_title(lines, i, dialect)) is not None:
            yield overlined
            i += 3
        elif first == "=" and i in simple_table_end:
            for at in range(i, simple_table_end[i] + 1):
                if lines[at] is not None:
                    yield _span(lines, at, at, ROW)
            i = simple_table_end[i] + 1
        elif first == "|" or (first == "+" and _GRID_BORDER.match(line.text)) or _starts_pipe_table(lines, i):
            headless = first not in "|+"
            while i < n and (row := lines[i]) is not None and (row.text[0] in "|+" or (headless and "|" in row.text)):
                yield _span(lines, i, i, ROW)
                i += 1
        elif (underline := _underlined_title(lines, i, dialect)) is not None:
            yield underline
            i += 2
        elif first in "[." and _REFERENCE.match(line.text):
            yield _span(lines, i, i, REFERENCE)
            i += 1
        elif _RULE.match(line.text):
            yield _span(lines, i, i, RULE)
            i += 1
        elif item := _ITEM.match(line.text):
            i = _paragraph_end(lines, i, dialect, is_item=True)
            block = _span(lines, here, i - 1, ITEM)
            yield block._replace(content=block.start + item.end())
        elif after_colons and line.indent:
            i = _code_end(lines, i)
            yield _span(lines, here, i - 1, CODE)
        elif dialect in ("rst", "txt", "") and (end := _field_end(lines, i)):
            for at, stop in end:
                yield _span(lines, at, stop, FIELD)
            i = end[-1][1] + 1
        elif dialect == "txt" and _is_chapter(lines, i):
            yield Block(line.start, line.end, HEADING, 1, plain_title(line.text), line.start)
            i += 1
        else:
            i = _paragraph_end(lines, i, dialect, is_item=False)
            yield _span(lines, here, i - 1, PARAGRAPH)
        final = lines[i - 1] if i else None
        after_colons = final.text.endswith("::") if final is not None else after_colons


def _span(lines: list[_Line | None], first: int, last: int, kind: str) -> Block:
    while last > first and lines[last] is None:
        last -= 1
    a, b = lines[first], lines[last]
    assert a is not None and b is not None
    return Block(a.start, b.end, kind, content=a.start)


def _is_inline(fence: re.Match[str]) -> bool:
    """```code``` on one line is no fence: a backtick fence has no backtick in its info string."""
    return fence[1][0] == "`" and "`" in fence[2]


class _FenceClosers:
    """Finds the line that closes a fence. Each line is looked at once, so that a file of open fences stays linear."""

    def __init__(self, lines: list[_Line | None]) -> None:
        self._marks: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
        for at, line in enumerate(lines):
            if line is not None and line.text[0] in "`~" and len(line.text) >= 3 and not line.text.strip(line.text[0]):
                self._marks[line.text[0]].append((at, len(line.text)))
        self._next = {"`": 0, "~": 0}

    def after(self, opener: int, mark: str) -> int | None:
        marks = self._marks[mark[0]]
        position = self._next[mark[0]]
        while position < len(marks) and (marks[position][0] <= opener or marks[position][1] < len(mark)):
            position += 1
        self._next[mark[0]] = position
        return marks[position][0] if position < len(marks) else None


def _simple_table_ends(lines: list[_Line | None]) -> dict[int, int]:
    """Of reStructuredText's simple tables: line of the top border -> line of the last border before a blank line."""
    ends: dict[int, int] = {}
    closing: int | None = None
    gap = 0
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        gap = gap + 1 if line is None else 0
        if gap > 1:
            closing = None
        if line is None or line.text[0] != "=" or not _SIMPLE_BORDER.match(line.text):
            continue
        if at + 1 == len(lines) or lines[at + 1] is None:
            closing = at
        elif closing is not None:
            ends[at] = closing
    return ends


def _overlined_title(lines: list[_Line | None], i: int, dialect: str) -> Block | None:
    """reStructuredText: ===== / Title / ===== on three lines."""
    if i + 2 >= len(lines):
        return None
    over, title, under = lines[i], lines[i + 1], lines[i + 2]
    if over is None or title is None or under is None or over.text != under.text or over.text == title.text:
        return None
    if not _ADORNMENT.match(over.text) or len(title.text) > len(over.text) or over.text[0] in "`|+":
        return None
    level = _style(over.text[0], is_overlined=True) if dialect == "rst" else 1
    return Block(over.start, under.end, HEADING, level, plain_title(title.text), title.start)


def _underlined_title(lines: list[_Line | None], i: int, dialect: str) -> Block | None:
    """A one-line title with a line of === or --- below it (Markdown's setext), or any adornment in other texts."""
    line = lines[i]
    under = lines[i + 1] if i + 1 < len(lines) else None
    if line is None or under is None or line.indent > 3 or under.indent > 3 or len(line.text) > 200:
        return None
    adornment = _ADORNMENT.match(under.text) or (dialect == "md" and re.fullmatch(r"=+|-{2,}", under.text))
    if not adornment or _ADORNMENT.match(line.text) or _ITEM.match(line.text) or line.text[0] in ">|":
        return None
    mark = under.text[0]
    if dialect == "md" and mark not in "=-":
        return None
    if dialect != "md":
        fits = len(under.text) >= len(line.text) - 2 and (mark in "=-~^\"'#*+`" or dialect == "rst")
        follows = lines[i + 2] if i + 2 < len(lines) else None
        if not fits or (mark in "`~#*" and dialect != "rst" and follows is not None):
            return None
    level = _style(mark) if dialect == "rst" else {"=": 1, "-": 2}.get(mark, 3)
    return Block(line.start, under.end, HEADING, level, plain_title(line.text), line.start)


def _starts_pipe_table(lines: list[_Line | None], i: int) -> bool:
    line = lines[i]
    under = lines[i + 1] if i + 1 < len(lines) else None
    if line is None or under is None or "|" not in line.text or "|" not in under.text:
        return False
    return _PIPE_DELIMITER.match(under.text) is not None


def _paragraph_end(lines: list[_Line | None], i: int, dialect: str, *, is_item: bool) -> int:
    """Index after the last line of the paragraph that starts at line i: up to a blank line or another block."""
    interrupts = _ITEM if is_item else _ITEM_INTERRUPTS
    i += 1
    while i < len(lines):
        line = lines[i]
        if line is None:
            return i
        first = line.text[0]
        if first == "#" and dialect != "rst" and _ATX.match(line.text):
            return i
        if first in "`~" and (fence := _FENCE.match(line.text)) and not _is_inline(fence):
            return i
        if first == "|" or interrupts.match(line.text) or (first in "-*_=" and _RULE.match(line.text)):
            return i
        if first in "[." and _REFERENCE.match(line.text):
            return i
        if "|" in line.text and _starts_pipe_table(lines, i):
            return i
        i += 1
    return i


# As in CommonMark, only bullets and a number 1 may break into a paragraph: "in\n1984. It" does not start a list.
_ITEM_INTERRUPTS = re.compile(r"(?:[-*+•‣◦]|1[.)])[ \t]+(?=\S)")


def _code_end(lines: list[_Line | None], i: int) -> int:
    """Index after an indented block, blank lines inside included."""
    end = i + 1
    while i < len(lines) and ((line := lines[i]) is None or line.indent):
        i += 1
        if line is not None:
            end = i
    return end


def _field_end(lines: list[_Line | None], i: int) -> list[tuple[int, int]]:
    """Line ranges of two or more fields (":name: value", "Name: value") with their indented continuation lines."""
    fields: list[tuple[int, int]] = []
    while i < len(lines) and (line := lines[i]) is not None:
        if not line.indent and _FIELD.match(line.text):
            fields.append((i, i))
        elif line.indent and fields:
            fields[-1] = (fields[-1][0], i)
        else:
            return []
        i += 1
    return fields if len(fields) >= 2 else []


def _is_chapter(lines: list[_Line | None], i: int) -> bool:
    line = lines[i]
    return line is not None and (i == 0 or lines[i - 1] is None) and _CHAPTER.match(line.text) is not None


def _style(mark: str, *, is_overlined: bool = False) -> int:
    return ord(mark) + 1000 * is_overlined


def _number_styles(blocks: list[Block]) -> list[Block]:
    """reStructuredText has no fixed marks: a heading's level is the rank in which its style first came."""
    levels: dict[int, int] = {}
    return [
        block._replace(level=levels.setdefault(block.level, len(levels) + 1)) if block.kind == HEADING else block
        for block in blocks
    ]


_MARKS = re.compile(r"[*`]+|\[\[(?:[^\]|]*\|)?|\]\]|!?\[([^\]]*)\]\([^)]*\)|(?<!\w)_+|_+(?!\w)")


def _atx_title(line: str) -> str:
    """The words of `## Title ##`."""
    title = line.lstrip("#").strip()
    open_end = title.rstrip("#")
    return plain_title(title if open_end and not open_end[-1].isspace() else open_end)


def plain_title(title: str) -> str:
    """A heading's first 300 characters on one line, without emphasis, code and link marks."""
    title = title[:300]
    return " ".join(_MARKS.sub(lambda match: match[1] or "", title).split())
