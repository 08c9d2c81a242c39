"""Communities: groups of entities that have much to do with each other, in levels from coarse to fine.

Reads entities, relationships, evidence, documents; writes communities. Hierarchical Leiden over every component, by
the weight of the evidence; entities without a relationship stand together in `Unconnected entities`, the last community
of level 0, so that each entity is in exactly one community per level, down to its leaf. A leaf has no copy on deeper
levels. Communities are numbered from 0 by level, size (largest first) and smallest member by name.

Does not: write reports (reports.py), or remember last night's communities (every run starts afresh from its seed).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from graphrag import graphs, tables
from graphrag.errors import TableError
from graphrag.ids import content_sha256, row_id
from graphrag.names import name_key
from graphrag.tables import UNCONNECTED


class Communities(NamedTuple):
    communities: pl.DataFrame
    failures: pl.DataFrame


def build_communities(
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    max_community_size: int,
    resolution: float = 1.0,
    seed: int = 0,
    backend: str = "auto",
    cooccurrence_weight: float = 0.2,
) -> Communities:
    """Cluster the entities into a hierarchy of communities.

    A relationship of origin `cooccurrence` counts `cooccurrence_weight` times its weight; 0 leaves it out of the
    clustering (it is still listed in `relationship_ids`). `max_community_size` is a target: a larger group that Leiden
    cannot split stays whole and is listed in failures as `unsplit`. `backend` is auto, leidenalg or igraph.
    Raises TableError where a relationship names an entity that is not there.
    """
    nodes = _order_entities(entities)
    pairs, weights = _weigh_edges(nodes, relationships, cooccurrence_weight)
    hierarchy = graphs.cluster_hierarchy(
        len(nodes), pairs, weights,
        max_size=max_community_size, resolution=resolution, seed=seed, backend=backend,
    )  # fmt: skip
    rows = _number_communities(nodes["id"].to_list(), hierarchy)
    membership = pl.DataFrame(
        {
            "community": [row["community"] for row in rows for _ in row["entity_ids"]],
            "entity_id": [entity for row in rows for entity in row["entity_ids"]],
        },
        schema={"community": pl.Int64(), "entity_id": pl.String()},
    )
    inside = _find_inner_relationships(membership, relationships)
    lists = [
        _collect(inside, "relationship_id", "relationship_ids"),
        _collect(inside.join(_evidence_units(evidence), on="relationship_id"), "text_unit_id", "text_unit_ids"),
        _find_periods(membership, inside, entities, evidence, documents),
        _hash_contents(membership, inside, entities, evidence),
    ]
    frame = pl.DataFrame(rows, schema=ROW_SCHEMA, orient="row")
    for values in lists:
        frame = frame.join(values, on="community", how="left", maintain_order="left")
    frame = frame.with_columns(
        pl.col("relationship_ids", "text_unit_ids").fill_null([]), pl.col("period").fill_null("")
    )
    unsplit = [_unsplit_row(row, max_community_size) for row in rows if _is_unsplit(row, max_community_size)]
    return Communities(
        communities=tables.COMMUNITIES.conform(frame.select(tables.COMMUNITIES.names)),
        failures=tables.FAILURES.from_rows(unsplit),
    )


ROW_SCHEMA = {
    name: tables.COMMUNITIES.schema[name]
    for name in ("id", "human_readable_id", "community", "level", "parent", "children", "title", "entity_ids", "size")
}


def _order_entities(entities: pl.DataFrame) -> pl.DataFrame:
    """Entities by name key: the order that numbers nodes, so that neither ids nor row order decide a tie."""
    keyed = entities.select("id", "title", key=pl.col("title").map_elements(name_key, return_dtype=pl.String))
    return keyed.sort("key", "title", "id").with_row_index("node")


def _weigh_edges(
    nodes: pl.DataFrame, relationships: pl.DataFrame, cooccurrence_weight: float
) -> tuple[list[tuple[int, int]], list[float]]:
    ends = relationships.select("id", "source_id", "target_id", "weight", "origin")
    for end in ("source", "target"):
        ends = ends.join(
            nodes.select(pl.col("id").alias(f"{end}_id"), pl.col("node").alias(end)), on=f"{end}_id", how="left"
        )
    dangling = ends.filter(pl.col("source").is_null() | pl.col("target").is_null())
    if len(dangling):
        raise TableError(
            f"relationships: {len(dangling)} rows name no entity at an end, first {dangling['id'].sort()[0]}."
        )
    factor = pl.when(pl.col("origin") == "cooccurrence").then(pl.lit(float(cooccurrence_weight))).otherwise(1.0)
    ends = ends.with_columns(weight=pl.col("weight") * factor)
    return list(zip(ends["source"].to_list(), ends["target"].to_list(), strict=True)), ends["weight"].to_list()


def _number_communities(entity_ids: list[str], hierarchy: graphs.Hierarchy) -> list[dict[str, Any]]:
    """Rows of all levels with number, parent, children and members."""
    rows: list[dict[str, Any]] = []
    offset, offset_above = 0, 0
    for level, numbers in enumerate(hierarchy.levels):
        groups: list[list[int]] = [[] for _ in range(max(numbers) + 1)]
        for node, number in enumerate(numbers):
            if number >= 0:
                groups[number].append(node)
        for number, members in enumerate(groups):
            community = offset + number
            parent = offset_above + hierarchy.levels[level - 1][members[0]] if level else -1
            is_rest = level == 0 and number == hierarchy.unconnected
            ids = sorted(entity_ids[node] for node in members)
            rows.append(
                {
                    "id": row_id("community", str(level), *ids), "human_readable_id": community,
                    "community": community, "level": level, "parent": parent, "children": [],
                    "title": UNCONNECTED if is_rest else f"Community {community}",
                    "entity_ids": ids, "size": len(ids),
                }
            )  # fmt: skip
            if parent >= 0:
                rows[parent]["children"].append(community)
        offset_above, offset = offset, offset + len(groups)
    return rows


def _find_inner_relationships(membership: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    """[community, relationship_id, source_id, target_id] of relationships with both ends in the community."""
    ends = relationships.select(pl.col("id").alias("relationship_id"), "source_id", "target_id")
    of_source = ends.join(membership, left_on="source_id", right_on="entity_id")
    return of_source.join(membership, left_on=["community", "target_id"], right_on=["community", "entity_id"])


def _evidence_units(evidence: pl.DataFrame) -> pl.DataFrame:
    return evidence.select("relationship_id", "text_unit_id").drop_nulls().unique()


def _collect(frame: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
    return frame.group_by("community").agg(pl.col(column).unique().sort().alias(name))


def _find_periods(
    membership: pl.DataFrame,
    inside: pl.DataFrame,
    entities: pl.DataFrame,
    evidence: pl.DataFrame,
    documents: pl.DataFrame,
) -> pl.DataFrame:
    """Newest date among the documents that mention a member or hold evidence of an inner relationship."""
    dated = documents.filter(pl.col("creation_date") != "").select("id", "creation_date", "text_unit_ids")
    units = dated.select("creation_date", pl.col("text_unit_ids").alias("text_unit_id")).explode("text_unit_id")
    mentions = entities.select(pl.col("id").alias("entity_id"), pl.col("text_unit_ids").alias("text_unit_id"))
    by_member = mentions.explode("text_unit_id").join(units, on="text_unit_id").select("entity_id", "creation_date")
    by_fact = evidence.select("relationship_id", "document_id").join(dated, left_on="document_id", right_on="id")
    dates = [
        membership.join(by_member, on="entity_id").select("community", "creation_date"),
        inside.join(by_fact, on="relationship_id").select("community", "creation_date"),
    ]
    return pl.concat(dates).group_by("community").agg(period=pl.col("creation_date").max())


def _hash_contents(
    membership: pl.DataFrame, inside: pl.DataFrame, entities: pl.DataFrame, evidence: pl.DataFrame
) -> pl.DataFrame:
    """A hash of members and quotes. No document id, offset or count goes in: a moved or copied text changes nothing."""
    names = entities.select(
        pl.col("id").alias("entity_id"), line=pl.concat_str("id", "title", "type", "description", separator="\x1f")
    )
    quotes = evidence.select("relationship_id", line=pl.concat_str("relationship_id", "quote", separator="\x1f"))
    lines = [
        membership.join(names, on="entity_id").select("community", "line"),
        inside.join(quotes, on="relationship_id").select("community", "line"),
    ]
    gathered = pl.concat(lines).group_by("community").agg(pl.col("line").unique().sort())
    hashes = [content_sha256("\x1e".join(community_lines)) for community_lines in gathered["line"].to_list()]
    return gathered.select("community", content_sha256=pl.Series(hashes, dtype=pl.String))


def _is_unsplit(row: dict[str, Any], max_size: int) -> bool:
    return bool(row["size"] > max_size and not row["children"] and row["title"] != UNCONNECTED)


def _unsplit_row(row: dict[str, Any], max_size: int) -> dict[str, str | None]:
    detail = f"{row['size']} entities, more than the target of {max_size}, but no split of them is better than none."
    return tables.failure_row("communities", str(row["community"]), "unsplit", detail)
