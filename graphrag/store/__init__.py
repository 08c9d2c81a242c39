"""The store: run folders, row numbers, tables as Parquet and DuckDB, vectors, and the index that search reads.

runs.py: folders, lock, manifest, the atomic switch; ledger.py: row numbers for life; integrity.py: the check before a
publish; database.py: writing a run and reading the published one, the only door to duckdb; inverted_index.py: BM25 in
plain SQL; views.py: the analysts' views and macros.
"""

from graphrag.store.database import FORMAT, Index, open_index, run_sql, write_run
from graphrag.store.integrity import check_integrity
from graphrag.store.ledger import number_rows
from graphrag.store.runs import (
    LEDGER,
    append_run,
    clean_runs,
    list_runs,
    lock_output,
    prune_runs,
    publish_run,
    read_manifest,
    read_published,
    read_runs,
)

__all__ = [
    "FORMAT", "LEDGER", "Index", "append_run", "check_integrity", "clean_runs", "list_runs", "lock_output",
    "number_rows", "open_index", "prune_runs", "publish_run", "read_manifest", "read_published", "read_runs",
    "run_sql", "write_run",
]  # fmt: skip
