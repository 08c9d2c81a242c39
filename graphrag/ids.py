"""Row ids: sha256 of what makes the row what it is, so that the same input gives the same ids.

Ids never depend on a path of the machine, an offset, a clock or the order of rows.
Parts are joined by U+001F (unit separator) after their own length, so that ("ab", "c") and ("a", "bc") differ.
Numbers for people (`human_readable_id`) are not made here: they have a history, which the store keeps.
"""

from __future__ import annotations

import hashlib


def content_sha256(content: str | bytes) -> str:
    """The 64 hex digits of the sha256 of a text (as UTF-8) or of bytes."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def row_id(kind: str, *parts: str) -> str:
    """The id of a row: 32 hex digits of the sha256 of its kind and parts."""
    joined = "\x1f".join(f"{len(part)}:{part}" for part in (kind, *parts))
    return content_sha256(joined)[:32]


def document_id(path: str) -> str:
    """Of the path relative to the input folder, with forward slashes, in NFC."""
    return content_sha256(path)


def text_unit_id(document: str, text: str, occurrence: int) -> str:
    """Of the document, the text, and how often the same text came before in that document (0 for the first)."""
    return row_id("text_unit", document, text, str(occurrence))


def entity_id(name_key: str, qualifier: str = "") -> str:
    """Of the smallest name key of the entity's cluster; homonyms add a qualifier, their type."""
    return row_id("entity", name_key, qualifier)


def relationship_id(source_id: str, predicate: str, target_id: str) -> str:
    return row_id("relationship", source_id, predicate, target_id)
