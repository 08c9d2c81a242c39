"""Imports go down the floors of the house only; the contracts stand in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys

from .conftest import ROOT


def test_import_contracts_are_kept() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*command, "--no-cache"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout
