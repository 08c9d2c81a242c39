"""A vault over several nights: what a run says, links of notes that come and go, names that several notes have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from graphrag.llm import ScriptedLlm
from graphrag.llm.chat import ChatRequest
from graphrag.llm.ledger import CallLedger
from graphrag.memo import Memo
from graphrag.pipeline import run_pipeline
from graphrag.runs.run import RunSummary
from graphrag.settings import Settings
from graphrag.settings_file import load_settings
from graphrag.store import open_index

from .cli.test_main import run
from .vaults import write_vault

Night = Callable[..., RunSummary]
FILES = {
    "Home.md": "# Home\n\nTo [[Log]] and [[Later]], [[later]].\n",
    "Log.md": "# Log\n\nBack to [[Home]] and to [[Log]].\n",
    "odd.md": "---\nup: [[Log]]\n---\nWords of [[Home]].\n",
    "broken.md": "---\na: [b\nc: d\n---\nThe body, [[Log]].\n",
    "a/Note.md": "One.\n",
    "b/Note.md": "Two. [[Note]]\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_vault(tmp_path, FILES)


def index(root: Path) -> RunSummary:
    return run_pipeline(load_settings(root, environ={})[0], root)


def list_edges(root: Path) -> set[tuple[str, str]]:
    with open_index(root / "data" / "output") as opened:
        rows = opened.frame("select source, target from relationships where origin = 'link'")
    return set(rows.iter_rows())


def test_a_run_says_what_is_odd(root: Path) -> None:
    notices = index(root).notices
    assert "odd.md line 2: a link in front matter needs quotes; it was read as a link" in notices
    (broken,) = [line for line in notices if line.startswith("broken.md line ")]
    assert ": front matter is not valid YAML (" in broken and broken.endswith("). The body was read.")
    assert 'links: 1 target not found, see "graphrag links --unresolved".' in notices


def test_relationships_go_with_a_note_and_come_with_it_without_asking_a_model_again(root: Path) -> None:  # 33, 34
    opened: list[ScriptedLlm] = []

    def open_model(settings: Settings, *, memo: Memo, ledger: CallLedger, max_tokens: int | None = None) -> ScriptedLlm:
        opened.append(ScriptedLlm(lambda _: "[]", memo=memo, ledger=ledger))
        return opened[-1]

    def night() -> list[ChatRequest]:
        overrides = ["llm.model=scripted", "reports.min_report_size=100"]
        run_pipeline(load_settings(root, overrides=overrides, environ={})[0], root, open_model=open_model)
        return opened[-1].requests

    assert night() and ("Home", "Log") in list_edges(root)
    (root / "in" / "Log.md").rename(root / "Log.md")
    assert night() == []
    assert not [pair for pair in list_edges(root) if "Log" in pair]
    with open_index(root / "data" / "output") as published:
        missing = published.frame("select target from links where status = 'unresolved' and target = 'Log'")
    assert missing.height == 3
    (root / "Log.md").rename(root / "in" / "Log.md")
    (root / "in" / "Later.md").write_text("# Later\n\nCame later.\n", encoding="utf-8")
    (request,) = night()
    assert "Came later" in str(request) and {("Home", "Log"), ("Home", "Later")} <= list_edges(root)


def test_a_name_of_two_notes_is_an_error_that_lists_them(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index(root)
    assert run("neighborhood", "Note", "--documents", "--root", str(root)) == 2
    assert capsys.readouterr().err == '"Note" is ambiguous: a/Note.md, b/Note.md. Give the path.\n'
    assert run("neighborhood", "Nowhere to be found", "--documents", "--root", str(root)) == 3
    assert run("neighborhood", "b/Note", "--documents", "--root", str(root)) == 0
    with open_index(root / "data" / "output") as opened:
        links = opened.frame("select status, count(*) as n from links group by all").rows()
    assert dict(links)["self"] == 2  # [[Log]] in Log.md; [[Note]] in b/Note.md leads to the note beside it, which it is


def test_files_of_the_user_are_never_changed_by_a_run(root: Path) -> None:
    before = {file: file.read_bytes() for file in (root / "in").rglob("*") if file.is_file()}
    index(root)
    assert {file: file.read_bytes() for file in (root / "in").rglob("*") if file.is_file()} == before


def test_twenty_alias_collisions_and_a_hub_of_five_thousand_links_are_told(root: Path) -> None:
    for number in range(20):
        text = f"---\naliases: [the plan]\n---\nPlan number {number}. See [[Home]].\n"
        (root / "in" / f"p{number:02}.md").write_text(text, encoding="utf-8")
    hub = "\n".join(f"[[p{number % 20:02}]]" for number in range(5000)) + "\n\nSee [[the plan]].\n"
    (root / "in" / "Map.md").write_text(hub, encoding="utf-8")
    index(root)
    from graphrag.vault.link_report import report_links

    with open_index(root / "data" / "output") as opened:
        report = report_links(opened)
        (weight,) = opened.frame(
            "select weight from relationships where source = 'Map' and target = 'p00' and origin = 'link'"
        )["weight"]
        n_units = opened.frame("select count(*) from text_units u join documents d on d.id = u.document_id "
                               "where d.path = 'Map.md'").item()  # fmt: skip
    (plan,) = [row for row in report.missing if row["target"] == "the plan"]
    assert plan["owners"] == [f"p{number:02}.md" for number in range(20)]
    assert [(row["path"], row["n_neighbours"]) for row in report.hubs] == [("Home.md", 22), ("Map.md", 20)]
    assert report.n_links > 5000 and 1 <= weight <= n_units


def test_frames_of_links_hold_every_mention_and_relationships_each_pair_once(root: Path) -> None:
    text = "\n\n".join(["To [[Log]]."] * 10)
    (root / "in" / "ten.md").write_text(text, encoding="utf-8")
    index(root)
    with open_index(root / "data" / "output") as opened:
        links = opened.table("links").join(
            opened.table("documents").select(document_id="id", path="path"), on="document_id"
        )
        rows = opened.frame("select weight from relationships where source = 'ten' and target = 'Log'")
    assert links.filter(pl.col("path") == "ten.md")["ordinal"].to_list() == list(range(10))
    assert rows["weight"].to_list() == [1.0]
