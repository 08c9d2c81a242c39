"""relations.jsonl: the log of authored relations, read whole and appended to under a lock.

A line is one event as a JSON object, or several that hold together as a JSON array: a line is there or it is not, so
that a deletion with its bridges is one transaction. Writers take an exclusive lock on the file, read it, decide, append
with one write and sync it to disk. A last line without its end is what a killed writer left: it is ignored with one
warning and cut off by the next writer. A bad line anywhere else is an error that names it.

Does not: know what events mean (events.py).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from graphrag.errors import InputError, StoreError, shown_path
from graphrag.ids import content_sha256
from graphrag.relations.events import ACTIONS, RELATION_TYPES, SOURCES, Event, State, replay
from graphrag.store.runs import sync_path

_TEXTS = ("event_id", "action", "at", "actor", "source", "from", "type", "to", "note", "reason")
_OF_ENTRIES = ("merge", "delete_entry")


@dataclass(frozen=True)
class RelationLog:
    """`lines`: the events of each line. `warnings`: at most one, on a line that was cut. n_bytes: of whole lines."""

    lines: list[tuple[Event, ...]] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    n_bytes: int = 0
    sha256: str = content_sha256("")

    @property
    def events(self) -> list[Event]:
        return [event for line in self.lines for event in line]

    def state(self) -> State:
        return replay(self.events)


def read_log(path: Path, *, after: int = 0) -> RelationLog:
    """The log; empty where there is no file. after: bytes at its start that need no reading (of an earlier n_bytes).

    Raises InputError for a line that is no event, StoreError where the file cannot be read.
    """
    with _disk_errors(path):
        if not path.is_file():
            return RelationLog()
        with path.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH)  # no half of a line that is being written
            return _read(handle, path, after=after)


def append_events(path: Path, plan: Callable[[RelationLog], Sequence[Event]]) -> list[Event]:
    """Append the events that `plan` makes of the log as it is under the lock, as one line; they are on disk then.

    An empty plan writes nothing. Raises as read_log does, and what the plan raises.
    """
    with _disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("a+b") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            log = _read(handle, path)
            events = list(plan(log))
            if events:
                handle.truncate(log.n_bytes)
                handle.seek(0, os.SEEK_END)
                is_open = log.n_bytes > 0 and _byte_before(handle, log.n_bytes) != b"\n"  # an editor's last line
                handle.write(b"\n" * is_open + render_line(events))
                handle.flush()
                os.fsync(handle.fileno())
        if is_new and events:
            sync_path(path.parent)
    return events


def render_line(events: Sequence[Event]) -> bytes:
    """One line of the file, with its end."""
    rows = []
    for event in events:
        row = asdict(event)
        row = {"from" if name == "entry" else name: value for name, value in row.items() if value not in ("", {})}
        rows.append(row)
    return orjson.dumps(rows[0] if len(rows) == 1 else rows) + b"\n"


def _read(handle: BinaryIO, path: Path, *, after: int = 0) -> RelationLog:
    handle.seek(0)
    data = handle.read()
    whole = data[: data.rfind(b"\n") + 1]
    cut = data[len(whole) :]
    lines = []
    n_skipped = data.count(b"\n", 0, after)
    for number, line in enumerate(whole[after:].split(b"\n")[:-1], n_skipped + 1):
        if line.strip():
            lines.append(_parse_line(line, f"{shown_path(path)}, line {number}"))
    warnings: tuple[str, ...] = ()
    if cut.strip():
        try:  # whole, but for the line end that an editor left out
            lines.append(_parse_line(cut, ""))
            whole = data
        except InputError:
            number = whole.count(b"\n") + 1
            warnings = (f"{shown_path(path)}: line {number} was cut while it was written; it is ignored.",)
    return RelationLog(lines, warnings, len(whole), content_sha256(whole))


def _parse_line(line: bytes, place: str) -> tuple[Event, ...]:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise InputError(f"{place}: not JSON. Restore the line, or remove it.") from None
    rows = found if isinstance(found, list) else [found]
    return tuple(_parse_event(row, place) for row in rows)


def _parse_event(row: Any, place: str) -> Event:
    if not isinstance(row, dict):
        raise InputError(f"{place}: an event is an object, this is {type(row).__name__}.")
    texts = {name: row.get(name, "") for name in _TEXTS}
    payload = row.get("payload", {})
    if wrong := next((name for name, value in texts.items() if not isinstance(value, str)), None):
        raise InputError(f"{place}: {wrong} must be text.")
    if not isinstance(payload, dict):
        raise InputError(f"{place}: payload must be an object.")
    for name, known in (("action", ACTIONS), ("source", SOURCES)):
        if texts[name] not in known:
            raise InputError(f'{place}: unknown {name} "{texts[name]}". Use one of: {", ".join(known)}.')
    is_of_entry = texts["action"] in _OF_ENTRIES
    if not is_of_entry and texts["type"] not in RELATION_TYPES:
        raise InputError(f'{place}: unknown type "{texts["type"]}". Use one of: {", ".join(RELATION_TYPES)}.')
    needed = ["event_id", "at", "actor", "from", *([] if is_of_entry else ["to"])]
    if missing := [name for name in needed if not texts[name]]:
        raise InputError(f"{place}: {missing[0]} is missing.")
    if texts["action"] == "retype" and payload.get("old_type") not in RELATION_TYPES:
        raise InputError(f"{place}: payload.old_type of a retype must be one of the types.")
    return Event(entry=texts.pop("from"), **texts, payload=payload)


def _byte_before(handle: BinaryIO, offset: int) -> bytes:
    handle.seek(offset - 1)
    last = handle.read(1)
    handle.seek(0, os.SEEK_END)
    return last


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"Cannot use {shown_path(path)}: {error.strerror or error}. Check links.relations.") from error
