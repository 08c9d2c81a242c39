"""Clusters, mentions, relation statements -> entities, relationships, evidence (specs: indexing 4, context graph 1).

Every measure is derived from evidence here and nowhere else: weight, n_documents, frequency, degree, pagerank, cut
vertices. Copies of a text count once. Reads clusters, entity_mentions, relationship_mentions, document_relations,
text_units, documents; writes entities, relationships, evidence, and the id lists of text_units and documents.

Does not: write descriptions (index/summaries.py) or give numbers for people (human_readable_id is the row number).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from graphrag import tables
from graphrag.graphs import cut_vertices, pagerank
from graphrag.ids import content_sha256, relationship_id, row_id
from graphrag.names import name_key
from graphrag.tables import INT, is_bare_link

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORIGINS = ("authored", "link", "extracted", "cooccurrence")  # strongest first
ORIGIN_RANKS = {origin: rank for rank, origin in enumerate(ORIGINS)}
MIN_STRENGTH, MAX_STRENGTH = 1.0, 10.0
MIN_HUB_DEGREE = 15
HUB_PERCENTILE = 0.95
PAGERANK_DIGITS = 9


class Graph(NamedTuple):
    entities: pl.DataFrame
    relationships: pl.DataFrame
    evidence: pl.DataFrame
    text_units: pl.DataFrame
    documents: pl.DataFrame
    failures: pl.DataFrame


def build_graph(
    clusters: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    document_relations: pl.DataFrame | None = None,
) -> Graph:
    """The graph of what the documents state. `clusters`: entity_id, title, type, surfaces, document_ids; mentions carry
    entity_id. `document_relations` (document_relations.SCHEMA): what people wrote of two documents."""
    named = clusters.with_columns(key=pl.col("title").map_elements(name_key, return_dtype=pl.String))
    resolved = _resolve_ends(relationship_mentions, entity_mentions, named)
    if document_relations is not None:
        resolved = pl.concat([resolved, _resolve_documents(document_relations, named).select(resolved.columns)])
    failures = _failure_rows(resolved, named)
    stated = _drop_needless(resolved)
    evidence = _build_evidence(stated, text_units, documents)
    relationships = _build_relationships(evidence, named, text_units, documents)
    entities = _build_entities(named, entity_mentions, relationships, text_units, documents)
    relationships = _add_degrees(relationships, entities)
    return Graph(
        entities=tables.ENTITIES.conform(entities),
        relationships=tables.RELATIONSHIPS.conform(relationships),
        evidence=tables.EVIDENCE.conform(evidence.select(tables.EVIDENCE.names)),
        text_units=_fill_text_units(text_units, entities, relationships),
        documents=_fill_documents(documents, text_units),
        failures=tables.FAILURES.from_rows(failures),
    )


def _resolve_ends(
    relationship_mentions: pl.DataFrame, entity_mentions: pl.DataFrame, named: pl.DataFrame
) -> pl.DataFrame:
    """source_id, target_id and keys: of the mention with that surface in the unit, else document, else anywhere."""
    places = entity_mentions.sort("document_id", "start_char", "id").select(
        "text_unit_id", "document_id", "surface", "entity_id"
    )
    frame = relationship_mentions.with_columns(quote=pl.lit(None, dtype=pl.String))
    for end, name in (("source", "subject"), ("target", "object")):
        for n, by in enumerate((["text_unit_id"], ["document_id"], [])):
            found = places.unique([*by, "surface"], keep="first", maintain_order=True).select(
                *by, pl.col("surface").alias(name), pl.col("entity_id").alias(f"{end}_{n}")
            )
            frame = frame.join(found, on=[*by, name], how="left")
        frame = frame.with_columns(pl.coalesce(f"{end}_0", f"{end}_1", f"{end}_2").alias(f"{end}_id")).drop(
            f"{end}_0", f"{end}_1", f"{end}_2"
        )
        frame = frame.join(_keys_of(named, end), on=f"{end}_id", how="left")
    return frame.sort("document_id", "start_char", "end_char", "id")


def _resolve_documents(document_relations: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """source_id, target_id and keys: of the entities that the two documents are."""
    nodes = named.select("entity_id", document="document_ids").explode("document").drop_nulls("document")
    frame = document_relations
    for end in ("source", "target"):
        of_end = nodes.rename({"entity_id": f"{end}_id", "document": f"{end}_document_id"})
        frame = frame.join(of_end, on=f"{end}_document_id", how="left")
        frame = frame.join(_keys_of(named, end), on=f"{end}_id", how="left")
    return frame.sort("document_id", "start_char", "end_char", "id")


def _keys_of(named: pl.DataFrame, end: str) -> pl.DataFrame:
    return named.select(pl.col("entity_id").alias(f"{end}_id"), pl.col("key").alias(f"{end}_key"))


def _failure_rows(resolved: pl.DataFrame, named: pl.DataFrame) -> list[dict[str, str | None]]:
    titles = dict(named.select("entity_id", "title").iter_rows())
    rows = []
    for row in resolved.filter(pl.col("origin") != "cooccurrence").iter_rows(named=True):
        statement = f'"{row["subject"]}" {row["predicate"]} "{row["object"]}"'
        if row["source_id"] is None or row["target_id"] is None:
            reason, detail = "unknown_endpoint", f"{statement}: no mention of one of the two."
        elif row["source_id"] == row["target_id"]:
            reason, detail = "self_relationship", f"{statement}: both are {titles[row['source_id']]}."
        else:
            continue
        rows.append(tables.failure_row("graph", row["id"], reason, detail, document_id=row["document_id"]))
    return rows


def _drop_needless(resolved: pl.DataFrame) -> pl.DataFrame:
    """Without self relationships, unresolved ends, and co-occurrence of pairs that a typed relationship joins."""
    known = resolved.filter(pl.col("source_id") != pl.col("target_id"))
    source, target = pl.col("source_id"), pl.col("target_id")
    known = known.with_columns(low=pl.min_horizontal(source, target), high=pl.max_horizontal(source, target))
    is_cooccurrence = pl.col("origin") == "cooccurrence"
    typed = known.filter(~is_cooccurrence).select("low", "high").unique()
    loose = known.filter(is_cooccurrence).join(typed, on=["low", "high"], how="anti")
    # Co-occurrence has no direction: the smaller key is the source.
    pairs = [(f"source{part}", f"target{part}") for part in ("_id", "_key")]
    loose = loose.with_columns(turned=_is_after("source", "target")).with_columns(
        *(pl.when("turned").then(b).otherwise(a).alias(a) for a, b in pairs),
        *(pl.when("turned").then(a).otherwise(b).alias(b) for a, b in pairs),
        pl.when("turned").then("object_surface").otherwise("subject_surface").alias("subject_surface"),
        pl.when("turned").then("subject_surface").otherwise("object_surface").alias("object_surface"),
    )
    return pl.concat([known.filter(~is_cooccurrence), loose.drop("turned")]).drop("low", "high")


def _is_after(a: str, b: str) -> pl.Expr:
    key_a, key_b = pl.col(f"{a}_key"), pl.col(f"{b}_key")
    return (key_a > key_b) | ((key_a == key_b) & (pl.col(f"{a}_id") > pl.col(f"{b}_id")))


def _build_evidence(stated: pl.DataFrame, text_units: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """One row a relationship, document and span; of overlapping text units the first one holds it."""
    texts = dict(documents.select("id", "text").iter_rows())
    triples = stated.select("source_id", "predicate", "target_id").unique()
    triples = triples.with_columns(
        relationship_id=pl.Series([relationship_id(*row) for row in triples.iter_rows()], dtype=pl.String)
    )
    starts = text_units.select(pl.col("id").alias("text_unit_id"), pl.col("start_char").alias("unit_start"))
    strength = pl.col("strength")
    frame = (
        stated.join(triples, on=["source_id", "predicate", "target_id"])
        .join(starts, on="text_unit_id", how="left")
        .with_columns(pl.when(strength.is_finite()).then(strength.clip(MIN_STRENGTH, MAX_STRENGTH)).alias("strength"))
        .with_columns(rank=pl.col("origin").replace_strict(ORIGIN_RANKS, return_dtype=pl.Int64))
        .sort("document_id", "start_char", "end_char", "unit_start", "rank", -pl.col("strength"), "id", nulls_last=True)
        .unique(["relationship_id", "document_id", "start_char", "end_char"], keep="first", maintain_order=True)
    )
    quotes, row_ids = [], []
    for relationship, document, start, end, note in frame.select(
        "relationship_id", "document_id", "start_char", "end_char", "quote"
    ).iter_rows():
        quotes.append(texts[document][start:end] if note is None else note)
        row_ids.append(row_id("evidence", relationship, document, str(start), str(end)))
    paths = documents.select(pl.col("id").alias("document_id"), "path")
    return (
        frame.with_columns(quote=pl.Series(quotes, dtype=pl.String), id=pl.Series(row_ids, dtype=pl.String))
        .join(paths, on="document_id", how="left")
        .sort("source_key", "predicate", "target_key", "relationship_id", "path", "start_char", "end_char")
    )


def _build_relationships(
    evidence: pl.DataFrame, named: pl.DataFrame, text_units: pl.DataFrame, documents: pl.DataFrame
) -> pl.DataFrame:
    titles = named.select("entity_id", "title")
    counted = _with_contents(evidence, text_units, documents)
    return (
        counted.group_by("relationship_id", "source_id", "predicate", "target_id", "source_key", "target_key")
        .agg(
            # Evidence without a text unit (authored, front matter) counts by document.
            pl.coalesce("unit_content", pl.lit("document ") + pl.col("content_sha256")).n_unique().alias("weight"),
            pl.col("text_unit_id").drop_nulls().unique().sort().alias("text_unit_ids"),
            pl.col("content_sha256").n_unique().cast(pl.Int64).alias("n_documents"),
            pl.col("rank").min(),
        )
        .join(titles.select(pl.col("entity_id").alias("source_id"), pl.col("title").alias("source")), on="source_id")
        .join(titles.select(pl.col("entity_id").alias("target_id"), pl.col("title").alias("target")), on="target_id")
        .sort("source_key", "predicate", "target_key", "relationship_id")
        .with_columns(
            pl.col("weight").cast(pl.Float64),
            origin=pl.col("rank").replace_strict(dict(enumerate(ORIGINS)), return_dtype=pl.String),
            id=pl.col("relationship_id"),
            description=pl.lit(""),
            human_readable_id=pl.int_range(pl.len(), dtype=pl.Int64),
        )
    )


def _with_contents(frame: pl.DataFrame, text_units: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Adds unit_content (hash of the unit's text, null without unit) and content_sha256 of the document."""
    hashes = text_units.select(
        pl.col("id").alias("text_unit_id"),
        pl.col("text").map_elements(content_sha256, return_dtype=pl.String).alias("unit_content"),
    )
    contents = documents.select(pl.col("id").alias("document_id"), "content_sha256")
    return frame.join(hashes, on="text_unit_id", how="left").join(contents, on="document_id", how="left")


