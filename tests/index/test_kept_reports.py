"""Reports of last night: the same as if all were written, whatever changed, and few are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag.index.communities import build_communities
from graphrag.index.kept_reports import key_reports
from graphrag.index.report_corpus import read_corpus
from graphrag.index.reports import build_extractive_reports
from graphrag.memo import Memo

from .test_reports import FACTS, PAGES, Frames, make_frames

FRAMES = make_frames(PAGES, FACTS, extra=("Alone",))
CHANGED = {
    "entities": ["title", "pagerank", "n_documents", "human_readable_id"],
    "relationships": ["source", "target", "predicate", "weight", "origin", "human_readable_id", "combined_degree"],
    "documents": ["path", "title", "content_sha256"],
    "text_units": ["human_readable_id"],
}


@pytest.fixture(scope="module")
def communities() -> pl.DataFrame:
    return build_communities(
        FRAMES.entities, FRAMES.relationships, FRAMES.evidence, FRAMES.documents, max_community_size=4, resolution=1.0,
        seed=42, layer_weights={"cooccurrence": 0.2},
    ).communities  # fmt: skip


@pytest.fixture
def memo(tmp_path: Path) -> Iterator[Memo]:
    with Memo(tmp_path / "memo.sqlite") as memo:
        yield memo


def write(communities: pl.DataFrame, frames: Frames, memo: Memo | None = None, rules: str = "1") -> pl.DataFrame:
    return build_extractive_reports(communities, *frames, memo=memo, rules=rules).community_reports


def change(frames: Frames, table: str, column: str, row: int) -> Frames:
    """One value of one row is another."""
    frame: pl.DataFrame = getattr(frames, table)
    values = frame[column].to_list()
    other = {"origin": "cooccurrence"}.get(column, f"Another {values[row]}")
    values[row] = other if isinstance(values[row], str) else values[row] + 3
    return frames._replace(**{table: frame.with_columns(pl.Series(column, values, dtype=frame.schema[column]))})


@pytest.mark.parametrize(("table", "column"), [(table, column) for table in CHANGED for column in CHANGED[table]])
def test_reports_are_those_of_a_night_without_memo(
    communities: pl.DataFrame, memo: Memo, table: str, column: str
) -> None:
    write(communities, FRAMES, memo)
    for row in range(getattr(FRAMES, table).height):
        changed = change(FRAMES, table, column, row)
        assert_frame_equal(write(communities, changed, memo), write(communities, changed))


def test_sentences_that_come_and_go_are_told(communities: pl.DataFrame, memo: Memo) -> None:
    write(communities, FRAMES, memo)
    for row in range(FRAMES.evidence.height):
        left = FRAMES._replace(evidence=FRAMES.evidence.with_row_index("n").filter(pl.col("n") != row).drop("n"))
        assert_frame_equal(write(communities, left, memo), write(communities, left))
    assert_frame_equal(write(communities, FRAMES, memo), write(communities, FRAMES))


def test_a_change_writes_the_reports_of_its_communities_alone(communities: pl.DataFrame) -> None:
    rows = {row["community"]: row for row in communities.to_dicts()}
    before = key_reports(rows, read_corpus(*FRAMES))
    after = key_reports(rows, read_corpus(*change(FRAMES, "relationships", "weight", 0)))
    changed = FRAMES.relationships["id"][0]
    assert {number for number in rows if before[number] != after[number]} == {
        number for number, row in rows.items() if changed in row["relationship_ids"]
    }
    spread = FRAMES._replace(entities=FRAMES.entities.with_columns(pl.col("pagerank") / 2))
    assert key_reports(rows, read_corpus(*spread)) == before


@pytest.mark.parametrize("rules", ["2", ""])
def test_other_rules_take_nothing_over(communities: pl.DataFrame, memo: Memo, rules: str) -> None:
    written = write(communities, FRAMES, memo)
    damaged = change(FRAMES, "entities", "title", 0)
    assert_frame_equal(write(communities, damaged, memo, rules), write(communities, damaged))
    assert_frame_equal(write(communities, FRAMES, memo), written)
