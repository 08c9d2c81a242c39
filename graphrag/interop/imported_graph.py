"""Entities and relationships of other tools as what the graph stage reads: clusters, mentions and statements.

A title is kept as it is; one row is one entity. Evidence is as fine as the files are: the whole text unit that a row
names (method `import` in entity_mentions and relationship_mentions). A mention's span is where the title stands in the
unit, else the unit; its surface is the title. Weights are counted again from the text units, as for every run: the
weight of the files, divided among them, is the strength of the evidence.

Rows that refer to nothing (an end that is no entity, a text unit or document that is not there, a claim about nobody)
become failures. Reads the shapes of shapes.py and PlacedTexts. Does not: build the graph (index/graph.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.ids import entity_id, row_id
from graphrag.index.graph import MAX_STRENGTH, MIN_STRENGTH
from graphrag.interop.placed_texts import PlacedTexts
from graphrag.replies.fields import clean_predicate, clean_type

STAGE, METHOD = "import", "import"
CLUSTERS_SCHEMA = {
    "entity_id": tables.TEXT,
    "title": tables.TEXT,
    "type": tables.TEXT,
    "surfaces": tables.TEXTS,
    "document_ids": tables.TEXTS,
}
Rows = list[dict[str, Any]]
Places = Mapping[str, tuple[str, int]]  # text unit -> its document and start_char


class ImportedGraph(NamedTuple):
    """`entities` and `relationships` are the rows that hold, as the files have them: with descriptions and numbers."""

    clusters: pl.DataFrame
    entity_mentions: pl.DataFrame
    relationship_mentions: pl.DataFrame
    covariates: pl.DataFrame
    entities: Rows
    relationships: Rows
    failures: Rows


def build_imported_graph(
    frames: Mapping[str, pl.DataFrame], names: Mapping[str, str], texts: PlacedTexts
) -> ImportedGraph:
    """`names`: the files of the tables, for the lines of rows without a text unit, which are added to `texts`."""
    failures: Rows = []
    relationships = _read_relationships(frames, failures)
    entities = _read_entities(frames, relationships, failures)
    titles = {row["title"] for row in entities}
    relationships = [row for row in relationships if _has_ends(row, titles, failures)]
    for row in [*entities, *relationships]:
        _drop_unknown_units(row, texts, failures)
    _add_lines(entities, names.get("entities", "entities"), texts, _say_entity)
    _add_lines(relationships, names.get("relationships", "relationships"), texts, _say_relationship)
    places = {unit["id"]: (unit["document_id"], unit["start_char"]) for unit in texts.text_units}
    return ImportedGraph(
        clusters=pl.DataFrame(
            [
                {"entity_id": row["id"], "title": row["title"], "type": row["type"], "surfaces": [], "document_ids": []}
                for row in entities
            ],
            schema=CLUSTERS_SCHEMA,
        ),
        entity_mentions=_conform(tables.ENTITY_MENTIONS, _list_mentions(entities, texts, places)),
        relationship_mentions=_conform(tables.RELATIONSHIP_MENTIONS, _list_statements(relationships, texts, places)),
        covariates=_read_covariates(frames, titles, texts, failures),
        entities=entities,
        relationships=relationships,
        failures=failures,
    )


def _conform(table: tables.Table, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(list(rows), schema=table.schema, orient="row")
    return table.conform(frame.sort("document_id", "start_char", "end_char", "id"))


def _read_relationships(frames: Mapping[str, pl.DataFrame], failures: Rows) -> Rows:
    """Each (source, predicate, target) once: the first, with the text units of all."""
    merged: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in frames["relationships"].to_dicts() if "relationships" in frames else ():
        row = row | {
            "source": _clean(row["source"]), "target": _clean(row["target"]),
            "predicate": clean_predicate(row["predicate"] or ""), "description": row["description"] or "",
            "text_unit_ids": list(dict.fromkeys(row["text_unit_ids"] or ())),
        }  # fmt: skip
        if row["source"] == row["target"]:
            detail = f"{_say_triple(row)}: both ends are one entity."
            failures.append(tables.failure_row(STAGE, _say_triple(row), "self_relationship", detail))
            continue
        known = merged.setdefault((row["source"], row["predicate"], row["target"]), row)
        if known is not row:
            known["text_unit_ids"] = list(dict.fromkeys([*known["text_unit_ids"], *row["text_unit_ids"]]))
            detail = f"{_say_triple(row)}: stands in the file more than once; the text units of all are kept."
            failures.append(tables.failure_row(STAGE, _say_triple(row), "repeated_row", detail))
    return list(merged.values())


def _read_entities(frames: Mapping[str, pl.DataFrame], relationships: Sequence[dict[str, Any]], failures: Rows) -> Rows:
    """Those of the file; without one, the ends of the relationships."""
    if "entities" not in frames:
        titles = dict.fromkeys(row[end] for row in relationships for end in ("source", "target"))
        rows: Rows = [dict.fromkeys(("id", "human_readable_id", "type", "description"), None) | {"title": title,
                      "text_unit_ids": []} for title in titles]  # fmt: skip
    else:
        rows = frames["entities"].to_dicts()
    kept: dict[str, dict[str, Any]] = {}
    taken: set[str] = set()
    for row in rows:
        title = _clean(row["title"])
        if not title or title in kept:
            detail = f'"{title}" stands in the file more than once; the first row is kept.' if title else "no title"
            failures.append(tables.failure_row(STAGE, row["id"] or title, "repeated_row", detail))
            continue
        identity = row["id"] if row["id"] and row["id"] not in taken else entity_id(title, METHOD)
        taken.add(identity)
        kept[title] = row | {
            "id": identity, "title": title, "type": clean_type(row["type"] or ""),
            "description": row["description"] or "", "text_unit_ids": list(dict.fromkeys(row["text_unit_ids"] or ())),
        }  # fmt: skip
    return list(kept.values())


def _clean(title: str) -> str:
    return " ".join(title.split())


def _has_ends(row: dict[str, Any], titles: set[str], failures: Rows) -> bool:
    missing = [row[end] for end in ("source", "target") if row[end] not in titles]
    if missing:
        detail = f'{_say_triple(row)}: "{missing[0]}" is no entity.'
        failures.append(tables.failure_row(STAGE, _say_triple(row), "unknown_endpoint", detail))
    return not missing


def _say_triple(row: Mapping[str, Any]) -> str:
    return f"{row['source']} {row['predicate']} {row['target']}"


def _drop_unknown_units(row: dict[str, Any], texts: PlacedTexts, failures: Rows) -> None:
    unknown = [unit for unit in row["text_unit_ids"] if unit not in texts.texts]
    if unknown:
        name = row.get("title") or _say_triple(row)
        detail = f"{name}: {len(unknown)} of its text units are not there, first {unknown[0]}."
        failures.append(tables.failure_row(STAGE, name, "unknown_text_unit", detail))
        row["text_unit_ids"] = [unit for unit in row["text_unit_ids"] if unit in texts.texts]


def _add_lines(rows: Rows, path: str, texts: PlacedTexts, say: Any) -> None:
    """Rows without a text unit get a line of their own."""
    bare = [row for row in rows if not row["text_unit_ids"]]
    if bare:
        for row, unit in zip(bare, texts.add_lines(path, [say(row) for row in bare]), strict=True):
            row["text_unit_ids"] = [unit]


def _say_entity(row: Mapping[str, Any]) -> str:
    kind = f" ({row['type']})" if row["type"] != "unknown" else ""
    return f"{row['title']}{kind}. {' '.join(row['description'].split())}".strip()


def _say_relationship(row: Mapping[str, Any]) -> str:
    words = row["predicate"].replace("_", " ")
    return f"{row['source']} {words} {row['target']}. {' '.join(row['description'].split())}".strip()


def _list_mentions(entities: Rows, texts: PlacedTexts, places: Places) -> Iterable[dict[str, Any]]:
    folded = {unit: text.casefold() for unit, text in texts.texts.items()}
    for entity in entities:
        words = entity["title"].casefold()
        for n, unit in enumerate(entity["text_unit_ids"]):
            document, start = places[unit]
            text = texts.texts[unit]
            # Case folding may change lengths (ß): then the span is the unit.
            at = folded[unit].find(words) if len(folded[unit]) == len(text) else -1
            end = at + len(words) if at >= 0 else len(text)
            yield {
                "id": row_id("entity_mention", unit, entity["id"]), "entity_id": entity["id"], "text_unit_id": unit,
                "document_id": document, "surface": entity["title"], "type": entity["type"],
                "description": entity["description"] if n == 0 else "", "start_char": start + max(at, 0),
                "end_char": start + end, "method": METHOD,
            }  # fmt: skip


def _list_statements(relationships: Rows, texts: PlacedTexts, places: Places) -> Iterable[dict[str, Any]]:
    folded = {unit: " ".join(text.split()).casefold() for unit, text in texts.texts.items()}
    for row in relationships:
        units = row["text_unit_ids"]
        strength = None if row["weight"] is None else row["weight"] / len(units)
        for unit in units:
            document, start = places[unit]
            holds = all(row[end].casefold() in folded[unit] for end in ("source", "target"))
            yield {
                "id": row_id("relationship_mention", unit, row["source"], row["predicate"], row["target"]),
                "text_unit_id": unit, "document_id": document, "subject": row["source"], "predicate": row["predicate"],
                "object": row["target"], "subject_surface": row["source"],
                "predicate_surface": row["predicate"].replace("_", " "), "object_surface": row["target"],
                "description": row["description"],
                "strength": None if strength is None else min(MAX_STRENGTH, max(MIN_STRENGTH, strength)),
                "start_char": start, "end_char": start + len(texts.texts[unit]), "is_verified": holds,
                "origin": "extracted", "method": METHOD,
            }  # fmt: skip


def _read_covariates(
    frames: Mapping[str, pl.DataFrame], titles: set[str], texts: PlacedTexts, failures: Rows
) -> pl.DataFrame:
    kept: dict[str, dict[str, Any]] = {}
    for row in frames["covariates"].to_dicts() if "covariates" in frames else ():
        subject = _clean(row["subject_id"])
        if subject not in titles or row["text_unit_id"] not in texts.texts:
            reason = "unknown_subject" if subject not in titles else "unknown_text_unit"
            what = f'"{subject}" is no entity' if subject not in titles else "its text unit is not there"
            failures.append(tables.failure_row(STAGE, row["id"], reason, f"A claim about {subject}: {what}."))
            continue
        words = {name: row[name] or "" for name in ("type", "description", "start_date", "end_date", "source_text")}
        kept.setdefault(
            row["id"],
            {
                "id": row["id"], "human_readable_id": len(kept), "covariate_type": "claim", "subject_id": subject,
                "object_id": row["object_id"], "status": (row["status"] or "suspected").lower(),
                "text_unit_id": row["text_unit_id"], **words,
            },
        )  # fmt: skip
    return tables.COVARIATES.from_rows(list(kept.values()))
