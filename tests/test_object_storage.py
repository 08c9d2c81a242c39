"""Input and output on object storage, with fsspec's in-memory and local file systems: the tables of a local folder."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag.errors import InputError, MirrorFailed, SettingsError
from graphrag.pipeline import run_pipeline
from graphrag.project import check_project
from graphrag.reading import objects
from graphrag.runs.run import RunSummary
from graphrag.settings_file import load_settings
from graphrag.store import open_index, open_published_tables
from graphrag.tables import TABLES

FACTS = {"a.md": "Billing depends on Redis.", "teams/b.md": "The Auth Service is owned by the Platform Team."}
IGNORED = (".hidden.md", ".git/config.md", "drafts/c.md", "a.md.part")


@pytest.fixture
def memory() -> Iterator[Any]:
    fsspec = pytest.importorskip("fsspec")
    storage = fsspec.filesystem("memory")
    storage.store.clear()
    for name, text in FACTS.items():
        storage.pipe_file(f"/docs/{name}", text.encode())
    for name in IGNORED:
        storage.pipe_file(f"/docs/{name}", b"Mail depends on Kafka.")
    yield storage
    storage.store.clear()


def index(root: Path, name: str, *overrides: str) -> RunSummary:
    """One run in `root/name`."""
    (root / "settings.toml").touch()
    places = [f"output.dir={name}/output", f"cache.dir={name}/cache", 'input.ignore=["drafts"]']
    settings, _ = load_settings(root, overrides=[*places, *overrides], environ={})
    return run_pipeline(settings, root)


def read_tables(output_dir: Path) -> dict[str, pl.DataFrame]:
    names = [name for name, table in TABLES.items() if not table.is_log]
    return {name: pl.read_parquet(output_dir / "current" / f"{name}.parquet") for name in names}


def test_objects_give_the_tables_of_files(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FACTS.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    index(tmp_path, "files", "input.dir=docs")
    index(tmp_path, "objects", "input.dir=memory://docs")
    files, found = read_tables(tmp_path / "files" / "output"), read_tables(tmp_path / "objects" / "output")
    assert [name for name in files if not files[name].equals(found[name])] == []
    assert found["documents"]["path"].to_list() == sorted(FACTS)

    memory.pipe_file("/docs/a.md", b"Billing depends on Kafka.")
    memory.rm_file("/docs/teams/b.md")
    summary = index(tmp_path, "objects", "input.dir=memory://docs")
    assert (summary.status, summary.counts["documents"]) == ("published", 1)
    assert "Kafka" in read_tables(tmp_path / "objects" / "output")["entities"]["title"].to_list()


def test_an_object_whose_version_is_known_is_not_fetched_again(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    read = objects.StoredObject.read_bytes

    def count(self: objects.StoredObject) -> bytes:
        fetched.append(self.path)
        return read(self)

    monkeypatch.setattr(objects.StoredObject, "read_bytes", count)
    monkeypatch.setattr(objects, "_unix_ns", lambda _: 0)  # changed long ago, as for files that have settled
    assert index(tmp_path, "run", "input.dir=memory://docs").status == "published"
    assert sorted(fetched) == ["/docs/a.md", "/docs/teams/b.md"]
    assert index(tmp_path, "run", "input.dir=memory://docs").status == "unchanged"
    assert len(fetched) == 2
    monkeypatch.setattr(objects, "VERSION_KEYS", ())
    monkeypatch.setattr(objects, "TIME_KEYS", ())  # a storage that says nothing of versions: read every night
    assert index(tmp_path, "run", "input.dir=memory://docs").status == "unchanged"
    assert len(fetched) == 4


def test_the_published_run_is_copied_manifest_last_then_the_pointer(memory: Any, tmp_path: Path) -> None:
    mirror = f"output.mirror=file://{tmp_path / 'bucket'}"
    summary = index(tmp_path, "run", "input.dir=memory://docs", mirror)
    bucket = tmp_path / "bucket"
    assert (bucket / "current").read_text(encoding="utf-8") == summary.run_id
    copied = bucket / "runs" / summary.run_id
    written = sorted((path for path in bucket.rglob("*") if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    assert written[-2:] == [copied / "manifest.json", bucket / "current"]
    here = tmp_path / "run" / "output" / "runs" / summary.run_id
    assert {p.relative_to(here): p.read_bytes() for p in here.rglob("*") if p.is_file()} == {
        p.relative_to(copied): p.read_bytes() for p in copied.rglob("*") if p.is_file()
    }
    # A reader elsewhere: copy the folder, point at it.
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(copied, elsewhere / "runs" / summary.run_id)
    (elsewhere / "current").symlink_to(Path("runs") / summary.run_id)
    with open_index(elsewhere) as published:
        assert published.frame("select count(*) as n from entities").item() == summary.counts["entities"]


def test_a_copy_that_failed_is_made_up_for_by_the_next_run(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = "output.mirror=memory://bucket/handbook"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(13, "Access denied")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "pipe_file", refuse)
        with pytest.raises(
            MirrorFailed, match=r"is published here, but not copied to memory://bucket/handbook: Access"
        ):
            index(tmp_path, "run", "input.dir=memory://docs", mirror)
    published = open_published_tables(tmp_path / "run" / "output")
    assert published is not None
    assert not memory.exists("/bucket/handbook/current")
    assert index(tmp_path, "run", "input.dir=memory://docs", mirror).status == "unchanged"
    assert memory.cat_file("/bucket/handbook/current").decode() == published.run_id
    assert memory.exists(f"/bucket/handbook/runs/{published.run_id}/manifest.json")


def test_a_roll_back_reaches_the_mirror(memory: Any, tmp_path: Path) -> None:
    from graphrag.cli.main import main

    overrides = ["input.dir=memory://docs", f"output.mirror=file://{tmp_path / 'bucket'}"]
    first = index(tmp_path, "run", *overrides).run_id
    memory.pipe_file("/docs/a.md", b"Billing depends on Kafka.")
    second = index(tmp_path, "run", *overrides).run_id
    pointer = tmp_path / "bucket" / "current"
    assert pointer.read_text(encoding="utf-8") == second
    sets = [f"--set={override}" for override in ("output.dir=run/output", overrides[1])]
    with pytest.raises(SystemExit) as ended:
        main(["publish", first, "--root", str(tmp_path), *sets])
    assert ended.value.code == 0
    assert pointer.read_text(encoding="utf-8") == first


def test_an_address_that_cannot_be_opened_is_one_line(memory: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No documents in memory://nothing"):
        index(tmp_path, "run", "input.dir=memory://nothing")
    with pytest.raises(
        SettingsError, match=r'settings.toml: input.dir "nope://x" cannot be opened: Protocol not known'
    ):
        index(tmp_path, "run", "input.dir=nope://x")
    if importlib.util.find_spec("s3fs") is None:
        with pytest.raises(
            SettingsError, match=r'output.mirror "s3://b/x" cannot be opened: Install s3fs to access S3'
        ):
            index(tmp_path, "run", "input.dir=memory://docs", "output.mirror=s3://b/x")


def test_check_counts_objects(memory: Any, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").touch()
    settings, _ = load_settings(tmp_path, overrides=["input.dir=memory://docs"], environ={})
    assert ("ok", "input", "3 files in memory://docs") in check_project(settings, tmp_path)
