"""Vectors from an embedding service: batches of texts, and what of the answer can be trusted.

A service may answer in any order, with fewer vectors than texts, with vectors of another length than yesterday's, or
with NaN and zeros. What is left is float32 of length 1; a text without a usable vector is named with its reason.

Does not: call (door.py), or embed with a local model (vectors.py).
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Vector = NDArray[np.float32]
    Embedded = Vector | tuple[str, str]  # or reason and detail of a failure

MAX_BATCH_TEXTS, MAX_BATCH_BYTES = 128, 200_000  # below the limits of hosted services (2048 texts, 300k tokens)


class RawVectors(NamedTuple):
    """What a provider answered: (index of the text, vector) in its own order; tokens of 0 or less: it did not say."""

    vectors: Sequence[tuple[int, Sequence[float]]]
    prompt_tokens: int = 0


class Vectors(NamedTuple):
    """matrix: float32 (len(texts), dim), rows of length 1; a row of zeros where there is no vector.
    failures: index of such a text -> (reason, detail) for a failures row."""

    matrix: Matrix
    failures: dict[int, tuple[str, str]]


def cut_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        n_bytes = len(text.encode("utf-8", "surrogatepass"))
        if batch and (len(batch) == MAX_BATCH_TEXTS or size + n_bytes > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += n_bytes
    if batch:
        yield batch


def decode_vector(sent: str | Sequence[float] | None) -> Sequence[float]:
    """A vector as it was sent: numbers, or base64 of little-endian float32 (OpenAI's encoding_format); empty where it
    is neither."""
    if not isinstance(sent, str):
        return sent or ()
    try:
        values = array("f", base64.b64decode(sent, validate=True))
    except ValueError:  # not base64, or not a whole number of floats
        return ()
    if sys.byteorder == "big":
        values.byteswap()
    return values


def is_complete(raw: RawVectors, n_texts: int) -> bool:
    """One vector for each text, each with its own index."""
    return sorted(index for index, _ in raw.vectors) == list(range(n_texts))


def read_vectors(raw: RawVectors, n_texts: int) -> list[Embedded]:
    """For each text, by its index, the vector of length 1 or why there is none."""
    import numpy as np

    found: list[Embedded] = [("bad_vector", "the service sent no vector for it")] * n_texts
    for index, values in raw.vectors:
        if not 0 <= index < n_texts:
            continue
        vector = np.asarray(values, dtype=np.float32)
        length = float(np.linalg.norm(vector)) if vector.ndim == 1 and vector.size else 0.0
        if not np.isfinite(length):
            found[index] = ("bad_vector", "it holds NaN or infinity")
        elif length == 0:
            found[index] = ("bad_vector", "it is empty or all zeros")
        else:
            found[index] = vector / np.float32(length)
    return found


def has_dim(vector: Embedded, dim: int) -> TypeGuard[Vector]:
    return not isinstance(vector, tuple) and vector.size == dim


def most_common_dim(found: Iterable[Embedded]) -> int:
    """The dimension of most vectors, the larger one of two equally frequent; 0 if there is none."""
    counts = Counter(vector.size for vector in found if not isinstance(vector, tuple))
    return max(counts, key=lambda dim: (counts[dim], dim), default=0)


def stack_vectors(texts: Sequence[str], found: Mapping[str, Embedded], dim: int) -> Vectors:
    """One row a text, in order; vectors of another dimension than `dim` are failures."""
    import numpy as np

    matrix = np.zeros((len(texts), dim), dtype=np.float32)
    failures: dict[int, tuple[str, str]] = {}
    for row, text in enumerate(texts):
        vector = found[text]
        if isinstance(vector, tuple):
            failures[row] = vector
        elif vector.size != dim:
            failures[row] = ("bad_vector", f"it has {vector.size} dimensions, the others have {dim}")
        else:
            matrix[row] = vector
    return Vectors(matrix, failures)
