"""Documents, mentions and relation statements by hand, for the tests of disambiguation, graph and summaries."""

from __future__ import annotations

import json

from graphrag import ids

Row = dict[str, object]


def document(name: str, text: str, *, title: str = "", **metadata: object) -> Row:
    path = name if "." in name else f"{name}.txt"
    return {
        "id": ids.document_id(path),
        "human_readable_id": 0,
        "title": title or path.rpartition("/")[2].rpartition(".")[0],
        "text": text,
        "text_unit_ids": [],
        "creation_date": "",
        "path": path,
        "kind": "txt",
        "content_sha256": ids.content_sha256(text),
        "n_tokens": 1,
        "metadata": json.dumps(metadata),
    }


def mention(doc: Row, surface: str, *, type: str = "unknown", method: str = "spacy", nth: int = 0) -> Row:
    """A mention of the nth occurrence of the surface in the document's text; one text unit a document."""
    text = str(doc["text"])
    start = -1
    for _ in range(nth + 1):
        start = text.index(surface, start + 1)
    unit = ids.text_unit_id(str(doc["id"]), text, 0)
    return {
        "id": ids.row_id("mention", unit, str(start), surface),
        "text_unit_id": unit,
        "document_id": doc["id"],
        "surface": surface,
        "type": type,
        "description": "",
        "start_char": start,
        "end_char": start + len(surface),
        "method": method,
    }


def relation(doc: Row, subject: str, predicate: str, object_: str) -> Row:
    text = str(doc["text"])
    unit = ids.text_unit_id(str(doc["id"]), text, 0)
    return {
        "id": ids.row_id("relation", unit, subject, predicate, object_),
        "text_unit_id": unit,
        "document_id": doc["id"],
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "subject_surface": subject,
        "predicate_surface": predicate.replace("_", " "),
        "object_surface": object_,
        "description": "",
        "strength": None,
        "start_char": 0,
        "end_char": len(text),
        "is_verified": True,
        "origin": "extracted",
        "method": "rule",
    }


def text_unit(doc: Row, start: int = 0, end: int | None = None, *, occurrence: int = 0) -> Row:
    """The text unit of a document that `mention` and `relation` name, or a part of it."""
    text = str(doc["text"])[start:end]
    return {
        "id": ids.text_unit_id(str(doc["id"]), text, occurrence),
        "human_readable_id": 0,
        "text": text,
        "n_tokens": 1,
        "document_id": doc["id"],
        "entity_ids": [],
        "relationship_ids": [],
        "covariate_ids": [],
        "start_char": start,
        "end_char": start + len(text),
        "heading_path": [],
    }
