"""A folder of linked notes as a project whose index takes a second: for tests of links, vaults and their commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SETTINGS = (
    '[input]\ndir = "in"\n[embeddings]\nmodel = "none"\n[extraction]\nnlp = "lite"\n[gates]\nshrink_share = 1.0\n'
)


def write_vault(root: Path, files: Mapping[str, str]) -> Path:
    """settings.toml, and the notes by path below in/. The root."""
    (root / "settings.toml").write_text(SETTINGS)
    for name, text in files.items():
        file = root / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
