"""What an export holds: the rows of a published index that a condition, a level and a weight leave.

Reads all tables. Does not: write files.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from graphrag.store import Index


class Selection(NamedTuple):
    """Tables as tables.py has them; `community_of` by entity id: the deepest community at the level or above it."""

    entities: pl.DataFrame
    relationships: pl.DataFrame
    evidence: pl.DataFrame
    documents: pl.DataFrame
    text_units: pl.DataFrame
    communities: pl.DataFrame
    community_reports: pl.DataFrame
    community_of: dict[str, int]


def select_rows(index: Index, *, level: int | None = None, min_weight: float = 0.0) -> Selection:
    """level: communities and reports down to it (None: all). min_weight: of relationships; entities stay."""
    communities, reports = index.table("communities"), index.table("community_reports")
    if level is not None:
        communities, reports = (frame.filter(pl.col("level") <= level) for frame in (communities, reports))
    relationships = index.table("relationships").filter(pl.col("weight") >= min_weight)
    kept = relationships.select(relationship_id="id")
    evidence = index.table("evidence").join(kept, on="relationship_id", how="semi", maintain_order="left")
    placed = communities.sort("level").select("community", "entity_ids").iter_rows()
    community_of = {entity: community for community, entity_ids in placed for entity in entity_ids}
    return Selection(
        index.table("entities"), relationships, evidence, index.table("documents"), index.table("text_units"),
        communities, reports, community_of,
    )  # fmt: skip
