"""kill -9 in the middle of `graphrag relate` and `graphrag learn`, as processes of their own: what is left on disk.

Where a process dies is chosen, not left to luck: a sitecustomize.py beside it sends it SIGKILL at the n-th call of a
function of os, or lets the kernel end it (SIGXFSZ) when only a part of a line has reached the file.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.reading.new_notes import read_note

from .conftest import ROOT
from .runs.test_settling import FAST, Bank

NOTE = "A quorum of two cannot elect a leader when one machine dies; a third voter settles it."
DIES = """
import os, resource, signal
name, _, count = os.environ["DIES_AT"].partition(":")
if name == "bytes":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(count), int(count)))
else:
    left, real = int(count), getattr(os, name)
    def call(*args, **arguments):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **arguments)
    setattr(os, name, call)
"""
RELATE = ("relate", "c", "cites", "d", "--note", "Where it is from.")
LEARN = ("learn", "--title", "Quorum of three", "--text", NOTE, "--relates", "clarifies:a:Why one more")


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    bank = Bank(tmp_path / "project")
    bank.index()
    bank.relate("a cites b")
    (tmp_path / "sitecustomize.py").write_text(DIES)
    return bank


def call(bank: Bank, *arguments: str, dies_at: str = "") -> subprocess.CompletedProcess[str]:
    path = [str(ROOT), *([str(bank.root.parent)] if dies_at else [])]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(reversed(path)), "DIES_AT": dies_at}
    command = [sys.executable, "-m", "graphrag", *arguments, "--root", str(bank.root), *(f"--set={s}" for s in FAST)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("is_torn", [False, True], ids=["before the sync", "within the line"])
def test_a_killed_relate_leaves_a_log_that_replays_and_takes_the_next_line(bank: Bank, is_torn: bool) -> None:
    before = bank.log_path.read_bytes()
    killed = call(bank, *RELATE, dies_at=f"bytes:{len(before) + 30}" if is_torn else "fsync:1")
    assert killed.returncode in (-signal.SIGKILL, -signal.SIGXFSZ), killed.stderr
    after = bank.log_path.read_bytes()
    assert after.startswith(before), "what was there is as it was"
    assert (len(after) == len(before) + 30) == is_torn
    assert len(bank.log().warnings) == is_torn

    again = call(bank, *RELATE)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("was cut while it was written") == is_torn
    lines = bank.log_path.read_bytes().splitlines()
    assert all(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    assert set(bank.log().state().relations) == {("a.md", "cites", "b.md"), ("c.md", "cites", "d.md")}
    assert not bank.log().warnings


# In order: the note is written aside (fsync 1), gets its name (link), its folder is synced (fsync 2), the relation is
# appended and synced (fsync 3).
@pytest.mark.parametrize(
    ("dies_at", "is_noted", "is_related"),
    [
        ("fsync:1", False, False),
        ("link:1", False, False),
        ("fsync:2", True, False),
        ("bytes", True, False),
        ("fsync:3", True, True),
    ],
)
def test_a_killed_learn_leaves_a_whole_note_or_none(bank: Bank, dies_at: str, is_noted: bool, is_related: bool) -> None:
    size = len(bank.log_path.read_bytes())
    if dies_at == "bytes":  # the log is made larger than the note, so that only the line is cut
        bank.relate(*(f"{a} see_also {b}" for a in "abcd" for b in "abcd" if a != b))
        size = len(bank.log_path.read_bytes())
        dies_at = f"bytes:{size + 30}"
    before = set(bank.log().state().relations)
    killed = call(bank, *LEARN, dies_at=dies_at)
    assert killed.returncode in (-signal.SIGKILL, -signal.SIGXFSZ), killed.stderr
    notes = list((bank.input / "learned").glob("*.md"))
    assert len(notes) == is_noted
    for file in notes:
        text = file.read_text()
        assert text.endswith(f"{NOTE}\n") and read_note(file.name, text).title == "Quorum of three"
    assert len(bank.log().warnings) <= 1
    related = set(bank.log().state().relations) - before
    assert related == ({("learned/quorum-of-three.md", "clarifies", "a.md")} if is_related else set())

    again = call(bank, *RELATE)
    assert again.returncode == 0 and again.stderr.count("was cut while it was written") <= 1
    assert not bank.log().warnings
    assert set(bank.log().state().relations) == before | related | {("c.md", "cites", "d.md")}
    bank.index()
    assert bank.tables()["documents"].height == 4 + is_noted
    if not is_noted:
        assert call(bank, *LEARN).returncode == 0
