"""A run comes back as it was written, readers see one whole run, and SQL reads nothing else."""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from graphrag import store
from graphrag.errors import GraphragError, NoIndex, StoreError, TableError
from graphrag.store import views
from graphrag.tables import TABLES
from graphrag.tokens import split_search_terms

from ..sql_docs import ask_sql

Frames = dict[str, pl.DataFrame]


@pytest.fixture
def output_dir(tmp_path: Path, frames: Frames) -> Path:
    """A published run r1; the folder's name has spaces and other letters."""
    return publish(tmp_path / "out put ü", frames)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, frames: Frames) -> Path:
    """The same for tests that only read."""
    return publish(tmp_path_factory.mktemp("published") / "out put ü", frames)


def publish(folder: Path, frames: Frames) -> Path:
    store.write_run(folder, "r1", store.number_rows(frames, folder / "ids.jsonl"), manifest={"seed": 42})
    store.publish_run(folder, "r1")
    return folder


def test_every_table_comes_back_row_for_row(published: Path, frames: Frames) -> None:
    numbered = store.number_rows(frames, published / "ids.jsonl")
    with store.open_index(published) as index:
        assert index.run_id == "r1"
        for name in TABLES:
            assert_frame_equal(index.table(name), numbered[name])
            assert_frame_equal(pl.read_parquet(published / "current" / f"{name}.parquet"), numbered[name])
        with pytest.raises(TableError, match='Did you mean "entities"'):
            index.table("entitis")


def test_vectors_are_memory_mapped_in_row_order(published: Path, frames: Frames) -> None:
    with store.open_index(published) as index:
        ids, vectors = index.vectors("entities")
        assert ids == frames["entities"]["id"].to_list()
        assert isinstance(vectors, np.memmap)
        assert vectors.dtype == np.float32
        assert vectors.tolist()[1] == [0.0, 1.0]
        ids, vectors = index.vectors("relationships")
        assert (ids, vectors.shape) == ([], (0, 0))


def test_equal_frames_give_equal_files(tmp_path: Path, frames: Frames) -> None:
    digests = []
    for name in ("one", "two"):
        folder = store.write_run(tmp_path / name, "r1", frames, manifest={"b": 1, "a": 2})
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".duckdb"]
        digests.append({path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest() for path in files})
    assert digests[0] == digests[1]
    assert {path.name for path in digests[0]} >= {"manifest.json", "entities.npy", "entities.parquet"}


def test_every_table_column_view_and_macro_has_a_comment(published: Path) -> None:
    with store.open_index(published) as index:
        for kind in ("tables", "views", "functions"):
            where = "not internal and schema_name = 'main'"
            assert index.frame(f"select * from duckdb_{kind}() where {where} and comment is null").height == 0
        bare = index.frame(
            "select table_name, column_name from duckdb_columns() where not internal and comment is null"
        )
        assert bare.rows() == []
        names = index.frame("select view_name from duckdb_views() where not internal")["view_name"].to_list()
        assert sorted(names) == sorted(view.name for view in views.VIEWS)


# Every entity of the run has a relationship; its documents have no links (test_views.py has some), and nobody has
# related them (tests/test_settling.py).
WITHOUT_ROWS = (
    "unconnected_entities", "linked_but_never_mentioned", "mentioned_but_unlinked", "relations_by_source",
    "notes_missing", "steps_without_successor", "decisions_with_one_branch",
)  # fmt: skip


@pytest.mark.parametrize("view", [view.name for view in views.VIEWS])
def test_every_view_has_rows_and_no_column_that_polars_cannot_hold(published: Path, view: str) -> None:
    frame = ask_sql(published, f"select * from {view}")
    assert (frame.height > 0) == (view not in WITHOUT_ROWS)
    assert pl.Null not in frame.dtypes and pl.Object not in frame.dtypes


