"""The door to spaCy: model check, memo, workers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import ModelError
from graphrag.memo import Memo
from graphrag.nlp import parsing
from graphrag.nlp.parsing import Parse, decode_parse, encode_parse, find_model, parse_sentences, verify_mirror

needs_spacy = pytest.mark.skipif(bool(parsing.missing_parts()), reason="spaCy or its model is not installed")
SENTENCES = ["Billing uses Redis.", "The token cache is backed by Redis.", "Billing uses Redis.", ""]


@given(st.lists(st.tuples(st.text(max_size=8), st.integers(1, 9)), max_size=12))
def test_a_parse_survives_its_encoding(tokens: list[tuple[str, int]]) -> None:
    starts = [10 * i for i in range(len(tokens))]
    ends = [start + length for start, (_, length) in zip(starts, tokens, strict=True)]
    words = [word for word, _ in tokens]
    parse = Parse(starts, ends, words, words, words, starts, [(0, 1, "ORG")])
    assert decode_parse(encode_parse(parse)) == parse


@needs_spacy
def test_offsets_of_tokens_slice_the_sentence() -> None:
    for text, parse in zip(SENTENCES, parse_sentences(SENTENCES), strict=True):
        assert " ".join(text[a:b] for a, b in zip(parse.starts, parse.ends, strict=True)).replace(" .", ".") == text


@needs_spacy
def test_equal_sentences_are_parsed_once_and_never_again_with_a_memo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    parse_batch = parsing._parse_batch

    def count(folder: str, sentences: list[str]) -> list[bytes]:
        asked.extend(sentences)
        return parse_batch(folder, sentences)

    monkeypatch.setattr(parsing, "_parse_batch", count)
    done: list[int] = []
    with Memo(tmp_path / "memo.sqlite") as memo:
        first = parse_sentences(SENTENCES, memo=memo, advance=done.append)
        assert sorted(asked) == sorted(set(SENTENCES))
        assert sum(done) == sum(len(text) for text in set(SENTENCES))
        assert parse_sentences([*SENTENCES, "New."], memo=memo)[:-1] == first
    assert asked[-1] == "New."
    assert len(asked) == len(set(SENTENCES)) + 1


@needs_spacy
def test_with_all_parses_in_the_memo_spacy_is_not_imported(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    with Memo(path) as memo:
        parse_sentences(SENTENCES, memo=memo)
    script = (
        "import sys; from pathlib import Path; from graphrag.memo import Memo\n"
        "from graphrag.nlp.parsing import parse_sentences\n"
        f"parse_sentences({SENTENCES!r}, memo=Memo(Path({str(path)!r})))\n"
        "print('spacy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@needs_spacy
@pytest.mark.slow
def test_workers_give_what_one_process_gives_without_a_main_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "POOL_FROM_CHARACTERS", 0)
    monkeypatch.setattr(parsing, "SENTENCES_PER_TASK", 2)
    sentences = [f"Service{i} depends on Redis and writes to Kafka{i}." for i in range(7)]
    assert parse_sentences(sentences, processes=2) == parse_sentences(sentences, processes=1)


@needs_spacy
def test_batches_parsed_elsewhere_are_in_the_memo_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came back before the fault need not be done again; a worker with another model is refused."""
    monkeypatch.setattr(parsing, "SENTENCES_PER_TASK", 2)
    monkeypatch.setattr(parsing, "POOL_FROM_CHARACTERS", 0)
    here = parse_sentences(SENTENCES)

    def stop_after_one(work: Callable[[list[str]], Any], batches: Sequence[list[str]]) -> Iterator[Any]:
        yield work(batches[0])
        raise OSError("the cluster has gone")

    with Memo(tmp_path / "memo.sqlite") as memo:
        with pytest.raises(OSError, match="gone"):
            parse_sentences(SENTENCES, map_batches=stop_after_one, memo=memo)
        sent: list[list[str]] = []

        def map_here(work: Callable[[list[str]], Any], batches: Sequence[list[str]]) -> Iterator[Any]:
            sent.extend(batches)
            return map(work, batches)

        monkeypatch.setattr(parsing, "SENTENCES_PER_TASK", 1)
        texts = [*SENTENCES, "New."]
        assert parse_sentences(texts, map_batches=map_here, memo=memo)[:-1] == here
    assert sent == [[""], ["New."]]
    with pytest.raises(ModelError, match=r"A worker parses with spacy .*, the run with spacy 2"):
        parsing.parse_batch(["Text."], fingerprint="spacy 2")


@needs_spacy
@pytest.mark.slow
def test_a_worker_that_dies_is_an_error_in_words() -> None:
    worker = parsing.Worker(Path("/nowhere"))
    worker.process.kill()
    worker.process.wait()
    with pytest.raises(ModelError, match="parses text ended with code"):
        worker.parse(["Billing uses Redis."])
    worker.close()


@needs_spacy
def test_a_model_whose_files_are_not_the_official_ones_is_not_loaded(tmp_path: Path) -> None:
    model = find_model()
    if parsing.MIRROR_PACKAGE not in model.name:
        pytest.skip("an official model is installed")
    copy = tmp_path / "model"
    shutil.copytree(model.folder, copy)
    assert verify_mirror(copy) == model.fingerprint
    (copy / "config.cfg").write_bytes((copy / "config.cfg").read_bytes() + b"\n")
    with pytest.raises(ModelError, match=r"config\.cfg has sha256 .* not loaded"):
        verify_mirror(copy)
    (copy / "tokenizer").unlink()
    (copy / "config.cfg").write_bytes((model.folder / "config.cfg").read_bytes())
    with pytest.raises(ModelError, match="tokenizer is missing"):
        verify_mirror(copy)


def test_what_is_missing_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing.importlib.util, "find_spec", lambda _name: None)
    assert parsing.missing_parts() == (
        "spaCy is not installed: plain rules read the texts instead, and find fewer names and relations. "
        'To get it: pip install "graphrag-batch[local]"'
    )
