"""One vector a document, and the pairs that are alike."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from graphrag.store import note_vectors
from graphrag.store.note_vectors import average_document_vectors, average_vectors, pair_similar
from graphrag.tables import TABLES


def test_a_documents_vector_is_the_mean_of_its_text_units() -> None:
    ids, matrix = average_vectors(["b", "a", "b"], np.array([[1, 0], [0, 1], [0, 1]], np.float32))
    assert ids == ["a", "b"] and matrix.tolist() == [[0, 1], [0.5, 0.5]]
    assert average_vectors([], np.zeros((0, 0), np.float32))[0] == []


def test_imported_vectors_stand_for_documents() -> None:
    def row(owner_table: str, owner_id: str, *vector: float) -> dict[str, object]:
        return {"owner_table": owner_table, "owner_id": owner_id, "model": "m", "dim": len(vector),
                "content_sha256": "", "vector": list(vector)}  # fmt: skip

    units = pl.DataFrame({"id": ["u1", "u2"], "document_id": ["d2", "d1"]})
    ours = [row("text_units", "u1", 1, 0), row("text_units", "u2", 0, 1)]
    ids, matrix = average_document_vectors(units, TABLES["embeddings"].from_rows(ours))
    assert ids == ["d1", "d2"] and matrix.tolist() == [[0, 1], [1, 0]]
    imported = [*ours, row("documents", "d2", 1, 0, 0)]
    ids, matrix = average_document_vectors(units, TABLES["embeddings"].from_rows(imported))
    assert ids == ["d2"] and matrix.tolist() == [[1, 0, 0]]
    assert average_document_vectors(units, TABLES["embeddings"].empty())[0] == []


def test_pairs_begin_at_the_threshold_and_vectors_without_direction_are_in_none() -> None:
    vectors = {"a": (1, 0), "b": (0.65, 0.759934), "c": (0.64, 0.768375), "n": (math.nan, 1), "z": (0, 0)}
    found = pair_similar(list(vectors), np.array(list(vectors.values()), np.float32))
    assert found.rows() == [("a", "b", pytest.approx(0.65, abs=1e-4)), ("b", "c", pytest.approx(0.9999, abs=1e-4))]
    assert pair_similar(["a"], np.ones((1, 2), np.float32)).is_empty()


def test_blocks_and_bounds_give_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    angles = np.linspace(0, math.pi / 2, 40)
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    ids = [f"{n:02}" for n in range(40)]
    whole = pair_similar(ids, matrix)
    monkeypatch.setattr(note_vectors, "BLOCK", 7)
    assert pair_similar(ids, matrix).equals(whole)
    near = {(a, b) for a, b, _ in whole.iter_rows()}
    assert all((f"{n:02}", f"{n + 1:02}") in near for n in range(39)) and whole.height <= 40 * note_vectors.MAX_SIMILAR
    monkeypatch.setattr(note_vectors, "MAX_DOCUMENTS", 39)
    assert pair_similar(ids, matrix).is_empty()
