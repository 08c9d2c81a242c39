"""What an export holds: the rows of a published index that a condition, a level and a weight leave.

Reads all tables. Does not: write files.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from graphrag.store import Index


class Selection(NamedTuple):
    """Tables as tables.py has them, lists of ids without what is left out; `community_of` by entity id: the deepest
    community at the level or above it; `is_whole`: nothing is left out."""

    entities: pl.DataFrame
    relationships: pl.DataFrame
    evidence: pl.DataFrame
    documents: pl.DataFrame
    text_units: pl.DataFrame
    communities: pl.DataFrame
    community_reports: pl.DataFrame
    community_of: dict[str, int]
    is_whole: bool


def select_rows(index: Index, *, level: int | None = None, min_weight: float = 0.0) -> Selection:
    """level: communities and reports down to it (None: all). min_weight: of relationships; entities stay."""
    communities, reports = index.table("communities"), index.table("community_reports")
    relationships, text_units = index.table("relationships"), index.table("text_units")
    heights = (communities.height, relationships.height)
    if level is not None:
        shown = pl.col("level") <= level
        communities, reports = (
            _keep_listed(frame.filter(shown), "children", communities.filter(shown)["community"])
            for frame in (communities, reports)
        )
    relationships = relationships.filter(pl.col("weight") >= min_weight)
    communities, text_units = (
        _keep_listed(frame, "relationship_ids", relationships["id"]) for frame in (communities, text_units)
    )
    kept = relationships.select(relationship_id="id")
    evidence = index.table("evidence").join(kept, on="relationship_id", how="semi", maintain_order="left")
    placed = communities.sort("level").select("community", "entity_ids").iter_rows()
    community_of = {entity: community for community, entity_ids in placed for entity in entity_ids}
    is_whole = not index.restriction and heights == (communities.height, relationships.height)
    return Selection(
        index.table("entities"), relationships, evidence, index.table("documents"), text_units, communities, reports,
        community_of, is_whole,
    )  # fmt: skip


def _keep_listed(frame: pl.DataFrame, column: str, known: pl.Series) -> pl.DataFrame:
    """The rows with the ids of a list column that are known."""
    held = pl.element().filter(pl.element().is_in(known.to_list()))
    return frame.with_columns(pl.col(column).list.eval(held))
