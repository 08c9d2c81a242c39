"""The memo keeps what it was given, for several processes, and no damage to its file stops a run."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import StoreError
from graphrag.ids import content_sha256
from graphrag.memo import Memo, memo_key


def keys(n: int, prefix: str = "k") -> list[str]:
    return [memo_key(prefix, str(i)) for i in range(n)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache über" / "memo.sqlite"


def test_key_is_a_sha256_that_tells_the_parts_apart() -> None:
    assert memo_key("ab", "c") != memo_key("a", "bc")
    assert memo_key("a") != memo_key("a", "")
    assert len(memo_key("a")) == 64
    assert memo_key("a") == content_sha256("1:a")


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_equal_keys_mean_equal_parts(a: list[str], b: list[str]) -> None:
    assert (memo_key(*a) == memo_key(*b)) == (a == b)


def test_values_come_back_by_kind_and_key_in_the_order_asked(path: Path) -> None:
    many = keys(1203)
    with Memo(path) as memo:
        memo.put_many("nlp", {key: key.encode() for key in many})
        memo.put_many("vector", {many[0]: b""})
        memo.put_many("nlp", {})
        asked = [*reversed(many), memo_key("absent"), many[0]]
        got = memo.get_many("nlp", asked)
        assert list(got) == list(reversed(many))
        assert all(value == key.encode() for key, value in got.items())
        assert memo.get_many("vector", many) == {many[0]: b""}
        assert memo.get_many("llm", many) == {}
    with Memo(path) as memo:
        assert len(memo.get_many("nlp", many)) == 1203
        memo.put_many("nlp", {many[0]: b"new"})
        assert memo.get_many("nlp", many[:1]) == {many[0]: b"new"}
        assert (memo.n_damaged, memo.notices) == (0, [])


def test_a_damaged_record_is_absent_and_counted(path: Path) -> None:
    one, two, three = keys(3)
    with Memo(path) as memo:
        memo.put_many("nlp", {one: b"1", two: b"2", three: b"3"})
    with sqlite3.connect(path) as raw:
        raw.execute("update memo set value = x'ff' where key = ?", (two,))
        raw.execute("update memo set value = 'text' where key = ?", (three,))
    raw.close()
    with Memo(path) as memo:
        assert memo.get_many("nlp", [one, two, three]) == {one: b"1"}
        assert memo.n_damaged == 2
        memo.put_many("nlp", {two: b"2"})
        assert memo.get_many("nlp", [two]) == {two: b"2"}


def test_a_file_that_is_no_database_is_set_aside_with_one_warning(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database " * 1000)
    with Memo(path) as memo:
        memo.put_many("nlp", {memo_key("a"): b"a"})
        assert len(memo.notices) == 1
    assert [record.levelname for record in caplog.records if record.levelno >= 30] == ["WARNING"]
    assert path.with_name("memo.sqlite.set-aside-1").read_bytes().startswith(b"not a database")
    with Memo(path) as memo:
        assert memo.get_many("nlp", [memo_key("a")]) == {memo_key("a"): b"a"}
        assert memo.notices == []


def test_a_file_with_damaged_pages_keeps_its_sound_records(path: Path) -> None:
    many = keys(2000)
    with Memo(path) as memo:
        memo.put_many("nlp", {key: (key * 10).encode() for key in many})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4 * 4096] = b"\xff" * 4 * 4096
    path.write_bytes(bytes(data))
    with Memo(path) as memo:
        found = memo.get_many("nlp", many)
        assert all(value == (key * 10).encode() for key, value in found.items())
        assert len(found) > 500
        memo.put_many("nlp", dict.fromkeys(many, b"again"))
        assert len(memo.get_many("nlp", many)) == 2000


def test_a_file_of_another_version_is_not_used_and_said_once(path: Path) -> None:
    with Memo(path) as memo:
        memo.put_many("nlp", {memo_key("a"): b"a"})
    with sqlite3.connect(path) as raw:
        raw.execute("update memo_version set version = 99")
    raw.close()
    with Memo(path) as memo:
        assert memo.get_many("nlp", [memo_key("a")]) == {}
        assert "version 99" in memo.notices[0]
    with Memo(path) as memo:
        assert memo.notices == []


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"Cannot write the memo .*memo\.sqlite"):
        Memo(tmp_path / "file" / "memo.sqlite")


def test_a_full_disk_is_one_line_and_what_was_kept_stays(path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Memo(path) as memo:
        memo.put_many("nlp", {memo_key("a"): b"a"})
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, old[1]))
        try:
            with pytest.raises(StoreError, match=r"Cannot write the memo .*memo\.sqlite"):
                memo.put_many("nlp", {memo_key("b"): b"b" * 1_000_000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
            signal.signal(signal.SIGXFSZ, handler)
        assert memo.get_many("nlp", [memo_key("a"), memo_key("b")]) == {memo_key("a"): b"a"}
        memo.put_many("nlp", {memo_key("b"): b"b"})
        assert memo.notices == []


def _fill(path: Path, prefix: str) -> None:
    with Memo(path) as memo:
        for key in keys(60, prefix):
            memo.put_many("nlp", {key: prefix.encode()})


def _fill_for_ever(path: Path) -> None:
    with Memo(path) as memo:
        for number in range(1_000_000):
            memo.put_many("nlp", {memo_key("round", str(number), str(i)): b"x" * 3000 for i in range(20)})


def test_a_kill_in_mid_writing_leaves_whole_batches(path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_fill_for_ever, args=(path,))
    process.start()
    first = [memo_key("round", "0", str(i)) for i in range(20)]
    with Memo(path) as memo:
        while not memo.get_many("nlp", first):
            assert process.is_alive()
            time.sleep(0.02)
    time.sleep(0.1)
    process.kill()
    process.join()
    with Memo(path) as memo:
        sizes = {len(memo.get_many("nlp", [memo_key("round", str(n), str(i)) for i in range(20)])) for n in range(2000)}
        assert sizes <= {0, 20}
        assert (memo.n_damaged, memo.notices) == (0, [])


def test_two_processes_share_one_file(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(path, prefix)) for prefix in ("a", "b")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    with Memo(path) as memo:
        for prefix in ("a", "b"):
            assert set(memo.get_many("nlp", keys(60, prefix)).values()) == {prefix.encode()}
            assert len(memo.get_many("nlp", keys(60, prefix))) == 60
