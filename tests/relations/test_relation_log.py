"""relations.jsonl under crashes, hand edits and many writers: specs/folding.md 6 and 10."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag.errors import InputError
from graphrag.relations.changes import Stamp, create_relation, delete_entry
from graphrag.relations.events import Event
from graphrag.relations.relation_log import RelationLog, append_events, read_log, render_line
from tests.relations.bank import make_stamp, show_log, write_relations

AT = "2026-11-30T05:00:00+00:00"


def fill(path: Path, words: str) -> RelationLog:
    for line in write_relations(words, make_stamp()).lines:
        append_events(path, lambda _, line=line: line)
    return read_log(path)


def write_many(path: Path, writer: int, n: int) -> None:
    stamp = Stamp(f"agent{writer}", "author", AT)
    for number in range(n):
        triple = (f"w{writer}", "cites", f"e{number}")
        append_events(path, lambda log, triple=triple: [create_relation(log.state(), triple, stamp, note="é" * 40)])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    assert read_log(path).lines == []
    log = fill(path, "a.md cites b.md, b.md requires c.md")
    assert show_log(log) == {"a.md cites b.md", "b.md requires c.md"}
    assert log.n_bytes == path.stat().st_size and not log.warnings
    assert path.read_text().count("\n") == 2


def test_a_plan_without_events_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    assert append_events(path, lambda _: []) == []
    assert path.read_bytes() == b""


def test_only_what_was_added_since_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    first = fill(path, "a cites b")
    fill(path, "c cites d")
    assert [event.triple for event in read_log(path, after=first.n_bytes).events] == [("c", "cites", "d")]


def test_a_cut_last_line_is_ignored_with_one_warning_and_then_replaced(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    fill(path, "a cites b, b cites c")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    log = read_log(path)
    assert show_log(log) == {"a cites b"}
    assert len(log.warnings) == 1 and "line 2 was cut while it was written; it is ignored" in log.warnings[0]
    append_events(path, lambda log: [create_relation(log.state(), ("x", "cites", "y"), make_stamp())])
    assert show_log(read_log(path)) == {"a cites b", "x cites y"} and not read_log(path).warnings


def test_a_last_line_without_its_end_that_is_whole_counts(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    fill(path, "a cites b")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert show_log(read_log(path)) == {"a cites b"} and not read_log(path).warnings
    append_events(path, lambda log: [create_relation(log.state(), ("x", "cites", "y"), make_stamp())])
    assert show_log(read_log(path)) == {"a cites b", "x cites y"}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"{half", "line 2: not JSON"),
        (b'"text"', "line 2: an event is an object"),
        (b'{"event_id": "e", "action": "make"}', 'line 2: unknown action "make"'),
        (b'{"event_id":"e","action":"create","at":"t","actor":"a","source":"me","from":"a","type":"cites","to":"b"}',
         'line 2: unknown source "me"'),
        (b'{"event_id":"e","action":"create","at":"t","actor":"a","source":"author","from":"a","type":"x","to":"b"}',
         'line 2: unknown type "x"'),
        (b'{"event_id":"e","action":"create","at":"t","actor":"a","source":"author","from":"a","type":"cites"}',
         "line 2: to is missing"),
    ],
)  # fmt: skip
def test_a_bad_line_in_the_middle_is_an_error_with_its_number(tmp_path: Path, bad: bytes, said: str) -> None:
    path = tmp_path / "relations.jsonl"
    fill(path, "a cites b, b cites c")
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + bad + b"\n" + second)
    with pytest.raises(InputError, match=said):
        read_log(path)
    with pytest.raises(InputError, match=said):
        append_events(path, lambda _: [])


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_a_deletion_is_there_or_not_wherever_it_was_cut(tmp_path: Path, data: st.DataObject) -> None:
    stamp = make_stamp()
    log = write_relations("A precedes B, D part_of B, B precedes C, B cites E", stamp)
    before = b"".join(render_line(line) for line in log.lines)
    line = render_line(delete_entry(log.state(), "B", stamp))
    path = tmp_path / "cut.jsonl"
    path.write_bytes(before + line[: data.draw(st.integers(0, len(line)))])
    found = show_log(read_log(path))
    whole = {"A precedes C", "A see_also E", "D see_also C", "D see_also E"}
    assert found in (show_log(log), whole)


def test_an_event_survives_the_file(tmp_path: Path) -> None:
    event = Event("id", "create", AT, "ana", "author", "ä.md", "cites", "b.md", 'a "note"\n', "why", {"hops": [1]})
    path = tmp_path / "relations.jsonl"
    append_events(path, lambda _: [event])
    assert read_log(path).lines == [(event,)]


@pytest.mark.slow
def test_eight_writers_lose_and_tear_nothing(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, number, 200)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    log = read_log(path)
    assert len(log.lines) == 1600 and len(log.state().relations) == 1600 and not log.warnings
    for number in range(8):
        mine = [event.to for event in log.events if event.entry == f"w{number}"]
        assert mine == [f"e{n}" for n in range(200)]


def test_a_killed_writer_leaves_a_log_that_replays(tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl"
    context = multiprocessing.get_context("spawn")
    for attempt in range(3):
        writer = context.Process(target=write_many, args=(path, attempt, 100_000))
        writer.start()
        while not path.exists() or path.read_bytes().count(b"\n") < 20 * (attempt + 1):
            time.sleep(0.01)
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        log = read_log(path)
        assert len(log.warnings) <= 1 and len(log.lines) >= 20 * (attempt + 1)
        append_events(
            path, lambda log: [create_relation(log.state(), ("after", "cites", f"k{len(log.lines)}"), make_stamp())]
        )
        assert not read_log(path).warnings
