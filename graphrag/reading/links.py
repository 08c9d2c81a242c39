"""Links that people wrote in a Markdown text: wikilinks, embeds, Markdown links, links in its front matter.

`read_links` gives them in order, with offsets that slice back to the link (specs: linked documents 1 to 3). Code and
comments hold no links (masking.py); what a line says of the relation is read in link_relations.py, front matter in
front_matter_links.py, canvases in canvas_links.py.

Does not: look where a link leads (index/link_targets.py), or read reference definitions, bare addresses and HTML.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from graphrag.reading.front_matter import find_body
from graphrag.reading.front_matter_links import read_front_matter_links
from graphrag.reading.link_relations import name_relation
from graphrag.reading.masking import FILLER, is_escaped, mask_code
from graphrag.reading.written_link import EMBEDS, LINKS_TO, WrittenLink, count_lines, parse_wikilink

_BRACKET = re.compile(r"\\[^\n]|!?\[|\]|\n[ \t]*\n")
# Bounded, so that hostile lines take linear time. One pair of brackets may stand inside an address.
_DESTINATION = re.compile(
    r"\(\s{0,20}(?:<(?P<angled>[^<>\n\0]{1,1000})>|"
    r"(?P<bare>(?!<)(?:[^\s()\\\0]|\\[^\n\s]|\((?:[^\s()\\\0]|\\[^\n\s]){0,200}\)){1,1000}))"
    r"(?:\s{1,20}(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\)))?\s{0,20}\)"
)
MAX_AROUND = 400  # characters of a line before and after a link in which a field or item is looked for
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Links(NamedTuple):
    """`warnings`: what is odd in the front matter, each with its line."""

    links: list[WrittenLink]
    warnings: list[str]


def read_links(text: str, *, has_front_matter: bool = True, dialect: str = "obsidian") -> Links:
    """The links of a Markdown document, in order of their place.

    has_front_matter: false where its YAML is broken; it is skipped then, and is no body text. dialect: "dendron" reads
    [[label|target]].
    """
    if "]]" not in text and "](" not in text:
        return Links([], [])
    body = find_body(text, "md")
    links, warnings = read_front_matter_links(text, body, dialect=dialect) if body and has_front_matter else ([], [])
    if text.find("]]", body) < 0 and text.find("](", body) < 0:
        return Links(links, warnings)
    masked = mask_code(text, body)
    wikilinks = list(_find_wikilinks(text, masked, dialect))
    markdown = _find_markdown_links(text, masked, wikilinks) if text.find("](", body) >= 0 else ()
    found = sorted([*wikilinks, *markdown], key=lambda link: (link.start, -link.end))
    lines = count_lines(text, [link.start for link in found])
    links += [_place(link, line, masked) for link, line in zip(found, lines, strict=True)]
    return Links(links, warnings)


def _place(link: WrittenLink, line: int, masked: str) -> WrittenLink:
    """The link with its line, and with what the rest of the line says, where that is short enough to be a field."""
    window = max(0, link.start - MAX_AROUND)
    first = masked.rfind("\n", window, link.start) + 1
    if not first and window:
        return link._replace(line=line)
    last = masked.find("\n", link.end, link.end + MAX_AROUND)
    after = masked[link.end : last if last >= 0 else link.end + MAX_AROUND]
    return name_relation(link._replace(line=line), masked[first : link.start], after)


def _find_wikilinks(text: str, masked: str, dialect: str) -> Iterator[WrittenLink]:
    """[[...]] within a line. The innermost [[ before a ]] opens the link."""
    position = 0
    while (close := masked.find("]]", position)) >= 0:
        opened = masked.rfind("[[", position, close)
        if opened < 0:
            position = close + 1
            continue
        inner = text[opened + 2 : close]
        position = close + 2
        if is_escaped(masked, opened) or "\n" in inner or FILLER in masked[opened:close]:
            continue
        is_embed = opened > 0 and masked[opened - 1] == "!" and not is_escaped(masked, opened - 1)
        if parts := parse_wikilink(inner, is_embed=is_embed, dialect=dialect):
            start = opened - is_embed
            syntax, predicate = ("embed", EMBEDS) if is_embed else ("wikilink", LINKS_TO)
            yield WrittenLink(start, position, 0, syntax, text[start:position], *parts, predicate=predicate)


def _find_markdown_links(text: str, masked: str, wikilinks: list[WrittenLink]) -> Iterator[WrittenLink]:
    """[display](target "title") and ![](target). Brackets pair within a paragraph; a link holds pictures, no links."""
    starts = [link.start for link in wikilinks]
    opened: list[tuple[int, bool]] = []
    n_inactive = 0  # openers before the last link open no link any more
    position = 0
    while bracket := _BRACKET.search(masked, position):
        position = bracket.end()
        inside = bisect_right(starts, bracket.start()) - 1
        if inside >= 0 and bracket.start() < wikilinks[inside].end:
            position = wikilinks[inside].end
        elif bracket[0][0] == "\n":
            opened, n_inactive = [], 0
            position -= 1
        elif bracket[0].endswith("[") and bracket[0][0] != "\\":
            opened.append((bracket.start(), bracket[0] == "!["))
        elif bracket[0] == "]" and opened:
            start, is_picture = opened.pop()
            is_active = is_picture or len(opened) >= n_inactive
            n_inactive = min(n_inactive, len(opened))
            address = _DESTINATION.match(masked, position) if is_active else None
            if address is None:
                continue
            link = _read_address(text, start, bracket.start(), address, is_picture)
            if link is not None:
                yield link
                position = address.end()
                n_inactive = n_inactive if is_picture else len(opened)


def _read_address(text: str, start: int, close: int, address: re.Match[str], is_picture: bool) -> WrittenLink | None:
    group = "angled" if address["angled"] is not None else "bare"
    written = _ESCAPE.sub(r"\1", text[slice(*address.span(group))])
    target, _, subpath = written.partition("#")
    target, subpath = _decode(target).strip(), _decode(subpath)
    if not target and not subpath.strip():
        return None
    display = " ".join(text[start + 1 + is_picture : close].split())
    syntax, predicate = ("embed", EMBEDS) if is_picture else ("markdown", LINKS_TO)
    raw = text[start : address.end()]
    return WrittenLink(start, address.end(), 0, syntax, raw, target, subpath, display, predicate=predicate)


def _decode(address: str) -> str:
    """%20 and the like as characters; a bad escape stays as it is written."""
    if "%" not in address:
        return address
    try:
        decoded = unquote(address, errors="strict")
    except UnicodeDecodeError:
        return address
    return decoded if decoded.isprintable() else address
