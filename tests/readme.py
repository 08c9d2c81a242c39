"""The console blocks of README.md: read, run against the sample's index, compared, and rewritten by `make docs`.

A block holds commands after `$ ` and what they print. Only `graphrag` commands are run; the end of `graphrag index` is
taken from the run that made the index. A line `...` stands for any
lines. Run ids, seconds and counts of seconds differ from run to run and are not compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from graphrag.cli.main import main

from .conftest import ROOT

README = ROOT / "README.md"
PAGES = ("disambiguation.md", "mcp.md", "search.md", "vaults.md")  # of docs/, with such blocks
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def read_commands(text: str) -> list[tuple[str, str]]:
    """(command, what the README says it prints) of every graphrag command in a console block, in order."""
    found = [pair for block in BLOCK.findall(text) for pair in COMMAND.findall(block)]
    return [(command, printed) for command, printed in found if command.startswith("graphrag ")]


def run_command(command: str, output_dir: Path) -> str:
    """What the command prints on stdout, asked of the index in `output_dir`; without trailing blanks."""
    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*arguments, "--root", str(ROOT), "--set", f"output.dir={output_dir}"])
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def mask_volatile(text: str) -> str:
    """The text without what differs from run to run."""
    text = re.sub(r"\d{8}T\d{6}Z-[0-9a-f]{6}", "RUN", text)
    text = re.sub(r"^  seconds .*$", "  seconds", text, flags=re.MULTILINE)
    return re.sub(r"\d+\.\d+ s\b", "N s", text)


def is_same(expected: str, printed: str) -> bool:
    """Equal after masking; a line `...` in `expected` stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", mask_volatile(expected), flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), mask_volatile(printed)) is not None


def rewrite_outputs(text: str, run: Callable[[str], str]) -> str:
    """The README with what `run` says of each graphrag command; a closing `...` cuts after the same number of lines."""

    def rewrite_command(match: re.Match[str]) -> str:
        command, expected = match.groups()
        if not command.startswith("graphrag "):
            return match.group(0)
        lines = run(command).splitlines(keepends=True)
        if expected.endswith("...\n"):
            lines = [*lines[: expected.count("\n") - 1], "...\n"]
        return f"$ {command}\n{''.join(lines)}"

    return BLOCK.sub(lambda block: f"```console\n{COMMAND.sub(rewrite_command, block.group(1))}```", text)
