"""Whole runs with vectors of Smart Connections: search uses them, an edited note loses its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphrag.pipeline import run_pipeline
from graphrag.reading.smart_env import hash_text
from graphrag.runs.run import RunSummary
from graphrag.search.notes.document_search import Routing, search_documents
from graphrag.search.notes.linked_notes import load_note_vectors
from graphrag.settings_file import load_settings
from graphrag.store import check_integrity, open_index
from graphrag.tables import TABLES

NOTES = {
    "login.md": "# Login\n\nHow people log in. See [[far]] and [[near]].\n",
    "near.md": "# Near\n\nTokens are kept.\n",
    "far.md": "# Far\n\nBread needs flour.\n",
    "alone.md": "# Alone\n\nSessions end at night.\n",
}
VECTORS = {"login.md": [1, 0, 0], "near.md": [0.9, 0.1, 0], "far.md": [0, 1, 0], "alone.md": [0.8, 0.6, 0]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "settings.toml").write_text(
        '[input]\ndir = "in"\n[embeddings]\nmodel = "none"\nimport = ".smart-env"\n[extraction]\nnlp = "lite"\n'
        "[gates]\nshrink_share = 1.0\n"
    )
    (tmp_path / "in" / ".smart-env" / "multi").mkdir(parents=True)
    for name, text in NOTES.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
        item = {"embeddings": {"bge": {"vec": VECTORS[name]}}, "last_read": {"hash": hash_text(text), "at": 1}}
        line = f'"smart_sources:{name}": {json.dumps(item)},'
        (tmp_path / "in" / ".smart-env" / "multi" / f"{name}.ajson").write_text(line, encoding="utf-8")
    return tmp_path


def index(root: Path) -> RunSummary:
    return run_pipeline(load_settings(root, environ={})[0], root)


def test_notes_are_compared_by_imported_vectors_without_computing_any(root: Path) -> None:
    summary = index(root)
    assert ".smart-env: 4 of 4 notes have a vector of bge for their text as it is now." in summary.notices
    with open_index(root / "data" / "output") as opened:
        answer = search_documents(opened, "log in", routing=Routing(note="login", mode="hybrid"))
        assert [source.path for source in answer.sources] == ["login.md", "near.md", "alone.md", "far.md"]
        pairs = opened.frame("select path_a, path_b, cosine from unlinked_but_related").rows()
        assert pairs == [("alone.md", "near.md", pytest.approx(0.8614, abs=2e-3)), ("alone.md", "login.md", 0.8)]
        assert check_integrity({name: opened.table(name) for name in TABLES}) == []
    assert index(root).status == "unchanged"


def test_an_edited_note_has_no_vector_until_the_plugin_has_read_it_again(root: Path) -> None:
    index(root)
    (root / "in" / "near.md").write_text("# Near\n\nCookies are kept.\n", encoding="utf-8")
    assert ".smart-env: 3 of 4 notes have a vector of bge for their text as it is now." in index(root).notices
    with open_index(root / "data" / "output") as opened:
        assert len(load_note_vectors(opened)[0]) == 3
        answer = search_documents(opened, "log in", routing=Routing(note="login", mode="hybrid"))
        assert "1 linked notes have no vector and are kept unscored." in answer.notices
    cache = root / "in" / ".smart-env" / "multi" / "near.md.ajson"
    cache.write_text(
        cache.read_text("utf-8").replace(hash_text(NOTES["near.md"]), hash_text("# Near\n\nCookies are kept.\n"))
    )
    assert index(root).status == "published"


def test_no_cache_is_told(root: Path) -> None:
    settings, _ = load_settings(root, overrides=["embeddings.import=.elsewhere"], environ={})
    summary = run_pipeline(settings, root)
    assert [line for line in summary.notices if line.startswith(".elsewhere: no cache of Smart Connections")]
