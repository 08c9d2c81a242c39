"""What the options of `graphrag import` and `graphrag export` make anew, keep, or leave out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag import Index
from graphrag.errors import GateHeld, UsageError
from graphrag.interop.export import export_index
from graphrag.tables import TABLES

from ..conftest import ROOT
from .imports import import_into
from .story import TITLES, write_story

KEPT = {"ada-ben-cem": (0, ["ADA", "BEN", "CEM"]), "ada-ben": (1, ["ADA", "BEN"]), "cem": (1, ["CEM"])}


def list_members(index: Index) -> list[tuple[int, list[str]]]:
    titles = {identity: title for title, identity in TITLES.items()}
    rows = index.table("communities").select("level", "entity_ids").iter_rows()
    return sorted((level, sorted(titles[entity] for entity in entities)) for level, entities in rows)


def test_without_recompute_communities_and_reports_are_those_of_the_files(tmp_path: Path) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", "3.0"))
    assert list_members(index) == sorted([*KEPT.values(), (0, ["DORA"])])
    assert set(index.table("community_reports")["method"]) == {"llm"}


def test_recompute_reports_keeps_communities(tmp_path: Path) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", "3.0"), recompute="reports")
    assert list_members(index) == sorted([*KEPT.values(), (0, ["DORA"])])
    assert "llm" not in index.table("community_reports")["method"]


def test_recompute_communities_clusters_and_writes_reports(tmp_path: Path) -> None:
    _, index = import_into(tmp_path, write_story(tmp_path / "in", "3.0"), recompute="communities")
    tops = [members for level, members in list_members(index) if level == 0]
    assert sorted(member for members in tops for member in members) == sorted(TITLES)
    assert (1, ["CEM"]) not in list_members(index)
    assert "llm" not in index.table("community_reports")["method"]
    assert set(index.table("entities")["id"]) == set(TITLES.values())


def test_recompute_disambiguation_merges_names(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    rows = "source,target,type\nAuthService,Redis,depends on\nAuth Service,Postgres,depends on\nK,auth-service,calls\n"
    (folder / "relationships.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "as-is").mkdir()
    _, as_is = import_into(tmp_path / "as-is", folder)
    _, merged = import_into(tmp_path, folder, recompute="disambiguation")
    assert as_is.table("entities").height == 6
    assert merged.table("entities").height == 4
    (auth,) = merged.table("entities").filter(pl.col("aliases").list.len() > 0).to_dicts()
    assert {"AuthService", "Auth Service", "auth-service"} <= {auth["title"], *auth["aliases"]}
    assert merged.table("relationships").height == 3
    assert [entity.title for entity in merged.impact("Redis").shown] == [auth["title"], "K"]


def test_recompute_of_our_own_export_gives_the_same_communities(sample: Index, tmp_path: Path) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    _, index = import_into(tmp_path, tmp_path / "out", recompute="communities")
    columns = ["level", "entity_ids", "relationship_ids", "size"]
    ours, theirs = (i.table("communities").select(columns).sort(columns[:2]) for i in (index, sample))
    assert_frame_equal(ours, theirs)
    assert index.table("community_reports").height == sample.table("community_reports").height


def test_an_unknown_stage_lists_those_that_can_be_made_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'Did you mean "communities"\? Use one of: disambiguation, communities, rep'):
        import_into(tmp_path, write_story(tmp_path / "in", "3.0"), recompute="comunities")


def test_export_level_leaves_out_what_is_finer(sample: Index, tmp_path: Path) -> None:
    deepest = sample.table("communities")["level"].max()
    assert deepest == 1
    export_index(sample, tmp_path / "out", format="jsonl", level=0)
    for name in ("communities", "community_reports"):
        rows = pl.read_ndjson(tmp_path / "out" / f"{name}.jsonl")
        assert rows["id"].to_list() == sample.table(name).filter(pl.col("level") == 0)["id"].to_list()
    whole = pl.read_ndjson(tmp_path / "out" / "entities.jsonl")
    assert whole.height == sample.table("entities").height


def test_export_min_weight_leaves_out_relationships_and_their_evidence(sample: Index, tmp_path: Path) -> None:
    done = export_index(sample, tmp_path / "out", format="jsonl", min_weight=2)
    heavy = sample.table("relationships").filter(pl.col("weight") >= 2)
    assert 0 < done.n_relationships == heavy.height < sample.table("relationships").height
    assert done.n_entities == sample.table("entities").height
    rows, evidence = (pl.read_ndjson(tmp_path / "out" / f"{name}.jsonl") for name in ("relationships", "evidence"))
    assert rows["id"].to_list() == heavy["id"].to_list()
    assert set(evidence["relationship_id"]) == set(heavy["id"])


@pytest.mark.parametrize("format_", ["graphml", "neo4j", "jsonl", "obsidian", "graphrag"])
def test_export_where_holds_only_what_these_documents_back(sample: Index, tmp_path: Path, format_: str) -> None:
    overrides = [f"output.dir={sample.settings.output.dir}"]
    with Index.open(ROOT, overrides=overrides, where="path like 'services/%'") as some:
        done = export_index(some, tmp_path / "out", format=format_)
        assert 0 < done.n_entities == some.table("entities").height < sample.table("entities").height
        assert 0 < done.n_relationships == some.table("relationships").height < sample.table("relationships").height
        hidden = set(sample.table("documents")["id"]) - set(some.table("documents")["id"])
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.suffix in (".jsonl", ".csv"))
    assert hidden and not [identity for identity in hidden if identity.encode() in written]


def test_quotes_of_an_import_of_tables_hold_no_run(tmp_path: Path) -> None:
    """They are whole text units, by their own method; what they lack says nothing about a model that invents."""
    rows = "".join(f"A{n},B{n},u1\n" for n in range(60))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "relationships.csv").write_text(f"source,target,text_unit_ids\n{rows}", encoding="utf-8")
    (folder / "text_units.csv").write_text("id,text\nu1,Nothing of this.\n", encoding="utf-8")
    ends = "".join(f"{end}{n}\n" for n in range(60) for end in "AB")
    (folder / "entities.csv").write_text(f"title\n{ends}", encoding="utf-8")
    summary, index = import_into(tmp_path, folder)
    assert summary.status == "published"
    assert index.table("evidence").height == 60
    assert not index.table("evidence")["is_verified"].any()
    assert set(index.table("relationship_mentions")["method"]) == {"import"}


def test_quotes_of_an_extraction_of_ones_own_do(tmp_path: Path) -> None:
    records = ", ".join(f'["R", "A{n}", "uses", "B{n}", "", 5, [1]]' for n in range(60))
    (tmp_path / "mine.jsonl").write_text(f'{{"text": "Nothing of this.", "records": [{records}]}}\n', encoding="utf-8")
    with pytest.raises(GateHeld, match=r"quotes do not hold both names"):
        import_into(tmp_path, tmp_path / "mine.jsonl")


def test_what_is_exported_of_some_documents_comes_in_again(sample: Index, tmp_path: Path) -> None:
    overrides = [f"output.dir={sample.settings.output.dir}"]
    with Index.open(ROOT, overrides=overrides, where="path like 'services/%'") as some:
        export_index(some, tmp_path / "out", format="graphrag")
        _, index = import_into(tmp_path, tmp_path / "out")
        for name in ("entities", "relationships"):
            assert set(index.table(name)["id"]) == set(some.table(name)["id"]), name
        for name in ("documents", "text_units"):  # what has no text unit, such as a link, gets a line of its own
            assert set(index.table(name)["id"]) >= set(some.table(name)["id"]), name


@pytest.mark.parametrize(("level", "min_weight"), [(0, 0), (None, 2), (0, 2)])
def test_a_part_for_the_reference_lists_no_id_that_is_left_out(
    sample: Index, tmp_path: Path, level: int | None, min_weight: float
) -> None:
    done = export_index(sample, tmp_path / "out", format="graphrag", level=level, min_weight=min_weight)
    assert done.notices[0].startswith("A part of the index")
    read = {path.stem: pl.read_parquet(path) for path in (tmp_path / "out" / "output").glob("*.parquet")}
    assert set(read) == {name for name, table in TABLES.items() if table.n_reference}
    for owner, column, table, key in (
        ("communities", "relationship_ids", "relationships", "id"),
        ("text_units", "relationship_ids", "relationships", "id"),
        ("communities", "children", "communities", "community"),
        ("community_reports", "children", "communities", "community"),
    ):
        assert set(read[owner][column].explode().drop_nulls()) <= set(read[table][key]), (owner, column)
    _, index = import_into(tmp_path, tmp_path / "out")
    assert index.table("relationships").height == done.n_relationships
