"""The vectors of Obsidian's Smart Connections as a run sees them: where their cache lies, and whether it has changed.

Setting embeddings.import. Does not: read a format (reading/smart_env.py), or choose vectors
(index/imported_vectors.py).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graphrag import store, tables
from graphrag.errors import shown_path
from graphrag.ids import content_sha256
from graphrag.index.imported_vectors import import_vectors
from graphrag.reading.smart_env import list_smart_env, read_smart_env
from graphrag.runs.run import Run


def import_cache(run: Run, *, dim: int) -> pl.DataFrame:
    """Rows of embeddings for the notes whose vectors are fresh; what was taken is told. dim: of our own, 0: none."""
    name, folder = run.settings.embeddings.import_, _locate(run)
    if folder is None:
        return tables.EMBEDDINGS.empty()
    if not list_smart_env(folder):
        run.notices.append(f"{name}: no cache of Smart Connections in {shown_path(folder)}; no vector imported.")
        return tables.EMBEDDINGS.empty()
    with store.disk_errors("read", folder):
        cache = read_smart_env(folder, dim=dim)
    imported = import_vectors(run.frames["documents"], cache.vectors, dim=dim, name=name)
    run.notices += imported.told
    if cache.n_damaged:
        run.notices.append(f"{name}: {cache.n_damaged} damaged records were left out.")
    return imported.embeddings


def look_at_cache(run: Run) -> dict[str, str]:
    """A hash of the files with items and of those beside them, which hold the rows; nothing where none are imported."""
    folder = _locate(run)
    if folder is None:
        return {}
    with store.disk_errors("read", folder):
        places = {file.parent for file in list_smart_env(folder)}
        found = [(file.name, file.stat()) for place in places for file in place.iterdir() if file.is_file()]
    stamps = sorted(f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in found)
    return {run.settings.embeddings.import_: content_sha256("\n".join(stamps))}


def _locate(run: Run) -> Path | None:
    place, name = run.input_dir, run.settings.embeddings.import_
    return place / name if name and isinstance(place, Path) else None
