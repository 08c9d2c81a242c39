"""The store: a run's tables as Parquet, vectors and one DuckDB file; the only door to duckdb.

A run is written into its own folder and becomes visible by one switch (runs.py: folders, lock, manifest, publishing;
ledger.py: row numbers; integrity.py: the check before publishing). The DuckDB file holds every table of tables.py (the
embeddings without their vectors), the inverted index (inverted_index.py) and the analysts' views and macros (views.py,
macros.py), with a comment on each. Readers open it read-only, cut off from the file system and the network.

Does not: decide what is published, print, or know settings.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import duckdb
import numpy as np
import polars as pl

from graphrag import tables, tokens
from graphrag.errors import GraphragError, NoIndex, StoreError, TableError, UsageError, did_you_mean, shown_path
from graphrag.ids import content_sha256
from graphrag.settings import BYSTANDERS, CARRYING_PREDICATES, REVERSED_PREDICATES
from graphrag.store import inverted_index, macros, note_vectors, numbered_graph, owners, views
from graphrag.store.conditions import find_matching, read_condition
from graphrag.store.ledger import find_label
from graphrag.store.matching import list_restrictions
from graphrag.store.note_vectors import average_document_vectors, pair_similar
from graphrag.store.numbered_graph import NumberedGraph
from graphrag.store.owners import Owners, make_owners, open_owners, write_owners
from graphrag.store.runs import (
    DATABASE,
    LEDGER,
    MANIFEST,
    current_run,
    disk_errors,
    read_run_manifest,
    run_folder,
    sync_path,
    write_manifest,
)
from graphrag.tables import TABLES

FORMAT = 2  # of the run folder; raised when a reader of the last release could not read it
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
MAX_KEPT_POSTINGS = 2  # of two tables
READ_ONLY = {"enable_external_access": "false", "lock_configuration": "true", "python_enable_replacements": "false"}
Item = TypeVar("Item")
READ_STATEMENTS = frozenset({"SELECT", "EXPLAIN", "MULTI"})  # MULTI is what PIVOT becomes; the connection is read-only


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
        raise StoreError(f"Cannot write {shown_path(path)}: {_one_line(error)}") from error
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
        connection = _connect_read_only(folder / DATABASE)
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
        raise StoreError(f"Cannot write {shown_path(path)}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split("\nLINE ")[0].split())


class Index:
    """One published run, opened read-only. Later publishes and pruning do not change what it shows.

    A context manager; `frame`, `table`, `vectors` and `search_bm25` may be called from several threads. `restriction`
    says, for a reader, of how many documents it shows the rows; empty: of all. `embed_question` is set by whoever can
    ask the service that made the vectors: the vector of a text by the model of a name.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.manifest = dict(manifest)
        self.run_id = folder.name
        self.restriction = ""
        self.embed_question: Callable[[str, str], np.ndarray[Any, np.dtype[np.float32]]] | None = None
        self._connection = _connect_read_only(folder / DATABASE)
        self._one_at_a_time = threading.Lock()
        self._graph: NumberedGraph | None = None
        self._owners: dict[str, Owners] = {}
        self._once: dict[str, pl.DataFrame] = {}
        self._postings: dict[tuple[str, ...], pl.DataFrame] = {}
        self._vectors: dict[str, np.ndarray[Any, np.dtype[np.float32]]] = {
            path.stem: np.load(path, mmap_mode="r", allow_pickle=False)
            for path in sorted((folder / "vectors").glob("*.npy"))
        }

    def frame(
        self, sql: str, params: Sequence[object] | Mapping[str, object] = (), *, is_ours: bool = True
    ) -> pl.DataFrame:
        """The rows of one query; `params` for ? or $name in it. Names and user words go in here, never into `sql`.

        is_ours: False for an analyst's query, whose columns may be of types that Polars has not.
        """
        rows = self._query(sql, params, is_ours=is_ours)
        for name, dtype in rows.schema.items():  # sum() of integers comes as a decimal of 38 digits
            if isinstance(dtype, pl.Decimal) and dtype.scale == 0:
                whole = rows[name].cast(pl.Int64, strict=False)
                rows = rows.with_columns(whole) if whole.null_count() == rows[name].null_count() else rows
        return rows

    def rows(self, sql: str, params: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The rows of one query as tuples: a third of the time of `frame` for the few rows of a look-up, which that
        binds twice and turns into Arrow. Of plain columns only: a sum() of integers would come as a Decimal."""
        bound = dict(params) if isinstance(params, Mapping) else list(params)
        if self.restriction:
            with self._one_at_a_time:
                return self._connection.execute(sql, bound).fetchall()
        with self._one_at_a_time:
            cursor = self._connection.cursor()
        return cursor.execute(sql, bound).fetchall()

    def frame_once(self, sql: str) -> pl.DataFrame:
        """`frame`, asked once and kept while the index is open: for what every search needs whole, such as names."""
        if sql not in self._once:
            self._once[sql] = self.frame(sql)
        return self._once[sql]

    def _query(self, sql: str, params: Sequence[object] | Mapping[str, object], *, is_ours: bool) -> pl.DataFrame:
        bound = dict(params) if isinstance(params, Mapping) else list(params)
        # Polars reads the relation's stream of Arrow itself: DuckDB's pl() imports pyarrow for it.
        read = pl.DataFrame if is_ours else duckdb.DuckDBPyRelation.pl
        if self.restriction:
            with self._one_at_a_time:  # what restricts the tables belongs to this connection, not to its cursors
                return read(self._connection.sql(sql, params=bound))
        with self._one_at_a_time:  # a connection that makes a cursor refuses to make another
            cursor = self._connection.cursor()
        return read(cursor.sql(sql, params=bound))

    def restrict(self, where: str) -> None:
        """From now on only rows that documents back for which a condition holds (conditions.py, matching.py).

        Raises UsageError where it is no condition or cannot be evaluated, NothingFound where no document matches.
        """
        condition = read_condition(self.frame, where)
        try:
            matching = find_matching(self.frame, condition)
        except duckdb.Error as error:
            raise UsageError(condition.explain(_one_line(error))) from error
        n_all = int(self.frame("select count(*) as n from documents").item())
        (run,) = self._connection.execute("select current_database()").fetchall()[0]
        before = {owner_table: self.vectors(owner_table) for owner_table in self._vectors}
        self._connection.execute(
            "create temp table matching_documents as select unnest(?::varchar[]) as id", [matching]
        )
        for statement in list_restrictions(f'"{run}"'):
            self._connection.execute(statement)
        self.restriction = f"{len(matching)} of {n_all} documents match --where."
        self._number_graph()
        for owner_table, (ids, vectors) in before.items():
            kept = set(self.frame("select owner_id from embeddings where owner_table = ?", [owner_table])["owner_id"])
            self._vectors[owner_table] = vectors[[row for row, owner_id in enumerate(ids) if owner_id in kept]]
        self._owners.clear()
        self._once.clear()
        self._postings = {}

    def _number_graph(self) -> None:
        """The graph that the matching documents make: two parts that others alone connect are two."""
        entities = self.frame("select id, title, type from entities")
        relationships = self.frame("select source_id, predicate, target_id, weight, origin from relationships")
        for name, found in numbered_graph.number_graph(entities, relationships).items():
            self._connection.register("frame_in_memory", found)
            self._connection.execute(f"create temp table {name} as select * from frame_in_memory")
            self._connection.unregister("frame_in_memory")

    def table(self, name: str) -> pl.DataFrame:
        """One table as tables.py declares it, rows in their order. Raises TableError for another name.

        Where the index shows some documents only, a report that speaks of others too is left out.
        """
        if name not in TABLES:
            raise TableError(f"No table {name!r}.{did_you_mean(name, TABLES)}")
        frame = self.frame(f'select * from "{name}"')
        if self.restriction and name == "community_reports":
            frame = frame.filter("is_whole")  # a search reads of the others what these documents say (search/rows.py)
        if name == "embeddings":
            frame = self._with_vectors(frame)
        return TABLES[name].conform(frame.drop("is_whole", strict=False))

    def find_label(self, table: str, number: int) -> str:
        """What the row of a human_readable_id is or was called, in this run or an earlier one; empty for none."""
        return find_label(self.folder.parent.parent / LEDGER, table, number)

    def graph(self) -> NumberedGraph:
        """All relationships as arrays of numbers, read once; see numbered_graph.py.

        Raises StoreError for an index that an earlier release made, without these tables.
        """
        if self._graph is None:
            found = self.frame("select table_name from duckdb_tables() where table_name = 'numbered_relationships'")
            if found.is_empty():
                raise StoreError('The index was made by an earlier release. Run "graphrag index" once.')
            self._graph = numbered_graph.load_graph(self.frame)
        return self._graph

    def owners(self, owner_table: str) -> Owners:
        """Ids of the rows of a table that have a vector; row i of `matrix` belongs to id i.

        Raises StoreError where their numbers differ.
        """
        if owner_table not in self._owners:
            written = None if self.restriction else open_owners(self.folder / "vectors", owner_table)
            owners, n_vectors = written or make_owners(self._list_owners(owner_table)), len(self.matrix(owner_table))
            if len(owners) != n_vectors:
                raise StoreError(
                    f"{shown_path(self.folder)}: {n_vectors} vectors for {len(owners)} rows of {owner_table}. "
                    'Run "graphrag index --full".'
                )
            self._owners[owner_table] = owners
        return self._owners[owner_table]

    def _list_owners(self, owner_table: str) -> list[str]:
        sql = "select owner_id from embeddings where owner_table = ? order by rowid"
        return self.frame(sql, [owner_table])["owner_id"].to_list()

    @property
    def embedded(self) -> list[str]:
        """The tables whose rows have vectors, sorted."""
        return sorted(self._vectors)

    def matrix(self, owner_table: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """float32 array n x dim of vectors of length 1, memory-mapped; without any vector of shape (0, 0)."""
        none: np.ndarray[Any, np.dtype[np.float32]] = np.zeros((0, 0), dtype=np.float32)
        return self._vectors.get(owner_table, none)

    def vectors(self, owner_table: str) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float32]]]:
        """(`owners`, `matrix`)."""
        owners = self.owners(owner_table)
        return owners.list_ids(range(len(owners))), self.matrix(owner_table)

    def search_bm25(self, query_terms: Sequence[str], owner_table: str, *, top: int) -> pl.DataFrame:
        """Columns owner_id, score: the `top` rows that hold any of the terms, by BM25; equal scores in table order.

        `query_terms` come from tokens.split_search_terms; a repeated term counts once.
        """
        lengths = self.frame_once(inverted_index.list_lengths(owner_table))
        postings = self._load_postings(sorted(set(query_terms)), owner_table)
        scored = inverted_index.score_bm25(postings, lengths, top=top)
        bound = {"owner_table": owner_table, "positions": scored["position"].to_list()}
        owner_of = dict(self.rows(inverted_index.OWNERS_SQL, bound))
        owners = pl.Series("owner_id", [owner_of[place] for place in scored["position"]], dtype=pl.String)
        return scored.select(owners, "score")

    def count_holding(self, query_terms: Sequence[str], owner_table: str) -> dict[str, int]:
        """How many rows of an indexed table hold each of the terms."""
        terms = sorted(set(query_terms))
        return inverted_index.count_holding(self._load_postings(terms, owner_table), terms)

    def _load_postings(self, terms: Sequence[str], owner_table: str) -> pl.DataFrame:
        """Rows of POSTINGS_SQL; those asked for last are kept, as a search counts what it ranks."""
        key = (owner_table, *terms)
        found = self._postings.get(key)
        if found is None:
            found = self.frame(inverted_index.POSTINGS_SQL, {"terms": list(terms), "owner_table": owner_table})
            self._postings = dict([*self._postings.items(), (key, found)][-MAX_KEPT_POSTINGS:])
        return found

    def close(self) -> None:
        with self._one_at_a_time:
            self._connection.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _with_vectors(self, embeddings: pl.DataFrame) -> pl.DataFrame:
        numbered = embeddings.with_row_index("row")
        parts = [numbered.clear().with_columns(vector=pl.Series([], dtype=pl.List(pl.Float32)))]
        for owner_table in numbered["owner_table"].unique(maintain_order=True):
            _, vectors = self.vectors(owner_table)
            values = pl.Series("vector", np.asarray(vectors)).cast(pl.List(pl.Float32))
            parts.append(numbered.filter(pl.col("owner_table") == owner_table).with_columns(values))
        return pl.concat(parts).sort("row").drop("row")


def open_index(output_dir: Path, *, where: str = "") -> Index:
    """The published run of an output folder; with a condition on documents (conditions.py), of these documents only.

    The pointer is followed once, here. Raises NoIndex if nothing has been published, StoreError if the run has another
    format or cannot be read, and what Index.restrict raises.
    """
    index = _open_published(output_dir)
    try:
        if where:
            index.restrict(where)
    except BaseException:
        index.close()
        raise
    return index


def _open_published(output_dir: Path) -> Index:
    for attempt in (1, 2, 3):
        folder = current_run(output_dir)
        manifest = read_run_manifest(folder) if folder else None
        if folder is None or manifest is None:
            break
        if manifest.get("format") != FORMAT:
            release = manifest.get("version", "another release")
            raise StoreError(
                f"The index in {shown_path(output_dir)} has format {manifest.get('format')} (graphrag {release}), this "
                f'release reads {FORMAT}. Run "graphrag index --full".'
            )
        try:
            index = Index(folder, manifest)
            if attempt == 3 or (folder / MANIFEST).exists():
                return index
            index.close()  # pruned while we opened it: some files may be missing; look again
        except (OSError, duckdb.Error, ValueError) as error:
            if attempt == 3 or folder == current_run(output_dir):  # else: pruned while we looked; look again
                raise StoreError(f"Cannot read the index in {shown_path(folder)}: {_one_line(error)}") from error
    raise NoIndex(f'No index in {shown_path(output_dir)}. Run "graphrag index" first.')


def run_sql(index: Index, query: str) -> pl.DataFrame:
    """The rows of one analyst's query.

    One statement that reads: SELECT, WITH, FROM, DESCRIBE, SHOW, SUMMARIZE, PIVOT, EXPLAIN. It can read the run's
    tables and nothing else: no file, no network, no setting, no variable of this process.
    Raises a GraphragError of one line with what the database says.
    """
    try:
        statements = duckdb.extract_statements(query)
        kinds = [statement.type.name for statement in statements]
        if len(kinds) != 1:
            raise GraphragError(f"One statement at a time, please: the query has {len(kinds)}.")
        if kinds[0] not in READ_STATEMENTS:
            raise GraphragError(f"Only statements that read are possible (SELECT ...), not {kinds[0]}.")
        return index.frame(query, is_ours=False)
    except duckdb.Error as error:
        raise GraphragError(f"SQL: {_one_line(error)}") from error
    except pl.exceptions.PolarsError as error:
        detail = _one_line(error).split(". ")[0]
        raise GraphragError(f"SQL: a column's type cannot be shown ({detail}). Cast it: x::varchar.") from error


def _connect_read_only(path: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=True, config=dict(READ_ONLY))
