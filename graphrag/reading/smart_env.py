"""Vectors of notes that the Obsidian plugin Smart Connections keeps in its folder .smart-env, in both of its formats.

Form A: multi/*.ajson, one file a note, vectors as numbers. Form B, which wins where it is there: smart_sources.ajson
and its numbered shards, vectors as rows of float32 in binary files beside them. Items are known by their key alone:
copies that a sync tool made of a file hold the same keys, and the newest reading of a note counts (specs: linked
documents 8).

Reads only. Does not: read the vectors of blocks, or look whether a note is as it was then (index/imported_vectors.py).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCES = frozenset({"smart_sources", "SmartSource", "SmartNote"})
BASE = "smart_sources.ajson"
_SHARD = re.compile(r"smart_sources_(\d+)\.ajson")
_BETWEEN = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")
_NEXT_RECORD = re.compile(r'\n\s*(?=")')
_PLAIN_NAME = re.compile(r"[^/\\]+")


class CachedVector(NamedTuple):
    """`text_hash`: of the note when the vector was made (hash_text)."""

    path: str
    model: str
    text_hash: str
    vector: NDArray[np.float32]


class SmartEnv(NamedTuple):
    """`n_damaged`: records that could not be read."""

    vectors: list[CachedVector]
    n_damaged: int


def list_smart_env(folder: Path) -> list[Path]:
    """The files that hold items, in the order in which they count; empty where the folder holds none."""
    for place in (folder / "smart_sources", folder):
        if (place / BASE).is_file():
            shards = [(int(name[1]), path) for path in place.iterdir() if (name := _SHARD.fullmatch(path.name))]
            return [place / BASE, *(path for _, path in sorted(shards))]
    return sorted((folder / "multi").glob("*.ajson"))


def read_smart_env(folder: Path, *, dim: int = 0) -> SmartEnv:
    """All vectors of notes, by path and model. dim: of a row in binary files; 0: as many as the rows that are named
    would make. Raises OSError."""
    files = list_smart_env(folder)
    is_sharded = bool(files) and files[0].name == BASE
    items: dict[str, dict[str, Any]] = {}
    n_damaged = 0
    for file in files:
        records, n_bad = _parse(file.read_text(encoding="utf-8-sig", errors="replace"))
        n_damaged += n_bad
        for path, item in records.items():
            if item is None and is_sharded:
                items.pop(path, None)
            elif isinstance(item, dict) and (is_sharded or path not in items or _age(item) >= _age(items[path])):
                items[path] = item
    refs = [(path, item, *each) for path, item in items.items() for each in _list_refs(item)]
    rows = _Rows(files[0].parent, [ref for *_, ref in refs], dim) if files else None
    found = []
    for path, item, model, ref in sorted(refs, key=lambda each: (each[0], each[2])):
        read_hash, made_of = _read_hash(item), _made_of(ref)
        vector = _read_vector(ref) if "vec" in ref else rows.read(ref) if rows else None
        if vector is not None and read_hash and made_of in (None, read_hash):
            found.append(CachedVector(path, model, read_hash, vector))
    return SmartEnv(found, n_damaged)


def hash_text(text: str) -> str:
    """The plugin's hash of a text: murmur3, 32 bits, seed 0, over the low byte of each UTF-16 unit, in base 36."""
    data = text.encode("utf-16-le", "surrogatepass")[::2]
    n_blocks = len(data) // 4
    blocks = np.frombuffer(data, dtype="<u4", count=n_blocks) * np.uint32(0xCC9E2D51)
    blocks = ((blocks << np.uint32(15)) | (blocks >> np.uint32(17))) * np.uint32(0x1B873593)
    value = 0
    for block in blocks.tolist():
        value ^= block
        value = ((value << 13) | (value >> 19)) & 0xFFFFFFFF
        value = (value * 5 + 0xE6546B64) & 0xFFFFFFFF
    if rest := data[4 * n_blocks :]:
        block = int.from_bytes(rest, "little") * 0xCC9E2D51 & 0xFFFFFFFF
        value ^= ((block << 15) | (block >> 17)) * 0x1B873593 & 0xFFFFFFFF
    value ^= len(data)
    value = (value ^ (value >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ (value >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    value ^= value >> 16
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


def _parse(text: str) -> tuple[dict[str, Any], int]:
    """(note's path -> its last item, None where it was deleted; records that could not be read)."""
    records: dict[str, Any] = {}
    n_damaged = 0
    for key, value in _scan(text):
        prefix, colon, path = key.partition(":")
        if not key:
            n_damaged += 1
        elif colon and prefix in SOURCES:
            path = unicodedata.normalize("NFC", path)
            records.pop(path, None)
            records[path] = value
    return records, n_damaged


def _scan(text: str) -> Iterator[tuple[str, Any]]:
    """(key, value) of the JSON members that follow each other, with or without commas; ("", None) for a damaged one."""
    decoder, position = json.JSONDecoder(), 0
    while True:
        start = _BETWEEN.match(text, position)
        position = start.end() if start else position
        if position >= len(text):
            return
        try:
            key, position = decoder.raw_decode(text, position)
            colon = _COLON.match(text, position)
            if colon is None or not isinstance(key, str):
                raise ValueError
            value, position = decoder.raw_decode(text, colon.end())
            yield key, value
        except (ValueError, RecursionError):
            yield "", None
            following = _NEXT_RECORD.search(text, position)
            position = following.end() if following else len(text)


def _list_refs(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(model, what leads to its vector): numbers under `vec`, or a row of a file."""
    by_model = item.get("embeddings")
    for model, ref in by_model.items() if isinstance(by_model, dict) else ():
        if isinstance(ref, dict):
            yield model, ref
    embedding = item.get("embedding")
    chosen = embedding.get("default") if isinstance(embedding, dict) else None
    if isinstance(chosen, dict):
        refs = {str(chosen["file"]): chosen} if "file" in chosen else chosen
        yield from ((model, ref) for model, ref in refs.items() if isinstance(ref, dict))


def _read_hash(item: dict[str, Any]) -> str:
    last = item.get("last_read")
    return str(last.get("hash") or "") if isinstance(last, dict) else ""


def _made_of(ref: dict[str, Any]) -> str | None:
    """The hash of the text that a vector was made of; None where it is not said."""
    last = ref.get("last_embed")
    found = ref.get("read_hash") if "file" in ref else last.get("hash") if isinstance(last, dict) else None
    return str(found) if found or "file" in ref else None


def _age(item: dict[str, Any]) -> float:
    last = item.get("last_read")
    at = last.get("at") if isinstance(last, dict) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _read_vector(ref: dict[str, Any]) -> NDArray[np.float32] | None:
    numbers = ref["vec"]
    if not isinstance(numbers, list) or not numbers:
        return None
    try:
        return np.array(numbers, dtype=np.float32)
    except (TypeError, ValueError):
        return None


class _Rows:
    """Rows of the binary files beside the items."""

    def __init__(self, folder: Path, refs: Iterable[dict[str, Any]], dim: int) -> None:
        self._values: dict[str, NDArray[np.float32]] = {}
        self._dims: dict[str, int] = {}
        last: dict[str, int] = {}
        for ref in refs:
            name, row = ref.get("file"), ref.get("file_i")
            if isinstance(name, str) and isinstance(row, int) and row >= 0 and _PLAIN_NAME.fullmatch(name):
                last[name] = max(last.get(name, 0), row)
        for name, row in last.items():
            if (folder / name).is_file() and name not in (".", ".."):
                data = (folder / name).read_bytes()
                self._values[name] = np.frombuffer(data[: len(data) // 4 * 4], dtype="<f4")
                self._dims[name] = dim or len(self._values[name]) // (row + 1)

    def read(self, ref: dict[str, Any]) -> NDArray[np.float32] | None:
        """None for a row that is not there."""
        name, row = ref.get("file"), ref.get("file_i")
        if name not in self._values or not isinstance(row, int) or row < 0:
            return None
        dim = self._dims[name]
        values = self._values[name][row * dim : (row + 1) * dim]
        return values.astype(np.float32) if dim and len(values) == dim else None
