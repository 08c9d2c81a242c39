"""Names that mean alike: candidates by vectors of the names alone; for a judge or the user, no rule ever merges them.

The nearest names of all (MAX_NEAREST, cosine FLOOR and more), and the nearest of the same document (a lower floor: two
names of one document are one thing more often than two names of a corpus). Floors were read off labelled text
(docs/benchmarks.md) with MiniLM's vectors; other models have other cosines.

Does not: compute vectors (graphrag/vectors.py does), rank or decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from graphrag.naming.nodes import Candidate

Matrix = NDArray[np.float32]

MAX_NEAREST, FLOOR = 10, 0.45
MAX_NEAREST_IN_DOCUMENT, FLOOR_IN_DOCUMENT = 3, 0.4
ROWS_AT_ONCE = 1024


def by_vectors(vectors: Matrix, documents: Sequence[Sequence[int]], families: Sequence[str]) -> Iterator[Candidate]:
    """`vectors`: a row of length 1 a name. `families`: of each name's type, empty where any fits."""
    found: dict[tuple[int, int], tuple[float, bool]] = {}
    for i, j, cosine in _nearest(vectors, np.arange(len(vectors)), families, MAX_NEAREST, FLOOR):
        found[min(i, j), max(i, j)] = cosine, False
    for members in documents:
        rows = np.array(members)
        for i, j, cosine in _nearest(vectors, rows, families, MAX_NEAREST_IN_DOCUMENT, FLOOR_IN_DOCUMENT):
            found[min(i, j), max(i, j)] = cosine, True
    for (a, b), (cosine, is_near) in sorted(found.items()):
        where = ", in one document" if is_near else ""
        score = max(0.0, cosine - 0.3 + 0.1 * is_near)
        yield Candidate(a, b, "vector", round(score, 3), f"The names mean alike (cosine {cosine:.2f}{where}).")


def _nearest(
    vectors: Matrix, rows: NDArray[np.int64], families: Sequence[str], n_nearest: int, floor: float
) -> Iterator[tuple[int, int, float]]:
    """For each of the rows, the nearest of the others of a fitting family: position, position, cosine."""
    kinds = sorted({families[i] for i in rows} - {""})
    kind = np.array([kinds.index(families[i]) if families[i] else -1 for i in rows])
    chosen = vectors[rows]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        cosines = np.round(chosen[part] @ chosen.T, 4)
        cosines[np.arange(len(cosines)), np.arange(start, start + len(cosines))] = -1.0
        differ = (kind[part, None] != kind[None, :]) & (kind[part, None] >= 0) & (kind[None, :] >= 0)
        cosines[differ] = -1.0
        n = min(n_nearest, len(rows))
        top = np.argpartition(-cosines, n - 1, axis=1)[:, :n]
        for row, columns in enumerate(top):
            for column in columns[cosines[row, columns] >= floor]:
                yield int(rows[start + row]), int(rows[column]), float(cosines[row, column])
