"""Documents as entities: the ones that people linked or related, also where no text names them.

A document is the entity of its title, and of its front matter's aliases: a note "Redis" and the mention "redis" are
one. Where several documents have the title, or it names a kind of file (README), the document is an entity of its own,
called by the end of its path that no other has. Copies of a text under one title are one document. Rules are over by
then: a title brings no proposals. Reads documents.

Does not: say which documents these are (index/document_relations.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

import polars as pl

from graphrag.names import name_key
from graphrag.naming.decisions import NameDecisions, count_claims
from graphrag.naming.declared_aliases import Note

UNTYPED = "document"


def place_documents(
    decisions: NameDecisions, documents: pl.DataFrame, notes: Sequence[Note], related: Sequence[str]
) -> dict[str, int]:
    """Document id -> position of its node, for the documents of `related`, in their order."""
    if not related:
        return {}
    noted = {note.document_id: note for note in notes}
    claims = count_claims(notes)
    own: dict[tuple[str, str], Note] = {}  # the first of copies stands for them all
    note_of: dict[str, Note] = {}
    for row in documents.sort("path").select("id", "path", "title", "content_sha256").iter_rows(named=True):
        title = " ".join(row["title"].split())
        note = noted.get(row["id"]) or Note(
            row["path"], row["id"], title, (), title_is_cased=True, is_generic=not title
        )
        note_of[row["id"]] = own.setdefault((title, row["content_sha256"]), note)
    n_titled = Counter(name_key(note.title) for note in own.values())
    ends = name_by_path([note.path for note in own.values()])
    node_of: dict[str, int] = {}
    for document_id in related:
        note = note_of[document_id]
        if note.document_id not in node_of:
            is_own = not note.is_generic and n_titled[name_key(note.title)] == 1
            aliases = [alias for alias in note.aliases if claims[name_key(alias)] == 1]
            node_of[note.document_id] = decisions.place_document(
                note, "" if is_own else ends[note.path], note.type or UNTYPED, aliases=aliases
            )
        node_of[document_id] = node_of[note.document_id]
    return {document_id: node_of[document_id] for document_id in related}


def name_by_path(paths: Sequence[str]) -> dict[str, str]:
    """For each path its shortest end of whole parts that no other path has, without .md: a/Note."""
    parts_of = {path: PurePosixPath(path.removesuffix(".md")).parts for path in paths}
    counts = Counter(parts[start:] for parts in parts_of.values() for start in range(len(parts)))
    found = {}
    for path, parts in parts_of.items():
        own = (parts[start:] for start in reversed(range(len(parts))) if counts[parts[start:]] == 1)
        found[path] = "/".join(next(own, parts))
    return found