def test_views_say_what_the_tables_hold(published: Path) -> None:
    timeline = ask_sql(published, "from entity_timeline where entity = 'Redis'")
    assert timeline.select("creation_date", "path", "n_mentions", "quote").rows() == [
        ("", "b.md", 1, "AuthService depends on Redis."),
        ("2024-05-01", "a.md", 1, "The Auth  Service depends on Redis."),
    ]
    suspects = ask_sql(published, "select title_a, title_b, degree_a, degree_b from duplicate_suspects")
    assert suspects.rows() == [("Billing", "O'Reilly %;--", 1, 1)]
    failures = ask_sql(published, "select reason, n_failures, example from failures_by_reason")
    assert failures.rows() == [("binary_file", 1, "x.bin")]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("redis", "Redis"), ("AUTH-SERVICE", "Auth Service"), (" authservice ", "Auth Service"),
        ("O'Reilly %;--", "O'Reilly %;--"), ("%", None), ("", None), ("x'; drop table entities; --", None),
        (None, None),
    ],
)  # fmt: skip
def test_names_are_data_in_macros(published: Path, name: str | None, title: str | None) -> None:
    with store.open_index(published) as index:
        assert index.frame("select resolve_entity(?)", [name]).item() == title
        around = index.frame("from neighborhood(?, 2, 'both')", [name])
        assert around.height == (2 if title else 0)


def test_rows_are_those_of_the_frame(published: Path) -> None:
    with store.open_index(published) as index:
        sql = "select id, degree, pagerank, is_hub, aliases, text_unit_ids from entities where degree >= ? order by id"
        assert index.rows(sql, (0,)) == index.frame(sql, (0,)).rows() != []
        assert index.rows("select $word as word", {"word": "O'Reilly"}) == [("O'Reilly",)]


def test_rows_that_hold_a_term_are_counted(published: Path, frames: Frames) -> None:
    held = [set(split_search_terms(text)) for text in frames["text_units"]["text"]]
    asked = ["redis", "absentword", "billing", "redis"]
    with store.open_index(published) as index:
        counts = index.count_holding(asked, "text_units")
    assert counts == {term: sum(term in terms for terms in held) for term in set(asked)}
    assert counts["redis"] > 0 == counts["absentword"]


def test_texts_that_are_looked_up_are_stored_plain(published: Path) -> None:
    sql = "select distinct compression from pragma_storage_info('{}') where segment_type = 'VARCHAR'"
    with store.open_index(published) as index:
        for name in store.run_files.LOOKED_UP_BY:
            assert "DICT_FSST" not in index.frame(sql.format(name))["compression"].to_list(), name


def test_bm25_is_the_formula(published: Path, frames: Frames) -> None:
    texts = [split_search_terms(text) for text in frames["text_units"]["text"]]
    mean = sum(map(len, texts)) / len(texts)

    def score(query: list[str], terms: list[str]) -> float:
        total = 0.0
        for term in set(query):
            df = sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            n = terms.count(term)
            total += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * len(terms) / mean))
        return round(total, 9)

    query = split_search_terms("billing redis redis absentword")
    expected = sorted(zip(frames["text_units"]["id"], (score(query, terms) for terms in texts), strict=True),
                      key=lambda pair: -pair[1])  # fmt: skip
    with store.open_index(published) as index:
        found = index.search_bm25(query, "text_units", top=10)
        assert found["owner_id"].to_list() == [owner for owner, _ in expected]
        assert found["score"].to_list() == pytest.approx([value for _, value in expected], abs=2e-9)
        assert index.search_bm25(query, "text_units", top=1).height == 1
        assert index.search_bm25([], "text_units", top=5).height == 0
        assert index.search_bm25(["'; drop table x; --"], "text_units", top=5).schema == found.schema


@pytest.mark.parametrize(
    ("owner_table", "question", "n"),
    [("entities", "authservice", 1), ("relationships", "depends", 1), ("community_reports", "auth", 1),
     ("documents", "b", 1), ("entities", "O'Reilly", 1)],
)  # fmt: skip
def test_each_table_is_searched_by_its_words(published: Path, owner_table: str, question: str, n: int) -> None:
    with store.open_index(published) as index:
        assert index.search_bm25(split_search_terms(question), owner_table, top=10).height == n


