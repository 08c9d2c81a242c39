"""One vector a document, and which documents are alike: the derived table similar_documents.

A document's vector is the mean of those of its text units, so that an edited note costs its changed text units only and
a renamed one nothing; where vectors of whole documents were imported (owner_table documents), these stand instead: they
are another model's and cannot be compared with ours.

Reads text_units, embeddings. Does not: embed (index/embeddings.py), or know links (views.py, unlinked_but_related).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

SIMILAR = 0.65  # cosine, specs: linked documents 6
MAX_SIMILAR = 10  # pairs a document
MAX_DOCUMENTS = 20_000  # more would take minutes a night
BLOCK = 1024  # documents compared with all at once
DOCUMENTS = "documents"
SCHEMA = {"document_id_a": pl.String, "document_id_b": pl.String, "cosine": pl.Float64}


def average_vectors(owners: Sequence[str], matrix: NDArray[np.float32]) -> tuple[list[str], NDArray[np.float32]]:
    """(owners, each once in order; the mean of their rows, float32). matrix: one row an element of `owners`."""
    if not len(owners):
        return [], np.zeros((0, 0), dtype=np.float32)
    ids, inverse = np.unique(np.array(owners), return_inverse=True)
    sums = np.zeros((len(ids), matrix.shape[1]), dtype=np.float32)
    np.add.at(sums, inverse, matrix)
    return [str(owner) for owner in ids], (sums / np.bincount(inverse)[:, None]).astype(np.float32)


def average_document_vectors(
    text_units: pl.DataFrame, embeddings: pl.DataFrame
) -> tuple[list[str], NDArray[np.float32]]:
    """(ids of documents in order, their vectors)."""
    imported = embeddings.filter(pl.col("owner_table") == DOCUMENTS).sort("owner_id")
    if imported.height:
        return imported["owner_id"].to_list(), _stack(imported["vector"])
    units = embeddings.filter(pl.col("owner_table") == "text_units").join(
        text_units.select(owner_id="id", document_id="document_id"), on="owner_id", maintain_order="left"
    )
    return average_vectors(units["document_id"].to_list(), _stack(units["vector"]))


def pair_similar(ids: Sequence[str], matrix: NDArray[np.float32]) -> pl.DataFrame:
    """document_id_a < document_id_b, cosine: pairs from the threshold on, sorted. ids sorted; matrix: a row each."""
    if not 2 <= len(ids) <= MAX_DOCUMENTS:
        return pl.DataFrame(schema=SCHEMA)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    unit = np.where(usable, matrix / np.where(usable, lengths, 1), 0).astype(np.float32)
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(ids), BLOCK):
        cosines = unit[start : start + BLOCK] @ unit.T
        for row, near in enumerate(cosines):
            near[start + row] = -1
            candidates = np.flatnonzero(near >= SIMILAR - 1e-6)
            best = candidates[np.argsort(-near[candidates], kind="stable")][:MAX_SIMILAR]
            for other in best.tolist():
                found[min(start + row, other), max(start + row, other)] = round(float(near[other]), 4)
    rows = [(ids[a], ids[b], cosine) for (a, b), cosine in sorted(found.items())]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _stack(vectors: pl.Series) -> NDArray[np.float32]:
    if vectors.is_empty():
        return np.zeros((0, 0), dtype=np.float32)
    rows: NDArray[np.float32] = vectors.explode().to_numpy().astype(np.float32).reshape(len(vectors), -1)
    return rows
