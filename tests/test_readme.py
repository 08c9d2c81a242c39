"""What README.md says a command prints, it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from .readme import README, is_same, mask_volatile, read_commands, run_command

COMMANDS = read_commands(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_readme_shows_what_the_command_prints(command: str, expected: str, sample_run: tuple[Path, str]) -> None:
    output_dir, summary = sample_run
    printed = f"{summary}\n" if command == "graphrag index" else run_command(command, output_dir)
    assert is_same(expected, printed), f'run "make docs"\n{mask_volatile(printed)}'


def test_dots_stand_for_any_lines() -> None:
    assert is_same("a\n...\nd\n", "a\nb\nc\nd\n")
    assert is_same("a 1.5 s\n", "a 22.0 s\n")
    assert not is_same("a\n...\nd\n", "a\nb\n")
