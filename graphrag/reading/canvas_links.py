"""Links of an Obsidian canvas: each file on it, and the links in its text cards.

The text of a canvas document is that of its cards and the paths of its files (records.py, read_canvas); offsets count
in that text. Does not: read the arrows between files.
"""

from __future__ import annotations

import json
from typing import Any

from graphrag.reading.links import read_links
from graphrag.reading.written_link import WrittenLink, count_lines


def read_canvas_links(text: str, canvas: str, *, dialect: str = "obsidian") -> list[WrittenLink]:
    """The links of a canvas, by place. `canvas`: its JSON; `text`: the document's text, in which lines are counted."""
    found: list[WrittenLink] = []
    position = 0
    for node in _read_nodes(canvas):
        part = str(node.get("text") or node.get("label") or node.get("file") or "").strip()
        start = text.find(part, position) if part else -1
        if start < 0:
            continue
        position = start + len(part)
        file, subpath = node.get("file"), str(node.get("subpath") or "").removeprefix("#")
        if node.get("type") == "file" and file == part:
            found.append(WrittenLink(start, position, 0, "canvas", part, part, subpath, ""))
        elif node.get("type") == "text":
            found += [
                link._replace(start=link.start + start, end=link.end + start, syntax="canvas")
                for link in read_links(part, has_front_matter=False, dialect=dialect).links
            ]
    lines = count_lines(text, [link.start for link in found])
    return [link._replace(line=line) for link, line in zip(found, lines, strict=True)]


def _read_nodes(canvas: str) -> list[dict[str, Any]]:
    try:
        value = json.loads(canvas)
    except (RecursionError, ValueError):
        return []
    nodes = value.get("nodes") if isinstance(value, dict) else None
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
