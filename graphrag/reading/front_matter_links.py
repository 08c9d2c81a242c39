"""Links in front matter: `up: "[[Target]]"`, lists of them, and [[Target]] without quotes, which YAML reads as a list.

The predicate is the field's name: that of the nearest line above which the link belongs to. Links are found in the
written lines, so that their offsets are exact. Does not: parse YAML (front_matter.py); where that is broken, the caller
does not ask.
"""

from __future__ import annotations

import re

from graphrag.reading.written_link import WrittenLink, parse_wikilink, to_predicate

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]{1,1000}(?:\][^\[\]\n]{1,1000})?)\]\]")
_KEY = re.compile(
    r"(?P<indent>[ ]*)(?P<item>(?:- +)*)(?P<quote>[\"']?)(?P<key>[^\s#\"'\[\]{}][^:\n]{0,200}?)(?P=quote):(?=\s|$)"
)


def read_front_matter_links(text: str, body: int, *, dialect: str = "obsidian") -> tuple[list[WrittenLink], list[str]]:
    """The links of text[:body], and a warning for each line with a link that lacks its quotes."""
    links: list[WrittenLink] = []
    warnings: list[str] = []
    if "[[" not in text[:body]:
        return links, warnings
    keys: list[tuple[int, str]] = []  # the fields that are open, with their indents
    position = 0
    for number, line in enumerate(text[:body].split("\n"), 1):
        indent = len(line) - len(line.lstrip(" "))
        field = _KEY.match(line)
        if field:
            depth = indent + len(field["item"])
            keys = [key for key in keys if key[0] < depth]
            keys.append((depth, field["key"].strip()))
        if "[[" in line and not line.lstrip().startswith("#"):
            value = line[field.end() if field else 0 :].lstrip(" -")
            for found in _WIKILINK.finditer(line, field.end() if field else 0):
                parts = parse_wikilink(found[1], dialect=dialect)
                if parts:
                    start = position + found.start()
                    links.append(
                        WrittenLink(
                            start, position + found.end(), number, "frontmatter", found[0], *parts,
                            predicate=to_predicate(keys[-1][1]) if keys else "links_to",
                        )
                    )  # fmt: skip
            if value.startswith("[["):
                warnings.append(f"line {number}: a link in front matter needs quotes; it was read as a link")
        position += len(line) + 1
    return links, warnings
