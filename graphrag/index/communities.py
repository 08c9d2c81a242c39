"""Communities: groups of entities that have much to do with each other, in levels from coarse to fine.

Reads entities, relationships, evidence, documents, and last night's communities and relationships; writes communities.
Hierarchical Leiden over every component, by the weight of the evidence; entities without a relationship stand together
in `Unconnected entities`, the last community of level 0, so that each entity is in exactly one community per level,
down to its leaf. A leaf has no copy on deeper levels. Rows are in order of level, size (largest first) and smallest
member by name. A community keeps its id while half of it stays, and with its id its number.

Does not: write reports (reports.py), match communities with last night's (community_lineage.py), or read files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from graphrag import tables
from graphrag.errors import TableError
from graphrag.hierarchy import Hierarchy, cluster_hierarchy
from graphrag.ids import content_sha256
from graphrag.index.community_lineage import Group, name_communities
from graphrag.names import name_key
from graphrag.tables import UNCONNECTED

MAX_CHANGED_SHARE = 0.25
"""Above this share of entities with other relationships than last night, all may move: measured, it saves no more."""


class Communities(NamedTuple):
    """`backend`: leidenalg or igraph, whichever ran."""

    communities: pl.DataFrame
    failures: pl.DataFrame
    backend: str


def build_communities(
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    documents: pl.DataFrame,
    last_communities: pl.DataFrame | None = None,
    last_relationships: pl.DataFrame | None = None,
    *,
    max_community_size: int,
    quality: str = "modularity",
    resolution: float = 1.0,
    seed: int = 0,
    backend: str = "auto",
    layer_weights: Mapping[str, float] | None = None,
) -> Communities:
    """Cluster the entities into a hierarchy of communities, numbered by position (renumber_communities).

    `last_communities` (id, community, level, title, entity_ids) of the published run start the clustering and give
    their ids; with `last_relationships` (source_id, target_id, origin, weight) only what changed may move.
    The layers of the graph, one an origin of relationships, are added up: a relationship counts its weight times the
    `layer_weights` of its origin, 1 if absent; 0 leaves the layer out of the clustering (its relationships are still
    listed in `relationship_ids`). `max_community_size` is a target: a larger group that Leiden cannot split stays whole
    and is listed in failures as `unsplit`. `quality`, `resolution`, `backend`: see hierarchy.cluster_hierarchy.
    Raises TableError where a relationship names an entity that is not there.
    """
    nodes = _order_entities(entities)
    pairs, weights = _weigh_edges(nodes, relationships, layer_weights or {})
    last = last_communities if last_communities is not None else tables.COMMUNITIES.empty()
    hierarchy = cluster_hierarchy(
        len(nodes), pairs, weights,
        max_size=max_community_size, quality=quality, resolution=resolution, seed=seed, backend=backend,
        previous=_place_last(nodes, last), changed=_find_changed(nodes, relationships, last_relationships),
    )  # fmt: skip
    groups = _list_groups(nodes["id"].to_list(), hierarchy)
    frame = _build_rows(groups, name_communities(groups, last))
    membership = frame.select("community", pl.col("entity_ids").alias("entity_id")).explode("entity_id")
    inside = _find_inner_relationships(membership, relationships)
    lists = [
        _collect(inside, "relationship_id", "relationship_ids"),
        _collect(inside.join(_evidence_units(evidence), on="relationship_id"), "text_unit_id", "text_unit_ids"),
        _find_periods(membership, inside, entities, evidence, documents),
        _hash_contents(membership, inside, entities, relationships, evidence),
    ]
    for values in lists:
        frame = frame.join(values, on="community", how="left", maintain_order="left")
    frame = frame.with_columns(
        pl.col("relationship_ids", "text_unit_ids").fill_null([]), pl.col("period").fill_null("")
    )
    return Communities(
        communities=tables.COMMUNITIES.conform(frame.select(tables.COMMUNITIES.names)),
        failures=tables.FAILURES.from_rows(_list_unsplit(frame, max_community_size)),
        backend=hierarchy.backend,
    )


def renumber_communities(communities: pl.DataFrame, failures: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both frames of build_communities with human_readable_id, the number for life, as the number of a community.

    The number stands in community, parent, children and title, and in item_id of failures.
    """
    numbers = {-1: -1} | dict(communities.select("community", "human_readable_id").iter_rows())
    renumbered = communities.with_columns(
        pl.col("community", "parent").replace_strict(numbers, return_dtype=pl.Int64),
        pl.col("children").list.eval(pl.element().replace_strict(numbers, return_dtype=pl.Int64)),
        title=pl.when(pl.col("title") == UNCONNECTED)
        .then("title")
        .otherwise(pl.format("Community {}", "human_readable_id")),
    )
    item_id = pl.col("item_id").replace({str(old): str(new) for old, new in numbers.items()})
    return tables.COMMUNITIES.conform(renumbered), failures.with_columns(item_id)


def _order_entities(entities: pl.DataFrame) -> pl.DataFrame:
    """Entities by name key: the order that numbers nodes, so that neither ids nor row order decide a tie."""
    keyed = entities.select("id", "title", key=pl.col("title").map_elements(name_key, return_dtype=pl.String))
    return keyed.sort("key", "title", "id").with_row_index("node")


