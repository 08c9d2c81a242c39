"""What docs/disambiguation.md says a command prints, it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import ROOT
from .readme import is_same, mask_volatile, read_commands, run_command

PAGE = ROOT / "docs" / "disambiguation.md"
COMMANDS = read_commands(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_the_page_shows_what_the_command_prints(command: str, expected: str, sample_index: Path) -> None:
    printed = run_command(command, sample_index)
    assert is_same(expected, printed), f'run "make docs"\n{mask_volatile(printed)}'


def test_it_has_examples() -> None:
    assert len(COMMANDS) > 4
