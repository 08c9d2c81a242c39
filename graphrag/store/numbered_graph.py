"""The graph in numbers: what a walk that may reach most of a large graph reads instead of names.

Two tables of the run's database, made when it is written: `entity_components`, an entity's number (its place among the
titles, without case), type and connected part; and `numbered_relationships`, each relationship of two entities as two
numbers. A reader loads both once as arrays: 1,000,000 relationships in a tenth of a second.

Reads entities, relationships. Does not: open a database (database.py), or walk (search/walks/failure_walk.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphrag.graphs import components
from graphrag.tables import is_bare_link

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
QueryFrame = Callable[[str], pl.DataFrame]

COMMENTS = {
    "entity_components": "Which connected part of the graph each entity is in; without co-occurrence and bare links.",
    "entity_components.entity_id": "id of the entity.",
    "entity_components.component": "Number of the part, by its first entity.",
    "entity_components.number": "Place of the entity among all by title, without case; from 0.",
    "entity_components.title": "Title of the entity.",
    "entity_components.type": "Type of the entity.",
    "numbered_relationships": "Relationships of two entities as numbers of entity_components; what impact walks.",
    "numbered_relationships.source": "Number of the source.",
    "numbered_relationships.target": "Number of the target.",
    "numbered_relationships.predicate": "Place of the predicate among those of relationships, sorted; from 0.",
    "numbered_relationships.weight": "weight of the relationship.",
    "numbered_relationships.is_stated": "Not a co-occurrence.",
    "numbered_relationships.row": "rowid of the relationship.",
}


class Steps(NamedTuple):
    """Where a walk may go: the steps of entity n are starts[n] to starts[n + 1] of `far`, `weight` and `edge`, the
    relationship as a place in the arrays of the graph."""

    starts: Numbers
    far: Numbers
    weight: NDArray[np.float64]
    edge: Numbers

    def leave(self, level: Numbers) -> tuple[Numbers, Numbers]:
        """All steps of these entities, and the place in `level` of the entity that each leaves."""
        counts = self.starts[level + 1] - self.starts[level]
        before = np.cumsum(counts) - counts
        place = np.repeat(np.arange(len(level)), counts)
        return np.arange(len(place)) + np.repeat(self.starts[level] - before, counts), place

    def list_edges(self, near: int, far: int) -> list[int]:
        """The relationships that lead from one entity to another."""
        own = slice(self.starts[near], self.starts[near + 1])
        edges: list[int] = self.edge[own][self.far[own] == far].tolist()
        return edges


@dataclass(frozen=True, eq=False)
class NumberedGraph:
    """component and type (a place in `types`) by entity number; source, target, predicate (a place in `predicates`),
    weight, is_stated and place in the table relationships by relationship. `turned`: the steps that were asked for, by
    what they are for."""

    component: Numbers
    type: Numbers
    types: list[str]
    source: Numbers
    target: Numbers
    predicate: Numbers
    predicates: list[str]
    weight: NDArray[np.float64]
    is_stated: Mask
    row: Numbers
    turned: dict[Hashable, Steps] = field(default_factory=dict)

    @property
    def n_entities(self) -> int:
        return len(self.component)

    def turn(self, key: Hashable, against: Mask, along: Mask) -> Steps:
        """Steps over the relationships of two masks, from target to source and from source to target; kept by key."""
        if key not in self.turned:
            near = np.concatenate([self.target[against], self.source[along]])
            far = np.concatenate([self.source[against], self.target[along]])
            weight = np.concatenate([self.weight[against], self.weight[along]])
            edge = np.concatenate([np.flatnonzero(against), np.flatnonzero(along)])
            order = np.argsort(near, kind="stable")
            starts = np.zeros(self.n_entities + 1, dtype=np.int64)
            starts[1:] = np.cumsum(np.bincount(near, minlength=self.n_entities))
            self.turned[key] = Steps(starts, far[order], weight[order], edge[order])
        return self.turned[key]


def number_graph(entities: pl.DataFrame, relationships: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Both tables, by name."""
    numbered = number_components(entities, relationships)
    return {
        "entity_components": numbered, "numbered_relationships": number_relationships(numbered, relationships),
    }  # fmt: skip


def number_components(entities: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    """entity_components by number: the connected part of each entity, without co-occurrence and bare links.

    entities: id, title, type; relationships: source_id, target_id, predicate, origin.
    """
    numbered = entities.select(pl.col("id").alias("entity_id"), "title", "type").with_row_index("n")
    stated = (pl.col("origin") != "cooccurrence") & ~is_bare_link()
    ends = _number_ends(relationships.filter(stated), numbered.select("entity_id", "n"))
    pairs = ends.select("source", "target").to_numpy()
    found = pl.Series("component", components(entities.height, pairs), dtype=pl.Int64)
    by_title = numbered.with_columns(found).sort(pl.col("title").str.to_lowercase(), "title")
    number = pl.int_range(pl.len(), dtype=pl.Int32).alias("number")
    return by_title.select("entity_id", "component", number, "title", "type")


def number_relationships(numbered: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    """numbered_relationships from entity_components and relationships, in their order; none of an entity with itself.

    relationships: source_id, target_id, predicate, weight, origin.
    """
    predicates = pl.Enum(relationships["predicate"].unique().sort())
    ends = _number_ends(relationships.with_row_index("row"), numbered.select("entity_id", n="number"))
    return ends.filter(pl.col("source") != pl.col("target")).select(
        pl.col("source", "target").cast(pl.Int32), pl.col("predicate").cast(predicates).to_physical().cast(pl.Int32),
        pl.col("weight").cast(pl.Float64), (pl.col("origin") != "cooccurrence").alias("is_stated"),
        pl.col("row").cast(pl.Int64),
    )  # fmt: skip


def _number_ends(relationships: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """With source and target as the numbers n of entity_id."""
    ends = relationships.drop("source", "target", strict=False)
    for end in ("source", "target"):
        numbered = numbers.select(pl.col("entity_id").alias(f"{end}_id"), pl.col("n").cast(pl.Int64).alias(end))
        ends = ends.join(numbered, on=f"{end}_id", how="inner", maintain_order="left")
    return ends


def load_graph(frame: QueryFrame) -> NumberedGraph:
    """The arrays of the two tables that `frame` queries, with the names of predicates from relationships."""
    entities = frame("select component, type from entity_components order by number")
    edges = frame("select source, target, predicate, weight, is_stated, row from numbered_relationships")
    predicates = frame("select distinct predicate from relationships order by predicate")["predicate"].to_list()
    return build_graph(entities, edges, predicates)


def build_graph(entities: pl.DataFrame, edges: pl.DataFrame, predicates: list[str]) -> NumberedGraph:
    """The arrays of entity_components by number, and of numbered_relationships."""
    types = entities["type"].unique().sort()
    type_ = entities["type"].cast(pl.Enum(types)).to_physical()
    component = entities["component"].to_numpy().astype(np.int64)
    source, target, predicate, row = (
        edges[name].to_numpy().astype(np.int64) for name in ("source", "target", "predicate", "row")
    )
    return NumberedGraph(
        component, type_.to_numpy().astype(np.int64), types.to_list(), source, target, predicate, predicates,
        edges["weight"].to_numpy().astype(np.float64), edges["is_stated"].to_numpy().astype(np.bool_), row,
    )  # fmt: skip