def _build_entities(
    named: pl.DataFrame,
    entity_mentions: pl.DataFrame,
    relationships: pl.DataFrame,
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
) -> pl.DataFrame:
    """One row a cluster that is mentioned or is a document."""
    counts = (
        _with_contents(entity_mentions, text_units, documents)
        .group_by("entity_id")
        .agg(
            pl.col("text_unit_id").unique().sort().alias("text_unit_ids"),
            pl.col("unit_content").n_unique().cast(pl.Int64).alias("frequency"),
            pl.col("content_sha256").n_unique().cast(pl.Int64).alias("n_documents"),
        )
    )
    frame = (
        named.join(counts, on="entity_id", how="left")
        .filter(pl.col("frequency").is_not_null() | (pl.col("document_ids").list.len() > 0))
        .with_columns(
            pl.col("text_unit_ids").fill_null(pl.lit([], dtype=pl.List(pl.String))),
            pl.col("frequency", "n_documents").fill_null(0),
        )
        .join(_count_neighbours(relationships), on="entity_id", how="left")
        .sort("key", "entity_id")
        .with_columns(pl.col("degree").fill_null(0))
    )
    cutoff = hub_cutoff(frame["degree"])
    return frame.select(
        pl.col("entity_id").alias("id"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("human_readable_id"),
        "title",
        "type",
        pl.lit("").alias("description"),
        "text_unit_ids",
        "frequency",
        "degree",
        pl.col("surfaces").list.sort().alias("aliases"),
        "n_documents",
        _rank_entities(frame["entity_id"], relationships).alias("pagerank"),
        (pl.col("degree") > cutoff).alias("is_hub"),
        _find_cut_vertices(frame["entity_id"], relationships).alias("is_cut_vertex"),
    )


def _count_neighbours(relationships: pl.DataFrame) -> pl.DataFrame:
    typed = relationships.filter(pl.col("origin") != "cooccurrence")
    both = [
        typed.select(pl.col(a).alias("entity_id"), pl.col(b).alias("near"))
        for a, b in (("source_id", "target_id"), ("target_id", "source_id"))
    ]
    return pl.concat(both).group_by("entity_id").agg(pl.col("near").n_unique().cast(pl.Int64).alias("degree"))


def hub_cutoff(degrees: pl.Series) -> int:
    """A hub has a degree above this: max(15, 95th percentile, linear, rounded down) (specs: context graph 15)."""
    percentile = degrees.quantile(HUB_PERCENTILE, interpolation="linear")
    return max(MIN_HUB_DEGREE, math.floor(percentile if percentile is not None else 0))


def _rank_entities(entity_ids: pl.Series, relationships: pl.DataFrame) -> pl.Series:
    """PageRank. What is stated counts both ways; a bare link counts for its target alone, as on the web, so that a map
    of contents is not important because it points at everything."""
    both = relationships.filter(~is_bare_link())
    pairs, weights = _number_ends(entity_ids, both), both["weight"].to_numpy()
    bare = relationships.filter(is_bare_link())
    edges = np.concatenate([pairs, pairs[:, ::-1], _number_ends(entity_ids, bare)])
    counts = np.concatenate([weights, weights, bare["weight"].to_numpy()])
    ranks = pagerank(len(entity_ids), edges, counts, directed=True)
    return pl.Series([round(float(rank), PAGERANK_DIGITS) for rank in ranks], dtype=pl.Float64)


def _find_cut_vertices(entity_ids: pl.Series, relationships: pl.DataFrame) -> pl.Series:
    """A page that links to both sides is no way round: bare links join nothing here."""
    typed = relationships.filter((pl.col("origin") != "cooccurrence") & ~is_bare_link())
    return pl.Series(cut_vertices(len(entity_ids), _number_ends(entity_ids, typed)), dtype=pl.Boolean)


def _number_ends(entity_ids: pl.Series, relationships: pl.DataFrame) -> NDArray[np.int64]:
    """(m, 2): the two ends of each relationship as positions in entity_ids."""
    position = pl.DataFrame({"id": entity_ids, "position": range(len(entity_ids))}, schema_overrides={"position": INT})
    ends = [
        relationships.select(id=end).join(position, on="id", how="left", maintain_order="left")["position"].to_numpy()
        for end in ("source_id", "target_id")
    ]
    return np.column_stack(ends).astype(np.int64)


def _add_degrees(relationships: pl.DataFrame, entities: pl.DataFrame) -> pl.DataFrame:
    degree = entities.select("id", "degree")
    joined = relationships
    for end in ("source", "target"):
        of_end = degree.select(pl.col("id").alias(f"{end}_id"), pl.col("degree").alias(f"{end}_degree"))
        joined = joined.join(of_end, on=f"{end}_id", how="left", maintain_order="left")
    joined = joined.with_columns(combined_degree=pl.col("source_degree") + pl.col("target_degree"))
    return joined.select(tables.RELATIONSHIPS.names)


def _fill_text_units(text_units: pl.DataFrame, entities: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    frame = text_units
    for column, owners in (("entity_ids", entities), ("relationship_ids", relationships)):
        lists = (
            owners.select(pl.col("id").alias("owner"), pl.col("text_unit_ids").alias("id"))
            .explode("id")
            .drop_nulls("id")
            .group_by("id")
            .agg(pl.col("owner").sort().alias(column))
        )
        frame = frame.drop(column).join(lists, on="id", how="left", maintain_order="left")
        frame = frame.with_columns(pl.col(column).fill_null(pl.lit([], dtype=pl.List(pl.String))))
    return tables.TEXT_UNITS.conform(frame)


def _fill_documents(documents: pl.DataFrame, text_units: pl.DataFrame) -> pl.DataFrame:
    lists = (
        text_units.sort("document_id", "start_char", "end_char", "id")
        .group_by("document_id", maintain_order=True)
        .agg(pl.col("id").alias("text_unit_ids"))
        .rename({"document_id": "id"})
    )
    frame = documents.drop("text_unit_ids").join(lists, on="id", how="left", maintain_order="left")
    empty = pl.lit([], dtype=pl.List(pl.String))
    return tables.DOCUMENTS.conform(frame.with_columns(pl.col("text_unit_ids").fill_null(empty)))
