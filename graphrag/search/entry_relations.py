"""Typed relations between entries (documents), as folding needs them: among the ranked ones, and around the results.

Reads entry_relations, documents, text_units; with origins `all` relationships and entity_documents too. One statement
each, with what is shown of the entries. Does not: fold (folding.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from graphrag.digest import show_quote, trim_span
from graphrag.search.folding import RELATION_SCHEMA, RELATION_TYPES
from graphrag.sentences import sentence_spans

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_SUMMARY, HEAD_CHARACTERS = 200, 1_000
SUMMARY_FIELDS = ("summary", "description", "abstract")  # of front matter, where the author wrote one

_WRITTEN = """
    select from_document_id as source, to_document_id as target, type, note from entry_relations
"""
_EXTRACTED = f"""
    union all
    select s.document_id, t.document_id, r.predicate, '' from relationships r
    join entity_documents s on s.entity_id = r.source_id join entity_documents t on t.entity_id = r.target_id
    where r.origin = 'extracted' and r.predicate in {RELATION_TYPES}
"""
_SHOWN = """
    select r.source, r.target, r.type, r.note, d.id, d.human_readable_id, d.title, d.path, d.metadata,
           d.text_unit_ids[1] as text_unit_id, left(u.text, $head) as head
    from chosen r
    join documents d on d.id in (r.source, r.target)
    left join text_units u on u.id = d.text_unit_ids[1]
    order by all
"""


class Entry(NamedTuple):
    """A document as it is shown beside another. `summary` is one sentence; `text_unit_id` its first, empty if none."""

    id: str
    human_readable_id: int
    title: str
    path: str
    summary: str
    text_unit_id: str


class EntryRelations(NamedTuple):
    """relations: RELATION_SCHEMA; entries: both ends of each, by id."""

    relations: pl.DataFrame
    entries: dict[str, Entry]


def load_relations_among(index: Index, documents: Sequence[str], *, origins: str) -> EntryRelations:
    """The relations with both ends among some documents."""
    chosen = """
        select * from stated where source in (select unnest($inside::varchar[]))
        and target in (select unnest($inside::varchar[]))
    """
    return _load(index, chosen, {"inside": list(documents)}, origins)


def load_relations_around(
    index: Index, documents: Sequence[str], *, ranked: Sequence[str], origins: str
) -> EntryRelations:
    """The relations with one end among some documents and the other one not ranked."""
    chosen = """
        select * from stated where source in (select unnest($inside::varchar[]))
        and target not in (select unnest($ranked::varchar[]))
        union all
        select * from stated where target in (select unnest($inside::varchar[]))
        and source not in (select unnest($ranked::varchar[]))
    """
    return _load(index, chosen, {"inside": list(documents), "ranked": list(ranked)}, origins)


def summarise_entry(metadata: str, head: str) -> str:
    """One sentence: what the front matter calls its summary, else the first sentence of the text, cut where long."""
    fields = json.loads(metadata) if any(f'"{name}"' in metadata for name in SUMMARY_FIELDS) else {}
    said = [fields[name] for name in SUMMARY_FIELDS if isinstance(fields.get(name), str) and fields[name].strip()]
    text = said[0] if said else head
    for start, end in sentence_spans(text):
        if text[start] in "#|`~" or len(text[start:end].split()) < 2:
            continue
        start, end = trim_span(text, start, end)
        if sentence := show_quote(text[start:end]):
            return sentence if len(sentence) <= MAX_SUMMARY else sentence[: MAX_SUMMARY - 1].rstrip() + "…"
    return ""


def _load(index: Index, chosen: str, values: dict[str, object], origins: str) -> EntryRelations:
    stated = _WRITTEN + (_EXTRACTED if origins == "all" else "")
    sql = f"with stated as ({stated}), chosen as ({chosen}) {_SHOWN}"
    frame = index.frame(sql, {**values, "head": HEAD_CHARACTERS})
    entries: dict[str, Entry] = {}
    for row in frame.drop(list(RELATION_SCHEMA)).iter_rows(named=True):
        if row["id"] not in entries:
            summary = summarise_entry(row["metadata"], row["head"] or "")
            place = (row["id"], row["human_readable_id"], row["title"], row["path"])
            entries[row["id"]] = Entry(*place, summary, row["text_unit_id"] or "")
    return EntryRelations(frame.select(list(RELATION_SCHEMA)).unique(maintain_order=True), entries)
