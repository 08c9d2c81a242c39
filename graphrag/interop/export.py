"""The door of `graphrag export`: which format, into which folder.

A target that holds anything is refused without `force`, and then only what an export wrote before is removed (the list
in graphrag-export.json). The input and output folders of the project are never a target.

Does not: know formats (graphml.py, neo4j.py, json_lines.py, vault.py, reference.py) or choose rows (selection.py).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

from graphrag import __version__
from graphrag.api import Index
from graphrag.errors import StoreError, UsageError, did_you_mean, shown_path
from graphrag.interop.graphml import write_graphml
from graphrag.interop.json_lines import write_json_lines
from graphrag.interop.neo4j import write_neo4j
from graphrag.interop.reference import write_reference
from graphrag.interop.selection import select_rows
from graphrag.interop.vault import write_vault
from graphrag.object_storage import is_url

WRITERS = {"graphml": write_graphml, "neo4j": write_neo4j, "jsonl": write_json_lines, "obsidian": write_vault}
FORMATS = (*WRITERS, "graphrag")
LISTING = "graphrag-export.json"


class Exported(NamedTuple):
    folder: Path
    format: str
    n_files: int
    n_entities: int
    n_relationships: int
    notices: list[str]


def export_index(
    index: Index,
    folder: Path,
    *,
    format: str,
    level: int | None = None,
    min_weight: float = 0.0,
    force: bool = False,
) -> Exported:
    """Write the index into a folder. A `where` is the index's own (Index.open).

    Raises UsageError for an unknown format or a folder that is none to write into, StoreError where the disk refuses.
    """
    if format not in FORMATS:
        raise UsageError(f'Unknown format "{format}".{did_you_mean(format, FORMATS)} Use one of: {", ".join(FORMATS)}.')
    _check_target(index, folder, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_earlier(folder)
        selection = select_rows(index.published, level=level, min_weight=min_weight)
        if format == "graphrag":
            files, notices = write_reference(selection, folder, index.published)
        else:
            files, notices = WRITERS[format](selection, folder), []
        listing = {"version": __version__, "run_id": index.run_id, "format": format, "files": files}
        (folder / LISTING).write_text(json.dumps(listing, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"Cannot write {shown_path(folder)}: {error.strerror or error}.") from error
    return Exported(folder, format, len(files), selection.entities.height, selection.relationships.height, notices)


def _check_target(index: Index, folder: Path, force: bool) -> None:
    target = folder.resolve()
    places = [index.settings.output.dir, index.settings.cache.dir, index.settings.input.dir]
    for place in (index.root / place for place in places if not is_url(place)):
        own = place.resolve()
        if target == own or own in target.parents or target in own.parents:
            words = f"{shown_path(folder)} is, holds or lies in {shown_path(place)} of the project."
            raise UsageError(f"{words} Choose another folder.")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{shown_path(folder)} is a file. Choose a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise UsageError(f"{shown_path(folder)} is not empty. Choose another folder, or say --force.")


def _remove_earlier(folder: Path) -> None:
    """What an earlier export wrote: nothing of it may mix with what comes now."""
    listing = folder / LISTING
    if not listing.is_file():
        return
    try:
        files = json.loads(listing.read_text(encoding="utf-8"))["files"]
    except (ValueError, KeyError, TypeError):
        return
    for name in files if isinstance(files, list) else ():
        path = folder / str(name)
        if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
            path.unlink()
    shutil.rmtree(folder / "output" / "lancedb", ignore_errors=True)
