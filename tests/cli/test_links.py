"""`graphrag links` on a vault of a few notes: report, proposals, what --apply and --write-index change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graphrag.pipeline import run_pipeline
from graphrag.settings_file import load_settings

from ..vaults import write_vault
from .test_main import run

Graphrag = Callable[..., tuple[int, str, str]]
FILES = {
    "Home.md": "# Home\n\nThe [[Token Cache]] and [[C# Notes]].\n",
    "C# Notes.md": "# C# Notes\n\nWritten for [[Home]].\n",
    "Token Cache.md": "---\naliases: [session store]\n---\n# Token Cache\n\nIt keeps sessions.\n",
    "Login Flow.md": "---\nof: Token Cache\n---\n# Login Flow\n\n`Token Cache`, code.\n\nThe Token Cache is asked.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    index(write_vault(tmp_path, FILES))
    return tmp_path


def index(root: Path) -> str:
    return run_pipeline(load_settings(root, environ={})[0], root).status


@pytest.fixture
def graphrag(root: Path, capsys: pytest.CaptureFixture[str]) -> Graphrag:
    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return run(*arguments, "--root", str(root)), *capsys.readouterr()

    return call


def hash_vault(root: Path) -> dict[str, str]:
    return {
        file.relative_to(root / "in").as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted((root / "in").rglob("*"))
        if file.is_file()
    }


def test_nothing_is_changed_without_being_asked(root: Path, graphrag: Graphrag) -> None:
    before = hash_vault(root)
    code, out, _ = graphrag("links")
    assert code == 0 and hash_vault(root) == before
    assert "Login Flow.md:8  Token Cache -> [[Token Cache]]\n" in out and "No note is changed unless" in out
    assert "Home.md:3  [[C# Notes]], not C# Notes.md: # begins a heading" in out
    assert "Best searched with graphrag search --documents --routing synthesis: " in out
    for option in ("--unresolved", "--advise", "--json"):
        assert graphrag("links", option)[0] == 0
    assert hash_vault(root) == before


def test_accepted_links_are_written_told_and_gone_from_the_next_report(root: Path, graphrag: Graphrag) -> None:
    before = hash_vault(root)
    (proposal,) = [p for p in json.loads(graphrag("links", "--json")[1])["proposals"] if p["kind"] == "mentioned"]
    code, out, _ = graphrag("links", "--apply", proposal["id"])
    assert code == 0 and out == (
        f"written  {proposal['id']}  Login Flow.md:8  Token Cache -> [[Token Cache]]\n"
        '1 link written. "graphrag index" takes them in.\n'
    )
    after = hash_vault(root)
    assert {name for name in after if after[name] != before[name]} == {"Login Flow.md"}
    assert (root / "in" / "Login Flow.md").read_text("utf-8") == FILES["Login Flow.md"].replace(
        "The Token Cache is", "The [[Token Cache]] is"
    )
    code, out, _ = graphrag("links", "--apply", proposal["id"])
    assert code == 0 and out.startswith("left  ") and out.endswith("0 links written.\n") and hash_vault(root) == after
    assert index(root) == "published"
    assert not [p for p in json.loads(graphrag("links", "--json")[1])["proposals"] if p["kind"] == "mentioned"]
    graphrag("links", "--apply", "all")
    assert index(root) in ("published", "unchanged")
    assert json.loads(graphrag("links", "--json")[1])["proposals"] == []


def test_an_unknown_proposal_changes_nothing(root: Path, graphrag: Graphrag) -> None:
    before = hash_vault(root)
    code, out, err = graphrag("links", "--apply", "nothing")
    assert (code, out) == (2, "") and err.startswith('No proposal "nothing".') and err.count("\n") == 1
    code, out, err = graphrag("links", "--apply", "all", "--unresolved")
    assert (code, out, err) == (2, "", "Choose one of --unresolved, --apply.\n")
    code, out, err = graphrag("links", "--apply", "all", "--set", "input.dir=s3://bucket/x")
    assert code == 2 and err.startswith("--apply changes files in a folder") and hash_vault(root) == before


def test_the_index_is_written_where_asked_and_is_no_note(root: Path, graphrag: Graphrag) -> None:
    before = hash_vault(root)
    current = root / "data" / "output" / "current" / "VAULT_INDEX.md"
    code, out, _ = graphrag("links", "--write-index", str(root / "in"))
    assert code == 0 and out.startswith("wrote ") and out.count("\n") == 1
    page = root / "in" / "VAULT_INDEX.md"
    assert page.read_bytes() == current.read_bytes()
    assert {name: sha for name, sha in hash_vault(root).items() if name != page.name} == before
    written = hash_vault(root)
    assert graphrag("links", "--write-index", str(root / "in"))[1].startswith("as it was")
    assert index(root) == "unchanged" and hash_vault(root) == written
    code, _, err = graphrag("links", "--write-index", str(root / "nowhere"))
    assert code == 2 and "is no folder" in err
