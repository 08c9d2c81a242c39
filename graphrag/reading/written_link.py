"""One link as somebody wrote it, the inside of a wikilink (target # subpath | display), and a link as we write it.

Does not: find links in a text (links.py), or look where they lead (index/link_targets.py).
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

LINKS_TO = "links_to"
EMBEDS = "embeds"

BAR_IN_TABLE = "\\|"
_UNLINKABLE = re.compile(r"[#|^\[\]\\]")
_SIZE = re.compile(r"\d{1,5}(?:x\d{1,5})?$")


class WrittenLink(NamedTuple):
    """text[start:end] is `raw`. `target` is decoded and without subpath; empty for a place in the same document."""

    start: int
    end: int
    line: int  # 1-based
    syntax: str  # wikilink, markdown, embed, frontmatter, inline_field, canvas
    raw: str
    target: str
    subpath: str
    display: str
    predicate: str = LINKS_TO
    reason: str = ""  # what the line says after the link, in brackets
    source: str = ""  # of an arrow on a canvas: the file that it begins at; empty: the document itself


def parse_wikilink(inner: str, *, is_embed: bool = False, dialect: str = "obsidian") -> tuple[str, str, str] | None:
    """(target, subpath, display) of what stands between [[ and ]]; None where it names nothing.

    In a table the bar is written \\|. The first # begins the subpath, so [[C# Notes]] leads to C. The display of an
    embed is empty where it is a size in pixels.
    """
    first, bar, second = inner.partition("|")
    if bar:
        first = first.removesuffix("\\")
    name, display = (second, first) if dialect == "dendron" and bar else (first, second)
    target, _, subpath = name.partition("#")
    target, display = " ".join(target.split()), display.strip()
    if not target and not subpath.strip():
        return None
    if is_embed and _SIZE.match(display):
        display = ""
    return target, subpath, display


def write_link(name: str, path: str, label: str = "", *, dialect: str = "obsidian", in_table: bool = False) -> str:
    """A link to the document of that path. name: what leads there from anywhere (LinkTargets.shortest_name); label:
    what is shown, where it is not the name.

    A wikilink, with the bar escaped in a table; a Markdown link where the name holds what ends a wikilink's target.
    """
    label = " ".join(re.sub(r"[\[\]|\\]", " ", label).split())
    if _UNLINKABLE.search(name):
        shown = label or re.sub(r"[^\w ]", " ", name)
        return f"[{shown}]({quote(path)})"
    if label in ("", name):
        return f"[[{name}]]"
    parts = (label, name) if dialect == "dendron" else (name, label)
    return f"[[{(BAR_IN_TABLE if in_table else '|').join(parts)}]]"


def to_predicate(words: str) -> str:
    """A field's name or the words before a link as a predicate: "Depends on" -> depends_on."""
    return re.sub(r"[\W_]+", "_", words.casefold()).strip("_") or LINKS_TO


def count_lines(text: str, offsets: list[int]) -> list[int]:
    """The 1-based lines of rising offsets."""
    lines, line, position = [], 1, 0
    for offset in offsets:
        line += text.count("\n", position, offset)
        position = offset
        lines.append(line)
    return lines
