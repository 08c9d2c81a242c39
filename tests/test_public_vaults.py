"""Two public vaults through whole runs: the counts of ../shared/data/README.md, a second night that changes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from graphrag.pipeline import run_pipeline
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity, open_index
from graphrag.tables import TABLES
from graphrag.vault.link_proposals import propose_links
from graphrag.vault.link_report import LinkReport, report_links

pytestmark = pytest.mark.shared


def index_twice(vault: Path, root: Path) -> tuple[LinkReport, int]:
    """The report of the first night and how many links it proposes; the second must change nothing, nor a file."""
    (root / "settings.toml").write_text(
        f'[input]\ndir = "{vault.as_posix()}"\n[embeddings]\nmodel = "none"\n[extraction]\nnlp = "lite"\n'
    )
    settings, _ = load_settings(root, environ={})
    before = hash_files(vault)
    first = run_pipeline(settings, root)
    with open_index(root / "data" / "output") as index:
        report, proposals = report_links(index), propose_links(index)
        assert check_integrity({name: index.table(name) for name in TABLES}) == []
    second = run_pipeline(settings, root)
    assert second.status == "unchanged" and second.counts == first.counts
    with open_index(root / "data" / "output") as index:
        assert index.run_id == first.run_id and report_links(index) == report and propose_links(index) == proposals
    assert hash_files(vault) == before
    return report, len(proposals)


def hash_files(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_foam_docs(shared: Path, tmp_path: Path) -> None:
    report, n_proposals = index_twice(shared / "data" / "foam-docs", tmp_path)
    assert (report.n_documents, report.n_edges, len(report.orphans)) == (86, 191, 7)
    assert {row["target"] for row in report.missing} >= {"publishing", "cli-grep"} and len(report.missing) == 4
    assert report.hubs[0] == {"path": "user/recipes/recipes.md", "n_neighbours": 39}
    assert len(report.hubs) == 2 and n_proposals > 0


def test_kepano_vault(shared: Path, tmp_path: Path) -> None:
    report, n_proposals = index_twice(shared / "data" / "kepano-vault", tmp_path)
    assert (report.n_documents, report.n_edges, len(report.orphans)) == (103, 84, 26)
    assert (sum(row["n_links"] for row in report.missing), len(report.missing)) == (62, 49)
    assert report.hubs == [] and n_proposals > 0
