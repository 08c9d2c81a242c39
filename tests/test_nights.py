"""What the second night costs and changes: specs/indexing.md 9, row by row, with a scripted model."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag.errors import GateHeld, StoreError
from graphrag.index import text_units
from graphrag.pipeline import PIPELINE
from graphrag.prompts import load_prompt
from graphrag.runs.run import RunSummary
from graphrag.settings import Settings
from graphrag.store import check_integrity, fingerprint_database
from graphrag.store.runs import read_manifest
from graphrag.tables import TABLES

from .index.model_rows import answer_depends, passage_of
from .index.test_extraction import FOLDER
from .runs.test_run_model import Project

Change = Callable[["Nights"], None]


class Nights(Project):
    """T3 with reports. `calls` are those of the last night, by role."""

    def settings(self, *overrides: str) -> Settings:
        return super().settings("reports.min_report_size=3", "disambiguation.judge=false", *overrides)

    def night(self, *overrides: str) -> RunSummary:
        return self.index(*overrides)

    @property
    def calls(self) -> dict[str, int]:
        return dict(Counter(request.role for request in self.asked))

    @property
    def input(self) -> Path:
        return self.root / "data" / "input"

    @property
    def run_id(self) -> str:
        manifest = read_manifest(self.root / "data" / "output")
        return str(manifest["run_id"]) if manifest else ""

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.input / name).read_text(encoding="utf-8")
        assert old in text
        (self.input / name).write_text(text.replace(old, new), encoding="utf-8")

    def changes(self) -> list[tuple[str, str, str]]:
        return self.tables()["run_changes"].select("table", "change", "label").rows()


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Nights(tmp_path_factory.mktemp("first"))
    project.night()
    assert project.calls == {"extract": 3, "report": 3}
    tables = project.tables()
    sizes = [tables[name].height for name in ("entities", "relationships", "communities", "run_changes")]
    assert sizes == [9, 9, 3, 0]
    return project.root


@pytest.fixture
def nights(first_night: Path, tmp_path: Path) -> Nights:
    """After the first night, in a folder of its own."""
    project = Nights(tmp_path / "made")
    shutil.copytree(first_night, tmp_path / "copy", symlinks=True)
    project.root = tmp_path / "copy"
    return project


TRIANGLE = "# Umber\n\nUmber depends on Vixen. Vixen depends on Walnut. Walnut depends on Umber.\n"
CHANGES: dict[str, tuple[Change, dict[str, int]]] = {
    "edit": (lambda n: n.edit("a.md", "Gamma depends on Alpha", "Gamma depends on Omega"), {"extract": 1, "report": 1}),
    "blank line": (lambda n: n.edit("a.md", "Alpha.\n", "Alpha.\n\n"), {}),
    "new triangle": (lambda n: n.write(d=TRIANGLE), {"extract": 1, "report": 1}),
    "delete": (lambda n: (n.input / "b.md").unlink(), {}),
    "rename": (lambda n: _rename(n, "b.md", "e.md"), {}),
    "copy": (lambda n: n.write(z=FOLDER["a.md"]), {}),
}


def _rename(nights: Nights, old: str, new: str) -> None:
    (nights.input / old).rename(nights.input / new)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_documents_asks_what_it_touches(nights: Nights, change: str) -> None:
    make, calls = CHANGES[change]
    make(nights)
    assert nights.night().status == "published"
    assert nights.calls == calls
    assert check_integrity(nights.tables()) == []


@pytest.mark.parametrize(
    "override", ["", "search.top=3", "gates.failed_share=0.9", "output.keep_runs=2", "text_units.max_tokens=200"]
)
def test_what_changes_no_row_publishes_nothing(nights: Nights, override: str) -> None:
    """Also a file that was only touched, and the prompt of an answer."""
    run_id, before = nights.run_id, nights.tables()
    os.utime(nights.input / "a.md", (1, 1))
    (nights.root / "prompts").mkdir()
    (nights.root / "prompts" / "local_search.md").write_text("{context} {question}", encoding="utf-8")
    assert nights.night(*[override] if override else []).status == "unchanged"
    assert (nights.calls, nights.run_id) == ({}, run_id)
    for name, frame in nights.tables().items():
        assert_frame_equal(frame, before[name])


def stages_that_ran(summary: RunSummary) -> set[str]:
    """Beside the look at the files."""
    return set(summary.seconds_by_stage) - {"documents"}


@pytest.mark.parametrize("changed", ["text_units.max_tokens=200", "communities.seed=7", "release"])
def test_what_changed_no_row_is_not_computed_a_second_night(
    nights: Nights, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if changed == "release":
        monkeypatch.setattr("graphrag.runs.run.fingerprint_code", lambda: "0.2.0 another")
    overrides = [changed] if "=" in changed else []
    run_id, before = nights.run_id, nights.tables()
    first = nights.night(*overrides)
    assert first.status == "unchanged" and stages_that_ran(first)
    second = nights.night(*overrides)
    assert second.status == "unchanged" and not stages_that_ran(second) and not second.notices
    assert nights.run_id == run_id
    for name, frame in nights.tables().items():
        assert_frame_equal(frame, before[name])
    nights.edit("a.md", "Gamma depends on Alpha", "Gamma depends on Omega")
    assert nights.night(*overrides).status == "published"


def test_a_release_with_other_views_publishes_the_same_rows_once(nights: Nights) -> None:
    manifest = nights.root / "data" / "output" / "current" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(fingerprint_database(), "of the last release"))
    run_id, before = nights.run_id, nights.tables()
    assert nights.night().status == "published" and nights.run_id != run_id
    for name, frame in nights.tables().items():
        if not TABLES[name].is_log:
            assert_frame_equal(frame, before[name])
    assert nights.night().status == "unchanged"


@pytest.mark.parametrize(
    ("overrides", "changes", "cut"),
    [
        ((), {}, {"d.md"}),
        (("text_units.max_tokens=299",), {}, {"a.md", "b.md", "c.md", "d.md"}),
        ((), {"code": "of the last release"}, {"a.md", "b.md", "c.md", "d.md"}),
    ],
)
def test_only_new_documents_are_cut_where_the_last_run_would_have_cut_alike(
    nights: Nights,
    monkeypatch: pytest.MonkeyPatch,
    overrides: tuple[str, ...],
    changes: dict[str, str],
    cut: set[str],
) -> None:
    (nights.input / "d.md").write_text("Delta depends on Gamma.\n", encoding="utf-8")
    manifest = nights.root / "data" / "output" / "current" / "manifest.json"
    manifest.write_bytes(orjson.dumps(orjson.loads(manifest.read_bytes()) | changes))
    real, texts = text_units._divide, set()

    def divide(text: str, *knobs: Any) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        texts.add(text)
        return real(text, *knobs)

    monkeypatch.setattr(text_units, "_divide", divide)
    assert nights.night(*overrides).status == "published"
    assert texts == {(nights.input / name).read_text(encoding="utf-8") for name in cut}
    assert check_integrity(nights.tables()) == []


def test_a_run_that_ends_while_it_renews_the_manifest_harms_nothing(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, real = nights.root / "data" / "output", Path.replace

    def replace(path: Path, target: Path) -> Path:
        if path.name == "manifest.json.new":
            raise OSError(28, "No space left on device")
        return real(path, target)

    before = read_manifest(output)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(StoreError, match=r"Cannot renew the manifest of .*: No space left on device"):
            nights.night("text_units.max_tokens=200")
    assert read_manifest(output) == before
    assert stages_that_ran(nights.night("text_units.max_tokens=200"))
    assert not stages_that_ran(nights.night("text_units.max_tokens=200"))


def test_an_edit_removes_one_relationship_and_adds_one(nights: Nights) -> None:
    before = nights.tables()
    CHANGES["edit"][0](nights)
    nights.night()
    after = nights.tables()
    assert [row for row in nights.changes() if row[0] != "entities"] == [
        ("documents", "changed", "a.md"),
        ("relationships", "added", "Gamma depends_on Omega"),
        ("relationships", "removed", "Gamma depends_on Alpha"),
        ("communities", "changed", "Beta and what needs it"),
        ("community_reports", "changed", "Beta and what needs it"),
    ]
    assert ("entities", "added", "Omega") in nights.changes()
    for name, n_kept in (("communities", 3), ("community_reports", 2)):
        assert len(set(before[name]["id"]) & set(after[name]["id"])) == n_kept
    numbers = dict(before["relationships"].select("id", "human_readable_id").iter_rows())
    later = dict(after["relationships"].select("id", "human_readable_id").iter_rows())
    assert {key: later[key] for key in numbers if key in later} == {k: n for k, n in numbers.items() if k in later}


def test_a_new_document_leaves_the_rows_of_others_as_they_are(nights: Nights) -> None:
    before = nights.tables()
    nights.write(d=TRIANGLE)
    nights.night()
    after = nights.tables()
    follows_from_all = {"entities": ["pagerank"], "communities": ["community", "human_readable_id", "title"]}
    for name in ("entities", "relationships", "evidence", "entity_mentions", "text_units"):
        old = before[name].drop(follows_from_all.get(name, []))
        new = after[name].select(old.columns).filter(pl.col("id").is_in(old["id"].implode()))
        assert_frame_equal(new, old, check_row_order=False)


def test_a_deleted_document_leaves_no_trace_but_its_obituary(tmp_path: Path) -> None:
    """The canary stands in its prose; the database and the vectors are searched byte by byte."""
    nights, canary = Nights(tmp_path), "tungsten-canary-7731"
    nights.edit("b.md", "Zinc depends on Xeno.", f"Zinc depends on Xeno. The password of old was {canary}, they said.")
    nights.night("embeddings.model=embedded")
    old = nights.root / "data/output/current"
    assert canary in "".join(pl.read_parquet(old / "documents.parquet")["text"])
    vectors = {str(path.relative_to(old)): path.stat().st_size for path in old.rglob("*.npy")}
    (nights.input / "b.md").unlink()
    nights.night("embeddings.model=embedded")
    assert nights.calls == {}
    folder = (nights.root / "data/output/current").resolve()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
            told = frame.drop("label") if path.name == "run_changes.parquet" else frame
            assert all(word not in told.write_ndjson() for word in (canary, "Xeno", "Yard", "Zinc")), path.name
        elif path.suffix == ".duckdb":
            assert canary.encode() not in path.read_bytes()
        elif path.suffix == ".npy":
            assert path.stat().st_size < vectors[str(path.relative_to(folder))]
    assert nights.changes()[0] == ("documents", "removed", "b.md")
    gone = {(table, label) for table, change, label in nights.changes() if change == "removed"}
    assert {("entities", "Xeno"), ("relationships", "Xeno depends_on Yard"), ("documents", "b.md")} <= gone
    assert {change for table, change, _ in nights.changes()} <= {"removed", "changed"}
    assert not any(canary in "".join(row) for row in nights.changes())


def test_a_renamed_document_is_told_as_renamed_and_nothing_else_is(nights: Nights) -> None:
    before = nights.tables()
    _rename(nights, "b.md", "e.md")
    nights.night()
    assert nights.changes() == [("documents", "renamed", "e.md")]
    assert nights.tables()["run_changes"]["detail"].to_list() == ["from b.md"]
    for name in ("entities", "relationships", "communities"):
        assert sorted(nights.tables()[name]["id"]) == sorted(before[name]["id"])


def test_a_copy_adds_evidence_and_no_weight(nights: Nights) -> None:
    before = nights.tables()
    nights.write(z=FOLDER["a.md"])
    nights.night()
    after = nights.tables()
    assert after["evidence"].height == before["evidence"].height + 3
    columns = ["id", "weight", "n_documents"]
    assert_frame_equal(after["relationships"].select(columns), before["relationships"].select(columns))


def test_an_edit_that_is_taken_back_asks_nothing_and_equals_the_first_night(nights: Nights) -> None:
    before = nights.tables()
    nights.edit("a.md", "Gamma depends on Alpha", "Gamma depends on Omega")
    nights.night()
    nights.edit("a.md", "Gamma depends on Omega", "Gamma depends on Alpha")
    nights.night()
    assert nights.calls == {}
    for name, table in TABLES.items():
        if not table.is_log:
            assert_frame_equal(nights.tables()[name], before[name])


def test_a_fact_of_two_documents_outlives_one(nights: Nights) -> None:
    nights.write(d="# Report\n\nAlpha depends on Beta. Alpha depends on Delta.\n")
    nights.night()
    facts = {row["target"]: row for row in nights.tables()["relationships"].iter_rows(named=True)}
    assert (facts["Beta"]["weight"], facts["Delta"]["weight"]) == (2, 1)
    (nights.input / "a.md").unlink()
    nights.night()
    left = nights.tables()["relationships"].filter(pl.col("source") == "Alpha")
    assert sorted(left.select("target", "weight").rows()) == [("Beta", 1.0), ("Delta", 1.0)]
    assert "Gamma" not in set(nights.tables()["entities"]["title"])
    (nights.input / "a.md").write_text(FOLDER["a.md"], encoding="utf-8")
    nights.night()  # mentioned again: the same id and number as before
    assert nights.tables()["relationships"].filter(pl.col("target") == "Beta")["weight"].to_list() == [2.0]


SETTINGS = {
    "extraction.entity_types=['service']": ({"extract": 3}, "extraction"),
    "reports.max_length=200": ({"report": 3}, "reports"),
    "communities.seed=7": ({}, "communities"),
    "communities.resolution=1.1": ({}, "communities"),
    "communities.max_community_size=20": ({}, "communities"),
    "llm.report_model=scripted/other": ({}, "reports"),  # the script answers for every name
    "extraction.processes=1": ({}, ""),
    "llm.max_concurrency=3": ({}, ""),
}


@pytest.mark.parametrize("override", SETTINGS)
def test_a_setting_runs_the_stages_that_hang_on_it(nights: Nights, override: str) -> None:
    calls, stage = SETTINGS[override]
    summary = nights.night(override)
    assert nights.calls == calls
    ran = [line for line in summary.notices if " ran again: " in line]
    if not stage:
        assert ran == [] and set(summary.seconds_by_stage) <= {"documents"}
        return
    section = override.partition("=")[0]
    expected = "the model of role report" if "report_model" in section else section
    assert f"{stage} ran again: {expected} changed." in ran
    names = [each.name for each in PIPELINE]
    asked = [name for name in names if name in summary.seconds_by_stage]
    needed = {"extraction": ["documents", "text_units", "document_relations"]}.get(stage, ["documents"])
    assert asked[: len(needed) + 1] == [*needed, stage]


@pytest.mark.parametrize(("name", "calls"), [("extract_graph", {"extract": 3}), ("community_report", {"report": 3})])
def test_a_prompt_runs_its_stage(nights: Nights, name: str, calls: dict[str, int]) -> None:
    (nights.root / "prompts").mkdir()
    prompt = Path(load_prompt(name, nights.root).path).read_text(encoding="utf-8")
    (nights.root / "prompts" / f"{name}.md").write_text(prompt.replace(". ", ".  ", 1), encoding="utf-8")
    summary = nights.night()
    assert nights.calls == calls
    assert any(f"the prompt {name} changed." in line for line in summary.notices)


def test_another_embedding_model_makes_the_vectors_only(nights: Nights) -> None:
    summary = nights.night("embeddings.model=embedded")
    assert nights.calls == {} and summary.counts["embeddings"] == 9 + 9 + 3 + 3
    # With a model here, names are compared by meaning too; they stay as they were, and nothing behind them runs.
    assert set(summary.seconds_by_stage) & {"graph", "summaries", "communities", "reports"} == set()
    again = nights.night("embeddings.model=embedded")
    assert again.status == "unchanged"


def test_a_rule_of_the_user_merges_and_asks_nothing_of_the_texts(nights: Nights) -> None:
    (nights.root / "aliases.toml").write_text('[[always]]\nnames = ["Alpha", "Xeno"]\n', encoding="utf-8")
    nights.night()
    assert nights.calls.get("extract", 0) == 0 and nights.calls["report"] >= 1
    assert nights.tables()["entities"].height == 8
    (nights.root / "aliases.toml").write_text("", encoding="utf-8")
    nights.night()
    assert nights.calls == {} and nights.tables()["entities"].height == 9


def test_a_time_out_is_held_and_asked_again(tmp_path: Path) -> None:
    nights = Nights(tmp_path)

    def script(request: object) -> str:
        if getattr(request, "role", "") == "extract" and "Xeno" in passage_of(request):  # type: ignore[arg-type]
            raise TimeoutError
        return answer_depends(request)  # type: ignore[arg-type]

    nights.script = script
    with pytest.raises(GateHeld, match="1 of 3 text units got no usable reply"):
        nights.night()
    assert nights.run_id == ""
    nights.script = answer_depends
    nights.night()
    assert nights.calls == {"extract": 1, "report": 1}


def test_a_file_that_cannot_be_read_tonight_is_kept_as_it_was(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    before = nights.tables()
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    os.utime(nights.input / "b.md", (1, 1))
    summary = nights.night()
    assert summary.failures_by_reason == {"unreadable_file": 1} and nights.calls == {}
    failures = nights.tables()["failures"].filter(pl.col("reason") == "unreadable_file")
    assert failures["item_id"].to_list() == ["b.md"] and "stale" in failures["detail"][0]
    for name, table in TABLES.items():
        if not table.is_log:
            assert_frame_equal(nights.tables()[name], before[name])
    assert nights.night().status == "unchanged"
    monkeypatch.undo()
    nights.edit("b.md", "Zinc depends on Xeno.", "Zinc depends on Pine.")
    assert nights.night().status == "published"
    assert nights.tables()["failures"].is_empty()
