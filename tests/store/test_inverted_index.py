"""The inverted index of a night is that of a fresh run; words are cut in new texts only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from graphrag import store
from graphrag.store import database, run_files
from graphrag.store.inverted_index import INDEXED, Indexed, build_postings, list_columns, list_texts
from graphrag.tokens import split_search_terms

ROWS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.sampled_from(["", "Redis holds sessions", "Redis, redis and Kafka", "nothing", "one two three"]),
)


def rows_of(texts: dict[str, str]) -> dict[str, pl.DataFrame]:
    """All five tables with the same ids; every text column holds the text."""
    values = {"id": list(texts), "origin": ["extracted"] * len(texts)}
    values |= {name: list(texts.values()) for columns in INDEXED.values() for name in columns}
    frame = pl.DataFrame(values, schema=dict.fromkeys(values, pl.String))
    frame = frame.with_columns(aliases=pl.concat_list("aliases"))
    return {name: frame.select(list_columns(name)) for name in INDEXED}


@given(ROWS, ROWS)
@settings(deadline=None)
def test_postings_of_a_night_are_those_of_a_fresh_run(before: dict[str, str], now: dict[str, str]) -> None:
    last = dict(zip(INDEXED, build_postings(rows_of(before)), strict=True))
    cut: list[str] = []

    def split(text: str) -> list[str]:
        cut.append(text)
        return split_search_terms(text)

    def read_last(name: str) -> Indexed:
        owners, postings = last[name]
        texts = list_texts(name, rows_of(before)[name])
        return Indexed(
            texts.join(owners.select("position", "n_terms"), on="position"), postings.select("term", "position", "n")
        )

    made = list(build_postings(rows_of(now), split=split, read_last=read_last))
    for ours, fresh in zip(made, build_postings(rows_of(now)), strict=True):
        assert_frame_equal(ours[0], fresh[0])
        assert_frame_equal(ours[1], fresh[1])
    assert len(cut) == len(INDEXED) * sum(before.get(name) != text for name, text in now.items())


def test_a_co_occurrence_is_not_found_by_words_and_leaves_its_position() -> None:
    rows = rows_of({"a": "Redis", "b": "Redis", "c": "Redis"})
    rows["relationships"] = rows["relationships"].with_columns(origin=pl.Series(["link", "cooccurrence", "extracted"]))
    owners, postings = dict(zip(INDEXED, build_postings(rows), strict=True))["relationships"]
    assert owners.select("owner_id", "position").rows() == [("a", 0), ("c", 2)]
    assert postings["position"].unique().to_list() == [0, 2]


def test_a_run_takes_words_over_from_the_last_of_its_release(
    tmp_path: Path, frames: dict[str, pl.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = store.write_run(tmp_path, "r1", frames, manifest={})
    units = frames["text_units"].with_columns(pl.col("text").replace({frames["text_units"]["text"][1]: "Kafka alone."}))
    fewer = frames | {"text_units": units, "relationships": frames["relationships"].head(1)}
    fresh = store.write_run(tmp_path, "r2", fewer, manifest={})
    read: list[bool] = []
    real = run_files._open_last

    @contextmanager
    def open_last(folder: Path | None) -> Iterator[Callable[[str], Indexed | None]]:
        with real(folder) as read_last:

            def look(name: str) -> Indexed | None:
                found = read_last(name)
                read.append(found is not None)
                return found

            yield look

    monkeypatch.setattr(run_files, "_open_last", open_last)
    taken = store.write_run(tmp_path, "r3", fewer, manifest={}, last=last)
    assert read == [True] * len(INDEXED)
    for name in ("search_owners", "search_postings"):
        rows = [read_table(folder, name) for folder in (taken, fresh)]
        assert_frame_equal(*rows)
    (last / "manifest.json").write_text((last / "manifest.json").read_text().replace('"database": "', '"database": "0'))
    store.write_run(tmp_path, "r4", fewer, manifest={}, last=last)
    store.write_run(tmp_path, "r5", fewer, manifest={}, last=tmp_path / "gone")
    assert read[len(INDEXED) :] == [False] * len(INDEXED) * 2


def test_words_are_cut_again_where_the_last_index_is_damaged(tmp_path: Path, frames: dict[str, pl.DataFrame]) -> None:
    last = store.write_run(tmp_path, "r1", frames, manifest={})
    whole = read_table(last, "search_postings")
    (last / "graphrag.duckdb").write_bytes(b"not a database")
    assert_frame_equal(
        read_table(store.write_run(tmp_path, "r2", frames, manifest={}, last=last), "search_postings"), whole
    )


def read_table(folder: Path, name: str) -> pl.DataFrame:
    with database.connect_read_only(folder / database.DATABASE) as connection:
        return connection.sql(f"select * from {name}").pl()
