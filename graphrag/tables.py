"""All tables: names, columns, dtypes, keys and what each column means. The one place.

The data dictionary (docs/tables.md), the comments in the DuckDB file and the factories of the tests derive from it.
The first columns of the seven tables that microsoft/graphrag 3.x also writes equal its own in name, order and dtype;
ours come after (its readers ignore them).

Does not: read or write files (store/run_files.py), or check ids across tables (store/integrity.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from graphrag.errors import TableError

TEXT, INT, FLOAT, BOOL = pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()
TEXTS, INTS, VECTOR = pl.List(pl.String()), pl.List(pl.Int64()), pl.List(pl.Float32())
FINDINGS = pl.List(pl.Struct({"explanation": pl.String(), "summary": pl.String()}))
SUSPECT_SCORE = 0.4  # open pairs of alias_candidates below it are right a few times in a hundred: kept, not put forward
BARE_PREDICATES = ("links_to", "embeds")  # of links whose place says nothing of the relation
UNCONNECTED = "Unconnected entities"  # title of the community of entities without a relationship


@dataclass(frozen=True)
class Column:
    name: str
    dtype: pl.DataType
    meaning: str
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """One table. `key` columns identify a row; `n_reference` leading columns are those of the reference."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    n_reference: int = 0
    is_log: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema)

    def from_rows(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        """A conforming frame of rows given as dicts; nullable columns may be absent from them."""
        known = set(self.names)
        for row in rows:
            if unknown := [name for name in row if name not in known]:
                raise TableError(f"{self.name}: unknown columns {unknown} in a row. Known: {', '.join(self.names)}.")
        return self.conform(pl.DataFrame(rows, schema=self.schema, orient="row"))

    def conform(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with exactly this table's columns, in order, or a TableError that names every fault.

        A column of dtype Null (no row has a value) takes the declared dtype; nothing else is cast.
        """
        faults = [f"column {c.name} is missing" for c in self.columns if c.name not in frame.columns]
        faults += [f"column {name} is not declared" for name in frame.columns if name not in self.schema]
        for column in self.columns:
            if column.name not in frame.columns:
                continue
            series = frame[column.name]
            if series.dtype == pl.Null:
                series = series.cast(column.dtype)
                frame = frame.with_columns(series)
            if series.dtype != column.dtype:
                faults.append(f"column {column.name} is {series.dtype}, declared {column.dtype}")
            if not column.nullable and (n_null := series.null_count()):
                faults.append(f"column {column.name} has {n_null} nulls")
        if self.key and not faults and (n_repeated := int(frame.select(self.key).is_duplicated().sum())):
            sample = frame.filter(frame.select(self.key).is_duplicated()).select(self.key).row(0)
            faults.append(f"key ({', '.join(self.key)}) repeats in {n_repeated} rows, first {sample}")
        if faults:
            raise TableError(f"{self.name}: " + "; ".join(faults))
        return frame.select(self.names)


def _id(meaning: str) -> Column:
    return Column("id", TEXT, meaning)


HUMAN_ID = Column(
    "human_readable_id", INT, "Short number for citations. Stays with the row for life and is never given to another."
)
COMMUNITY_COLUMNS = (
    Column("community", INT, "Number of the community, unique over all levels: its human_readable_id."),
    Column("level", INT, "0 is the coarsest level."),
    Column("parent", INT, "Community that contains this one; -1 at level 0."),
    Column("children", INTS, "Communities that partition this one; empty for a leaf."),
)
SPAN = (
    Column("start_char", INT, "Offset of the first character, counted from the start of documents.text."),
    Column("end_char", INT, "Offset after the last character, counted from the start of documents.text."),
)
PERIOD = Column("period", TEXT, "Newest document date among the members' documents; empty if none is known.")

DOCUMENTS = Table(
    "documents",
    "One row a document that was read.",
    ("id",),
    (
        _id("sha256 of the path relative to the input folder."),
        HUMAN_ID,
        Column("title", TEXT, "Declared title (front matter, title column, first heading), else the file's stem."),
        Column("text", TEXT, "The whole decoded text, front matter included; all offsets count in it."),
        Column("text_unit_ids", TEXTS, "Its text units, in order."),
        Column("creation_date", TEXT, "Date from the front matter or record, ISO; empty if none. Never a file time."),
        Column("raw_data", TEXT, "The source record as JSON, for csv, json, jsonl and parquet.", nullable=True),
        Column("path", TEXT, "Path relative to the input folder; records add # and their id."),
        Column("kind", TEXT, "Format: md, txt, rst, html, csv, json, jsonl, parquet, pdf, docx, pptx, ..."),
        Column("content_sha256", TEXT, "sha256 of text; equal for copies."),
        Column("n_tokens", INT, "Tokens of text (o200k)."),
        Column("metadata", TEXT, "Front matter or further columns, JSON object."),
    ),
    n_reference=7,
)
TEXT_UNITS = Table(
    "text_units",
    "One row a text unit: a piece of a document within the token limit.",
    ("id",),
    (
        _id("Hash of document, text and occurrence."),
        HUMAN_ID,
        Column("text", TEXT, "documents.text[start_char:end_char], to the letter."),
        Column("n_tokens", INT, "Tokens of text (o200k)."),
        Column("document_id", TEXT, "Document it lies in."),
        Column("entity_ids", TEXTS, "Entities mentioned in it, sorted."),
        Column("relationship_ids", TEXTS, "Relationships with evidence in it, sorted."),
        Column("covariate_ids", TEXTS, "Claims made in it, sorted."),
        *SPAN,
        Column("heading_path", TEXTS, "Headings above it, outermost first."),
    ),
    n_reference=8,
)
ENTITIES = Table(
    "entities",
    "One row an entity: a cluster of mentions that mean the same thing.",
    ("id",),
    (
        _id("Hash of the smallest name key of its cluster (and its type, for homonyms)."),
        HUMAN_ID,
        Column("title", TEXT, "Name to show, in its best original casing. Unique."),
        Column("type", TEXT, "Lower-case type; unknown if nothing says."),
        Column("description", TEXT, "What the documents say it is; may be empty."),
        Column("text_unit_ids", TEXTS, "Text units that mention it, sorted."),
        Column("frequency", INT, "Number of distinct text units (by text) that mention it."),
        Column("degree", INT, "Number of distinct neighbours, itself excluded, co-occurrence excluded."),
        Column("aliases", TEXTS, "Its other surfaces, sorted."),
        Column("n_documents", INT, "Number of distinct document contents that mention it."),
        Column(
            "pagerank", FLOAT, "PageRank over all relationships by weight, bare links one way; 9 digits, sums to 1."
        ),
        Column("is_hub", BOOL, "degree is greater than max(15, 95th percentile of degree)."),
        Column(
            "is_cut_vertex",
            BOOL,
            "Without it its neighbours fall apart (articulation point); without co-occurrence and bare links.",
        ),
    ),
    n_reference=8,
)
RELATIONSHIPS = Table(
    "relationships",
    "One row a (source, predicate, target). Never without evidence.",
    ("id",),
    (
        _id("Hash of source_id, predicate and target_id."),
        HUMAN_ID,
        Column("source", TEXT, "Title of the source entity."),
        Column("target", TEXT, "Title of the target entity."),
        Column("description", TEXT, "What the evidence says."),
        Column("weight", FLOAT, "Number of distinct text units (by text) with evidence."),
        Column("combined_degree", INT, "degree of source plus degree of target."),
        Column("text_unit_ids", TEXTS, "Text units with evidence, sorted."),
        Column("source_id", TEXT, "Entity the relationship starts at."),
        Column("target_id", TEXT, "Entity the relationship ends at."),
        Column("predicate", TEXT, "Lower snake_case: depends_on, owned_by, ..."),
        Column("n_documents", INT, "Number of distinct document contents with evidence."),
        Column("origin", TEXT, "Strongest of authored, link, extracted, cooccurrence."),
    ),
    n_reference=8,
)
COMMUNITIES = Table(
    "communities",
    "One row a community of the hierarchy. Each level's members partition their parent's.",
    ("id",),
    (
        _id("Hash of the sorted members when it was new; stays while half of them do."),
        HUMAN_ID,
        *COMMUNITY_COLUMNS,
        Column("title", TEXT, "Community N, or Unconnected entities."),
        Column("entity_ids", TEXTS, "Members, sorted."),
        Column("relationship_ids", TEXTS, "Relationships with both ends inside, sorted."),
        Column("text_unit_ids", TEXTS, "Text units with evidence for those relationships, sorted."),
        PERIOD,
        Column("size", INT, "Number of entity_ids."),
        Column("content_sha256", TEXT, "Hash of the members and evidence; unchanged means the report stands."),
    ),
    n_reference=12,
)
COMMUNITY_REPORTS = Table(
    "community_reports",
    "One row a community: what its members have to do with each other.",
    ("id",),
    (
        _id("Hash of the community's id and full_content."),
        HUMAN_ID,
        *COMMUNITY_COLUMNS,
        Column("title", TEXT, "Short title that names the main members."),
        Column("summary", TEXT, "One paragraph."),
        Column("full_content", TEXT, "Markdown: title, summary, findings."),
        Column("rank", FLOAT, "Importance, 0 to 10."),
        Column("rating_explanation", TEXT, "One sentence on the rank."),
        Column("findings", FINDINGS, "Findings, each a summary and an explanation with citations."),
        Column("full_content_json", TEXT, "The report as JSON."),
        PERIOD,
        Column("size", INT, "Number of entities of the community."),
        Column("method", TEXT, "llm, extractive or template."),
        Column("citations", TEXT, "JSON list: ref, kind, id, document_id, start, end, quote of each cited row."),
        Column("left_out", TEXT, "JSON: how many rows did not fit the model's prompt, by table; {} if all did."),
    ),
    n_reference=15,
)
COVARIATES = Table(
    "covariates",
    "One row a claim about an entity. Empty in embedded mode.",
    ("id",),
    (
        _id("Hash of what is claimed and where."),
        HUMAN_ID,
        Column("covariate_type", TEXT, "Always claim."),
        Column("type", TEXT, "Kind of claim."),
        Column("description", TEXT, "The claim in a sentence."),
        Column("subject_id", TEXT, "Title of the entity the claim is about."),
        Column("object_id", TEXT, "Title of the other entity.", nullable=True),
        Column("status", TEXT, "true, false or suspected."),
        Column("start_date", TEXT, "ISO date or empty."),
        Column("end_date", TEXT, "ISO date or empty."),
        Column("source_text", TEXT, "The quote."),
        Column("text_unit_id", TEXT, "Where it is said."),
    ),
    n_reference=12,
)
ENTITY_MENTIONS = Table(
    "entity_mentions",
    "One row a place where a name stands.",
    ("id",),
    (
        _id("Hash of text unit, span and surface."),
        Column("entity_id", TEXT, "Entity meant; null only before disambiguation.", nullable=True),
        Column("text_unit_id", TEXT, "First text unit that holds it."),
        Column("document_id", TEXT, "Document it stands in."),
        Column(
            "surface",
            TEXT,
            "The name as written: documents.text[start_char:end_char] with spaces collapsed. Where method is "
            "llm_unverified: a model's own word for something in that span; import: the title that the files give.",
        ),
        Column("type", TEXT, "Type given by the extractor; unknown if none."),
        Column("description", TEXT, "What this place says it is; may be empty."),
        *SPAN,
        Column(
            "method", TEXT, "spacy, rule, lite, declared, llm, link, import; llm_unverified: not a name in the text."
        ),
    ),
)
RELATIONSHIP_MENTIONS = Table(
    "relationship_mentions",
    "Internal: one row a statement of a relation, before disambiguation. The span is the sentence's.",
    ("id",),
    (
        _id("Hash of text unit, sentence span, subject, predicate and object."),
        Column("text_unit_id", TEXT, "First text unit that holds the sentence; null for authored.", nullable=True),
        Column("document_id", TEXT, "Document it stands in."),
        Column("subject", TEXT, "Surface of the subject's mention (the antecedent, where the sentence says it)."),
        Column("predicate", TEXT, "Lower snake_case."),
        Column("object", TEXT, "Surface of the object's mention."),
        Column("subject_surface", TEXT, "The subject as written in the sentence."),
        Column("predicate_surface", TEXT, "The verb or phrase as written."),
        Column("object_surface", TEXT, "The object as written in the sentence."),
        Column("description", TEXT, "What is said; may be empty."),
        Column("strength", FLOAT, "1 to 10, from a model.", nullable=True),
        *SPAN,
        Column("is_verified", BOOL, "Both surfaces occur in the quoted sentence."),
        Column("origin", TEXT, "extracted, link, authored or cooccurrence."),
        Column("method", TEXT, "spacy, rule, lite, llm, link, import (the span is the whole text unit), ..."),
    ),
)
EVIDENCE = Table(
    "evidence",
    "One row a sentence that states a relationship, with its place and words.",
    ("id",),
    (
        _id("Hash of relationship, document and span."),
        Column("relationship_id", TEXT, "What it states."),
        Column("text_unit_id", TEXT, "First text unit that holds it; null for authored relations.", nullable=True),
        Column("document_id", TEXT, "Document it stands in."),
        *SPAN,
        Column("quote", TEXT, "documents.text[start_char:end_char], to the letter."),
        Column("subject_surface", TEXT, "The subject as written."),
        Column("predicate_surface", TEXT, "The verb or phrase as written."),
        Column("object_surface", TEXT, "The object as written."),
        Column("description", TEXT, "What is said; may be empty."),
        Column("strength", FLOAT, "1 to 10, from a model.", nullable=True),
        Column("is_verified", BOOL, "Both surfaces occur in the quote; true of a link, which is the quote itself."),
    ),
)
ALIASES = Table(
    "aliases",
    "One row a surface of an entity other than its title, with why it means that entity.",
    ("surface", "entity_id"),
    (
        Column("surface", TEXT, "The other name."),
        Column("entity_id", TEXT, "Entity it means."),
        Column("method", TEXT, "user, frontmatter, merge, note_title, appositive, key, suffix, acronym, ..."),
        Column("score", FLOAT, "1 for rules; similarity where one was measured."),
        Column("reason", TEXT, "One sentence for people."),
        Column("decided_by", TEXT, "rule, vector, judge or user."),
    ),
)
ALIAS_CANDIDATES = Table(
    "alias_candidates",
    "One row a pair of names that was looked at and not merged.",
    ("surface_a", "surface_b", "entity_id_a", "entity_id_b"),
    (
        Column("surface_a", TEXT, "The first name (by key)."),
        Column("surface_b", TEXT, "The second name."),
        Column("entity_id_a", TEXT, "Entity of the first."),
        Column("entity_id_b", TEXT, "Entity of the second."),
        Column("method", TEXT, "What proposed the pair: token_subset, edit, acronym, homonym, ..."),
        Column("score", FLOAT, "Similarity, 0 to 1."),
        Column("verdict", TEXT, "never (kept apart) or propose (undecided)."),
        Column("reason", TEXT, "One sentence for people."),
        Column("decided_by", TEXT, "rule, user or judge; propose by judge: it was asked and was unsure."),
    ),
)
RELATIONSHIP_EVENTS = Table(
    "relationship_events",
    "One row an event of the authored relations' audit log.",
    ("event_id",),
    (
        Column("event_id", TEXT, "Id of the event."),
        Column("relationship_id", TEXT, "Relationship it is about; null where there is none now.", nullable=True),
        Column("action", TEXT, "create, delete, retype, bridge, merge, delete_entry, already_present."),
        Column("actor", TEXT, "Who."),
        Column("source", TEXT, "author, judge, citation_backfill, metadata_backfill, bridged, import."),
        Column("reason", TEXT, "Why; may be empty."),
        Column("at", TEXT, "When, ISO."),
        Column("payload", TEXT, "Details, JSON."),
    ),
    is_log=True,
)
ENTRY_RELATIONS = Table(
    "entry_relations",
    "One row a typed relation between two entries (documents): authored, or a link of one of the 13 types.",
    ("from_document_id", "type", "to_document_id"),
    (
        Column("from_document_id", TEXT, "Entry that it starts at."),
        Column("type", TEXT, "cites, see_also, part_of, supersedes, corrects, ...: one of 13."),
        Column("to_document_id", TEXT, "Entry that it leads to."),
        Column("note", TEXT, "How the other entry pertains; may be empty."),
        Column("origin", TEXT, "authored or link."),
        Column("source", TEXT, "In what role it was written: author, judge, bridged, ...; of a link its syntax."),
        Column("actor", TEXT, "Who wrote it; empty for a link."),
        Column("event_id", TEXT, "Event of relationship_events that made it; null for a link.", nullable=True),
        Column("at", TEXT, "When, ISO; empty for a link."),
        Column("is_leak", BOOL, "The note repeats what the target says, and was kept all the same."),
    ),
)
LINKS = Table(
    "links",
    "One row a link that somebody wrote in a document.",
    ("document_id", "ordinal"),
    (
        Column("document_id", TEXT, "Document it stands in."),
        Column("ordinal", INT, "0-based position among the document's links."),
        Column("line", INT, "1-based line."),
        Column("syntax", TEXT, "wikilink, markdown, embed, frontmatter, inline_field, canvas."),
        Column("raw", TEXT, "The link as written."),
        Column(
            "target", TEXT, "Target as written, decoded, without subpath; empty for a place in the document itself."
        ),
        Column("subpath", TEXT, "Heading or block after #; empty if none."),
        Column("display", TEXT, "Display text; empty if none."),
        Column("status", TEXT, "resolved, unresolved, ambiguous, self, attachment, external."),
        Column("target_document_id", TEXT, "Document it leads to.", nullable=True),
        Column(
            "predicate", TEXT, "The field or the words that it stands for; embeds, or links_to where none say more."
        ),
        Column("description", TEXT, "What the line says of it in brackets; may be empty."),
        *SPAN,
        Column(
            "source_document_id", TEXT,
            "Document it leads from: document_id, but for an arrow on a canvas the file that it begins at.",
        ),
    ),
)  # fmt: skip
EMBEDDINGS = Table(
    "embeddings",
    "One row a vector. Row order is that of the .npy file of its owner table in the run folder.",
    ("owner_table", "owner_id"),
    (
        Column(
            "owner_table",
            TEXT,
            "entities, relationships, text_units or community_reports; documents for imported vectors.",
        ),
        Column("owner_id", TEXT, "id of the row it stands for."),
        Column("model", TEXT, "Name of the embedding model."),
        Column("dim", INT, "Number of dimensions."),
        Column("content_sha256", TEXT, "sha256 of the text that was embedded."),
        Column("vector", VECTOR, "Normalised to length 1. In the Parquet file and the .npy only, not in DuckDB."),
    ),
)
FAILURES = Table(
    "failures",
    "One row a thing that could not be done, with the true reason.",
    (),
    (
        Column("stage", TEXT, "Stage that failed on it."),
        Column("item_id", TEXT, "Path, row id or name of what failed."),
        Column("document_id", TEXT, "Document it belongs to.", nullable=True),
        Column("reason", TEXT, "One of the fixed words of docs/failures.md, such as empty_document."),
        Column("detail", TEXT, "What exactly, in words."),
        Column("raw_reply", TEXT, "What the model said, where one did.", nullable=True),
        Column("run_id", TEXT, "Run it happened in."),
    ),
    is_log=True,
)
LLM_CALLS = Table(
    "llm_calls",
    "One row a call to a language or embedding model.",
    (),
    (
        Column("run_id", TEXT, "Run it was made for."),
        Column("stage", TEXT, "Stage that asked."),
        Column("model", TEXT, "Model asked."),
        Column("key", TEXT, "Memo key of the request."),
        Column("cached", BOOL, "Answered from the memo: nothing was paid."),
        Column("prompt_tokens", INT, "Tokens sent."),
        Column("completion_tokens", INT, "Tokens received."),
        Column("cached_tokens", INT, "Tokens the provider had cached."),
        Column("cost_usd", FLOAT, "Price; null where it is unknown.", nullable=True),
        Column("latency_ms", INT, "Time of the last attempt, milliseconds."),
        Column("attempts", INT, "Attempts made."),
        Column("status", TEXT, "ok or what went wrong."),
        Column("is_estimated", BOOL, "The provider named no tokens: our tokenizer counted."),
    ),
    is_log=True,
)
RUNS = Table(
    "runs",
    "One row a run.",
    ("run_id",),
    (
        Column("run_id", TEXT, "UTC time and a random suffix."),
        Column("started_at", TEXT, "ISO, UTC."),
        Column("finished_at", TEXT, "ISO, UTC.", nullable=True),
        Column("status", TEXT, "running, published, unchanged, held, incomplete, failed."),
        Column("settings_sha256", TEXT, "Hash of all settings."),
        Column("n_documents", INT, "Documents in the tables."),
        Column("n_text_units", INT, "Text units in the tables."),
        Column("n_entities", INT, "Entities in the tables."),
        Column("n_relationships", INT, "Relationships in the tables."),
        Column("n_communities", INT, "Communities in the tables."),
        Column("n_failures", INT, "Failures of this run."),
        Column("llm_calls", INT, "Calls paid for."),
        Column("cost_usd", FLOAT, "Cost of this run."),
        Column("seconds", FLOAT, "Wall seconds."),
    ),
    is_log=True,
)
RUN_CHANGES = Table(
    "run_changes",
    "One row a row that this run added, removed or changed.",
    (),
    (
        Column("run_id", TEXT, "The run."),
        Column("table", TEXT, "Table changed."),
        Column("id", TEXT, "id of the row."),
        Column("label", TEXT, "Title, or source predicate target."),
        Column("change", TEXT, "added, removed, changed or renamed."),
        Column("detail", TEXT, "What changed; may be empty."),
    ),
    is_log=True,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        DOCUMENTS, TEXT_UNITS, ENTITIES, RELATIONSHIPS, COMMUNITIES, COMMUNITY_REPORTS, COVARIATES, ENTITY_MENTIONS,
        RELATIONSHIP_MENTIONS, EVIDENCE, ALIASES, ALIAS_CANDIDATES, ENTRY_RELATIONS, RELATIONSHIP_EVENTS, LINKS,
        EMBEDDINGS, FAILURES, LLM_CALLS, RUNS, RUN_CHANGES,
    )
}  # fmt: skip


def is_bare_link() -> pl.Expr:
    """Of relationships: a link without a word on the relation. It joins pages, and is no way for a failure to go."""
    return (pl.col("origin") == "link") & pl.col("predicate").is_in(BARE_PREDICATES)


def failure_row(
    stage: str, item_id: str, reason: str, detail: str, *, document_id: str | None = None, raw_reply: str | None = None
) -> dict[str, str | None]:
    """A row for FAILURES; its run_id is filled in by the pipeline."""
    return {
        "stage": stage, "item_id": item_id, "document_id": document_id, "reason": reason, "detail": detail,
        "raw_reply": raw_reply, "run_id": "",
    }  # fmt: skip


def render_data_dictionary() -> str:
    """docs/tables.md: every table and column with dtype and meaning, as Markdown."""
    lines = ["# Tables", "", "Generated from graphrag/tables.py by `make docs`. Do not edit.", ""]
    lines += ["Columns marked `ref` equal those of microsoft/graphrag 3.x in name, order and dtype.", ""]
    for table in TABLES.values():
        key = f" Key: {', '.join(f'`{name}`' for name in table.key)}." if table.key else ""
        lines += [
            f"## {table.name}",
            "",
            f"{table.meaning}{key}",
            "",
            "| column | dtype | | meaning |",
            "|---|---|---|---|",
        ]
        for position, column in enumerate(table.columns):
            marks = ["ref"] * (position < table.n_reference) + ["null"] * column.nullable
            lines.append(f"| {column.name} | {_dtype_name(column.dtype)} | {' '.join(marks)} | {column.meaning} |")
        lines.append("")
    return "\n".join(lines)


def _dtype_name(dtype: pl.DataType) -> str:
    names = {TEXTS: "list<string>", INTS: "list<int64>", VECTOR: "list<float>", TEXT: "string", INT: "int64"}
    names |= {FLOAT: "double", BOOL: "bool", FINDINGS: "list<struct<explanation string, summary string>>"}
    return names[dtype]
