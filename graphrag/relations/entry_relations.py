"""Rows of the tables that follow from the log: entry_relations and relationship_events.

Reads documents, links and the log. Links with one of the 13 types as predicate (front matter, `requires:: [[X]]`) are
relations between entries too; where the log has the same triple, its row stands (specs: folding 8 and 9).

Does not: replay the log (events.py), or give relationships of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag import tables
from graphrag.ids import relationship_id
from graphrag.names import name_key
from graphrag.naming.declared_aliases import MERGED_TITLES
from graphrag.relations.events import RELATION_TYPES, Event, State


def build_entry_relations(state: State, documents: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """One row a typed relation between two documents, by path; relations whose ends are no documents are left out.

    documents needs id, path; links needs document_id, ordinal, source_document_id, target_document_id, predicate,
    syntax, description.
    """
    ids = dict(documents.select("path", "id").iter_rows())
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for relation in sorted(state.relations.values(), key=lambda relation: relation.triple):
        if relation.entry in ids and relation.to in ids:
            key = (ids[relation.entry], relation.type, ids[relation.to])
            rows[key] = {
                "from_document_id": key[0], "type": key[1], "to_document_id": key[2], "note": relation.note,
                "origin": "authored", "source": relation.source, "actor": relation.actor,
                "event_id": relation.event_id, "at": relation.at, "is_leak": relation.is_leak,
            }  # fmt: skip
    typed = links.filter(
        pl.col("predicate").is_in(RELATION_TYPES)
        & pl.col("target_document_id").is_not_null()
        & (pl.col("target_document_id") != pl.col("source_document_id"))
    ).sort("document_id", "ordinal")
    for link in typed.iter_rows(named=True):
        key = (link["source_document_id"], link["predicate"], link["target_document_id"])
        rows.setdefault(key, {
            "from_document_id": key[0], "type": key[1], "to_document_id": key[2], "note": link["description"],
            "origin": "link", "source": link["syntax"], "actor": "", "event_id": None, "at": "", "is_leak": False,
        })  # fmt: skip
    paths = {id_: path for path, id_ in ids.items()}
    order = sorted(rows, key=lambda key: (paths[key[0]], key[1], paths[key[2]]))
    return tables.ENTRY_RELATIONS.from_rows([rows[key] for key in order])


def build_relationship_events(events: Iterable[Event]) -> pl.DataFrame:
    """One row an event, in the order of the log."""
    rows = []
    for event in {event.event_id: event for event in events}.values():  # logs that were joined may repeat some
        said = {"from": event.entry, "type": event.type, "to": event.to, "note": event.note, **event.payload}
        payload = orjson.dumps({name: value for name, value in said.items() if value not in ("", {})}).decode()
        rows.append({
            "event_id": event.event_id, "relationship_id": None, "action": event.action, "actor": event.actor,
            "source": event.source, "reason": event.reason, "at": event.at, "payload": payload,
        })  # fmt: skip
    return tables.RELATIONSHIP_EVENTS.from_rows(rows)


def name_relationships(
    events: pl.DataFrame, entity_of: Mapping[str, str], relationships: pl.DataFrame, documents: pl.DataFrame
) -> pl.DataFrame:
    """relationship_events with the id of the row of the graph that each is about, where there is one.

    entity_of: document id -> entity id.
    """
    of_path = {path: entity_of.get(id_) for path, id_ in documents.select("path", "id").iter_rows()}
    known, found = set(relationships["id"]), []
    for payload in events["payload"]:
        said = orjson.loads(payload)
        source, target = of_path.get(said.get("from", "")), of_path.get(said.get("to", ""))
        named = relationship_id(source, said.get("type", ""), target) if source and target else None
        found.append(named if named in known else None)
    return tables.RELATIONSHIP_EVENTS.conform(events.with_columns(relationship_id=pl.Series(found, dtype=pl.String)))


class MergedEntry(NamedTuple):
    """Paths of an entry and of what it went into, its title, and who decided: user or judge."""

    entry: str
    into: str
    title: str
    decided_by: str


def declare_merged(documents: pl.DataFrame, merged: Iterable[MergedEntry]) -> pl.DataFrame:
    """documents with the titles of merged entries in the metadata of what they went into, as read_notes reads it.

    A title that another document has too is left out: it would make that one the same.
    """
    rows = list(merged)
    gone = {row.entry for row in rows}
    others = {name_key(title) for path, title in documents.select("path", "title").iter_rows() if path not in gone}
    titles: dict[str, dict[str, str]] = {}
    for row in rows:
        if name_key(row.title) not in others:
            titles.setdefault(row.into, {})[row.title] = row.decided_by
    if not titles:
        return documents
    found = []
    for path, metadata in documents.select("path", "metadata").iter_rows():
        if path in titles:
            metadata = orjson.dumps(orjson.loads(metadata) | {MERGED_TITLES: titles[path]}).decode()
        found.append(metadata)
    return documents.with_columns(metadata=pl.Series(found, dtype=pl.String))
