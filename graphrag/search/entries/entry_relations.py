"""Typed relations between entries (documents), as folding needs them: among the ranked ones, and around the results.

Reads entry_relations, documents, text_units; with origins `all` relationships and entity_documents too. One statement
each, and one for what is shown of the entries. Does not: fold (folding.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from graphrag.relations.events import RELATION_TYPES
from graphrag.search.entries.entry_summary import summarise_entry
from graphrag.search.entries.written_since import Written
from graphrag.search.lookups import one_of
from graphrag.search.rows import Passage

if TYPE_CHECKING:
    from graphrag.store import Index

SUMMARY_FIELDS = ("summary", "description", "abstract")  # of front matter
_STATED = "select from_document_id as source, to_document_id as target, type, note from entry_relations"
_EXTRACTED = f"""
    union all
    select s.document_id, t.document_id, r.predicate, '' from relationships r
    join entity_documents s on s.entity_id = r.source_id join entity_documents t on t.entity_id = r.target_id
    where r.origin = 'extracted' and r.predicate in {RELATION_TYPES}
"""
_DESCRIBED = """
    select d.id as entry, d.title, d.path, d.metadata, u.id as unit_id, u.human_readable_id, u.text, u.start_char,
           u.heading_path
    from documents d left join text_units u on u.id = d.text_unit_ids[1] where
"""


class Entry(NamedTuple):
    """A document as it is shown beside another: `summary` is one sentence, `passage` its first text unit, if any."""

    id: str
    title: str
    path: str
    summary: str
    passage: Passage | None


class Around(NamedTuple):
    """relations: RELATION_SCHEMA; entries, by id: their far ends, and those that were asked for."""

    relations: pl.DataFrame
    entries: dict[str, Entry]


def has_relations(index: Index, *, origins: str, written: Written | None) -> bool:
    """False where the run's manifest says that there is none and none was written since: folding needs not look."""
    if written is not None and written.relations.height:
        return True
    counts = index.manifest.get("counts")
    if counts is None:
        return True
    return "entry_relations" in counts and (origins == "all" or counts["entry_relations"] > 0)


def load_relations_among(
    index: Index, documents: Sequence[str], *, origins: str, written: Written | None = None
) -> pl.DataFrame:
    """The relations with both ends among some documents: RELATION_SCHEMA. written: instead of the authored ones."""
    found = index.frame(
        f"select * from ({_state(origins, written)}) where list_contains($inside::varchar[], source) "
        "and list_contains($inside::varchar[], target)",
        {"inside": list(documents)},
    )
    if written is None:
        return found
    inside = pl.col("source").is_in(list(documents)) & pl.col("target").is_in(list(documents))
    return pl.concat([found, written.relations.filter(inside)])


def load_around(
    index: Index,
    results: Sequence[str],
    *,
    ranked: Sequence[str],
    shown: Sequence[str],
    origins: str,
    written: Written | None = None,
) -> Around:
    """The relations with one end among the results and the other one not ranked; and what is shown of their far ends
    and of the documents `shown`. written: instead of the authored ones of the index."""
    stated = index.frame(
        f"select * from ({_state(origins, written)}) "
        "where list_contains($results::varchar[], source) or list_contains($results::varchar[], target)",
        {"results": list(results)},
    )
    found = _leave_the_pool(pl.concat([stated, written.relations]) if written else stated, results, ranked)
    ends = {end for row in found.select("source", "target").iter_rows() for end in row} - set(results)
    entries = _describe(index, sorted({*shown, *ends}))
    notes = written.notes if written else {}
    entries |= {end: Entry(*notes[end], passage=None) for end in ends & notes.keys()}
    is_known = pl.col("source").is_in(list(entries)) | pl.col("target").is_in(list(entries))
    return Around(found.filter(is_known), entries)


def _leave_the_pool(relations: pl.DataFrame, results: Sequence[str], ranked: Sequence[str]) -> pl.DataFrame:
    near, known = list(results), list(ranked)
    out = pl.col("source").is_in(near) & ~pl.col("target").is_in(known)
    into = pl.col("target").is_in(near) & ~pl.col("source").is_in(known)
    return relations.filter(out | into)


def _describe(index: Index, ids: Sequence[str]) -> dict[str, Entry]:
    is_one, values = one_of("d.id", ids)
    entries: dict[str, Entry] = {}
    for row in index.frame(_DESCRIBED + is_one, values).iter_rows(named=True):
        id_, text, title, path = row["entry"], row["text"] or "", row["title"], row["path"]
        place = (row["unit_id"], row["human_readable_id"], text, row["start_char"], id_, title, path)
        passage = Passage(*place, row["heading_path"]) if row["unit_id"] else None
        entries[id_] = Entry(id_, title, path, summarise_entry(_declared(row["metadata"]), text), passage)
    return entries


def _declared(metadata: str) -> object:
    """The summary that front matter gives."""
    if not any(f'"{name}"' in metadata for name in SUMMARY_FIELDS):
        return None
    fields = json.loads(metadata)
    return next((fields[name] for name in SUMMARY_FIELDS if fields.get(name)), None)


def _state(origins: str, written: Written | None) -> str:
    links_only = " where origin = 'link'" if written is not None else ""
    return _STATED + links_only + (_EXTRACTED if origins == "all" else "")
