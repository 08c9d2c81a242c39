"""What pages of docs/ say a command prints, it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import ROOT
from .readme import PAGES, is_same, mask_volatile, read_commands, run_command

COMMANDS = [
    (page, *pair) for page in PAGES for pair in read_commands((ROOT / "docs" / page).read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(
    ("page", "command", "expected"), COMMANDS, ids=[f"{page} {command[9:60]}" for page, command, _ in COMMANDS]
)
def test_the_page_shows_what_the_command_prints(page: str, command: str, expected: str, sample_index: Path) -> None:
    printed = run_command(command, sample_index)
    assert is_same(expected, printed), f'{page}: run "make docs"\n{mask_volatile(printed)}'


@pytest.mark.parametrize("page", PAGES)
def test_it_has_examples(page: str) -> None:
    assert sum(found == page for found, _, _ in COMMANDS) > 1
