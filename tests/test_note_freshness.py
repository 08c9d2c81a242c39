"""How many vectors a night computes for fifty notes, by the records of the memo (linked documents, section 7)."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graphrag.onnx_models import find_minilm_files
from graphrag.pipeline import run_pipeline
from graphrag.runs.run import RunSummary
from graphrag.search.notes.linked_notes import load_note_vectors, load_notes
from graphrag.settings_file import load_settings
from graphrag.store import open_index
from graphrag.vectors import is_available

N_NOTES = 50
Night = Callable[..., RunSummary]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if problem := is_available("embedded"):
        pytest.skip(problem)
    (tmp_path / "settings.toml").write_text(
        '[input]\ndir = "in"\n[extraction]\nnlp = "lite"\nprocesses = 1\n[disambiguation]\nname_vectors = 0\n'
        "[gates]\nshrink_share = 1.0\n"
    )
    (tmp_path / "in").mkdir()
    for number in range(N_NOTES):
        (tmp_path / "in" / f"n{number:02}.md").write_text(f"the words of note {number}.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def night(root: Path) -> Night:
    def run(*overrides: str) -> RunSummary:
        return run_pipeline(load_settings(root, overrides=overrides, environ={})[0], root)

    return run


def count_computed(root: Path) -> int:
    """Vectors that were ever computed: each is one record of the memo."""
    with closing(sqlite3.connect(root / "data" / "cache" / "memo.sqlite")) as memo:
        return int(memo.execute("select count(*) from memo where kind = 'vector'").fetchone()[0])


def test_only_what_is_new_is_computed(root: Path, night: Night) -> None:
    notes = root / "in"
    night()
    assert count_computed(root) == N_NOTES
    assert night().status == "unchanged" and count_computed(root) == N_NOTES
    (notes / "n00.md").write_text("other words in their place.\n", encoding="utf-8")
    night()
    assert count_computed(root) == N_NOTES + 1
    (notes / "n01.md").rename(notes / "renamed.md")
    (notes / "sub").mkdir()
    (notes / "n02.md").rename(notes / "sub" / "n02.md")
    shutil.copy(notes / "n03.md", notes / "copy.md")
    (notes / "n04.md").touch()
    night()
    assert count_computed(root) == N_NOTES + 1
    (notes / "n05.md").unlink()
    night()
    assert count_computed(root) == N_NOTES + 1
    with open_index(root / "data" / "output") as index:
        paths = load_notes(index).paths
        ids, _ = load_note_vectors(index)
        assert sorted(paths[note] for note in ids) == sorted(paths.values())
        assert {"renamed.md", "sub/n02.md", "copy.md"} <= set(paths.values()) and "n05.md" not in paths.values()
        n_vectors = index.frame("select count(*) from embeddings where owner_table = 'text_units'").item()
    assert n_vectors == N_NOTES  # the vector of the edited text is gone from the index


def test_another_model_computes_all_again_and_says_why(root: Path, night: Night) -> None:
    night()
    model, tokenizer = find_minilm_files()
    assert model is not None and tokenizer is not None
    (root / "model").mkdir()
    shutil.copy(model, root / "model" / "model.onnx")
    shutil.copy(tokenizer, root / "model" / "tokenizer.json")
    summary = night("embeddings.model=onnx:model")
    assert count_computed(root) == 2 * N_NOTES
    assert [line for line in summary.notices if line.startswith("embeddings ran again: embeddings.model")] != []


def test_of_a_cut_memo_the_sound_part_is_used_and_the_rest_computed_again(root: Path, night: Night) -> None:
    night()
    path = root / "data" / "cache" / "memo.sqlite"
    with closing(sqlite3.connect(path)) as memo:
        memo.execute("pragma wal_checkpoint(truncate)")
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * 0.7)])
    shutil.rmtree(root / "data" / "output")
    summary = night()
    told = [line for line in summary.notices if "could not be used (damaged)" in line]
    assert len(told) == 1 and "sound records were kept" in told[0]
    assert count_computed(root) == N_NOTES
