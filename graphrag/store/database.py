"""The published run as readers see it: its DuckDB file, read-only and cut off from the file system and the network, and
its vectors, mapped into memory.

With run_files.py, which writes the file, the only door to duckdb. runs.py knows the folders, conditions.py and
matching.py a part of the documents, inverted_index.py the ranking by words.

Does not: write, decide what is published, print, or know settings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import numpy as np
import polars as pl

from graphrag.errors import GraphragError, NoIndex, StoreError, TableError, UsageError, did_you_mean, shown_path
from graphrag.store import inverted_index, numbered_graph
from graphrag.store.conditions import find_matching, read_condition
from graphrag.store.ledger import find_label
from graphrag.store.matching import list_restrictions
from graphrag.store.numbered_graph import NumberedGraph
from graphrag.store.owners import Owners, make_owners, open_owners
from graphrag.store.runs import (
    DATABASE,
    LEDGER,
    MANIFEST,
    current_run,
    read_run_manifest,
)
from graphrag.tables import TABLES

FORMAT = 2  # of the run folder; raised when a reader of the last release could not read it
MAX_KEPT_POSTINGS = 2  # of two tables
READ_ONLY = {"enable_external_access": "false", "lock_configuration": "true", "python_enable_replacements": "false"}
READ_STATEMENTS = frozenset({"SELECT", "EXPLAIN", "MULTI"})  # MULTI is what PIVOT becomes; the connection is read-only


def say_in_one_line(error: Exception) -> str:
    """What DuckDB or Polars say, without the echo of the query."""
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
        self._connection = connect_read_only(folder / DATABASE)
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
            raise UsageError(condition.explain(say_in_one_line(error))) from error
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
                raise StoreError(f"Cannot read the index in {shown_path(folder)}: {say_in_one_line(error)}") from error
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
        raise GraphragError(f"SQL: {say_in_one_line(error)}") from error
    except pl.exceptions.PolarsError as error:
        detail = say_in_one_line(error).split(". ")[0]
        raise GraphragError(f"SQL: a column's type cannot be shown ({detail}). Cast it: x::varchar.") from error


def connect_read_only(path: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=True, config=dict(READ_ONLY))
