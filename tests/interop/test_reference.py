"""The folder for microsoft/graphrag: columns and dtypes of its tables, what its engine needs, vectors for lancedb."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from graphrag import Index
from graphrag.interop.export import export_index
from graphrag.interop.reference import VECTOR_TABLES
from graphrag.tables import TABLES


@pytest.fixture
def written(sample: Index, tmp_path: Path) -> dict[str, pl.DataFrame]:
    export_index(sample, tmp_path / "out", format="graphrag")
    return {path.stem: pl.read_parquet(path) for path in (tmp_path / "out" / "output").glob("*.parquet")}


def test_the_first_columns_are_those_of_the_reference(written: dict[str, pl.DataFrame]) -> None:
    for name, table in TABLES.items():
        if table.n_reference:
            columns = table.names[: table.n_reference]
            assert written[name].columns[: table.n_reference] == list(columns)
            assert [written[name].schema[column] for column in columns] == [table.schema[column] for column in columns]


def test_what_its_query_engine_needs_holds(written: dict[str, pl.DataFrame]) -> None:
    entities, relationships = written["entities"], written["relationships"]
    communities, reports = written["communities"], written["community_reports"]
    assert set(relationships["source"]) | set(relationships["target"]) <= set(entities["title"])
    assert set(communities["entity_ids"].explode().drop_nulls()) <= set(entities["id"])
    assert set(reports["community"]) <= set(communities["community"])
    assert set(written["text_units"]["document_id"]) <= set(written["documents"]["id"])
    for frame, columns in ((reports, ("rank", "full_content", "summary", "title", "size", "period", "findings")),
                           (communities, ("level", "parent", "children", "period", "size")),
                           (written["text_units"], ("n_tokens", "text"))):  # fmt: skip
        assert not any(frame[column].null_count() for column in columns)


def test_settings_name_the_model_of_the_vectors(sample: Index, tmp_path: Path) -> None:
    export_index(sample, tmp_path / "out", format="graphrag")
    settings = yaml.safe_load((tmp_path / "out" / "settings.yaml").read_text(encoding="utf-8"))
    assert settings["vector_store"] == {"type": "lancedb", "db_uri": "output/lancedb", "vector_size": 384}
    assert settings["embedding_models"]["default_embedding_model"]["model"] == sample.settings.embeddings.model


def test_without_vectors_no_size_is_named(hostile: Index, tmp_path: Path) -> None:
    export_index(hostile, tmp_path / "out", format="graphrag")
    settings = yaml.safe_load((tmp_path / "out" / "settings.yaml").read_text(encoding="utf-8"))
    assert "vector_size" not in settings["vector_store"]


def test_lancedb_holds_a_vector_of_each_row(sample: Index, tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb", reason="the extra lancedb is not installed")
    done = export_index(sample, tmp_path / "out", format="graphrag")
    assert done.notices == []
    database = lancedb.connect(str(tmp_path / "out" / "output" / "lancedb"))
    for name, owner_table in VECTOR_TABLES.items():
        rows = pl.from_arrow(database.open_table(name).to_arrow())
        assert isinstance(rows, pl.DataFrame)
        assert rows.schema == {"id": pl.String, "vector": pl.Array(pl.Float32, 384)}
        ids, vectors = sample.published.vectors(owner_table)
        assert dict(zip(ids, vectors.tolist(), strict=True)) == dict(rows.iter_rows())
        if owner_table != "entities":  # of entities, those with a description
            assert set(rows["id"]) == set(sample.table(owner_table)["id"])
