"""Vectors of what search looks for by meaning: entities, facts, text units and community reports.

Reads entities, relationships, text_units, community_reports; writes embeddings and failures.

What is embedded is short where a short text says it: an entity is its title and the start of its description, a fact is
its rendered triple, a report its title and summary; a text unit is embedded whole, under its headings. Co-occurrences
are no facts and have no vector. Descriptions are cut because, without a model, they repeat the sentences of the text
units: on 1 MB of text they would cost as much again as the units and find nothing more.

Does not: load a model itself (vectors.py), store vectors (store/run_files.py), or decide what a search does with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from graphrag import tables, vectors
from graphrag.batches import MapBatches
from graphrag.ids import content_sha256
from graphrag.llm.embeddings import Vectors
from graphrag.memo import Memo

STAGE = "embeddings"
NO_MODEL = "none"
MAX_ENTITY_CHARACTERS = 160
MAX_REPORT_CHARACTERS = 700


class Embeddings(NamedTuple):
    embeddings: pl.DataFrame
    failures: pl.DataFrame


def build_embeddings(
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    text_units: pl.DataFrame,
    community_reports: pl.DataFrame,
    *,
    model: str,
    processes: int,
    memo: Memo | None,
    map_batches: MapBatches | None = None,
    ask: Callable[[list[str]], Vectors] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Embeddings:
    """One vector an owner, sorted by owner table and owner id.

    model: a name that vectors.load_embedder knows, or `none` for no vectors. map_batches: where texts are embedded
    instead of in `processes` of this machine. ask: where `model` is a service, what
    embeds its texts (Llm.embed). Where the model is not installed there is
    one failures row (missing_model) and no vectors; a vector without direction is one failures row (bad_vector) each.
    Raises ModelError when the model is there but damaged or unreadable.
    """
    owners = pl.concat(
        [
            _owners("community_reports", community_reports, render_reports(community_reports)),
            _owners("entities", entities, render_entities(entities)),
            _owners("relationships", facts := drop_cooccurrences(relationships), render_facts(facts)),
            _owners("text_units", text_units, render_text_units(text_units)),
        ]
    ).sort("owner_table", "owner_id")
    if model == NO_MODEL or owners.is_empty():
        return Embeddings(tables.EMBEDDINGS.empty(), tables.FAILURES.empty())
    if ask is None and (missing := vectors.is_available(model)):
        row = tables.failure_row(STAGE, model, "missing_model", f"{missing} {owners.height} rows have no vector.")
        return Embeddings(tables.EMBEDDINGS.empty(), tables.FAILURES.from_rows([row]))
    texts = owners["text"].to_list()
    reasons: dict[int, tuple[str, str]] = {}
    if ask is None:
        matrix = vectors.embed_texts(
            texts, model=model, processes=processes, map_batches=map_batches, memo=memo, advance=advance
        )
    else:
        matrix, reasons = ask(texts)
    is_good = np.isclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-3)  # NaN is close to nothing
    no_direction = ("bad_vector", f"{model} gave no direction")
    failures = []
    for position, (owner_table, owner_id) in enumerate(owners.select("owner_table", "owner_id").iter_rows()):
        if not is_good[position]:
            reason, detail = reasons.get(position, no_direction)
            failures.append(tables.failure_row(STAGE, owner_id, reason, f"A row of {owner_table}: {detail}."))
    if not is_good.any():
        return Embeddings(tables.EMBEDDINGS.empty(), tables.FAILURES.from_rows(failures))
    frame = owners.select(
        "owner_table",
        "owner_id",
        pl.lit(model).alias("model"),
        pl.lit(matrix.shape[1], dtype=pl.Int64).alias("dim"),
        pl.Series("content_sha256", [content_sha256(text) for text in texts], dtype=pl.String),
        pl.Series("vector", matrix, dtype=pl.Array(pl.Float32, matrix.shape[1])).cast(tables.VECTOR),
    ).filter(pl.Series(is_good))
    return Embeddings(tables.EMBEDDINGS.conform(frame), tables.FAILURES.from_rows(failures))


def render_entities(entities: pl.DataFrame) -> pl.Series:
    """`title: start of the description`, or the title alone."""
    description = pl.col("description").str.replace_all(r"\s+", " ").str.strip_chars()
    start = description.str.slice(0, MAX_ENTITY_CHARACTERS)
    text = pl.when(start == "").then("title").otherwise(pl.format("{}: {}", "title", start))
    return entities.select(text.alias("text")).to_series()


def render_text_units(text_units: pl.DataFrame) -> pl.Series:
    """The text under its headings, which often hold the name that the text calls `it`."""
    headings = pl.col("heading_path").list.join(" > ")
    text = pl.when(headings == "").then("text").otherwise(pl.format("{}\n{}", headings, "text"))
    return text_units.select(text.alias("text")).to_series()


def drop_cooccurrences(relationships: pl.DataFrame) -> pl.DataFrame:
    """The relationships that state something."""
    return relationships.filter(pl.col("origin") != "cooccurrence")


def render_facts(relationships: pl.DataFrame) -> pl.Series:
    """`source predicate target`, the predicate in words: `Auth Service depends on token cache`."""
    words = pl.col("predicate").str.replace_all("_", " ", literal=True)
    return relationships.select(pl.format("{} {} {}", "source", words, "target").alias("text")).to_series()


def render_reports(community_reports: pl.DataFrame) -> pl.Series:
    """Title and the start of the summary."""
    text = pl.format("{}. {}", "title", pl.col("summary").str.slice(0, MAX_REPORT_CHARACTERS))
    return community_reports.select(text.alias("text")).to_series()


def _owners(owner_table: str, frame: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    return pl.DataFrame(
        {"owner_table": [owner_table] * frame.height, "owner_id": frame["id"], "text": texts},
        schema={"owner_table": pl.String, "owner_id": pl.String, "text": pl.String},
    )
