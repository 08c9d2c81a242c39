"""What is listed of a folder (links, pipes and names are tested through tests/index/test_documents.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrag.reading.folders import list_files


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("*.bak", ["a.md", "old/b.md", "x/old/c.md"]),
        ("old/**", ["a.md", "d.bak", "x/old/c.md"]),
        ("**/old", ["a.md", "d.bak"]),
        ("old/", ["a.md", "d.bak"]),
        ("x/old/c.md", ["a.md", "d.bak", "old/b.md"]),
    ],
)
def test_ignore_patterns(tmp_path: Path, pattern: str, kept: list[str]) -> None:
    for name in ("a.md", "d.bak", "old/b.md", "x/old/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    assert [file.path for file in list_files(tmp_path, ignore=[pattern], exclude=[]).files] == kept


def test_input_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("text")
    (tmp_path / "link").symlink_to("real")
    listing = list_files(tmp_path / "link", ignore=[], exclude=[])
    assert [(file.path, file.n_bytes) for file in listing.files] == [("a.md", 4)]
    assert listing.faults == []
