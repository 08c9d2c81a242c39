"""The session of docs/knowledge-bank.md: its commands write, so they are run on a copy of the sample, in order.

Ids of events and times differ from session to session and are not compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from graphrag.cli.main import main

from .conftest import ROOT
from .readme import is_same, read_commands

PAGE = ROOT / "docs" / "knowledge-bank.md"


@contextlib.contextmanager
def open_session(output_dir: Path) -> Iterator[Callable[[str], str]]:
    """run(command) -> what it prints, errors included; over a copy of the sample and of its index in `output_dir`."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copy(ROOT / "settings.toml", root)
        shutil.copytree(ROOT / "data" / "sample", root / "data" / "sample")
        shutil.copytree(output_dir, root / "data" / "output", symlinks=True)
        with contextlib.chdir(root):
            yield _run


def _run(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), contextlib.suppress(SystemExit):
        main(shlex.split(command.replace("\\\n", " "))[1:])
    return "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def mask_events(text: str) -> str:
    text = re.sub(r"\b[0-9a-f]{12}\b", "EVENT", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", "TIME", text)


def is_same_session(expected: str, printed: str) -> bool:
    return is_same(mask_events(expected), mask_events(printed))


def rewrite_session(text: str, output_dir: Path) -> str:
    """The page with what its commands print now; as it is where nothing but ids and times has changed."""
    found = read_commands(text)
    with open_session(output_dir) as run:
        printed = [run(command) for command, _ in found]
    if all(is_same_session(expected, said) for (_, expected), said in zip(found, printed, strict=True)):
        return text
    for (command, expected), said in zip(found, printed, strict=True):
        text = text.replace(f"$ {command}\n{expected}", f"$ {command}\n{said}", 1)
    return text
