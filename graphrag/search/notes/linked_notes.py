"""The documents of an index as linked notes: names, links between them, degrees, and one vector each.

Reads documents, links, text_units, embeddings. What a note's vector is: store/note_vectors.py.

Does not: resolve links (index/links.py), or walk (note_walk.py).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from graphrag.search.walks.reach import HUB_PERCENTILE, round_cutoff
from graphrag.store.note_vectors import DOCUMENTS, average_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.store import Index


@dataclass(frozen=True)
class LinkedNotes:
    """documents: id, path, title, n_tokens, human_readable_id, metadata, by path. mentions: document_id,
    target_document_id, one row a link to another document; edges: the same, each pair once."""

    documents: pl.DataFrame
    mentions: pl.DataFrame

    @cached_property
    def edges(self) -> pl.DataFrame:
        return self.mentions.unique(maintain_order=True)

    @cached_property
    def paths(self) -> dict[str, str]:
        return dict(self.documents.select("id", "path").iter_rows())

    @cached_property
    def names(self) -> dict[str, str]:
        """What a note is called in an answer, by id: its title, or its path where several have the title."""
        n_titles = pl.len().over(pl.col("title").str.to_lowercase())
        name = pl.when((n_titles > 1) | (pl.col("title") == "")).then("path").otherwise("title")
        return dict(self.documents.select("id", name.alias("name")).iter_rows())

    @cached_property
    def links(self) -> dict[str, list[str]]:
        """Notes that a note links to, by title in code point order, then path."""
        order = {note: n for n, note in enumerate(self.documents.sort("title", "path")["id"])}
        found: dict[str, list[str]] = defaultdict(list)
        for source, target in sorted(self.edges.iter_rows(), key=lambda edge: order[edge[1]]):
            found[source].append(target)
        return dict(found)

    @cached_property
    def degrees(self) -> dict[str, int]:
        return dict(count_neighbours(self.edges).iter_rows())

    @cached_property
    def n_inbound(self) -> dict[str, int]:
        """Links that lead to a note, every mention counted."""
        return dict(self.mentions.group_by("target_document_id").len().iter_rows())

    @cached_property
    def hub_cutoff(self) -> int:
        """Hubs have a degree above this: max(15, 95th percentile over all notes, linear, rounded down)."""
        degrees = [self.degrees.get(note, 0) for note in self.documents["id"]]
        percentile = pl.Series(degrees, dtype=pl.Float64).quantile(HUB_PERCENTILE, interpolation="linear")
        return round_cutoff(percentile)

    def is_hub(self, note: str) -> bool:
        return self.degrees.get(note, 0) > self.hub_cutoff


def load_notes(index: Index) -> LinkedNotes:
    """All documents and the links from one to another."""
    documents = index.frame(
        "select id, path, title, n_tokens, human_readable_id, metadata from documents order by path"
    )
    mentions = index.frame(
        "select source_document_id as document_id, target_document_id from links "
        "where target_document_id <> source_document_id and status in ('resolved', 'ambiguous') "
        "and source_document_id in (select id from documents) and target_document_id in (select id from documents) "
        "order by links.document_id, ordinal"
    )
    return LinkedNotes(documents, mentions)


def count_neighbours(edges: pl.DataFrame) -> pl.DataFrame:
    """id, degree: how many documents a document is linked with, in either direction (specs: linked documents 7)."""
    both = [
        edges.select(pl.col(a).alias("id"), pl.col(b).alias("near"))
        for a, b in (("document_id", "target_document_id"), ("target_document_id", "document_id"))
    ]
    return pl.concat(both).group_by("id").agg(pl.col("near").n_unique().cast(pl.Int64).alias("degree")).sort("id")


def load_note_vectors(index: Index, *, with_imported: bool = True) -> tuple[list[str], NDArray[np.float32]]:
    """(document ids in order, float32 vectors): imported ones, else means of their text units'; empty without any.

    Only the means can be compared with a question.
    """
    if with_imported and len(index.matrix(DOCUMENTS)):
        return index.vectors(DOCUMENTS)
    units, matrix = index.vectors("text_units")
    documents = dict(index.frame("select id, document_id from text_units").iter_rows())
    rows = [row for row, unit in enumerate(units) if unit in documents]
    return average_vectors([documents[units[row]] for row in rows], matrix[rows])
