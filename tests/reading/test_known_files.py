"""A file is taken over only where its stamp and its rows are what the last run saw."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag.index.documents import Documents, read_documents
from graphrag.reading.folders import File, list_files
from graphrag.reading.known_files import (
    SETTLED_NS,
    KnownFile,
    PublishedRows,
    hash_files,
    know_file,
    read_known_files,
    write_known_files,
)

LATER = 10**20  # a run that begins when every file has settled


def read(folder: Path, **more: Any) -> Documents:
    return read_documents(
        folder, max_file_mb=1, id_column="", title_column="", text_column="", count=len, started_ns=LATER, **more
    )


def known_of(found: Documents) -> dict[str, KnownFile]:
    return {file.path: file for file in found.files}


def test_a_stamp_changes_with_every_way_to_change_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("one", encoding="utf-8")

    def stamp() -> str:
        (file,) = list_files(tmp_path, ignore=(), exclude=()).files
        return file.stamp

    before = stamp()
    assert stamp() == before
    times = path.stat()
    path.write_text("two", encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # the same size and time as before
    assert stamp() != before
    path.rename(tmp_path / "b.md")
    (tmp_path / "a.md").write_text("two", encoding="utf-8")
    assert len({file.stamp for file in list_files(tmp_path, ignore=(), exclude=()).files}) == 2


@pytest.mark.parametrize(("age", "is_known"), [(SETTLED_NS + 1, True), (SETTLED_NS, False), (-(10**18), False)])
def test_a_file_that_has_just_changed_or_comes_from_the_future_is_read_again(age: int, is_known: bool) -> None:
    file = File("a.md", Path("a.md"), 1, "stamp", 10**19)
    assert bool(know_file(file, [], [], started_ns=10**19 + age).stamp) == is_known


def test_rows_are_taken_over_only_where_they_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.", encoding="utf-8")
    (tmp_path / "t.csv").write_text("id,text\n10,Ten.\n2,Two.\n2,Two again.\n", encoding="utf-8")
    (tmp_path / "e.md").write_text("", encoding="utf-8")
    first = read(tmp_path)
    known = known_of(first)
    assert bool(known["a.md"].stamp) and bool(known["e.md"].stamp)
    assert known["t.csv"].stamp == ""  # two records of one name hang on the order of all files
    published = first.documents.with_columns(
        text_unit_ids=pl.lit(["u"]), human_readable_id=pl.col("human_readable_id") + 7
    )
    again = read(tmp_path, published=published, known=known)
    assert again.documents.equals(first.documents) and again.failures.equals(first.failures)
    assert hash_files(again.files) == hash_files(first.files)
    forged = published.with_columns(title=pl.lit("Forged"))
    assert read(tmp_path, published=forged, known=known).documents.equals(first.documents)
    assert read(tmp_path, published=None, known=known).documents.equals(first.documents)


def test_rows_of_what_cannot_be_read_are_found_by_file_and_by_folder() -> None:
    paths = ["a.md", "sub/b.md", "sub/t.csv#1", "sub/t.csv#2", "subway/c.md"]
    rows = PublishedRows(pl.DataFrame({"path": paths}))

    def below(path: str) -> list[str]:
        return [row["path"] for row in rows.below(path)]

    assert below("a.md") == ["a.md"]
    assert below("sub/t.csv") == ["sub/t.csv#1", "sub/t.csv#2"]
    assert below("sub") == ["sub/b.md", "sub/t.csv#1", "sub/t.csv#2"]
    assert below(".") == paths
    assert below("gone.md") == [] and PublishedRows(None).below(".") == []


def test_the_list_outlives_damage_and_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "files.jsonl"
    files = [KnownFile(name, stamp, "sha", [{"reason": "empty_document"}]) for name, stamp in (("b", "1"), ("a", "2"))]
    write_known_files(path, [*files, KnownFile("unsettled", "", "sha", [])], knobs_sha256="k")
    assert list(read_known_files(path, knobs_sha256="k").values()) == sorted(files)
    assert read_known_files(path, knobs_sha256="other") == {}
    assert read_known_files(tmp_path / "absent", knobs_sha256="k") == {}
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], b'["a","2"', b"{}", b"\xff", lines[2]]))
    assert list(read_known_files(path, knobs_sha256="k")) == ["b"]
    assert [child.name for child in tmp_path.iterdir()] == ["files.jsonl"]
