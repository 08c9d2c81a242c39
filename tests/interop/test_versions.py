"""The same story in the tables of every release line of microsoft/graphrag comes in as the same index."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag import Index
from graphrag.errors import InputError

from .imports import import_into
from .story import TITLES, VERSIONS, write_story


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_comes_in_whole(tmp_path: Path, version: str) -> None:
    summary, index = import_into(tmp_path, write_story(tmp_path / "in", version))
    expected = {"documents": 1, "text_units": 2, "entities": 4, "relationships": 3, "community_reports": 3}
    assert {name: summary.counts[name] for name in expected} == expected
    assert index.table("failures").select("reason", "item_id").rows() == [
        ("unknown_endpoint", "CEM related_to HARBOUR")
    ]
    assert dict(index.table("entities").select("title", "id").iter_rows()) == TITLES
    document = index.table("documents").row(0, named=True)
    assert (document["title"], document["creation_date"]) == ("lighthouse.txt", "")
    assert json.loads(document["metadata"]) == ({} if version == "0.2" else {"author": "us"})
    claim = index.table("covariates").row(0, named=True)
    assert (claim["subject_id"], claim["text_unit_id"], claim["status"]) == ("ADA", "unit-a", "true")


@pytest.mark.parametrize("version", VERSIONS)
def test_communities_and_reports_keep_members_parents_and_words(tmp_path: Path, version: str) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", version))
    titles = {identity: title for title, identity in TITLES.items()}
    rows = index.table("communities").to_dicts()
    members = {row["community"]: sorted(titles[entity] for entity in row["entity_ids"]) for row in rows}
    found = {(row["level"], *members[row["community"]]): members.get(row["parent"], []) for row in rows}
    everyone = ["ADA", "BEN", "CEM"]
    assert found == {(0, *everyone): [], (0, "DORA"): [], (1, "ADA", "BEN"): everyone, (1, "CEM"): everyone}
    report = index.table("community_reports").sort("community").row(0, named=True)
    assert (report["title"], report["rank"], report["rating_explanation"]) == ("Report 0", 7.0, "It matters.")
    assert report["findings"] == [{"explanation": "They share the work.", "summary": "The lighthouse"}]


def test_what_reports_cite_is_numbered_anew_and_quoted_by_the_sentence(tmp_path: Path) -> None:
    """Relationship 3 dangles in the files, so that nothing is left to cite."""
    summary, index = import_into(tmp_path, write_story(tmp_path / "in", "2.0"))
    report = index.table("community_reports").sort("community").row(0, named=True)
    numbers = dict(index.table("entities").select("title", "human_readable_id").iter_rows())
    (ada_ben,) = index.sql("select human_readable_id n from relationships where source = 'ADA' and target = 'BEN'")["n"]
    assert f"[Data: Entities ({numbers['ADA']}); Relationships ({ada_ben})]" in report["full_content"]
    assert "3 citations in reports name rows that the files do not hold; removed." in summary.notices
    text = index.table("documents")["text"][0]
    cited = json.loads(report["citations"])
    assert {row["quote"] for row in cited} == {"Ada keeps the lighthouse with Ben at night."}
    assert all(text[row["start"] : row["end"]] == row["quote"] for row in cited)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_index_answers(tmp_path: Path, version: str) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", version))
    for mode, question in (("local", "Who keeps the lighthouse?"), ("global", "What are the main themes?"),
                           ("basic", "lighthouse")):  # fmt: skip
        answer = index.search(question, mode=mode)
        assert answer.answered, mode
        assert all(is_in_text_unit(index, citation.start, citation.end) for citation in answer.citations)


def is_in_text_unit(index: Index, start: int, end: int) -> bool:
    units = index.table("text_units")
    return units.filter((pl.col("start_char") <= start) & (pl.col("end_char") >= end)).height > 0


@pytest.mark.parametrize("version", ["0.2", "1.2", "2.0"])
def test_missing_reports_are_made_and_missing_claims_are_none(tmp_path: Path, version: str) -> None:
    without = ("community_reports", "covariates")
    _, index = import_into(tmp_path, write_story(tmp_path / "in", version, without=without))
    assert index.table("covariates").is_empty()
    reports = index.table("community_reports")
    assert "llm" not in reports["method"]
    assert set(reports["community"]) <= set(index.table("communities")["community"])


def test_missing_communities_are_found_anew(tmp_path: Path) -> None:
    without = ("communities", "community_reports")
    _, index = import_into(tmp_path, write_story(tmp_path / "in", "3.0", without=without))
    (top,) = index.table("communities").filter((pl.col("level") == 0) & (pl.col("size") > 1)).to_dicts()
    assert sorted(top["entity_ids"]) == sorted(TITLES[title] for title in ("ADA", "BEN", "CEM"))


def test_evidence_is_the_text_unit_and_says_so(tmp_path: Path) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", "3.0"))
    joined = index.sql("select e.quote = u.text as is_whole from evidence e join text_units u on u.id = e.text_unit_id")
    assert joined["is_whole"].to_list() == [True] * 3
    assert set(index.table("relationship_mentions")["method"]) == {"import"}
    assert set(index.table("entity_mentions")["method"]) == {"import"}


@pytest.mark.parametrize(
    ("version", "missing", "words"),
    [
        ("1.0", "nodes", "create_final_nodes.parquet: is missing; create_final_communities.parquet refers to it"),
        (
            "0.2",
            "text_units",
            "create_final_text_units.parquet: is missing; create_final_entities.parquet refers to it",
        ),
        ("2.0", "entities", "entities.parquet: is missing; communities.parquet refers to it"),
        ("2.0", "communities", "communities.parquet: is missing; community_reports.parquet refers to it"),
        ("3.0", "text_units", "text_units.parquet: is missing; entities.parquet refers to it"),
    ],
)
def test_a_half_written_folder_names_what_is_missing(tmp_path: Path, version: str, missing: str, words: str) -> None:
    folder = write_story(tmp_path / "in", version, without=(missing,))
    with pytest.raises(InputError) as caught:
        import_into(tmp_path, folder)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_stray_files_and_folders_are_named_and_left_alone(tmp_path: Path) -> None:
    folder = write_story(tmp_path / "in", "3.0")
    (folder / "stats.json").write_text("{}", encoding="utf-8")
    (folder / "lancedb").mkdir()
    summary, _ = import_into(tmp_path, folder)
    assert "Not read: lancedb, stats.json." in summary.notices


@pytest.mark.parametrize(
    ("table", "column", "values", "words"),
    [
        ("communities", "level", ["top", "low", "low"], "communities.parquet: column level is String, needed is Int64"),
        ("entities", "title", [None, "B", "C", "D"], "entities.parquet: column title has no value in 1 of 4 rows"),
        (
            "relationships",
            "text_unit_ids",
            [1, 2, 3, 4],
            "relationships.parquet: column text_unit_ids is Int64, needed",
        ),
        ("communities", "community", [0.5, 1.0, 2.0], "some values are no whole numbers"),
    ],
)
def test_wrong_dtypes_are_one_line(tmp_path: Path, table: str, column: str, values: list[object], words: str) -> None:
    path = write_story(tmp_path / "in", "3.0") / f"{table}.parquet"
    pl.read_parquet(path).with_columns(pl.Series(column, values)).write_parquet(path)
    with pytest.raises(InputError) as caught:
        import_into(tmp_path, tmp_path / "in")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_files_make_the_same_tables(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    source = write_story(tmp_path / "in", "3.0")
    one, two = (import_into(tmp_path / name, source)[1] for name in ("one", "two"))
    for name in ("entities", "relationships", "evidence", "communities", "community_reports", "text_units"):
        assert_frame_equal(one.table(name), two.table(name))
