"""Frames that one night leaves to the next, in the memo: what was made last night, and under which key.

A memo holds one night of each kind, in the place of the one before: it does not grow with the nights. What is recalled
is whole, or nothing is. For rows that stand by themselves and are asked for one by one, the memo is used directly
(kept_records.py); rows of many documents lie together here, as columns, since a record a row would cost a night of
20,000 documents seconds.

Does not: know what the frames hold, or when they fit: the key is of all that decides on them beside what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import orjson
import polars as pl

from graphrag.ids import content_sha256
from graphrag.memo import Memo, memo_key

ROWS_A_BLOB = 200_000


def recall_frames(memo: Memo | None, kind: str, key: str) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """The frames by name and the facts that the night before left; both empty where it left none under this key."""
    head_key = memo_key(kind)
    held = memo.get_many(kind, [head_key]) if memo is not None else {}
    head = orjson.loads(held[head_key]) if held else {}
    if memo is None or head.get("key") != key:
        return {}, {}
    blobs = memo.get_many(kind, [memo_key(kind, name, str(number)) for name, number, _ in head["blobs"]])
    parts: dict[str, list[pl.DataFrame]] = {}
    for name, number, sha256 in head["blobs"]:
        blob = blobs.get(memo_key(kind, name, str(number)), b"")
        if content_sha256(blob) != sha256:  # damaged, or another run that shares the memo writes just now
            return {}, {}
        parts.setdefault(name, []).append(pl.read_ipc(BytesIO(blob)))
    return {name: pl.concat(frames) for name, frames in parts.items()}, head["facts"]


def keep_frames(
    memo: Memo | None, kind: str, key: str, frames: Mapping[str, pl.DataFrame], facts: Mapping[str, Any] | None = None
) -> None:
    """All or nothing. facts: what goes into JSON."""
    if memo is None:
        return
    values: dict[str, bytes] = {}
    blobs: list[tuple[str, int, str]] = []
    for name, frame in frames.items():
        for number, part in enumerate(list(frame.iter_slices(ROWS_A_BLOB)) or [frame]):
            buffer = BytesIO()
            part.rechunk().write_ipc(buffer, compression="zstd")
            values[memo_key(kind, name, str(number))] = buffer.getvalue()
            blobs.append((name, number, content_sha256(buffer.getvalue())))
    head = orjson.dumps({"key": key, "blobs": blobs, "facts": dict(facts or {})})
    memo.put_many(kind, values | {memo_key(kind): head})
