"""human_readable_id stays with its row for life and is never given to another."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.errors import StoreError
from graphrag.store.ledger import append_ledger, append_lines, number_rows, read_ledger

Frames = dict[str, pl.DataFrame]


def numbers(frames: Frames, name: str = "entities") -> dict[str, int]:
    return dict(frames[name].select("id", "human_readable_id").rows())


def test_numbers_start_at_one_in_row_order_those_of_communities_at_zero(tmp_path: Path, frames: Frames) -> None:
    numbered = number_rows(frames, tmp_path / "ids.jsonl")
    for name in ("documents", "text_units", "entities", "relationships"):
        assert numbered[name]["human_readable_id"].to_list() == list(range(1, frames[name].height + 1))
    assert numbered["communities"]["human_readable_id"].to_list() == [0, 1, 2]
    assert numbered["evidence"] is frames["evidence"]
    assert not (tmp_path / "ids.jsonl").exists()


def test_lines_say_table_id_number_and_label(tmp_path: Path, frames: Frames) -> None:
    path = tmp_path / "ids.jsonl"
    assert append_ledger(path, number_rows(frames, path)) == 13
    assert append_ledger(path, number_rows(frames, path)) == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    titles = [frames["community_reports"]["title"][0], *frames["communities"]["title"][1:]]
    labels = [(line["table"], line["number"], line["label"]) for line in lines]
    assert labels[0] == ("documents", 1, "a.md")
    assert labels[3] == ("text_units", 2, "b.md")
    assert labels[7] == ("entities", 4, "O'Reilly %;--")
    assert labels[8] == ("relationships", 1, "Auth Service depends_on Redis")
    assert labels[10:] == [("communities", n, title) for n, title in enumerate(titles)]
    assert list(lines[0]) == ["table", "id", "number", "label"]


def test_a_cut_last_line_is_ignored_and_then_replaced(tmp_path: Path, frames: Frames) -> None:
    path = tmp_path / "ids.jsonl"
    append_ledger(path, number_rows(frames, path))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert read_ledger(path).height == 12
    assert append_ledger(path, number_rows(frames, path)) == 1
    assert path.read_bytes() == whole
    path.write_bytes(b'{"table": broken}\n' + whole)
    with pytest.raises(StoreError, match="is damaged"):
        read_ledger(path)


@pytest.mark.parametrize("size", [0, 10, 65_536, 65_537, 200_000])
def test_a_cut_line_of_any_length_gives_way_to_the_next(tmp_path: Path, size: int) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"whole\n" + b"x" * size)
    append_lines(path, ["next"])
    assert path.read_bytes() == b"whole\nnext\n"
    path.write_bytes(b"x" * size)
    append_lines(path, ["first"])
    assert path.read_bytes() == b"first\n"


def test_a_run_numbered_before_another_was_published_is_refused(tmp_path: Path, frames: Frames) -> None:
    path = tmp_path / "ids.jsonl"
    one, two = ({**frames, "entities": frames["entities"][rows]} for rows in ([0, 1], [0, 2]))
    numbered_one, numbered_two = number_rows(one, path), number_rows(two, path)
    append_ledger(path, numbered_one)
    before = path.read_bytes()
    with pytest.raises(StoreError, match='Run "graphrag index" instead'):
        append_ledger(path, numbered_two)
    assert path.read_bytes() == before


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), min_size=2, max_size=6))
def test_over_many_nights_a_number_means_one_row(nights: list[list[int]]) -> None:
    ever: dict[int, str] = {}
    of_row: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.jsonl"
        for night in nights:
            rows = [f"id{number}" for number in night]
            schema = {"id": pl.String, "human_readable_id": pl.Int64, "title": pl.String}
            frame = pl.DataFrame({"id": rows, "human_readable_id": [0] * len(rows), "title": rows}, schema=schema)
            numbered = number_rows({"entities": frame}, path)
            append_ledger(path, numbered)
            for row, number in numbers(numbered).items():
                assert ever.setdefault(number, row) == row
                assert of_row.setdefault(row, number) == number
