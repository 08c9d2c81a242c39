"""Communities from one night to the next, over whole runs: the sample with one document changed; `full`; settings."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from graphrag.index.communities import build_communities
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.settings_file import load_settings
from graphrag.store.ledger import read_ledger
from graphrag.store.runs import read_manifest

from .conftest import ROOT

SERVICES = ("Alpha", "Beta", "Gamma", "Delta", "Omega")


def read_table(root: Path, name: str = "communities") -> pl.DataFrame:
    return pl.read_parquet(root / "data" / "output" / "current" / f"{name}.parquet")


def index(root: Path, *overrides: str, full: bool = False) -> pl.DataFrame:
    """Run and publish; the communities."""
    settings, _ = load_settings(root, overrides=overrides, environ={})
    assert run_pipeline(settings, root, full=full).status == "published"
    return read_table(root)


def contents(communities: pl.DataFrame) -> list[tuple[int, tuple[str, ...], str]]:
    """What has no history: level, members and content of each community."""
    rows = communities.select("level", "entity_ids", "content_sha256").iter_rows()
    return sorted((level, tuple(members), content) for level, members, content in rows)


def test_one_changed_document_of_the_sample_leaves_the_other_communities_alone(
    sample_index: Path, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "data" / "sample")
    shutil.copyfile(ROOT / "settings.toml", tmp_path / "settings.toml")
    shutil.copytree(sample_index, tmp_path / "data" / "output", symlinks=True)
    shutil.copytree(sample_index.parent / "cache", tmp_path / "data" / "cache")
    before, reports = read_table(tmp_path), read_table(tmp_path, "community_reports")
    changed = tmp_path / "data" / "sample" / "docs" / "decisions" / "ADR-011.md"
    changed.write_text(changed.read_text("utf-8") + "\n\nThe Ledger Service depends on Redis for its locks.\n", "utf-8")
    after = index(tmp_path, "embeddings.model=none")
    manifest = read_manifest(tmp_path / "data" / "output")
    assert manifest is not None and manifest["facts"]["communities_backend"] == "leidenalg"
    names = ["id", "human_readable_id", "community"]
    same_members = before.join(after, on=["level", "entity_ids"], suffix="_now")
    for name in names:
        assert same_members[name].equals(same_members[f"{name}_now"], check_names=False)
    same_content = before.join(after, on=["id", "content_sha256"], how="semi")
    n_changed = after.height - same_content.height
    print(f"\nsample, one document changed: content of {n_changed} of {after.height} communities is new")
    assert 1 <= n_changed <= after.height // 4
    now = read_table(tmp_path, "community_reports").join(same_content.select("community"), on="community", how="semi")
    # A quote may lie in a text unit with a new number: the document was edited elsewhere in it.
    said = reports.join(now, on="community", suffix="_now").select(
        pl.col("full_content", "full_content_now").str.replace_all(r"Sources \([\d, ]+\)", "Sources")
    )
    assert said.height == same_content.height and said["full_content"].equals(
        said["full_content_now"], check_names=False
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five rings of services, indexed once, by the lite rules."""
    create_project(tmp_path)
    (tmp_path / "data" / "input").mkdir(parents=True, exist_ok=True)
    for ring in range(5):
        names = [f"{service}{ring} Service" for service in SERVICES]
        lines = [f"{one} depends on {other}." for one, other in zip(names, [*names[1:], names[0]], strict=True)]
        (tmp_path / "data" / "input" / f"{ring}.md").write_text(f"# Ring {ring}\n\n" + " ".join(lines) + "\n", "utf-8")
    index(tmp_path, *LITE)
    return tmp_path


LITE = ("extraction.nlp=lite", "embeddings.model=none", "communities.max_community_size=3")


def build_afresh(root: Path, seed: int = 42) -> pl.DataFrame:
    frames = [read_table(root, name) for name in ("entities", "relationships", "evidence", "documents")]
    weights = {"cooccurrence": 0.2}
    return build_communities(*frames, max_community_size=3, seed=seed, layer_weights=weights).communities


def change_one(root: Path) -> None:
    (root / "data" / "input" / "3.md").write_text("# Ring 3\n\nAlpha3 Service depends on Omega0 Service.\n", "utf-8")


def test_numbers_and_ids_stay_and_new_communities_get_new_numbers(root: Path) -> None:
    before = read_table(root)
    assert before["community"].to_list() == list(range(before.height))
    change_one(root)
    after = index(root, *LITE)
    assert after["human_readable_id"].equals(after["community"], check_names=False)
    known = dict(before.select("id", "community").iter_rows())
    for id_, number in after.select("id", "community").iter_rows():
        assert number == known[id_] if id_ in known else number >= before.height
    ledger = read_ledger(root / "data" / "output" / "ids.jsonl").filter(pl.col("table") == "communities")
    assert ledger["number"].is_unique().all() and set(ledger["id"]) == {*before["id"], *after["id"]}
    assert ledger["label"].str.len_chars().min()


def test_full_and_a_changed_setting_begin_afresh(root: Path) -> None:
    """Members, levels and contents are those of a first run; only numbers are for life."""
    change_one(root)
    index(root, *LITE)
    afresh = index(root, *LITE, full=True)
    assert contents(afresh) == contents(build_afresh(root))
    assert set(afresh["id"]) == set(build_afresh(root)["id"])
    other_seed = index(root, *LITE, "communities.seed=7")
    assert contents(other_seed) == contents(build_afresh(root, seed=7))
