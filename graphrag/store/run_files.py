"""A run's folder, written: every table as Parquet, the vectors, one DuckDB file, the pages.

A run is written into its own folder and becomes visible by one switch (runs.py: folders, lock, manifest, publishing;
ledger.py: row numbers; integrity.py: the check before publishing). The DuckDB file holds every table of tables.py (the
embeddings without their vectors), the inverted index (inverted_index.py) and the analysts' views and macros (views.py,
macros.py), with a comment on each.

Does not: read for search (database.py), decide what is published, print, or know settings.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import duckdb
import numpy as np
import polars as pl

from graphrag import tables, tokens
from graphrag.errors import StoreError, TableError, did_you_mean, shown_path
from graphrag.ids import content_sha256
from graphrag.settings import BYSTANDERS, CARRYING_PREDICATES, REVERSED_PREDICATES
from graphrag.store import inverted_index, macros, note_vectors, numbered_graph, owners, views
from graphrag.store.database import FORMAT, connect_read_only, say_in_one_line
from graphrag.store.note_vectors import average_document_vectors, pair_similar
from graphrag.store.owners import write_owners
from graphrag.store.runs import (
    DATABASE,
    disk_errors,
    read_run_manifest,
    run_folder,
    sync_path,
    write_manifest,
)
from graphrag.tables import TABLES

ROW_GROUP_SIZE = 100_000  # fixed, so that equal frames give equal files
# What readers look single rows up by; DuckDB would scan the whole column of ids for each. Texts of these tables are
# stored plain: of DICT_FSST, what DuckDB would choose, a value costs six times as much to read (10 columns of 100
# relationships: 8.7 CPU ms against 3.0); the file is twice as large.
LOOKED_UP_BY = {
    "documents": ("id",),
    "text_units": ("id",),
    "entities": ("id", "title"),
    "relationships": ("id", "source_id", "target_id", "source", "target"),
    "evidence": ("relationship_id", "text_unit_id"),
    "entity_mentions": ("text_unit_id",),
}
Item = TypeVar("Item")


def write_run(
    output_dir: Path,
    run_id: str,
    frames: Mapping[str, pl.DataFrame],
    *,
    manifest: Mapping[str, object],
    pages: Mapping[str, str] | None = None,
    impact_predicates: Sequence[str] = CARRYING_PREDICATES,
    impact_predicates_reversed: Sequence[str] = REVERSED_PREDICATES,
    impact_bystanders: Sequence[str] = BYSTANDERS,
    last: Path | None = None,
) -> Path:
    """Write a whole run aside and return its folder; nothing that readers see changes.

    `frames`: tables by name, in the order of rows to keep; absent tables are written empty. The manifest gets `format`
    and `run_id` added and is written last, after every file is on disk. On any error the folder is removed again.
    pages: text files beside the tables, by path in the folder.
    impact_predicates: what carries a failure from target to source, or reversed, in the macro impacted_by;
    impact_bystanders: types of entities that the macro survives leaves out.
    last: the folder of a run whose inverted index may be taken over where its texts are the same.
    Raises TableError if a frame is not what its table says, StoreError if the run is there or cannot be written.
    """
    if unknown := [name for name in frames if name not in TABLES]:
        raise TableError(f"No table {unknown[0]!r}.{did_you_mean(unknown[0], TABLES)}")
    whole = {name: table.conform(frames.get(name, table.empty())).rechunk() for name, table in TABLES.items()}
    folder = run_folder(output_dir, run_id)
    if folder.exists():
        raise StoreError(f"The run {shown_path(folder)} is there already.")
    try:
        with disk_errors("write the run", folder):
            (folder / "vectors").mkdir(parents=True)
            for name, frame in whole.items():
                _write_parquet(frame, folder / f"{name}.parquet")
            _write_vectors(whole["embeddings"], folder / "vectors")
            carrying = {**dict.fromkeys(impact_predicates, False), **dict.fromkeys(impact_predicates_reversed, True)}
            _write_database(whole, folder / DATABASE, carrying, impact_bystanders, last)
            _write_pages(pages or {}, folder)
            made = {"format": FORMAT, "run_id": run_id, "database": fingerprint_database()}
            write_manifest(folder, {**manifest, **made})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


@lru_cache(maxsize=1)
def fingerprint_database() -> str:
    """Changes with what a release writes into the DuckDB file beside the rows: columns, views, macros, indexes."""
    rooms = (tables, tokens, inverted_index, macros, note_vectors, numbered_graph, owners, views)
    files = [__file__, *(str(room.__file__) for room in rooms)]
    return content_sha256("".join(Path(file).read_text(encoding="utf-8") for file in files))[:16]


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    try:
        frame.write_parquet(path, compression="zstd", row_group_size=ROW_GROUP_SIZE, statistics=True)
    except pl.exceptions.ComputeError as error:  # what the disk refused, as Polars words it
        raise StoreError(f"Cannot write {shown_path(path)}: {say_in_one_line(error)}") from error
    sync_path(path)


def _write_vectors(embeddings: pl.DataFrame, folder: Path) -> None:
    for owner_table in embeddings["owner_table"].unique(maintain_order=True):
        rows = embeddings.filter(pl.col("owner_table") == owner_table)
        dims = rows.select(pl.concat([pl.col("dim"), pl.col("vector").list.len().cast(pl.Int64)]).unique()).to_series()
        if dims.len() != 1:
            raise TableError(f"embeddings: vectors of {owner_table} differ in dimension: {sorted(dims)}")
        vectors = rows["vector"].explode().to_numpy().astype(np.float32).reshape(rows.height, dims[0])
        with (folder / f"{owner_table}.npy").open("wb") as handle:
            np.save(handle, vectors, allow_pickle=False)
            handle.flush()
            os.fsync(handle.fileno())
        write_owners(rows["owner_id"].to_list(), folder, owner_table)
    sync_path(folder)


def _write_pages(pages: Mapping[str, str], folder: Path) -> None:
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sync_path(path)
        sync_path(path.parent)


def _write_database(
    frames: Mapping[str, pl.DataFrame],
    path: Path,
    carrying: Mapping[str, bool],
    bystanders: Sequence[str],
    last: Path | None,
) -> None:
    with (
        _open_last(last) as read_last,
        ThreadPoolExecutor(1) as pool,
        _duckdb_disk_errors(path),
        duckdb.connect(str(path)) as connection,
    ):
        # Words are cut in Python while DuckDB writes tables.
        coming = inverted_index.build_postings(frames, read_last=read_last)
        indexed = _one_ahead(pool, coming)
        connection.execute("set disabled_compression_methods = 'DICT_FSST'")
        _create_tables(connection, {name: frame for name, frame in frames.items() if name in LOOKED_UP_BY})
        connection.execute("reset disabled_compression_methods")
        _create_tables(connection, {name: frame for name, frame in frames.items() if name not in LOOKED_UP_BY})
        connection.execute("begin")  # one transaction: a commit a comment would be two hundred waits for the disk
        _create_table(connection, "search_owners", pl.DataFrame(schema=inverted_index.OWNERS_SCHEMA))
        _create_table(connection, "search_postings", pl.DataFrame(schema=inverted_index.POSTINGS_SCHEMA))
        for owners, postings in indexed:
            _append_rows(connection, "search_owners", owners)
            _append_rows(connection, "search_postings", postings)
        connection.execute(views.ENTITY_NAMES_SQL)
        connection.execute(views.ENTITY_DOCUMENTS_SQL)
        for name, frame in numbered_graph.number_graph(frames["entities"], frames["relationships"]).items():
            _create_table(connection, name, frame)
        vectors = average_document_vectors(frames["text_units"], frames["embeddings"])
        _create_table(connection, "similar_documents", pair_similar(*vectors))
        predicates = {"predicate": list(carrying), "is_reversed": list(carrying.values())}
        schema = {"predicate": pl.String, "is_reversed": pl.Boolean}
        _create_table(connection, "impact_predicates", pl.DataFrame(predicates, schema=schema))
        types = pl.DataFrame({"type": list(dict.fromkeys(bystanders))}, schema={"type": pl.String})
        _create_table(connection, "impact_bystanders", types)
        comments = inverted_index.COMMENTS | views.ENTITY_NAMES_COMMENTS | views.ENTITY_DOCUMENTS_COMMENTS
        comments |= numbered_graph.COMMENTS | views.SIMILAR_DOCUMENTS_COMMENTS | views.IMPACT_COMMENTS
        for place, text in comments.items():
            _comment(connection, "column" if "." in place else "table", place, text)
        for name, keys in LOOKED_UP_BY.items():
            for key in keys:
                connection.execute(f"create index {name}_by_{key} on {name} ({key})")
        _create_views(connection)
        connection.execute("commit")
        connection.execute("checkpoint")
    sync_path(path)


@contextmanager
def _open_last(folder: Path | None) -> Iterator[Callable[[str], inverted_index.Indexed | None]]:
    """A reader of the indexed tables of an earlier run, by name. It finds nothing where another release wrote the run,
    or where it cannot be read: the words are cut again."""
    if folder is None or (read_run_manifest(folder) or {}).get("database") != fingerprint_database():
        yield lambda _: None
        return
    connection = None
    with suppress(duckdb.Error):
        connection = connect_read_only(folder / DATABASE)
    try:
        yield lambda name: _read_indexed(connection, folder, name) if connection else None
    finally:
        if connection:
            connection.close()


def _read_indexed(connection: duckdb.DuckDBPyConnection, folder: Path, name: str) -> inverted_index.Indexed | None:
    owners = "select position, n_terms from search_owners where owner_table = ?"
    postings = "select term, position, n from search_postings where owner_table = ?"
    try:
        columns = inverted_index.list_columns(name)
        texts = inverted_index.list_texts(name, pl.read_parquet(folder / f"{name}.parquet", columns=columns))
        rows = texts.join(connection.sql(owners, params=[name]).pl(), on="position")
        return inverted_index.Indexed(rows, connection.sql(postings, params=[name]).pl())
    except (OSError, duckdb.Error, pl.exceptions.PolarsError):
        return None


def _create_tables(connection: duckdb.DuckDBPyConnection, frames: Mapping[str, pl.DataFrame]) -> None:
    """Tables of tables.py with their comments, on disk when it returns, compressed as the connection is set to."""
    connection.execute("begin")
    for name, frame in frames.items():
        _create_table(connection, name, frame.drop("vector") if name == "embeddings" else frame)
        table = TABLES[name]
        _comment(connection, "table", name, f"{table.meaning} Key: {', '.join(table.key) or 'none'}.")
        for column in table.columns:
            if column.name in frame.columns and column.name != "vector":
                _comment(connection, "column", f'{name}."{column.name}"', column.meaning)
    connection.execute("commit")
    connection.execute("checkpoint")


def _one_ahead(pool: Executor, items: Iterator[Item]) -> Iterator[Item]:
    """The items, each made in the pool while the one before it is used; the first begins at once."""
    coming = pool.submit(next, items, None)

    def draw() -> Iterator[Item]:
        nonlocal coming
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item

    return draw()


def _create_table(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    connection.register("frame_in_memory", frame)
    connection.execute(f'create table "{name}" as select * from frame_in_memory')
    connection.unregister("frame_in_memory")


def _append_rows(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> None:
    connection.register("frame_in_memory", frame)
    connection.execute(f'insert into "{name}" select * from frame_in_memory')
    connection.unregister("frame_in_memory")


def _create_views(connection: duckdb.DuckDBPyConnection) -> None:
    for macro in macros.MACROS:
        kind = "table " if macro.is_table else ""
        connection.execute(f"create macro {macro.name}{macro.signature} as {kind}{macro.sql}")
        _comment(connection, f"macro {kind}".strip(), macro.name, macro.meaning)
    meanings = {column.name: column.meaning for table in TABLES.values() for column in table.columns}
    meanings |= {column.name: column.meaning for column in TABLES["entities"].columns}
    for view in views.VIEWS:
        connection.execute(f"create view {view.name} as {view.sql}")
        _comment(connection, "view", view.name, view.meaning)
        for (column,) in connection.execute(f"select column_name from (describe {view.name})").fetchall():
            if text := view.columns.get(column, meanings.get(column, "")):
                _comment(connection, "column", f'{view.name}."{column}"', text)


def _comment(connection: duckdb.DuckDBPyConnection, kind: str, place: str, text: str) -> None:
    quoted = text.replace("'", "''")  # COMMENT ON takes no parameters; the text is ours, from the code
    connection.execute(f"comment on {kind} {place} is '{quoted}'")


@contextmanager
def _duckdb_disk_errors(path: Path) -> Iterator[None]:
    """What the disk refused to DuckDB becomes a StoreError; a fault of our SQL stays what it is."""
    try:
        yield
    except (
        duckdb.IOException, duckdb.FatalException, duckdb.TransactionException, duckdb.OutOfMemoryException
    ) as error:  # fmt: skip
        raise StoreError(f"Cannot write {shown_path(path)}: {say_in_one_line(error)}") from error
