"""What a preview promises is what the next run does, and a merge is undone by one line."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from graphrag.alias_changes import AliasChange, plan_merge, plan_split, write_change
from graphrag.errors import StoreError
from graphrag.llm.chat import ChatRequest
from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.settings_file import load_settings
from graphrag.store import open_index
from graphrag.tables import TABLES

from .index.model_rows import answer_depends
from .runs.test_run_model import Project

TEXTS = {
    "a": "# Alpha\n\nBilling depends on Token Vault. Token Vault depends on Ledger.\n",
    "b": "# Beta\n\nSearch depends on Token Safe. Token Safe depends on Token Vault.\n",
}


class Lite:
    """A small project without a model, indexed as often as asked."""

    def __init__(self, root: Path) -> None:
        create_project(root)
        self.root, self.path = root, root / "aliases.toml"
        for name, text in TEXTS.items():
            (root / "data" / "input" / f"{name}.md").write_text(text, encoding="utf-8")

    def index(self) -> dict[str, pl.DataFrame]:
        overrides = ["embeddings.model=none", "extraction.nlp=lite", "extraction.processes=1"]
        run_pipeline(load_settings(self.root, overrides=overrides, environ={})[0], self.root)
        return self.tables()

    def tables(self) -> dict[str, pl.DataFrame]:
        folder = self.root / "data" / "output" / "current"
        return {name: pl.read_parquet(folder / f"{name}.parquet") for name, table in TABLES.items() if not table.is_log}

    def plan(self, action: str, *names: str) -> AliasChange:
        with open_index(self.root / "data" / "output") as index:
            if action == "merge":
                return plan_merge(index, self.path, *names)
            return plan_split(index, self.path, *names)


def rows(tables: dict[str, pl.DataFrame], name: str) -> int:
    return tables[name].height


def test_the_next_run_does_what_the_preview_says_and_a_split_undoes_it(tmp_path: Path) -> None:
    project = Lite(tmp_path)
    before = project.index()
    merge = project.plan("merge", "Token Vault", "Token Safe")
    write_change(merge)
    merged = project.index()
    effects = merge.effects
    for name, counts in (("entities", effects.entities), ("relationships", effects.relationships)):
        assert counts == (rows(before, name), rows(merged, name))
    assert effects.entities[0] - effects.entities[1] == 1
    assert effects.self_loops == 1  # Token Safe depends on Token Vault
    vault = merged["entities"].filter(title="Token Vault").row(0, named=True)
    assert vault["aliases"] == ["Token Safe"]
    # Every mention and every sentence is kept but the one that would relate the entity to itself.
    places = ("document_id", "start_char", "end_char", "surface")
    assert merged["entity_mentions"].select(places).equals(before["entity_mentions"].select(places))
    quotes = set(before["evidence"]["quote"]) - set(merged["evidence"]["quote"])
    assert quotes == {"Token Safe depends on Token Vault."}
    failed = pl.read_parquet(tmp_path / "data/output/current/failures.parquet")
    assert failed["reason"].to_list() == ["self_relationship"]
    write_change(project.plan("split", "Token Safe"))
    apart = project.index()
    for name in ("entities", "relationships", "evidence", "aliases"):
        columns = [column for column in TABLES[name].names if column != "human_readable_id"]
        assert apart[name].select(columns).equals(before[name].select(columns)), name


def test_a_split_of_spellings_is_undone_by_taking_its_line_away(tmp_path: Path) -> None:
    project = Lite(tmp_path)
    (tmp_path / "data" / "input" / "c.md").write_text("# Delta\n\nSearch depends on TokenVault.\n", encoding="utf-8")
    project.index()
    before = project.path.read_text(encoding="utf-8")
    split = project.plan("split", "TokenVault")
    assert split.diff == ["+[[never]]", '+names = ["Token Vault", "TokenVault"]']
    write_change(split)
    assert {"Token Vault", "TokenVault"} <= set(project.index()["entities"]["title"])
    merge = project.plan("merge", "Token Vault", "TokenVault")
    assert merge.diff == ["-[[never]]", '-names = ["Token Vault", "TokenVault"]']
    write_change(merge)
    assert project.path.read_text(encoding="utf-8") == before
    assert "TokenVault" not in set(project.index()["entities"]["title"])


def test_what_a_judge_has_joined_can_be_split_too(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write(
        a="# A\n\nPayment Gateway depends on Ledger.\n", b="# B\n\nBilling depends on Payment Gatway.\n", c="x"
    )

    def script(request: ChatRequest) -> str:
        return '[1,"same","typing error"]' if request.role == "judge" else answer_depends(request)

    project.script = script
    project.index()
    assert project.tables()["aliases"]["decided_by"].to_list() == ["judge"]
    with open_index(tmp_path / "data" / "output") as index:
        alias = index.frame("select surface from aliases").item()
        change = plan_split(index, tmp_path / "aliases.toml", alias)
    assert [move.surface for move in change.effects.moves] == [alias]
    write_change(change)
    project.index()
    assert project.asked == [] and project.tables()["aliases"].is_empty()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_cannot_be_written_is_as_it_was(tmp_path: Path) -> None:
    project = Lite(tmp_path / "wiki")
    project.index()
    change = project.plan("merge", "Token Vault", "Token Safe")
    before = project.path.read_bytes()
    project.root.chmod(0o500)
    with pytest.raises(StoreError, match="It is as it was"):
        write_change(change)
    project.root.chmod(0o700)
    assert project.path.read_bytes() == before
