"""Descriptions of entities and relationships, joined from what the documents say (specs: indexing 4).

Distinct texts in order of document path and offset, up to a length; never cut inside a word. Reads entity_mentions,
evidence, documents; fills `description` of entities and relationships.

Does not: write anything new. With a model, long descriptions will be summarised; here they are cut.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from graphrag import tables
from graphrag.sentences import sentence_spans

MAX_CHARACTERS = 600


def describe_entities(
    entities: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    max_characters: int = MAX_CHARACTERS,
) -> pl.DataFrame:
    """Entities with the descriptions of their mentions, joined."""
    paths = documents.select(pl.col("id").alias("document_id"), "path")
    said = (
        entity_mentions.filter(pl.col("description") != "")
        .join(paths, on="document_id", how="left")
        .sort("path", "start_char", "end_char", "id")
        .select(pl.col("entity_id").alias("id"), "description")
    )
    return tables.ENTITIES.conform(_fill_descriptions(entities, said, max_characters))


def describe_relationships(
    relationships: pl.DataFrame, evidence: pl.DataFrame, *, max_characters: int = MAX_CHARACTERS
) -> pl.DataFrame:
    """Relationships with the descriptions of their evidence, joined; its quote where an extractor gave none.

    Evidence is taken in the order of its rows: by document path and offset within a relationship (index/graph.py).
    """
    text = pl.when(pl.col("description") != "").then("description").otherwise("quote")
    said = evidence.select(pl.col("relationship_id").alias("id"), text.alias("description"))
    return tables.RELATIONSHIPS.conform(_fill_descriptions(relationships, said, max_characters))


def _fill_descriptions(frame: pl.DataFrame, said: pl.DataFrame, max_characters: int) -> pl.DataFrame:
    grouped = said.group_by("id", maintain_order=True).agg("description")
    joined = grouped.with_columns(
        pl.Series("description", [join_texts(texts, max_characters) for texts in grouped["description"]], pl.String)
    )
    return (
        frame.drop("description")
        .join(joined, on="id", how="left", maintain_order="left")
        .with_columns(pl.col("description").fill_null(""))
    )


def join_texts(texts: Iterable[str], max_characters: int) -> str:
    """Distinct texts (compared without case and space) in order, as long as they fit; the first is cut if it must."""
    kept: list[str] = []
    seen: set[str] = set()
    length = 0
    for text in texts:
        line = " ".join(text.split())
        if not line or line.casefold().rstrip(".") in seen:
            continue
        seen.add(line.casefold().rstrip("."))
        if not kept:
            line = cut_text(line, max_characters)
        elif length + len(line) > max_characters:
            break
        kept.append(line)
        length += len(line) + 1
    return " ".join(kept)


def cut_text(text: str, max_characters: int) -> str:
    """The text up to the last sentence that fits; without one, up to the last word, with a mark."""
    if len(text) <= max_characters:
        return text
    ends = [end for _, end in sentence_spans(text) if end <= max_characters]
    if ends:
        return text[: ends[-1]]
    head = text[: max_characters - 1]
    return (head.rpartition(" ")[0] or head) + "…"
