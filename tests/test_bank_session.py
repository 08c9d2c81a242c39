"""docs/knowledge-bank.md shows what its session prints."""

from __future__ import annotations

from pathlib import Path

from .bank_session import PAGE, is_same_session, mask_events, open_session
from .readme import read_commands


def test_the_session_prints_what_the_page_shows(sample_index: Path) -> None:
    commands = read_commands(PAGE.read_text(encoding="utf-8"))
    assert len(commands) >= 10
    with open_session(sample_index) as run:
        for command, expected in commands:
            printed = run(command)
            assert is_same_session(expected, printed), f'{command}: run "make docs"\n{mask_events(printed)}'
