"""The exported vault, indexed again as a vault, has the links of the graph and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphrag import Index
from graphrag.interop.export import export_index
from graphrag.pipeline import run_pipeline

from ..conftest import ROOT
from .imports import open_settings


@pytest.mark.parametrize("which", ["sample", "hostile"])
def test_indexed_again_it_has_the_same_entity_links(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    index: Index = request.getfixturevalue(which)
    work = tmp_path / "again"
    export_index(index, work / "input", format="obsidian")
    settings = open_settings(work, "extraction.nlp=lite", "gates.duplicate_share=1")
    run_pipeline(settings, ROOT)
    links = Index(settings, ROOT).sql(
        "select a.path as source, b.path as target, l.status from links l join documents a on a.id = l.document_id "
        "left join documents b on b.id = l.target_document_id"
    )
    assert set(links["status"]) == {"resolved"}
    ids = read_ids(work / "input")
    assert len(ids) == index.table("entities").height
    found = {(ids[a], ids[b]) for a, b in links.select("source", "target").iter_rows()}
    assert found == set(index.table("relationships").select("source_id", "target_id").iter_rows())


def read_ids(folder: Path) -> dict[str, str]:
    """Note -> the entity that it is of."""
    return {
        path.name: json.loads(line.removeprefix("graphrag_id: "))
        for path in folder.glob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("graphrag_id: ")
    }


def test_a_note_has_aliases_description_links_and_quotes(sample: Index, tmp_path: Path) -> None:
    export_index(sample, tmp_path / "out", format="obsidian")
    note = (tmp_path / "out" / "Kubernetes.md").read_text(encoding="utf-8")
    assert "K8s" in json.loads(next(line for line in note.splitlines() if line.startswith("aliases: "))[9:])
    assert "\n# Kubernetes\n" in note
    linked = [path for path in (tmp_path / "out").glob("*.md") if "[[Redis]]" in path.read_text(encoding="utf-8")]
    assert linked
    assert any('    - "' in path.read_text(encoding="utf-8") for path in linked)
