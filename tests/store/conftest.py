"""A small whole run, made by hand: two documents, four entities, two relationships, three communities, one report."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from graphrag.ids import content_sha256, document_id, entity_id, relationship_id, row_id, text_unit_id
from graphrag.tables import TABLES

TEXTS = {
    "a.md": "# Auth\n\nThe Auth  Service depends on Redis. Ünïcode — ok.",
    "b.md": "AuthService depends on Redis. Billing is owned by O'Reilly %;--",
}
DEPENDS = {"a.md": "The Auth  Service depends on Redis.", "b.md": "AuthService depends on Redis."}
OWNED = "Billing is owned by O'Reilly %;--"
ODD = "O'Reilly %;--"
ENTITIES = {"Auth Service": "service", "Redis": "technology", "Billing": "service", ODD: "team"}


def make_frames() -> dict[str, pl.DataFrame]:
    ids = {title: entity_id(title.lower()) for title in ENTITIES}
    units = {path: text_unit_id(document_id(path), text, 0) for path, text in TEXTS.items()}
    depends = relationship_id(ids["Auth Service"], "depends_on", ids["Redis"])
    owned = relationship_id(ids["Billing"], "owned_by", ids[ODD])
    members = {0: sorted(ids.values()), 1: sorted([ids["Auth Service"], ids["Redis"]])}
    members[2] = sorted([ids["Billing"], ids[ODD]])
    both = sorted(units.values())

    documents = [
        {
            "id": document_id(path), "human_readable_id": 0, "title": path[0], "text": text,
            "text_unit_ids": [units[path]], "creation_date": "2024-05-01" if path == "a.md" else "", "path": path,
            "kind": "md", "content_sha256": content_sha256(text), "n_tokens": 9, "metadata": "{}",
        }
        for path, text in TEXTS.items()
    ]  # fmt: skip
    text_units = [
        {
            "id": units[path], "human_readable_id": 0, "text": text, "n_tokens": 9, "document_id": document_id(path),
            "entity_ids": sorted([ids["Auth Service"], ids["Redis"]]) if path == "a.md" else sorted(ids.values()),
            "relationship_ids": [depends] if path == "a.md" else sorted([depends, owned]), "covariate_ids": [],
            "start_char": 0, "end_char": len(text), "heading_path": [],
        }
        for path, text in TEXTS.items()
    ]  # fmt: skip
    entities = [
        {
            "id": ids[title], "human_readable_id": 0, "title": title, "type": kind, "description": "",
            "text_unit_ids": both if title in ("Auth Service", "Redis") else [units["b.md"]],
            "frequency": 2 if title in ("Auth Service", "Redis") else 1, "degree": 1,
            "aliases": ["AuthService"] if title == "Auth Service" else [], "n_documents": 1, "pagerank": 0.25,
            "is_hub": False, "is_cut_vertex": False,
        }
        for title, kind in ENTITIES.items()
    ]  # fmt: skip
    relationships = [
        {
            "id": depends, "human_readable_id": 0, "source": "Auth Service", "target": "Redis", "description": "",
            "weight": 2.0, "combined_degree": 2, "text_unit_ids": both, "source_id": ids["Auth Service"],
            "target_id": ids["Redis"], "predicate": "depends_on", "n_documents": 2, "origin": "extracted",
        },
        {
            "id": owned, "human_readable_id": 0, "source": "Billing", "target": ODD, "description": "",
            "weight": 1.0, "combined_degree": 2, "text_unit_ids": [units["b.md"]], "source_id": ids["Billing"],
            "target_id": ids[ODD], "predicate": "owned_by", "n_documents": 1, "origin": "extracted",
        },
    ]  # fmt: skip
    places = [("a.md", "Auth  Service", "Auth Service"), ("a.md", "Redis", "Redis"),
              ("b.md", "AuthService", "Auth Service"), ("b.md", "Redis", "Redis"), ("b.md", "Billing", "Billing"),
              ("b.md", ODD, ODD)]  # fmt: skip
    mentions = [
        {
            "id": row_id("entity_mention", path, raw), "entity_id": ids[title], "text_unit_id": units[path],
            "document_id": document_id(path), "surface": " ".join(raw.split()), "type": "unknown", "description": "",
            "start_char": TEXTS[path].index(raw), "end_char": TEXTS[path].index(raw) + len(raw), "method": "rule",
        }
        for path, raw, title in places
    ]  # fmt: skip
    stated = [("a.md", DEPENDS["a.md"], depends, "Auth Service", "depends on", "Redis"),
              ("b.md", DEPENDS["b.md"], depends, "AuthService", "depends on", "Redis"),
              ("b.md", OWNED, owned, "Billing", "is owned by", ODD)]  # fmt: skip
    evidence = [
        {
            "id": row_id("evidence", path, quote), "relationship_id": relationship, "text_unit_id": units[path],
            "document_id": document_id(path), "start_char": TEXTS[path].index(quote),
            "end_char": TEXTS[path].index(quote) + len(quote), "quote": quote, "subject_surface": subject,
            "predicate_surface": verb, "object_surface": target, "description": "", "is_verified": True,
        }
        for path, quote, relationship, subject, verb, target in stated
    ]  # fmt: skip
    communities = [
        {
            "id": row_id("community", str(number)), "human_readable_id": number, "community": number,
            "level": 0 if number == 0 else 1, "parent": -1 if number == 0 else 0,
            "children": [1, 2] if number == 0 else [], "title": f"Community {number}", "entity_ids": members[number],
            "relationship_ids": {0: sorted([depends, owned]), 1: [depends], 2: [owned]}[number],
            "text_unit_ids": [units["b.md"]] if number == 2 else both, "period": "", "size": len(members[number]),
            "content_sha256": "",
        }
        for number in members
    ]  # fmt: skip
    report = {
        "id": row_id("report", "0"), "human_readable_id": 0, "community": 0, "level": 0, "parent": -1,
        "children": [1, 2], "title": "Auth Service and Redis", "summary": "They depend.",
        "full_content": "# Auth and Redis",
        "rank": 5.0, "rating_explanation": "", "findings": [{"summary": "s", "explanation": "e"}],
        "full_content_json": "{}", "period": "", "size": 4, "method": "extractive", "citations": "[]",
        "left_out": "{}",
    }  # fmt: skip
    suspects = {
        "surface_a": "Billing", "surface_b": ODD, "entity_id_a": ids["Billing"], "entity_id_b": ids[ODD],
        "method": "edit", "score": 0.4, "verdict": "propose", "reason": "They look alike.",
        "decided_by": "rule",
    }  # fmt: skip
    alias = {
        "surface": "AuthService", "entity_id": ids["Auth Service"], "method": "key", "score": 1.0,
        "reason": "Same name key.", "decided_by": "rule",
    }  # fmt: skip
    embeddings = [
        {"owner_table": owner, "owner_id": row, "model": "test", "dim": 2, "content_sha256": "", "vector": vector}
        for owner, rows in (("entities", list(ids.values())), ("text_units", list(units.values())))
        for row, vector in zip(rows, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.8, 0.6]], strict=False)
    ]
    failure = {"stage": "documents", "item_id": "x.bin", "reason": "binary_file", "detail": "NUL bytes", "run_id": "r"}
    rows: dict[str, list[dict[str, Any]]] = {
        "documents": documents, "text_units": text_units, "entities": entities, "relationships": relationships,
        "entity_mentions": mentions, "evidence": evidence, "communities": communities, "community_reports": [report],
        "alias_candidates": [suspects], "aliases": [alias], "embeddings": embeddings, "failures": [failure],
    }  # fmt: skip
    return {name: table.from_rows(rows.get(name, [])) for name, table in TABLES.items()}


@pytest.fixture(scope="session")
def frames() -> dict[str, pl.DataFrame]:
    return make_frames()
