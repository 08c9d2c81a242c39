"""Links over whole runs: what `graphrag links` says, nights without change, notes that come and go."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphrag.cli.main import app
from graphrag.pipeline import run_pipeline
from graphrag.runs.run import RunSummary
from graphrag.settings_file import load_settings
from graphrag.store import open_index
from graphrag.vault.link_report import LinkReport, advise, report_links

from ..vaults import write_vault

FILES = {
    "Home.md": "# Home\n\nWe read [[Log]], [[log]] and [[Nowhere]].\n\n- requires [[Queue]]\n",
    "Log.md": '---\nup: "[[Home]]"\n---\n# Log\n\nTo [home](Home.md#top), [[#Log]] and [[nowhere]]; see [[Note]].\n',
    "a/Note.md": "# Note\n\nThis one stands alone but for [[../../out]].\n",
    "b/Note.md": "---\naliases: [Queue]\n---\n# Other note\n\n`[[Home]]` is code, [x](https://example.org).\n",
    "lost.md": "Nothing leads here.\n",
    "VAULT_INDEX.md": "# Vault index\n\n[[Home]] [[Log]]\n",
    "index/a.md": "# a\n\n17 notes · 40 links · 0 unresolved · sha256 f88159677ba4\n\n[[Home]]\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_vault(tmp_path, FILES)


@pytest.fixture
def night(root: Path) -> Callable[[], RunSummary]:
    return lambda: run_pipeline(load_settings(root, environ={})[0], root)


def read_report(root: Path) -> LinkReport:
    with open_index(root / "data" / "output") as index:
        return report_links(index)


def test_the_report_counts_links_and_names_what_is_odd(root: Path, night: Callable[[], RunSummary]) -> None:
    night()
    report = read_report(root)
    assert report.by_status == {"ambiguous": 1, "external": 1, "resolved": 4, "self": 1, "unresolved": 4}
    assert (report.n_documents, report.n_links, report.n_edges) == (5, 11, 3)
    assert report.missing == [
        {"target": "Nowhere", "n_links": 2, "places": ["Home.md:3", "Log.md:6"], "owners": []},
        {"target": "../../out", "n_links": 1, "places": ["a/Note.md:3"], "owners": []},
        {"target": "Queue", "n_links": 1, "places": ["Home.md:5"], "owners": ["b/Note.md"]},
    ]
    assert report.ambiguous == [{"target": "Note", "path": "a/Note.md", "n_links": 1}]
    assert (report.orphans, report.hubs, report.advice) == (["b/Note.md", "lost.md"], [], "synthesis")
    shown = CliRunner().invoke(app, ["links", "--root", str(root)])
    assert shown.exit_code == 0
    assert "5 notes, 11 links: 1 ambiguous, 1 external, 4 resolved, 1 self, 4 unresolved. 3 pairs" in shown.stdout
    assert "  Queue: 1 link, Home.md:5; the title or an alias of b/Note.md\n" in shown.stdout
    listed = CliRunner().invoke(app, ["links", "--unresolved", "--json", "--root", str(root)])
    assert json.loads(listed.stdout) == report.missing


def test_nights_without_change_and_notes_that_come_and_go(root: Path, night: Callable[[], RunSummary]) -> None:
    night()
    first = read_report(root)
    assert night().status == "unchanged"
    (root / "in" / "Nowhere.md").write_text("# Somewhere\n", encoding="utf-8")
    night()
    assert [row["target"] for row in read_report(root).missing] == ["../../out", "Queue"]
    (root / "in" / "Nowhere.md").unlink()
    night()
    assert read_report(root) == first


@pytest.mark.parametrize(
    ("n_notes", "n_links", "advice"),
    [(17, 40, "depth"), (17, 34, "synthesis"), (300, 900, "synthesis"), (501, 2, "hybrid"), (501, 0, "whole vault")],
)
def test_advice(n_notes: int, n_links: int, advice: str) -> None:
    assert advise(n_notes, n_links) == advice
