"""An index moves out and in again: counts, ids and links hold, and what is wrong with a file is one line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag import Index
from graphrag.errors import GraphragError, InputError, UsageError
from graphrag.interop.export import export_index
from graphrag.pipeline import run_pipeline

from ..conftest import ROOT
from .imports import import_into, open_settings

ROUND = ("entities", "relationships", "communities", "community_reports", "evidence", "documents", "text_units")


def test_round_trip_gives_the_same_index(sample: Index, tmp_path: Path) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    _, index = import_into(tmp_path, tmp_path / "out")
    for name in ROUND:
        assert_frame_equal(index.table(name), sample.table(name))


def test_without_our_own_tables_the_same_entities_pairs_and_communities_come_back(
    sample: Index, tmp_path: Path
) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    for path in (tmp_path / "out" / "output").glob("*.parquet"):
        if path.stem not in (
            "documents",
            "text_units",
            "entities",
            "relationships",
            "communities",
            "community_reports",
        ):
            path.unlink()
    _, index = import_into(tmp_path, tmp_path / "out")
    for name, columns in (
        ("entities", ["id", "title", "type", "description"]),
        ("relationships", ["id", "source", "predicate", "target", "description"]),
        ("communities", ["community", "level", "parent", "entity_ids"]),
        ("community_reports", ["community", "title", "rank"]),
    ):
        ours, theirs = (i.table(name).select(columns).sort(columns[0]) for i in (index, sample))
        assert_frame_equal(ours, theirs)


def test_a_graph_of_ones_own_needs_source_and_target_only(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "relationships.csv").write_text(
        "source,target,type\nAuth,Token Cache,depends on\nToken Cache,Redis,backed by\n", encoding="utf-8"
    )
    summary, index = import_into(tmp_path, tmp_path / "graph")
    assert (summary.counts["entities"], summary.counts["relationships"], summary.counts["communities"]) == (3, 2, 1)
    assert [entity.title for entity in index.impact("Redis").shown] == ["Token Cache", "Auth"]
    assert index.search("Redis", mode="local").citations[0].quote == "Token Cache backed by Redis."
    with pytest.raises(InputError, match="--full"):
        run_pipeline(open_settings(tmp_path), ROOT)


def test_a_graph_of_ones_own_may_be_parquet_with_entities(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    edges = pl.DataFrame({"Source": ["Auth"], "Target": ["Redis"], "Predicate": ["depends on"], "weight": [3]})
    edges.write_parquet(tmp_path / "graph" / "relationships.parquet")
    nodes = pl.DataFrame({"name": ["Auth", "Redis", "Idle"], "type": ["service", "database", None]})
    nodes.write_parquet(tmp_path / "graph" / "entities.parquet")
    _, index = import_into(tmp_path, tmp_path / "graph")
    types = dict(index.table("entities").select("title", "type").iter_rows())
    assert types == {"Auth": "service", "Redis": "database", "Idle": "unknown"}
    (row,) = index.table("relationships").to_dicts()
    assert (row["source"], row["predicate"], row["target"], row["weight"]) == ("Auth", "depends_on", "Redis", 1.0)
    assert index.table("evidence")["strength"].to_list() == [3.0]


def test_an_extraction_of_ones_own_has_sentences_as_evidence(tmp_path: Path) -> None:
    line = {
        "text": "It is fast. The token cache is backed by Redis.",
        "records": [["E", "Redis", "technology", ""], ["E", "token cache", "service", ""],
                    ["R", "token cache", "backed by", "Redis", "", 8, [2]]],
    }  # fmt: skip
    (tmp_path / "mine.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    _, index = import_into(tmp_path, tmp_path / "mine.jsonl")
    assert index.table("evidence")["quote"].to_list() == ["The token cache is backed by Redis."]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no entities, relationships or text_units"),
        (
            {"relationships.csv": "source,weight\na,1\n"},
            "relationships.csv: the column target or object or to is missing",
        ),
        ({"relationships.parquet": "PAR1 cut"}, "relationships.parquet: is no whole Parquet file"),
        ({"relationships.csv": "source,target,weight\na,b,heavy\n"}, "column weight is String, needed is Float64"),
        ({"entities.csv": "title,text_unit_ids\na,u1\n"}, "text_units.csv: is missing; entities.csv refers to it"),
    ],
)
def test_what_is_wrong_with_the_files_is_one_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    (tmp_path / "in").mkdir()
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        import_into(tmp_path, tmp_path / "in")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_export_overwrites_nothing_unasked(sample: Index, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not empty"):
        export_index(sample, tmp_path, format="graphml")
    with pytest.raises(UsageError, match="of the project"):
        export_index(sample, ROOT / sample.settings.input.dir / "out", format="graphml")
    with pytest.raises(GraphragError, match="Did you mean"):
        export_index(sample, tmp_path / "x", format="graphm")
    export_index(sample, tmp_path, format="graphml", force=True)
    assert (tmp_path / "note.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("missing", ["evidence", "entities", "communities", "community_reports", "aliases"])
def test_an_export_of_ours_that_was_cut_short_names_the_table(sample: Index, tmp_path: Path, missing: str) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    (tmp_path / "out" / "output" / f"{missing}.parquet").unlink()
    with pytest.raises(InputError, match=rf"out/output/{missing}\.parquet: is missing\. Export again\.$"):
        import_into(tmp_path, tmp_path / "out")


def test_an_export_of_ours_with_another_dtype_names_table_and_column(sample: Index, tmp_path: Path) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    path = tmp_path / "out" / "output" / "relationships.parquet"
    pl.read_parquet(path).with_columns(pl.col("weight").cast(pl.String)).write_parquet(path)
    with pytest.raises(
        InputError, match=r"relationships\.parquet: .*column weight is String, declared Float64"
    ) as caught:
        import_into(tmp_path, tmp_path / "out")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("mine.jsonl", '{"text": "A uses B.", "records": []}\n{"text": "A uses', "mine.jsonl:2: is no JSON"),
        ("mine.jsonl", '{"records": []}\n', 'mine.jsonl:1: the key "text" is missing'),
        ("mine.jsonl", '{"text": "A uses B."}\n', 'mine.jsonl:1: the key "records" is missing'),
        ("mine.jsonl", "\n\n", "mine.jsonl: holds no line with a text"),
        ("mine.txt", "A uses B.", "mine.txt: a folder with tables is needed, or a .jsonl file of extracted records"),
        ("", "", "nowhere: no such file or folder"),
    ],
)
def test_what_is_wrong_with_a_file_of_records_is_one_line(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / (name or "nowhere")
    if name:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        import_into(tmp_path, path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "output" / "current").exists()
