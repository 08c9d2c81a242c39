"""The store: run folders, row numbers, tables as Parquet and DuckDB, vectors, and the index that search reads.

runs.py: folders, lock, manifest, the atomic switch; ledger.py: row numbers for life; integrity.py: the check before a
publish; mirror.py: a copy on object storage; run_tables.py: a run's Parquet read back; run_files.py: writing a run,
database.py: reading the published one, the only doors to duckdb; inverted_index.py: BM25; views.py and macros.py: the
analysts' views and macros; usage.py: how often a document was listed.
"""

from graphrag.store.database import FORMAT, Index, open_index, run_sql
from graphrag.store.integrity import check_integrity
from graphrag.store.ledger import number_rows
from graphrag.store.mirror import mirror_published
from graphrag.store.run_files import fingerprint_database, write_run
from graphrag.store.run_tables import IMPORT, RunTables, open_published_tables, open_run_tables
from graphrag.store.runs import (
    LEDGER,
    append_run,
    clean_runs,
    disk_errors,
    list_runs,
    lock_output,
    prune_runs,
    publish_run,
    read_manifest,
    read_runs,
    renew_manifest,
)
from graphrag.store.usage import append_usage, read_usage

__all__ = [
    "FORMAT", "IMPORT", "LEDGER", "Index", "RunTables", "append_run", "append_usage", "check_integrity", "clean_runs",
    "disk_errors", "fingerprint_database", "list_runs", "lock_output", "mirror_published", "number_rows", "open_index",
    "open_published_tables", "open_run_tables", "prune_runs", "publish_run", "read_manifest", "read_runs", "read_usage",
    "renew_manifest", "run_sql", "write_run",
]  # fmt: skip
