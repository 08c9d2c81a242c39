"""CSV for `neo4j-admin database import`, and a Cypher script that loads the same files into a running server.

entities.csv and relationships.csv have the typed header that the importer reads; a cell is one line. Labels are Entity
and the entity's type, relationship types the predicates in upper case.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from graphrag.interop.cited_sentences import narrow_evidence
from graphrag.interop.selection import Selection

ENTITY_HEADER = (
    "id:ID(Entity)", "title", "type", "description", "aliases:string[]", "degree:long", "frequency:long",
    "pagerank:double", "community:long", ":LABEL",
)  # fmt: skip
RELATIONSHIP_HEADER = (
    ":START_ID(Entity)", ":END_ID(Entity)", ":TYPE", "id", "weight:double", "description", "origin", "n_documents:long",
    "quotes:string[]",
)  # fmt: skip
MAX_QUOTES = 5
IMPORT_LINE = "neo4j-admin database import full neo4j --nodes=entities.csv --relationships=relationships.csv"


def write_neo4j(selection: Selection, folder: Path) -> list[str]:
    """entities.csv, relationships.csv, load.cypher."""
    quotes: dict[str, list[str]] = {}
    evidence = narrow_evidence(selection.evidence, selection.relationships)
    for relationship, quote in evidence.select("relationship_id", "quote").iter_rows():
        quotes.setdefault(relationship, []).append(quote)
    entities = (
        (
            row["id"], _line(row["title"]), row["type"], _line(row["description"]), _list(row["aliases"]),
            row["degree"], row["frequency"], row["pagerank"], selection.community_of.get(row["id"], ""),
            f"Entity;{_label(row['type'])}",
        )
        for row in selection.entities.iter_rows(named=True)
    )  # fmt: skip
    relationships = (
        (
            row["source_id"], row["target_id"], _type(row["predicate"]), row["id"], row["weight"],
            _line(row["description"]), row["origin"], row["n_documents"], _list(quotes.get(row["id"], [])[:MAX_QUOTES]),
        )
        for row in selection.relationships.iter_rows(named=True)
    )  # fmt: skip
    _write_csv(folder / "entities.csv", ENTITY_HEADER, entities)
    _write_csv(folder / "relationships.csv", RELATIONSHIP_HEADER, relationships)
    types = sorted({_type(predicate) for predicate in selection.relationships["predicate"]})
    labels = sorted({_label(kind) for kind in selection.entities["type"]})
    (folder / "load.cypher").write_text(_render_cypher(types, labels), encoding="utf-8")
    return ["entities.csv", "relationships.csv", "load.cypher"]


def _write_csv(path: Path, header: tuple[str, ...], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _line(text: str) -> str:
    """One line without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _list(values: list[str]) -> str:
    return ";".join(_line(value).replace(";", ",") for value in values)


def _type(predicate: str) -> str:
    return re.sub(r"\W+", "_", predicate).strip("_").upper() or "RELATED_TO"


def _label(kind: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+", kind) if word) or "Unknown"


def _render_cypher(types: list[str], labels: list[str]) -> str:
    lines = [
        "// Into an empty, stopped database, in the folder of these files:",
        f"//   {IMPORT_LINE}",
        "// Into a running one: copy the files to its import folder, then run this script with cypher-shell.",
        "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE;",
        "LOAD CSV WITH HEADERS FROM 'file:///entities.csv' AS row",
        "MERGE (e:Entity {id: row.`id:ID(Entity)`})",
        "SET e.title = row.title, e.type = row.type, e.description = row.description,",
        "    e.aliases = split(coalesce(row.`aliases:string[]`, ''), ';'), e.degree = toInteger(row.`degree:long`),",
        "    e.frequency = toInteger(row.`frequency:long`), e.pagerank = toFloat(row.`pagerank:double`),",
        "    e.community = toInteger(row.`community:long`);",
    ]
    for label in labels:
        lines += [
            "LOAD CSV WITH HEADERS FROM 'file:///entities.csv' AS row",
            f"WITH row WHERE row.`:LABEL` = 'Entity;{label}'",
            f"MATCH (e:Entity {{id: row.`id:ID(Entity)`}}) SET e:`{label}`;",
        ]
    for kind in types:
        lines += [
            "LOAD CSV WITH HEADERS FROM 'file:///relationships.csv' AS row",
            f"WITH row WHERE row.`:TYPE` = '{kind}'",
            "MATCH (a:Entity {id: row.`:START_ID(Entity)`}), (b:Entity {id: row.`:END_ID(Entity)`})",
            f"MERGE (a)-[r:`{kind}` {{id: row.id}}]->(b)",
            "SET r.weight = toFloat(row.`weight:double`), r.description = row.description, r.origin = row.origin,",
            "    r.n_documents = toInteger(row.`n_documents:long`),",
            "    r.quotes = split(coalesce(row.`quotes:string[]`, ''), ';');",
        ]
    return "\n".join(lines) + "\n"
