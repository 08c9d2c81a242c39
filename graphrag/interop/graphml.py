"""GraphML of entities and relationships, one file: for Gephi, igraph, networkx and yEd (graphdrawing.org, GraphML 1.0).

A directed graph with parallel edges. Characters that XML 1.0 forbids become U+FFFD; what is
empty is left out, which all readers take alike. Does not: lay out or colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from graphrag.interop.selection import Selection

NODE_KEYS = {
    "label": "string", "type": "string", "description": "string", "aliases": "string", "degree": "long",
    "frequency": "long", "n_documents": "long", "pagerank": "double", "is_hub": "boolean", "community": "long",
    "number": "long",
}  # fmt: skip
EDGE_KEYS = {
    "predicate": "string", "weight": "double", "description": "string", "origin": "string", "n_documents": "long",
    "number": "long",
}  # fmt: skip
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(selection: Selection, folder: Path) -> list[str]:
    """graph.graphml."""
    with (folder / "graph.graphml").open("w", encoding="utf-8", newline="\n") as handle:
        handle.writelines(f"{line}\n" for line in _render(selection))
    return ["graph.graphml"]


def _render(selection: Selection) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for name, kind in keys.items():
            yield f'  <key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="graphrag" edgedefault="directed">'
    for row in selection.entities.iter_rows(named=True):
        values = row | {
            "label": row["title"], "aliases": "; ".join(row["aliases"]), "number": row["human_readable_id"],
            "community": selection.community_of.get(row["id"]),
        }  # fmt: skip
        yield f"    <node id={quoteattr(_clean(row['id']))}>{_data('node', NODE_KEYS, values)}</node>"
    for row in selection.relationships.iter_rows(named=True):
        ends = f"source={quoteattr(_clean(row['source_id']))} target={quoteattr(_clean(row['target_id']))}"
        data = _data("edge", EDGE_KEYS, row | {"number": row["human_readable_id"]})
        yield f"    <edge id={quoteattr(_clean(row['id']))} {ends}>{data}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def _data(owner: str, keys: dict[str, str], values: dict[str, Any]) -> str:
    said = ((name, values[name]) for name in keys if values[name] not in (None, ""))
    return "".join(f'<data key="{owner}_{name}">{escape(_clean(_say(value)))}</data>' for name, value in said)


def _say(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
