"""After any nights of changes the tables are those of a fresh run over the final folder with the same memo."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from graphrag.llm.chat import ChatRequest
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity
from graphrag.tables import TABLES

from .index.model_rows import answer_depends
from .test_nights import Nights

Edit = tuple[str, str, str]  # what, file, text or other file
NAMES = ("a", "b", "c", "d")
SENTENCES = (
    "Alpha depends on Beta.", "Beta depends on Gamma.", "Gamma depends on Alpha.", "Alpha depends on Xeno.",
    "Xeno depends on Yard.", "Yard depends on Beta.", "Pine depends on Quartz.", "Nothing of note.",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5).map(" ".join)
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), TEXTS),
    st.tuples(st.sampled_from(["rename", "copy"]), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
)
SHIFTING = ("communities", "community_reports", "embeddings")
"""Communities, their reports and their vectors stay from last night where they still fit."""


class SummarisedNights(Nights):
    """Two statements about a name are enough for a summary, which says how many it was shown."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.script = describe_names

    def settings(self, *overrides: str) -> Settings:
        return super().settings("summaries.min_tokens=50", *overrides)


def describe_names(request: ChatRequest) -> str:
    if request.role == "summarize":
        return f"Summary of {request.text.count('In a text')} texts."
    lines = answer_depends(request).splitlines()
    for subject, other in re.findall(r'"R","(.+?)","depends_on","(.+?)"', "".join(lines)):
        said = f"In a text {subject} is said to need {other}, and {'much more' + ' of it' * 10} besides."
        lines += [f'["E","{name}","service","{said}"]' for name in (subject, other)]
    return "\n".join(lines)


def apply(edit: Edit, folder: Path) -> None:
    what, name, other = edit
    path = folder / f"{name}.md"
    if what == "write":
        path.write_text(f"# Note\n\n{other}\n", encoding="utf-8")
    elif path.exists() and what == "delete":
        path.unlink()
    elif path.exists() and name != other:
        (shutil.move if what == "rename" else shutil.copy)(path, folder / f"{other}.md")


def assert_equal_tables(made: dict[str, pl.DataFrame], fresh: dict[str, pl.DataFrame]) -> None:
    for name, table in TABLES.items():
        if not table.is_log and name not in SHIFTING:
            numbers = [column for column in table.names if column == "human_readable_id"]
            assert_frame_equal(made[name].drop(numbers), fresh[name].drop(numbers), check_exact=True)
    assert check_integrity(made) == []


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=2, max_size=3))
def test_nights_of_edits_end_as_a_fresh_run_does(nights_of_edits: list[list[Edit]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        nights = SummarisedNights(Path(folder) / "nights")
        for edits in nights_of_edits:
            for edit in edits:
                apply(edit, nights.input)
            (nights.input / "keep.md").write_text("# Kept\n\nAlpha depends on Beta.\n", encoding="utf-8")
            nights.night()
        fresh = SummarisedNights(Path(folder) / "fresh")
        shutil.rmtree(fresh.input)
        shutil.copytree(nights.input, fresh.input)
        shutil.copytree(nights.root / "data/cache", fresh.root / "data/cache")
        fresh.night()
        assert fresh.calls.keys() <= {"report"}
        assert_equal_tables(nights.tables(), fresh.tables())
        nights.index(full=True)
        assert_equal_tables(nights.tables(), fresh.tables())
        assert say_communities(nights.tables()) == say_communities(fresh.tables())


def test_a_summary_stays_while_little_more_is_said(tmp_path: Path) -> None:
    nights = SummarisedNights(tmp_path)
    shutil.rmtree(nights.input)
    nights.input.mkdir()
    apply(("write", "a", "Alpha depends on Beta. Alpha depends on Gamma. Alpha depends on Xeno."), nights.input)
    nights.night()
    assert nights.calls["summarize"] == 1
    apply(("write", "b", "Alpha depends on Yard."), nights.input)
    nights.night()
    assert "summarize" not in nights.calls
    said = nights.tables()["entities"].filter(title="Alpha")["description"][0]
    assert said.startswith("Summary of 3 texts. In a text Alpha is said to need Yard,")
    apply(("delete", "b", ""), nights.input)
    nights.night()
    assert nights.tables()["entities"].filter(title="Alpha")["description"][0] == "Summary of 3 texts."


def say_communities(tables: dict[str, pl.DataFrame]) -> list[tuple[object, ...]]:
    """Members, levels and the words of the reports, without the numbers that citations hold."""
    reports = {row["community"]: row for row in tables["community_reports"].iter_rows(named=True)}
    return [
        (
            row["level"], row["entity_ids"], row["relationship_ids"], row["text_unit_ids"], row["period"],
            re.sub(r"\[Data: [^\]]*\]", "", reports[row["community"]]["full_content"]),
        )
        for row in tables["communities"].sort("level", "entity_ids").iter_rows(named=True)
    ]  # fmt: skip


def test_embedded_mode_too_and_files_that_have_settled_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the files is set back, so that the second night trusts the list of the first."""
    from graphrag.reading import known_files

    monkeypatch.setattr(known_files, "SETTLED_NS", -(10**12))
    opened: list[str] = []
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.suffix in (".md", ".csv"):
            opened.append(path.name)
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    create_project(tmp_path / "one")
    source = tmp_path / "one" / "data" / "input"
    for name in NAMES:
        apply(("write", name, f"{name.upper()}lpha Service depends on Redis."), source)
    (source / "table.csv").write_text(
        "id,text\n10,Kafka depends on Zookeeper.\n2,Billing uses Kafka.\n", encoding="utf-8"
    )
    (source / "empty.md").write_text("", encoding="utf-8")
    overrides = ["embeddings.model=none", "extraction.nlp=lite"]

    def night(root: Path) -> str:
        opened.clear()
        return run_pipeline(load_settings(root, overrides=overrides, environ={})[0], root).status

    assert night(tmp_path / "one") == "published" and len(opened) == 6
    assert night(tmp_path / "one") == "unchanged" and opened == []
    (source / "a.md").touch()
    assert night(tmp_path / "one") == "unchanged" and opened == ["a.md"]
    apply(("write", "b", "Billing depends on Kafka."), source)
    apply(("rename", "c", "e"), source)
    assert night(tmp_path / "one") == "published" and opened == ["b.md", "e.md"]
    create_project(tmp_path / "two")
    shutil.copytree(source, tmp_path / "two" / "data" / "input", dirs_exist_ok=True)
    assert night(tmp_path / "two") == "published" and len(opened) == 6
    made, fresh = (
        {name: pl.read_parquet(tmp_path / root / "data/output/current" / f"{name}.parquet") for name in TABLES}
        for root in ("one", "two")
    )
    assert_equal_tables(made, fresh)
    assert made["failures"].drop("run_id").equals(fresh["failures"].drop("run_id"))
    (tmp_path / "one" / "data" / "cache" / "files.jsonl").write_text("nonsense\n{]\n", encoding="utf-8")
    assert night(tmp_path / "one") == "unchanged" and len(opened) == 6
