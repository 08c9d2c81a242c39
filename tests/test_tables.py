"""The tables keep the reference's columns, and conform says everything that is wrong at once."""

from __future__ import annotations

import polars as pl
import pytest

from graphrag.errors import TableError
from graphrag.tables import ALIASES, ENTITIES, TABLES, failure_row, render_data_dictionary

from .conftest import ROOT

REFERENCE = {  # microsoft/graphrag 3.3.0, read from real output
    "documents": "id s, human_readable_id i, title s, text s, text_unit_ids S, creation_date s, raw_data s",
    "text_units": (
        "id s, human_readable_id i, text s, n_tokens i, document_id s, entity_ids S, relationship_ids S, "
        "covariate_ids S"
    ),
    "entities": "id s, human_readable_id i, title s, type s, description s, text_unit_ids S, frequency i, degree i",
    "relationships": (
        "id s, human_readable_id i, source s, target s, description s, weight d, combined_degree i, "
        "text_unit_ids S"
    ),
    "communities": (
        "id s, human_readable_id i, community i, level i, parent i, children I, title s, entity_ids S, "
        "relationship_ids S, text_unit_ids S, period s, size i"
    ),
    "community_reports": (
        "id s, human_readable_id i, community i, level i, parent i, children I, title s, summary s, "
        "full_content s, rank d, rating_explanation s, findings F, full_content_json s, period s, size i"
    ),
    "covariates": (
        "id s, human_readable_id i, covariate_type s, type s, description s, subject_id s, object_id s, "
        "status s, start_date s, end_date s, source_text s, text_unit_id s"
    ),
}  # fmt: skip
DTYPES = {
    "s": pl.String(), "i": pl.Int64(), "d": pl.Float64(), "S": pl.List(pl.String()), "I": pl.List(pl.Int64()),
    "F": pl.List(pl.Struct({"explanation": pl.String(), "summary": pl.String()})),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_columns_come_first_in_name_order_and_dtype(name: str) -> None:
    columns = [column.split() for column in REFERENCE[name].split(", ")]
    table = TABLES[name]
    assert table.n_reference == len(columns)
    assert [(c.name, c.dtype) for c in table.columns[: len(columns)]] == [(n, DTYPES[d]) for n, d in columns]


def test_every_table_has_an_empty_frame_that_conforms() -> None:
    for table in TABLES.values():
        assert table.conform(table.empty()).schema == table.schema
        assert set(table.key) <= set(table.names)
        assert all(column.meaning.endswith(".") for column in table.columns)


def test_conform_names_all_faults_in_one_message() -> None:
    frame = pl.DataFrame(
        {"surface": ["a", "a", None], "entity_id": [1, 2, 3], "method": ["x", "y", "z"], "extra": [1, 2, 3]}
    )
    with pytest.raises(TableError) as caught:
        ALIASES.conform(frame)
    message = str(caught.value)
    for fault in (
        "aliases: ", "column score is missing", "column reason is missing", "column decided_by is missing",
        "column extra is not declared", "column entity_id is Int64, declared String", "column surface has 1 nulls",
    ):  # fmt: skip
        assert fault in message


def test_conform_orders_columns_and_types_columns_without_a_value() -> None:
    rows = [failure_row("documents", "a.txt", "empty_document", "0 bytes")]
    frame = pl.DataFrame(rows).select(pl.all().reverse()).select(reversed(pl.DataFrame(rows).columns))
    conformed = TABLES["failures"].conform(frame)
    assert conformed.schema == TABLES["failures"].schema


def test_conform_counts_repeated_keys() -> None:
    row = dict.fromkeys(("surface", "entity_id", "method", "reason", "decided_by"), "") | {"score": 1.0}
    with pytest.raises(TableError, match=r"key \(surface, entity_id\) repeats in 2 rows"):
        ALIASES.from_rows([row, row])


def test_from_rows_refuses_unknown_columns() -> None:
    with pytest.raises(TableError, match="unknown columns"):
        ENTITIES.from_rows([{"nmae": "x"}])


def test_data_dictionary_is_fresh() -> None:
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == render_data_dictionary(), 'run "make docs"'
