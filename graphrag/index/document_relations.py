"""Relations between documents that people wrote -> statements of the graph, by document (specs: linked documents 1).

Reads links, entry_relations, documents, text_units; gives document_relations: the columns of relationship_mentions, the
documents at the two ends, and the quote where that is no place in a text: the note of an authored relation. Every
document in it is an entity (disambiguation finds which), whether or not a text names it; graph.py puts these rows
beside what was extracted. A further origin is one more function here that gives such rows.

Does not: resolve links (links.py), or decide which entity a document is.
"""

from __future__ import annotations

import polars as pl

from graphrag.ids import row_id
from graphrag.index.link_targets import AMBIGUOUS, RESOLVED
from graphrag.tables import BARE_PREDICATES, RELATIONSHIP_MENTIONS

SCHEMA = pl.Schema(
    {
        **RELATIONSHIP_MENTIONS.schema, "source_document_id": pl.String(), "target_document_id": pl.String(),
        "quote": pl.String(),
    }
)  # fmt: skip


def relate_documents(
    links: pl.DataFrame, entry_relations: pl.DataFrame, documents: pl.DataFrame, text_units: pl.DataFrame
) -> pl.DataFrame:
    """All statements on two documents, of every origin, by document and place."""
    return pl.concat([relate_links(links, documents, text_units), relate_authored(entry_relations, documents)])


def relate_authored(entry_relations: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """One row an authored relation, without a text unit: its note is the quote, who wrote it in what role is the
    description (specs: folding 8)."""
    titles = documents.select("id", "title")
    frame = (
        entry_relations.filter(pl.col("origin") == "authored")
        .join(titles.rename({"id": "from_document_id", "title": "subject"}), on="from_document_id", how="left",
              maintain_order="left")
        .join(titles.rename({"id": "to_document_id", "title": "object"}), on="to_document_id", how="left",
              maintain_order="left")
    )  # fmt: skip
    keys = frame.select("from_document_id", "type", "to_document_id").iter_rows()
    said = pl.concat_str("actor", pl.lit(", "), "source", pl.lit(", event "), "event_id")
    none, nowhere = pl.lit(None, dtype=pl.String), pl.lit(0, dtype=pl.Int64)
    return frame.select(
        pl.Series("id", [row_id("authored", *key) for key in keys], dtype=pl.String), none.alias("text_unit_id"),
        pl.col("from_document_id").alias("document_id"), "subject", pl.col("type").alias("predicate"), "object",
        pl.col("subject").alias("subject_surface"), pl.col("type").alias("predicate_surface"),
        pl.col("object").alias("object_surface"), said.alias("description"),
        pl.lit(None, dtype=pl.Float64).alias("strength"), nowhere.alias("start_char"), nowhere.alias("end_char"),
        pl.lit(value=True).alias("is_verified"), pl.col("origin"), pl.lit("authored").alias("method"),
        pl.col("from_document_id").alias("source_document_id"),
        pl.col("to_document_id").alias("target_document_id"), pl.col("note").alias("quote"),
    ).cast(SCHEMA)  # fmt: skip


def relate_links(links: pl.DataFrame, documents: pl.DataFrame, text_units: pl.DataFrame) -> pl.DataFrame:
    """One row a link to another document; text_unit_id is null where it stands in front matter.

    What is unresolved, external, an attachment or a link to the document itself states nothing.
    """
    leading = links.filter(
        pl.col("status").is_in([RESOLVED, AMBIGUOUS]) & (pl.col("target_document_id") != pl.col("source_document_id"))
    )
    titles = documents.select("id", "title")
    frame = (
        _find_text_units(leading, text_units)
        .join(titles.rename({"id": "source_document_id", "title": "subject"}), on="source_document_id", how="left")
        .join(titles.rename({"id": "target_document_id", "title": "object"}), on="target_document_id", how="left")
        .sort("document_id", "ordinal")
    )
    ids = [
        row_id("link", document, str(ordinal))
        for document, ordinal in frame.select("document_id", "ordinal").iter_rows()
    ]
    words = pl.when(pl.col("predicate").is_in(BARE_PREDICATES)).then(pl.lit("")).otherwise("predicate")
    return frame.select(
        pl.Series("id", ids, dtype=pl.String), "text_unit_id", "document_id", "subject", "predicate", "object",
        pl.col("subject").alias("subject_surface"), words.alias("predicate_surface"),
        pl.col("target").alias("object_surface"), "description", pl.lit(None, dtype=pl.Float64).alias("strength"),
        "start_char", "end_char", pl.lit(value=True).alias("is_verified"), pl.lit("link").alias("origin"),
        pl.lit("link").alias("method"), "source_document_id", "target_document_id",
        pl.lit(None, dtype=pl.String).alias("quote"),
    ).cast(SCHEMA)  # fmt: skip


def list_related(document_relations: pl.DataFrame) -> list[str]:
    """The ids of the documents at any end, sorted."""
    ends = [document_relations[f"{end}_document_id"] for end in ("source", "target")]
    return pl.concat(ends).unique().sort().to_list()


def _find_text_units(links: pl.DataFrame, text_units: pl.DataFrame) -> pl.DataFrame:
    """With text_unit_id: the first unit that holds the whole link. Units of a document rise with both their ends."""
    units = text_units.select("document_id", "end_char", "start_char", text_unit_id="id").sort("end_char", "start_char")
    held = links.sort("end_char", "start_char").join_asof(
        units.rename({"start_char": "unit_start"}), on="end_char", by="document_id", strategy="forward",
        check_sortedness=False,
    )  # fmt: skip
    inside = pl.when(pl.col("unit_start") <= pl.col("start_char")).then("text_unit_id")
    return held.with_columns(inside.alias("text_unit_id"))
