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
from graphrag.relations.events import RELATION_TYPES
from graphrag.search.folding import RELATION_SCHEMA
from graphrag.search.rows import Passage
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
_AROUND = """
    select source, target, type, note, target as entry from stated
    where list_contains($results::varchar[], source) and not list_contains($ranked::varchar[], target)
    union all
    select source, target, type, note, source from stated
    where list_contains($results::varchar[], target) and not list_contains($ranked::varchar[], source)
    union all
    select null, null, null, null, unnest($shown::varchar[])
"""
_DESCRIBED = """
    select r.*, d.title, d.path, d.metadata, u.id as unit_id, u.human_readable_id, u.text, u.start_char, u.heading_path
    from chosen r join documents d on d.id = r.entry left join text_units u on u.id = d.text_unit_ids[1]
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


def has_relations(index: Index, *, origins: str) -> bool:
    """False where the run's manifest says that there is none: then folding needs not look."""
    counts = index.manifest.get("counts")
    if counts is None:
        return True
    return "entry_relations" in counts and (origins == "all" or counts["entry_relations"] > 0)


def load_relations_among(index: Index, documents: Sequence[str], *, origins: str) -> pl.DataFrame:
    """The relations with both ends among some documents: RELATION_SCHEMA."""
    return index.frame(
        f"select * from ({_state(origins)}) where list_contains($inside::varchar[], source) "
        "and list_contains($inside::varchar[], target) order by all",
        {"inside": list(documents)},
    )


def load_around(
    index: Index, results: Sequence[str], *, ranked: Sequence[str], shown: Sequence[str], origins: str
) -> Around:
    """The relations with one end among the results and the other one not ranked; and what is shown of their far ends
    and of the documents `shown`."""
    frame = index.frame(
        f"with stated as ({_state(origins)}), chosen as ({_AROUND}) {_DESCRIBED}",
        {"results": list(results), "ranked": list(ranked), "shown": list(shown)},
    )
    entries: dict[str, Entry] = {}
    for row in frame.iter_rows(named=True):
        id_ = row["entry"]
        if id_ not in entries:
            text, title, path = row["text"] or "", row["title"], row["path"]
            place = (row["unit_id"], row["human_readable_id"], text, row["start_char"], id_, title, path)
            passage = Passage(*place, row["heading_path"]) if row["unit_id"] else None
            entries[id_] = Entry(id_, title, path, summarise_entry(row["metadata"], text), passage)
    return Around(frame.drop_nulls("type").select(list(RELATION_SCHEMA)), entries)


def summarise_entry(metadata: str, text: str) -> str:
    """One sentence: what the front matter calls its summary, else the first sentence of the text, cut where long."""
    fields = json.loads(metadata) if any(f'"{name}"' in metadata for name in SUMMARY_FIELDS) else {}
    said = [fields[name] for name in SUMMARY_FIELDS if isinstance(fields.get(name), str) and fields[name].strip()]
    text = said[0] if said else text[:HEAD_CHARACTERS]
    for start, end in sentence_spans(text):
        if text[start] in "#|`~" or len(text[start:end].split()) < 2:
            continue
        start, end = trim_span(text, start, end)
        if sentence := show_quote(text[start:end]):
            return sentence if len(sentence) <= MAX_SUMMARY else sentence[: MAX_SUMMARY - 1].rstrip() + "…"
    return ""


def _state(origins: str) -> str:
    return _WRITTEN + (_EXTRACTED if origins == "all" else "")
