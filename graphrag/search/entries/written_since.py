"""What was related and learned since the published run: authored relations as the log has them now, and new notes.

An agent that relates two entries, or learns a note and connects it, is answered with that at once; the next run brings
the same into the tables. Nothing is read where the log is still that of the run and no note is new.

Reads relations.jsonl, the folder of learnings, paths of documents. Does not: rank notes, or write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from graphrag.ids import content_sha256, document_id
from graphrag.relations.relation_log import RelationLog, read_log
from graphrag.search.entries.entry_summary import summarise_entry
from graphrag.search.entries.folding import RELATION_SCHEMA

if TYPE_CHECKING:
    from graphrag.reading.new_notes import NewNote
    from graphrag.store import Index


class NoteEntry(NamedTuple):
    """A new note as it is shown beside an entry."""

    id: str
    title: str
    path: str
    summary: str


class Written(NamedTuple):
    """relations: RELATION_SCHEMA, all authored ones, in place of those of the index; notes: by document id."""

    relations: pl.DataFrame
    notes: Mapping[str, NoteEntry]


def load_written(index: Index, log_path: Path, notes: Sequence[NewNote]) -> Written | None:
    """None where the tables say it all. notes: those that were learned since (load_new_notes)."""
    replayed = _find_sha256(index, log_path)
    if not replayed:
        return None  # a run of a release without the log
    if not notes and content_sha256(log_path.read_bytes() if log_path.is_file() else b"") == replayed:
        return None
    return Written(_list_relations(read_log(log_path)), {note.document_id: _describe(note) for note in notes})


def load_new_notes(index: Index, input_dir: Path | None, folder: str) -> Sequence[NewNote]:
    """Notes that the index does not hold; none where it is restricted to some documents. input_dir: None where the
    documents lie on object storage."""
    if input_dir is None or not (input_dir / folder).is_dir() or index.restriction:
        return ()
    from graphrag.reading.new_notes import read_new_notes  # here, not above: few questions need PyYAML

    known = index.frame("select path from documents where starts_with(path, ?)", (f"{folder}/",))["path"]
    return read_new_notes(input_dir, folder, known=set(known))


def _describe(note: NewNote) -> NoteEntry:
    summary = summarise_entry(note.metadata.get("summary", ""), note.text[note.body :])
    return NoteEntry(note.document_id, note.title, note.path, summary)


def _find_sha256(index: Index, log_path: Path) -> str:
    """Of the log that the run replayed; empty where its manifest does not say."""
    stages = {stage["name"]: stage for stage in index.manifest.get("stages", ())}
    knobs: Mapping[str, str] = stages.get("relations", {}).get("knobs", {})
    return next((value for name, value in knobs.items() if Path(name).name == log_path.name), "")


def _list_relations(log: RelationLog) -> pl.DataFrame:
    relations = log.state().relations.values()
    rows = [(document_id(each.entry), document_id(each.to), each.type, each.note) for each in relations]
    return pl.DataFrame(sorted(rows), schema=RELATION_SCHEMA, orient="row")
