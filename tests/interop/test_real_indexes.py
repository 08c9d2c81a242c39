"""Every real index of ../shared/data/ms-index comes in whole and answers: five, of microsoft/graphrag 0.2 and 3.x."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from graphrag import Index
from graphrag.errors import SearchError
from graphrag.interop.export import export_index
from graphrag.runs.run import RunSummary
from graphrag.search.answer import Answer
from graphrag.store import check_integrity
from graphrag.tables import TABLES

from .imports import import_into

pytestmark = [pytest.mark.shared, pytest.mark.slow]


class Real(NamedTuple):
    """What the files hold: text units, entities, relationships, communities, reports, claims; how many relationships
    lead to no entity, and how many claims are about nobody; and questions."""

    counts: tuple[int, int, int, int, int, int]
    n_dangling: int
    n_about_nobody: int
    local: str
    themes: str = "What are the main themes?"


REAL = {
    "msrepo_verbs_testdata": Real((42, 529, 978, 122, 122, 406), 84, 71, "Who is Scrooge?"),
    "msrepo_dulce_current": Real((5, 39, 107, 10, 10, 41), 2, 7, "Who is Alex Mercer?"),
    "msrepo_dulce_v0.2": Real((50, 89, 373, 20, 20, 156), 0, 7, "Who is Taylor Cruz?"),
    "piyo_v3.0.1_edo": Real((216, 2660, 2951, 366, 366, 0), 202, 0, "Who was Tokugawa Ieyasu?"),
}


def import_real(shared: Path, work: Path, name: str, **options: str) -> tuple[RunSummary, Index]:
    with zipfile.ZipFile(shared / "data" / "ms-index" / f"{name}.zip") as archive:
        archive.extractall(work / "in")
    return import_into(work, work / "in", **options)


def check_citations(index: Index, answer: Answer) -> None:
    """Each leads to a place inside a text unit, to the letter."""
    assert answer.answered
    assert answer.citations
    texts = dict(index.table("documents").select("id", "text").iter_rows())
    units: dict[str, list[tuple[int, int]]] = {}
    for document, start, end in index.table("text_units").select("document_id", "start_char", "end_char").iter_rows():
        units.setdefault(document, []).append((start, end))
    for cited in answer.citations:
        assert cited.quote
        assert texts[cited.document][cited.start : cited.end] == cited.quote
        assert any(start <= cited.start and cited.end <= end for start, end in units[cited.document])
        assert cited.ref.partition(" (")[0] in answer.text
        assert len(cited.quote) < 1_000  # a sentence, though the files name whole text units


@pytest.mark.parametrize("name", REAL)
def test_it_comes_in_whole_and_answers(shared: Path, tmp_path: Path, name: str) -> None:
    real = REAL[name]
    _, index = import_real(shared, tmp_path, name)
    reasons = index.table("failures")["reason"].to_list()
    n_lost = reasons.count("unknown_endpoint") + reasons.count("self_relationship")
    assert (n_lost, reasons.count("unknown_subject")) == (real.n_dangling, real.n_about_nobody)
    n_units, n_entities, n_relationships, n_communities, n_reports, n_claims = real.counts
    found = [
        index.table(t).height for t in ("text_units", "entities", "relationships", "community_reports", "covariates")
    ]
    assert found == [n_units, n_entities, n_relationships - n_lost, n_reports, n_claims - real.n_about_nobody]
    unplaced = index.table("communities").height - n_communities
    assert unplaced in (0, 1)  # one more for what is in no community of the files
    assert check_integrity({table: index.table(table) for table in TABLES}) == []
    check_citations(index, index.search(real.local, mode="local"))
    check_citations(index, index.search(real.themes, mode="global"))


def test_text_units_alone_answer_basic_and_say_why_global_does_not(shared: Path, tmp_path: Path) -> None:
    _, index = import_real(shared, tmp_path, "msrepo_vectors_example")
    counts = [index.table(t).height for t in ("text_units", "documents", "entities", "relationships", "failures")]
    assert counts == [42, 42, 0, 0, 0]
    check_citations(index, index.search("Who is Scrooge?", mode="basic"))
    check_citations(index, index.search("Who is Scrooge?"))
    with pytest.raises(SearchError, match=r"no relationships to find communities by. Ask with --basic.$"):
        index.search("What are the main themes?", mode="global")


@pytest.mark.parametrize("recompute", ["disambiguation", "communities", "reports"])
def test_what_is_made_anew_answers_in_sentences_too(shared: Path, tmp_path: Path, recompute: str) -> None:
    _, index = import_real(shared, tmp_path, "msrepo_dulce_current", recompute=recompute)
    assert "llm" not in index.table("community_reports")["method"]
    assert check_integrity({table: index.table(table) for table in TABLES}) == []
    placed = index.table("communities").filter(pl.col("level") == 0)["size"].sum()
    assert placed == index.table("entities").height
    check_citations(index, index.search("What are the main themes?", mode="global"))
    check_citations(index, index.search("Who is Alex Mercer?", mode="local"))


@pytest.mark.parametrize("format_", ["neo4j", "obsidian"])
def test_what_is_exported_quotes_sentences(shared: Path, tmp_path: Path, format_: str) -> None:
    _, index = import_real(shared, tmp_path, "msrepo_dulce_current")
    export_index(index, tmp_path / "out", format=format_)
    files = [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".md", ".csv")]
    assert max(len(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()) < 4_000
