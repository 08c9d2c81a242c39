"""Fixtures of the imports and exports."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrag import Index

from ..conftest import ROOT
from .imports import import_into


@pytest.fixture
def sample(sample_index: Path) -> Index:
    return Index.open(ROOT, overrides=[f"output.dir={sample_index}"])


@pytest.fixture
def hostile(tmp_path: Path) -> Index:
    """A graph whose names and descriptions hold what XML, CSV, Cypher and Markdown give a meaning to."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "entities.csv").write_bytes(
        "title,type,description\n"
        '"Bell \x07 & <b>""quoted""</b>",kind \x01,"two\nlines; [[Redis]] \x0b\x1b[31mred"\n'
        "Redis,data-store,=cmd|' /C calc'!A0\n"
        'redis,,"]]> ` {{x}} \\ \u2028 \U0001f600"\n'
        "CON/AUX: a|b#c^d,x y,.\n"
        "Alone,,\n".encode()
    )
    (folder / "relationships.csv").write_bytes(
        "source,target,type,description\n"
        '"Bell \x07 & <b>""quoted""</b>",Redis,talks `to`,"a;b \x00 c"\n'
        'Redis,redis,,"x\ry"\n'
        '"CON/AUX: a|b#c^d","Bell \x07 & <b>""quoted""</b>",12 ümläut,\n'.encode()
    )
    return import_into(tmp_path, folder)[1]
