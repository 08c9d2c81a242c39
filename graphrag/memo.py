"""The memo: what was computed or paid for once, by content, in one SQLite file.

A record is (kind, key, value): the kind says what made it ("nlp", "vector", "llm"), the key is the sha256 of everything
that determines the value (`memo_key`), the value is bytes that the caller encodes. Nothing is pickled.

One file serves several processes at once (write-ahead log, waits for locks). Each record carries a checksum: a damaged
record is absent and counted. A damaged file is set aside, its sound records are copied to a fresh one, and one warning
says so; a file of another version is set aside whole. No fault of the file stops a run; a folder that cannot be written
does.

Does not: expire records, know what the values mean, or hold anything that cannot be made again.
"""

from __future__ import annotations

import fcntl
import logging
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from graphrag.errors import StoreError
from graphrag.ids import content_sha256

VERSION = 1
BATCH = 500  # keys in one SELECT, rows in one INSERT; SQLite takes at least 999 parameters
WAIT_SECONDS = 60.0
DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
SCHEMA = """
create table if not exists memo_version (version integer not null);
create table if not exists memo (
    number integer primary key, kind text not null, key text not null, value blob not null, crc integer not null,
    unique (kind, key));
"""
log = logging.getLogger("graphrag.memo")


def memo_key(*parts: str) -> str:
    """The key of a value: 64 hex digits of the sha256 of all parts that determine it, in order.

    Parts are joined after their own length, so that ("ab", "c") and ("a", "bc") differ.
    """
    return content_sha256("\x1f".join(f"{len(part)}:{part}" for part in parts))


