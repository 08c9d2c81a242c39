"""Documents -> the links that people wrote in them, each with where it leads.

Reads documents; writes links. Links stand in Markdown notes and canvases (graphrag/reading/links.py); they lead to
documents by the rules of link_targets.py. Records of tables are no link targets, and our own index files are no
documents (documents.py leaves them out).

Does not: change a file, call a model, or make relationships of links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag import tables
from graphrag.index.link_targets import SELF, LinkTargets, Resolution
from graphrag.naming.declared_aliases import declared_aliases
from graphrag.reading.canvas_links import read_canvas_links
from graphrag.reading.links import read_links
from graphrag.reading.written_link import WrittenLink

NOTES = "md"
CANVAS = "canvas"
LINKING = (NOTES, CANVAS)  # kinds of documents that hold links
RECORDS = ("csv", "json", "jsonl", "parquet")
# A template's `created: {{date}}` is sound YAML, a map as a key, though no JSON; Obsidian reads the links beside it.
MAP_AS_KEY = "found unhashable key"


class Links(NamedTuple):
    """`warnings`: odd front matter, one line each: path, line, what."""

    links: pl.DataFrame
    warnings: list[str]


def build_links(documents: pl.DataFrame, *, dialect: str = "obsidian", aliases: str = "obsidian") -> Links:
    """One row a link, by path of the document and place.

    documents needs id, path, title, kind, text, raw_data, metadata. dialect: "dendron" reads [[label|target]].
    aliases: "lenient" lets a link lead to the one note that has its target for a title or alias; "obsidian" leaves it
    unresolved.
    """
    columns = ("id", "path", "title", "kind", "text", "raw_data", "metadata")
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    in_order = documents.select(columns).sort("path")
    targets = collect_targets(in_order, lenient=aliases == "lenient")
    ids = dict(in_order.select("path", "id").iter_rows())
    for document in in_order.filter(pl.col("kind").is_in(LINKING)).iter_rows(named=True):
        written, odd = _read(document, dialect)
        warnings += [f"{document['path']} {warning}" for warning in odd]
        ends = ((link, *find_ends(targets, document["path"], link)) for link in written)
        for ordinal, (link, source, found) in enumerate(end for end in ends if end[1] is not None):
            rows.append(
                {
                    "document_id": document["id"], "ordinal": ordinal, "line": link.line, "syntax": link.syntax,
                    "raw": link.raw, "target": link.target, "subpath": link.subpath, "display": link.display,
                    "status": found.status, "target_document_id": ids.get(found.path), "predicate": link.predicate,
                    "description": link.reason, "start_char": link.start, "end_char": link.end,
                    "source_document_id": ids[source],
                }
            )  # fmt: skip
    return Links(tables.LINKS.conform(tables.LINKS.from_rows(rows)), warnings)


def collect_targets(documents: pl.DataFrame, *, lenient: bool = False) -> LinkTargets:
    """The documents that links can lead to, with what they declare as their names: title and aliases."""
    notes = documents.filter(pl.col("kind") == NOTES)
    is_view = pl.col("path").str.to_lowercase().str.ends_with(".base")  # a query of Obsidian's, shown where embedded
    files = documents.filter(~pl.col("kind").is_in([NOTES, *RECORDS]) & ~is_view)
    return LinkTargets(notes["path"], files["path"], _read_declared(notes), lenient=lenient)


def find_ends(targets: LinkTargets, path: str, link: WrittenLink) -> tuple[str | None, Resolution]:
    """(path that a link in the document of that path begins at, where it leads).

    That is the document itself but for an arrow on a canvas; None where the file that an arrow begins at is missing.
    """
    # Files on a canvas are named from the root of the vault, as in a wikilink; addresses are looked for nearby first.
    found = targets.resolve(path, link.target, is_address=not link.source and link.raw.rstrip().endswith(")"))
    if not link.source:
        return path, found
    source = targets.resolve(path, link.source).path
    return source, found._replace(status=SELF) if source and source == found.path else found


def _read(document: dict[str, Any], dialect: str) -> tuple[list[WrittenLink], list[str]]:
    text = document["text"]
    if document["kind"] == CANVAS:
        return read_canvas_links(text, document["raw_data"] or "", dialect=dialect), []
    if '"front_matter_warning"' not in document["metadata"] or MAP_AS_KEY in document["metadata"]:
        return read_links(text, dialect=dialect)
    warning = orjson.loads(document["metadata"])["front_matter_warning"]
    return read_links(text, has_front_matter=False, dialect=dialect).links, [warning]


def _read_declared(notes: pl.DataFrame) -> Iterator[tuple[str, str]]:
    for path, title, metadata in notes.select("path", "title", "metadata").iter_rows():
        yield title, path
        if "alias" in metadata:
            fields = orjson.loads(metadata)
            for alias in declared_aliases(fields):
                yield alias, path