ODD_NAMES = [
    'Danh mục "bài toán lớn"', "O'Reilly", "a/b", "%", "_", "x;--", "NULL", "true", "123", "C", "C++", "C#", ".NET",
    "Net",
    "3.12", "42", "007", "東京", "北京", "Москва", "القاهرة", "🚀", "entities", "depends_on", "Unconnected entities",
]  # fmt: skip


def test_odd_names_are_stored_and_found(tmp_path: Path, frames: Frames) -> None:
    rows = [{**frames["entities"].row(0, named=True), "id": f"id{i}", "title": name, "aliases": []}
            for i, name in enumerate(ODD_NAMES)]  # fmt: skip
    store.write_run(tmp_path, "r1", {"entities": TABLES["entities"].from_rows(rows)}, manifest={})
    store.publish_run(tmp_path, "r1")
    with store.open_index(tmp_path) as index:
        for i, name in enumerate(ODD_NAMES):
            assert index.frame("select resolve_entity($1)", [name]).item() == name
            assert index.frame("from top_entities where title = ?", [name]).height == 1
            if terms := split_search_terms(name):
                assert f"id{i}" in index.search_bm25(terms, "entities", top=5)["owner_id"].to_list()


ATTACKS = [
    "copy entities to '{folder}/x.csv'",
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_parquet('{folder}/current/entities.parquet')",
    "select * from '{secret}'",
    "select * from glob('{folder}/*')",
    "attach '{folder}/y.duckdb' as y",
    "attach ':memory:' as m",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "reset lock_configuration",
    "pragma database_list",
    "call pragma_version()",
    "create table z as select 1",
    "create temp table z as select 1",
    "insert into entities select * from entities",
    "delete from entities",
    "update entities set title = 'x'",
    "drop table entities",
    "alter table entities add column x int",
    "export database '{folder}/dump'",
    "import database '{folder}/dump'",
    "begin",
    "checkpoint",
    "prepare x as select 1",
    "select 1; select 2",
    "select 1; drop table entities",
    "select * from secret_frame",
    "select interval 1 day as x",
    "set variable x = 1",
    "select * from sniff_csv('{secret}')",
    "select * from 'https://example.org/x.parquet'",
    "select * from duckdb_secrets()",
    "select error('two\nlines')",
    "select getenv('HOME')",
    "explain analyze copy entities to '{folder}/x.csv'",
    "select",
    "",
    "-- nothing",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_reads_the_index_and_nothing_else(published: Path, tmp_path: Path, attack: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nhunter2\n")
    secret_frame = pl.DataFrame({"password": ["hunter2"]})
    before = sorted(path.name for path in published.rglob("*"))
    with pytest.raises(GraphragError) as caught:
        ask_sql(published, attack.format(secret=secret, folder=published))
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert sorted(path.name for path in published.rglob("*")) == before
    assert secret_frame.height == 1


@pytest.mark.parametrize(
    "query",
    ["select count(*) as n from entities", "with a as (select 1 as x) from a", "from entities limit 1", "show tables",
     "describe entities", "summarize entities", "-- a remark\nselect 1 as one;", "(select 1 as one)",
     "explain select 1",
     "pivot entities on type using count(*)", "select sum(degree) from entities", "values (1)",
     "select * from search_postings limit 3"],
)  # fmt: skip
def test_queries_that_read_are_answered(published: Path, query: str) -> None:
    assert ask_sql(published, query).width > 0


def test_sums_are_integers_where_they_fit(published: Path) -> None:
    frame = ask_sql(published, "select sum(degree) as n, 9223372036854775808::hugeint as huge from entities")
    assert frame["n"].dtype == pl.Int64
    assert frame["huge"].to_list() == [2**63]


def test_no_index_is_one_line_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "data" / "output", Path("data/output")):
        with pytest.raises(NoIndex, match=r'^No index in data/output\. Run "graphrag index" first\.$'):
            store.open_index(folder)
    with pytest.raises(NoIndex):
        ask_sql(tmp_path / "data" / "output", "select 1")


def test_an_index_of_another_format_is_named(output_dir: Path) -> None:
    path = output_dir / "runs" / "r1" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 0, "version": "0.0.9"}))
    with pytest.raises(StoreError, match=r'format 0 \(graphrag 0\.0\.9\).*Run "graphrag index --full"'):
        store.open_index(output_dir)


