"""Imported vectors of notes: only fresh ones, of one model and of our dimension."""

from __future__ import annotations

import numpy as np
import pytest

from graphrag.index.imported_vectors import import_vectors
from graphrag.reading.smart_env import CachedVector, hash_text

from .test_links import documents_of

FILES = {"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"}
DOCUMENTS = documents_of(FILES)


def cached(path: str, *vector: float, model: str = "m", text: str | None = None) -> CachedVector:
    return CachedVector(path, model, hash_text(FILES[path] if text is None else text), np.array(vector, np.float32))


def test_fresh_vectors_become_rows_of_documents_of_length_one() -> None:
    found = import_vectors(DOCUMENTS, [cached("a.md", 3, 4), cached("b.md", 0, 2, text="before")], name=".smart-env")
    (row,) = found.embeddings.iter_rows(named=True)
    assert (row["owner_table"], row["model"], row["dim"]) == ("documents", "m", 2)
    assert row["vector"] == pytest.approx([0.6, 0.8])
    assert found.told == [".smart-env: 1 of 3 notes have a vector of m for their text as it is now."]


def test_line_ends_as_the_plugin_reads_them() -> None:
    found = import_vectors(DOCUMENTS, [cached("a.md", 1, text="one\r\n")], name="x")
    assert found.embeddings.height == 1


def test_another_dimension_is_ignored_with_one_line() -> None:
    vectors = [cached("a.md", 1, 0), cached("b.md", 1, 0), cached("c.md", 1, 0, 0)]
    found = import_vectors(DOCUMENTS, vectors, dim=3, name="x")
    assert found.embeddings["dim"].to_list() == [3]
    assert found.told[0] == "x: 2 vectors of 2 dimensions were ignored; ours have 3."
    nothing = import_vectors(DOCUMENTS, vectors[:2], dim=3, name="x")
    assert nothing.embeddings.is_empty() and nothing.told[-1].endswith("none imported.")


def test_of_several_models_the_one_of_most_notes_counts() -> None:
    vectors = [cached("a.md", 1, 0, model="x"), cached("b.md", 1, 0), cached("a.md", 0, 1), cached("c.md", 0, 0)]
    found = import_vectors(DOCUMENTS, vectors, name="x")
    assert found.embeddings["model"].to_list() == ["m", "m"]
    odd = [cached("a.md", float("nan"), 1), cached("b.md", 0, 0)]
    assert import_vectors(DOCUMENTS, odd, name="x").embeddings.is_empty()
