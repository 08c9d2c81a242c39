"""Records of tables and JSON that are not reached through tests/index/test_documents.py."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from graphrag.reading.records import Fault, find_column, read_canvas, read_csv, read_json, read_parquet, to_json


def test_repeated_and_empty_column_names() -> None:
    assert read_csv("a,a,,text\n1,2,3,t").records[0].values == {"a": "1", "a_2": "2", "column_3": "3", "text": "t"}


def test_delimiter_inside_quotes_does_not_count() -> None:
    assert read_csv('"a,b,c";text\n1;t').columns == ["a,b,c", "text"]


def test_cell_of_more_than_131072_characters() -> None:
    assert len(read_csv("text\n" + "x" * 200_000).records[0].values["text"]) == 200_000


def test_parquet_that_expands_is_not_read(tmp_path: Path) -> None:
    pl.DataFrame({"text": ["x" * 10] * 100_000}).write_parquet(tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    assert len(data) < 20_000
    (fault,) = read_parquet(data, max_bytes=50_000).faults
    assert fault.reason == "too_large"


def test_columns_are_found_without_case_in_order_of_names() -> None:
    assert find_column(["Body", "TEXT"], "", ["text", "body"]) == "TEXT"
    assert find_column(["Body"], "body", ["body"]) == ""
    assert find_column([], "", ["body"]) == ""


def test_json_of_values_that_json_cannot_hold() -> None:
    assert json.loads(to_json({"a": float("inf"), "b": b"\x01", "c": "\ud800", "d": {1: None}})) == {
        "a": "inf", "b": "01", "c": "?", "d": {"1": None},
    }  # fmt: skip


def test_json_faults() -> None:
    assert read_json("3").faults == [Fault(0, "bad_json", "the file holds a number, not objects")]
    assert read_json("[]").records == []


def test_canvas_that_is_none() -> None:
    assert read_canvas("[1]") == read_canvas("{") == read_canvas('{"nodes": 3}') == ""