class Memo:
    """An open memo file. Safe for several threads and processes; a context manager.

    `n_damaged` counts the records that were there but could not be trusted. `notices` holds what was set aside and why,
    in words; each is logged once as a warning too.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, making it and its folder where absent. Raises StoreError if the folder cannot be written."""
        self.path = Path(path)
        self.n_damaged = 0
        self.notices: list[str] = []
        self._lock = threading.RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._alone():
                self._connection = self._open_or_replace()
        except (OSError, sqlite3.Error) as error:
            raise self._cannot_write(error) from error

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there, by key, in the order of `keys`. An absent or damaged record has no entry.

        Raises StoreError if the file cannot be used at all (held by another process for a minute, folder gone).
        """
        found: dict[str, bytes] = {}
        wanted = list(dict.fromkeys(keys))
        with self._lock:
            for start in range(0, len(wanted), BATCH):
                batch = wanted[start : start + BATCH]
                try:
                    rows = self._select(kind, batch)
                except sqlite3.DatabaseError as error:
                    self._replace_damaged(error)
                    rows = self._select(kind, batch)
                for key, value, crc in rows:
                    if isinstance(value, bytes) and _checksum(kind, key, value) == crc:
                        found[key] = value
                    else:
                        self.n_damaged += 1
        return {key: found[key] for key in wanted if key in found}

    def put_many(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Keep all the values or none; a key that is there takes the new value. Durable against the end of the process.

        Raises StoreError if they cannot be written (disk full, folder gone).
        """
        if not values:
            return
        rows = [(kind, key, value, _checksum(kind, key, value)) for key, value in values.items()]
        with self._lock:
            try:
                _insert_rows(self._connection, rows)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise self._cannot_write(error) from error
                self._replace_damaged(error)
                self._insert_again(rows)

    def _insert_again(self, rows: Sequence[tuple[str, str, bytes, int]]) -> None:
        try:
            _insert_rows(self._connection, rows)
        except sqlite3.Error as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: Exception) -> StoreError:
        return StoreError(f"Cannot write the memo {self.path}: {error}. Check the folder of cache.dir.")

    def take_from(self, other: Path) -> int:
        """Copy the sound records of another memo's file, which is not changed; how many there were.

        Raises StoreError if it cannot be read to its end, or if they cannot be written; what was copied stays.
        """
        n_taken = 0
        try:
            with self._lock, closing(sqlite3.connect(other, timeout=WAIT_SECONDS)) as source:
                rows = source.execute("select kind, key, value, crc from memo order by number")
                while batch := rows.fetchmany(BATCH):
                    sound = [row for row in batch if isinstance(row[2], bytes) and _checksum(*row[:3]) == row[3]]
                    _insert_rows(self._connection, sound)
                    n_taken += len(sound)
        except sqlite3.Error as error:
            raise StoreError(f"Cannot copy {other} into the memo {self.path}: {error}.") from error
        return n_taken

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Memo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _select(self, kind: str, keys: Sequence[str]) -> list[tuple[str, object, int]]:
        marks = ",".join("?" * len(keys))
        sql = f"select key, value, crc from memo where kind = ? and key in ({marks})"
        return self._connection.execute(sql, (kind, *keys)).fetchall()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While one process opens or replaces the file, the others wait: two must not both set it aside."""
        with self.path.with_name(self.path.name + ".lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _open_or_replace(self) -> sqlite3.Connection:
        try:
            connection = _connect(self.path)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            return self._start_afresh("damaged", salvage=True)
        version = connection.execute("select max(version) from memo_version").fetchone()[0]
        if version == VERSION:
            return connection
        connection.close()
        return self._start_afresh(f"version {version}, this release reads {VERSION}", salvage=False)

    def _replace_damaged(self, error: sqlite3.DatabaseError) -> None:
        if not _is_damage(error):
            raise StoreError(f"Cannot use the memo {self.path}: {error}.") from error
        self._connection.close()
        with self._alone():
            if _is_sound(self.path):  # another process has replaced it meanwhile
                self._connection = _connect(self.path)
            else:
                self._connection = self._start_afresh("damaged", salvage=True)

    def _start_afresh(self, why: str, *, salvage: bool) -> sqlite3.Connection:
        aside = _free_name(self.path)
        for suffix in ("", "-wal", "-shm"):  # the log belongs to the file: it may hold its newest records
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).rename(aside.with_name(aside.name + suffix))
        connection = _connect(self.path)
        n_saved, n_lost = _copy_sound_records(aside, connection) if salvage else (0, 0)
        self.n_damaged += n_lost
        saved = f"; {n_saved} sound records were kept" if salvage else ""
        notice = f"The memo {self.path} could not be used ({why}). It was set aside as {aside.name}{saved}."
        self.notices.append(notice)
        log.warning(notice)
        return connection


def _checksum(kind: str, key: str, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(f"{kind}\x1f{key}\x1f".encode()))


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in DAMAGE


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")  # survives a kill; a power cut may lose the last batches only
        connection.executescript(SCHEMA)
        if connection.execute("select count(*) from memo_version").fetchone()[0] == 0:
            connection.execute("insert into memo_version values (?)", (VERSION,))
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _insert_rows(connection: sqlite3.Connection, rows: Sequence[tuple[str, str, bytes, int]]) -> None:
    connection.execute("begin immediate")
    try:
        connection.executemany("insert or replace into memo (kind, key, value, crc) values (?, ?, ?, ?)", rows)
        connection.execute("commit")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("rollback")
        raise


def _is_sound(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection:
            return bool(connection.execute("pragma quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _copy_sound_records(aside: Path, connection: sqlite3.Connection) -> tuple[int, int]:
    """Copy what can be read and has the right checksum, from both ends of the damaged file; (kept, refused)."""
    kept, refused = 0, 0
    seen_to = -1
    for order in ("asc", "desc"):
        batch: list[tuple[str, str, bytes, int]] = []
        damaged = sqlite3.connect(aside)
        try:
            for number, kind, key, value, crc in damaged.execute(
                f"select number, kind, key, value, crc from memo order by number {order}"
            ):
                if order == "desc" and number <= seen_to:
                    break
                seen_to = max(seen_to, number) if order == "asc" else seen_to
                if isinstance(value, bytes) and _checksum(str(kind), str(key), value) == crc:
                    batch.append((kind, key, value, crc))
                else:
                    refused += 1
                if len(batch) == BATCH:
                    _insert_rows(connection, batch)
                    kept, batch = kept + len(batch), []
        except sqlite3.DatabaseError as error:
            log.info("the damaged memo ends at %s: %s", seen_to, error)
        finally:
            damaged.close()
        if batch:
            _insert_rows(connection, batch)
            kept += len(batch)
    return kept, refused


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.set-aside-{number}")).exists():
        number += 1
    return aside