def _weigh_edges(
    nodes: pl.DataFrame, relationships: pl.DataFrame, layer_weights: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of nodes, and what each relationship counts."""
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
    factors = {origin: float(weight) for origin, weight in layer_weights.items()}
    factor = pl.col("origin").replace_strict(factors, default=1.0, return_dtype=pl.Float64)
    pairs = ends.select(pl.col("source", "target").cast(pl.Int64)).to_numpy()
    return pairs, ends.select(pl.col("weight") * factor).to_series().to_numpy()


def _place_last(nodes: pl.DataFrame, last_communities: pl.DataFrame) -> list[list[int]]:
    """Last night's community of each node by level, as a number; -1 for what is new or had no relationship."""
    linked = last_communities.filter(pl.col("title") != UNCONNECTED).with_row_index("number")
    members = linked.select("level", pl.col("number").cast(pl.Int64), pl.col("entity_ids").alias("id")).explode("id")
    levels = []
    for level in sorted(linked["level"].unique().to_list()):
        at_level = members.filter(pl.col("level") == level).select("id", "number")
        placed = nodes.join(at_level, on="id", how="left", maintain_order="left")
        levels.append(placed["number"].fill_null(-1).to_list())
    return levels


def _find_changed(
    nodes: pl.DataFrame, relationships: pl.DataFrame, last_relationships: pl.DataFrame | None
) -> list[bool] | None:
    """Which nodes have other relationships or weights than last night; None if that is unknown or they are many."""
    if last_relationships is None:
        return None
    sides = [_weigh_pairs(relationships), _weigh_pairs(last_relationships)]
    both = sides[0].join(sides[1], on=["low", "high", "origin"], how="full", coalesce=True, suffix="_last")
    differing = both.filter(pl.col("weight").ne_missing(pl.col("weight_last")))
    touched = pl.concat([differing.select(id="low"), differing.select(id="high")]).unique()
    changed = nodes["id"].is_in(touched["id"].implode())
    return changed.to_list() if changed.sum() <= MAX_CHANGED_SHARE * len(nodes) else None


def _weigh_pairs(relationships: pl.DataFrame) -> pl.DataFrame:
    """[low, high, origin, weight]: what two entities have to do with each other, whatever the predicate."""
    low, high = pl.min_horizontal("source_id", "target_id"), pl.max_horizontal("source_id", "target_id")
    return relationships.group_by(low=low, high=high, origin="origin").agg(pl.col("weight").sum())


def _list_groups(entity_ids: list[str], hierarchy: Hierarchy) -> list[Group]:
    """The groups of all levels: parents before children, each level by size and smallest node, unconnected last."""
    groups: list[Group] = []
    offset, offset_above = 0, 0
    for level, numbers in enumerate(hierarchy.levels):
        members: list[list[int]] = [[] for _ in range(max(numbers) + 1)]
        for node, number in enumerate(numbers):
            if number >= 0:
                members[number].append(node)
        for number, nodes in enumerate(members):
            parent = offset_above + hierarchy.levels[level - 1][nodes[0]] if level else -1
            is_rest = level == 0 and number == hierarchy.unconnected
            groups.append(Group(level, parent, sorted(entity_ids[node] for node in nodes), is_rest))
        offset_above, offset = offset, offset + len(members)
    return groups


def _build_rows(groups: Sequence[Group], ids: Sequence[str]) -> pl.DataFrame:
    """Columns of communities that follow from the hierarchy alone, numbered by position."""
    children: list[list[int]] = [[] for _ in groups]
    for position, group in enumerate(groups):
        if group.parent >= 0:
            children[group.parent].append(position)
    columns = {
        "id": ids,
        "human_readable_id": range(len(groups)),
        "community": range(len(groups)),
        "level": [group.level for group in groups],
        "parent": [group.parent for group in groups],
        "children": children,
        "title": [
            UNCONNECTED if group.is_unconnected else f"Community {number}" for number, group in enumerate(groups)
        ],
        "entity_ids": [group.entity_ids for group in groups],
        "size": [len(group.entity_ids) for group in groups],
    }
    return pl.DataFrame(columns, schema={name: tables.COMMUNITIES.schema[name] for name in columns})


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
    membership: pl.DataFrame,
    inside: pl.DataFrame,
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
) -> pl.DataFrame:
    """A hash of members, relationships and quotes: what a report is written from.

    No document id, offset, number or degree goes in: a moved or copied text, or a new neighbour, changes nothing.
    """
    names = entities.select(pl.col("id").alias("entity_id"), line=_join("id", "title", "type", "description"))
    weights = relationships.select(pl.col("id").alias("relationship_id"), line=_join("id", "weight"))
    quotes = evidence.select("relationship_id", line=_join("relationship_id", "quote", "description", "strength"))
    lines = [
        membership.join(names, on="entity_id").select("community", "line"),
        inside.join(weights, on="relationship_id").select("community", "line"),
        inside.join(quotes, on="relationship_id").select("community", "line"),
    ]
    gathered = pl.concat(lines).group_by("community").agg(pl.col("line").unique().sort())
    hashes = [content_sha256("\x1e".join(community_lines)) for community_lines in gathered["line"].to_list()]
    return gathered.select("community", content_sha256=pl.Series(hashes, dtype=pl.String))


def _join(*columns: str) -> pl.Expr:
    return pl.concat_str(*(pl.col(column).cast(pl.String).fill_null("") for column in columns), separator="\x1f")


def _list_unsplit(frame: pl.DataFrame, max_size: int) -> list[dict[str, str | None]]:
    large = frame.filter(
        (pl.col("size") > max_size) & (pl.col("children").list.len() == 0) & (pl.col("title") != UNCONNECTED)
    )
    return [
        tables.failure_row(
            "communities", str(community), "unsplit",
            f"{size} entities, more than the target of {max_size}, but no split of them is better than none.",
        )
        for community, size in large.select("community", "size").iter_rows()
    ]  # fmt: skip
