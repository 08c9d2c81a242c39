"""Both cache formats of Smart Connections, written by hand: what is read, what is newest, what is damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphrag.reading.smart_env import hash_text, read_smart_env

MODEL = "TaylorAI/bge-micro-v2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "0"), ("hello", "a5205j"), ("# Target\n", "phr417"), ("Café", "10tl44h"), ("日本語 😀", "1e1ttms"),
     ("a" * 1000, "18x5amg")],
)  # fmt: skip
def test_the_hash_is_the_plugins(text: str, expected: str) -> None:
    assert hash_text(text) == expected


def source(vector: list[float], *, at: int = 1, read: str = "h", made_of: str = "h", model: str = MODEL) -> str:
    item = {
        "embeddings": {model: {"vec": vector, "last_embed": {"hash": made_of}}},
        "last_read": {"hash": read, "at": at},
    }
    return json.dumps(item)


def write_multi(folder: Path, name: str, text: str) -> None:
    (folder / "multi").mkdir(parents=True, exist_ok=True)
    (folder / "multi" / name).write_text(text, encoding="utf-8")


def read(folder: Path, **more: Any) -> dict[str, list[float]]:
    return {vector.path: vector.vector.tolist() for vector in read_smart_env(folder, **more).vectors}


def test_a_file_a_note_later_lines_win_null_deletes_and_commas_are_repaired(tmp_path: Path) -> None:
    write_multi(tmp_path, "a_md.ajson", "\n".join([
        f'"smart_sources:a.md": {source([1, 0])},',
        f'"smart_blocks:a.md#Head": {source([9, 9])},',
        f'"smart_sources:a.md": {source([0, 1])}',  # no comma
        f'"SmartSource:old.md": {source([2, 0])}, "SmartNote:older.md": {source([3, 0])},',
        f'"SmartBlock:old.md#x": {source([9, 9])},',
        f'"smart_sources:gone.md": {source([4, 0])},',
        '"smart_sources:gone.md": null,',
        f'"smart_sources:Sub/x: y.md": {source([5, 0])},',
        "",
    ]))  # fmt: skip
    assert read(tmp_path) == {"Sub/x: y.md": [5, 0], "a.md": [0, 1], "old.md": [2, 0], "older.md": [3, 0]}


def test_a_vector_of_an_older_text_and_one_without_a_hash_are_left_out(tmp_path: Path) -> None:
    write_multi(tmp_path, "x.ajson", f'"smart_sources:stale.md": {source([1], made_of="before")},')
    write_multi(tmp_path, "y.ajson", '"smart_sources:none.md": {"embeddings": {"m": {"vec": [1]}}},')
    write_multi(tmp_path, "z.ajson", f'"smart_sources:odd.md": {source(["a"])},')  # type: ignore[list-item]
    assert read(tmp_path) == {}


def test_copies_of_a_sync_tool_lose_to_the_newest_reading(tmp_path: Path) -> None:
    write_multi(tmp_path, "a_md.ajson", f'"smart_sources:a.md": {source([1, 0], at=20)},')
    write_multi(tmp_path, "a_md-DESKTOP.ajson", f'"smart_sources:a.md": {source([0, 1], at=30)},')
    write_multi(tmp_path, "a_md.sync-conflict-20261130.ajson", f'"smart_sources:a.md": {source([7, 7], at=10)},')
    assert read(tmp_path) == {"a.md": [0, 1]}


def test_a_damaged_record_costs_itself_alone(tmp_path: Path) -> None:
    lines = [f'"smart_sources:a.md": {source([1])},', '"smart_sources:b.md": {"embeddings": {,']
    write_multi(tmp_path, "x.ajson", "\n".join([*lines, f'"smart_sources:c.md": {source([3])},']))
    cache = read_smart_env(tmp_path)
    assert ([vector.path for vector in cache.vectors], cache.n_damaged) == (["a.md", "c.md"], 1)
    write_multi(tmp_path, "x.ajson", "no json at all [" * 1000)
    assert read_smart_env(tmp_path) == ([], 1)
    write_multi(tmp_path, "x.ajson", f'"smart_sources:a.md": {"[" * 100_000}\n"smart_sources:b.md": {source([1])}')
    assert read(tmp_path) == {"b.md": [1]}
    assert read_smart_env(tmp_path / "absent") == ([], 0)


def write_shards(folder: Path, **shards: list[tuple[str, dict[str, Any] | None]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in shards.items():
        lines = [f'"smart_sources:{path}": {json.dumps(item)},' for path, item in records]
        (folder / f"{name}.ajson").write_text("\n".join(lines) + "\n", encoding="utf-8")


def row(number: int, *, file: str = "mf_1", read: str = "h", made_of: str = "h") -> dict[str, Any]:
    ref = {"file": file, "file_i": number, "read_hash": made_of, "at": 1}
    return {"last_read": {"hash": read}, "embedding": {"default": {file: ref}, "history": []}}


def test_rows_of_a_binary_file_are_read_by_number_in_the_order_of_the_shards(tmp_path: Path) -> None:
    folder = tmp_path / "smart_sources"
    write_shards(
        folder,
        smart_sources=[("a.md", row(0)), ("b.md", row(1)), ("gone.md", row(1)), ("stale.md", row(1, made_of="old"))],
        smart_sources_2=[("b.md", row(2)), ("gone.md", None)],
        smart_sources_10=[("b.md", row(3)), ("past.md", row(99)), ("out.md", row(0, file="../secret"))],
    )
    (folder / "mf_1").write_bytes(np.arange(8, dtype="<f4").tobytes())
    (tmp_path / "secret").write_bytes(np.arange(8, dtype="<f4").tobytes())
    write_multi(tmp_path, "a_md.ajson", f'"smart_sources:a.md": {source([9, 9])},')  # the older form loses
    assert read(tmp_path, dim=2) == {"a.md": [0, 1], "b.md": [6, 7]}
    plain = row(1)
    plain["embedding"]["default"] = plain["embedding"]["default"]["mf_1"]
    write_shards(folder, smart_sources=[("a.md", row(0)), ("b.md", plain)], smart_sources_2=[], smart_sources_10=[])
    assert read(tmp_path) == {"a.md": [0, 1, 2, 3], "b.md": [4, 5, 6, 7]}  # two rows share eight numbers


def test_numbered_shards_without_the_base_file_are_ignored(tmp_path: Path) -> None:
    write_shards(tmp_path / "smart_sources", smart_sources_1=[("a.md", row(0))])
    (tmp_path / "smart_sources" / "mf_1").write_bytes(np.ones(2, dtype="<f4").tobytes())
    assert read(tmp_path, dim=2) == {}
    write_shards(tmp_path, smart_sources=[("b.md", row(0))])
    shutil.copy(tmp_path / "smart_sources" / "mf_1", tmp_path / "mf_1")
    assert read(tmp_path, dim=2) == {"b.md": [1, 1]}