def test_a_half_copied_run_gives_way_to_the_last_whole_one(output_dir: Path, frames: Frames) -> None:
    store.append_run(output_dir, run_row("r1", "published"))
    store.write_run(output_dir, "r2", store.number_rows(frames, output_dir / "ids.jsonl"), manifest={})
    store.publish_run(output_dir, "r2")
    store.append_run(output_dir, run_row("r2", "published"))
    (output_dir / "runs" / "r2" / "manifest.json").write_text('{"cut')
    with store.open_index(output_dir) as index:
        assert index.run_id == "r1"
    (output_dir / "runs" / "r1" / "manifest.json").unlink()
    with pytest.raises(NoIndex):
        store.open_index(output_dir)


def test_a_damaged_database_is_one_line(output_dir: Path) -> None:
    (output_dir / "runs" / "r1" / "graphrag.duckdb").write_bytes(b"no database" * 5000)
    with pytest.raises(StoreError, match="Cannot read the index"):
        store.open_index(output_dir)


def test_a_reader_keeps_its_view_while_the_next_run_is_published_and_the_old_one_pruned(
    output_dir: Path, frames: Frames
) -> None:
    reader = store.open_index(output_dir)
    fewer = frames | {"failures": frames["failures"].clear()}
    store.write_run(output_dir, "r2", store.number_rows(fewer, output_dir / "ids.jsonl"), manifest={})
    assert store.open_index(output_dir).run_id == "r1"
    store.publish_run(output_dir, "r2")
    assert store.prune_runs(output_dir, 1) == ["r1"]
    assert reader.frame("select count(*) from failures").item() == 1
    assert reader.table("embeddings").height == 6
    assert reader.vectors("entities")[1].shape == (4, 2)
    with store.open_index(output_dir) as later:
        assert later.frame("select count(*) from failures").item() == 0


def test_a_run_that_cannot_be_written_leaves_nothing_behind(output_dir: Path, frames: Frames) -> None:
    with pytest.raises(StoreError, match="is there already"):
        store.write_run(output_dir, "r1", frames, manifest={})
    assert store.open_index(output_dir).run_id == "r1"
    with pytest.raises(TableError, match="No table 'entites'"):
        store.write_run(output_dir, "r2", {"entites": frames["entities"]}, manifest={})
    with pytest.raises(TypeError):
        store.write_run(output_dir, "r3", frames, manifest={"not": object()})
    assert sorted(path.name for path in (output_dir / "runs").iterdir()) == ["r1"]


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_is_one_line_and_the_index_stands(output_dir: Path, frames: Frames) -> None:
    import resource
    import signal

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, old[1]))
    try:
        with pytest.raises(StoreError, match=r"Cannot write .*r2"):
            store.write_run(output_dir, "r2", frames, manifest={})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert not (output_dir / "runs" / "r2").exists()
    assert store.open_index(output_dir).run_id == "r1"
    store.write_run(output_dir, "r2", store.number_rows(frames, output_dir / "ids.jsonl"), manifest={})
    store.publish_run(output_dir, "r2")


def run_row(run_id: str, status: str) -> dict[str, object]:
    numbers = {name: 0 for name in TABLES["runs"].names if name.startswith("n_")}
    return {
        "run_id": run_id, "started_at": "2026-01-01T00:00:00Z", "finished_at": None, "status": status,
        "settings_sha256": "", **numbers, "llm_calls": 0, "cost_usd": 0.0, "seconds": 1.0,
    }  # fmt: skip
