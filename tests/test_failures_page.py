"""docs/failures.md explains every reason that a run can give, and no other."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import polars as pl
import pytest

from graphrag.pipeline import run_pipeline
from graphrag.settings_file import load_settings

from .conftest import ROOT

PAGE = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
EXPLAINED = dict(reversed(pair) for pair in re.findall(r"^\| (\w+) \| `(\w+)` \|", PAGE, re.MULTILINE))


def test_every_reason_explained_can_happen() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "graphrag").rglob("*.py")))
    assert [reason for reason in EXPLAINED if f'"{reason}"' not in source] == []
    assert len(EXPLAINED) > 10


@pytest.mark.shared
@pytest.mark.slow
def test_messy_folder_is_indexed_or_explained_and_nothing_outside_is_read(shared: Path, tmp_path: Path) -> None:
    """Without the three megabytes-long texts, which tests/bench looks at; every other trap is in."""
    with tarfile.open(shared / "data" / "messy_folder.tar.gz") as archive:
        archive.extractall(tmp_path / "input", filter="tar")
    messy = tmp_path / "input" / "messy"
    for name in ("huge_novel.txt", "huge_single_line.txt", "base64_blob.txt", "no_spaces_200k.txt"):
        (messy / name).unlink()
    places = {"input.dir": messy, "output.dir": tmp_path / "output", "cache.dir": tmp_path / "cache"}
    overrides = [f"{key}={path}" for key, path in places.items()] + ["disambiguation.aliases=none.toml"]
    run_pipeline(load_settings(ROOT, overrides=overrides, environ={})[0], ROOT)
    current = tmp_path / "output" / "current"
    failures = pl.read_parquet(current / "failures.parquet")
    assert set(failures.select("stage", "reason").rows()) <= {(stage, r) for r, stage in EXPLAINED.items()}
    failed = {item.split("#")[0] for item in failures.filter(pl.col("stage") == "documents")["item_id"]}
    documents = pl.read_parquet(current / "documents.parquet")
    indexed = {path.split("#")[0] for path in documents["path"]}
    files = {
        path.relative_to(messy).as_posix()
        for path in messy.rglob("*")
        if path.is_file() and not path.name.startswith((".", "~$"))
    }
    assert files - indexed - failed == set()
    assert "broken_link.md" in failed
    assert "root:" not in "".join(documents["text"])
