"""Vectors of whole notes that another tool has computed -> rows of embeddings, for notes that are as they were then.

Reads documents; the cache was read by graphrag/reading/smart_env.py. Of several models the one with most fresh vectors
counts. They are never mixed with ours: search compares notes with notes by them, and questions by ours
(store/note_vectors.py).

Does not: compute a vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from graphrag import tables
from graphrag.reading.smart_env import CachedVector, hash_text
from graphrag.store.note_vectors import DOCUMENTS


class Imported(NamedTuple):
    """`told`: what was taken and what was not, in lines for the reader."""

    embeddings: pl.DataFrame
    told: list[str]


def import_vectors(documents: pl.DataFrame, cached: Sequence[CachedVector], *, dim: int = 0, name: str) -> Imported:
    """Rows of embeddings with owner_table documents, by id. documents needs id, path, kind, text, content_sha256.

    dim: of our own vectors, which imported ones must share; 0: any, the most frequent. name: of the cache, for `told`.
    """
    notes = documents.filter(pl.col("path").is_in({vector.path for vector in cached}))
    hashes = {
        path: {hash_text(text), hash_text(text.replace("\n", "\r\n"))}  # the plugin reads the line ends as they are
        for path, text in notes.select("path", "text").iter_rows()
    }
    fresh = [vector for vector in cached if vector.text_hash in hashes.get(vector.path, ())]
    usable = [vector for vector in fresh if len(vector.vector) == dim] if dim else fresh
    usable = [vector for vector in usable if np.isfinite(vector.vector).all() and vector.vector.any()]
    counts = Counter((vector.model, len(vector.vector)) for vector in usable)
    told = []
    if n_other := len(fresh) - len(usable):
        lengths = ", ".join(sorted({str(len(vector.vector)) for vector in fresh if len(vector.vector) != dim}))
        told.append(f"{name}: {n_other} vectors of {lengths or 'no'} dimensions were ignored; ours have {dim}.")
    if not counts:
        told.append(f"{name}: no vector of a note as it is now; none imported.")
        return Imported(tables.EMBEDDINGS.empty(), told)
    model, length = min(counts, key=lambda each: (-counts[each], each))
    rows = {vector.path: vector.vector for vector in usable if (vector.model, len(vector.vector)) == (model, length)}
    n_notes = documents.filter(pl.col("kind") == "md").height
    told.append(f"{name}: {len(rows)} of {n_notes} notes have a vector of {model} for their text as it is now.")
    taken = notes.filter(pl.col("path").is_in(rows.keys())).sort("id")
    matrix = np.stack([rows[path] / np.linalg.norm(rows[path]) for path in taken["path"]]).astype(np.float32)
    frame = taken.select(
        pl.lit(DOCUMENTS).alias("owner_table"),
        pl.col("id").alias("owner_id"),
        pl.lit(model).alias("model"),
        pl.lit(length, dtype=pl.Int64).alias("dim"),
        "content_sha256",
        pl.Series("vector", matrix, dtype=pl.Array(pl.Float32, length)).cast(tables.VECTOR),
    )
    return Imported(tables.EMBEDDINGS.conform(frame), told)
