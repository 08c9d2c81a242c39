"""Links of an Obsidian canvas: each file on it, the links in its text cards, and the arrows from file to file.

An arrow is a link from the file that it begins at, and its label says the relation. The text of a canvas document is
that of its cards, the paths of its files and the labels of its arrows (records.py, read_canvas); offsets count in that
text. An arrow without a label stands where its target does.

Does not: give arrows that begin or end at a card or a group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphrag.reading.links import read_links
from graphrag.reading.written_link import LINKS_TO, WrittenLink, count_lines, to_predicate


def read_canvas_links(text: str, canvas: str, *, dialect: str = "obsidian") -> list[WrittenLink]:
    """The links of a canvas, by place. `canvas`: its JSON; `text`: the document's text, in which lines are counted."""
    value = _read(canvas)
    found: list[WrittenLink] = []
    files: dict[str, WrittenLink] = {}  # by node
    position = 0
    for node in _list_dicts(value, "nodes"):
        part = str(node.get("text") or node.get("label") or node.get("file") or "").strip()
        start = text.find(part, position) if part else -1
        if start < 0:
            continue
        position = start + len(part)
        file, subpath = node.get("file"), str(node.get("subpath") or "").removeprefix("#")
        if node.get("type") == "file" and file == part:
            link = WrittenLink(start, position, 0, "canvas", part, part, subpath, "")
            files[str(node.get("id"))] = link
            found.append(link)
        elif node.get("type") == "text":
            found += [
                link._replace(start=link.start + start, end=link.end + start, syntax="canvas")
                for link in read_links(part, has_front_matter=False, dialect=dialect).links
            ]
    found += _read_arrows(text, position, _list_dicts(value, "edges"), files)
    found.sort(key=lambda link: link.start)
    lines = count_lines(text, [link.start for link in found])
    return [link._replace(line=line) for link, line in zip(found, lines, strict=True)]


def _read_arrows(
    text: str, position: int, edges: list[dict[str, Any]], files: dict[str, WrittenLink]
) -> Iterator[WrittenLink]:
    """The arrows between files. position: where the text of the nodes ends; the labels stand behind it, in order."""
    for edge in edges:
        label = str(edge.get("label") or "").strip()
        start = text.find(label, position) if label else -1
        position = start + len(label) if start >= 0 else position
        predicate = to_predicate(label) if label else LINKS_TO
        for source, target in _list_directions(edge):
            if source in files and target in files:
                to = files[target]
                place = (start, start + len(label)) if start >= 0 else (to.start, to.end)
                yield to._replace(
                    start=place[0], end=place[1], raw=text[slice(*place)], display=label, predicate=predicate,
                    source=files[source].target,
                )  # fmt: skip


def _list_directions(edge: dict[str, Any]) -> list[tuple[str, str]]:
    """(node it begins at, node it points to): one, or both ways where both ends have a head. A line without a head
    counts as drawn."""
    ends = str(edge.get("fromNode")), str(edge.get("toNode"))
    points_back, points_forth = edge.get("fromEnd", "none") == "arrow", edge.get("toEnd", "arrow") == "arrow"
    back = [ends[::-1]] if points_back else []
    return [ends, *back] if points_forth or not points_back else back


def _read(canvas: str) -> Any:
    try:
        return json.loads(canvas)
    except (RecursionError, ValueError):
        return None


def _list_dicts(value: Any, name: str) -> list[dict[str, Any]]:
    items = value.get(name) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
