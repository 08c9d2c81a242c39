"""A copy of the published run on object storage, for readers elsewhere: `[output] mirror`.

    MIRROR/runs/<run_id>/...      the files of the run folder; manifest.json comes last
    MIRROR/current                a file that holds the run id (object storage has no links); written after the manifest

DuckDB and memory-mapped vectors need files on a local disk, so the output folder itself is always local: a reader
elsewhere reads `current`, copies that one run folder, and points its own `current` there. Who reads `current` first and
the folder after it sees one whole run. Old runs stay in the mirror: its lifecycle rules may remove them.

Does not: read from a mirror, or publish (runs.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphrag.errors import MirrorFailed
from graphrag.object_storage import open_storage
from graphrag.store.runs import MANIFEST, POINTER, current_run


def mirror_published(output_dir: Path, url: str) -> bool:
    """Make the mirror hold the published run; whether anything had to be copied.

    Raises MirrorFailed: what is published here stays so, and the next run tries again.
    """
    folder = current_run(output_dir)
    if folder is None:
        return False
    storage, root = open_storage(url, key="output.mirror")
    try:
        if _read_pointer(storage, f"{root}/{POINTER}") == folder.name:
            return False
        target = f"{root}/runs/{folder.name}"
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: path == folder / MANIFEST):
            storage.makedirs(f"{target}/{path.relative_to(folder).parent}".removesuffix("/."), exist_ok=True)
            storage.put_file(str(path), f"{target}/{path.relative_to(folder).as_posix()}")
        storage.pipe_file(f"{root}/{POINTER}", folder.name.encode())
    except OSError as error:
        raise MirrorFailed(
            f"Run {folder.name} is published here, but not copied to {url}: {error.strerror or error}. "
            "The next run tries again."
        ) from error
    return True


def _read_pointer(storage: Any, path: str) -> str:
    return bytes(storage.cat_file(path)).decode().strip() if storage.exists(path) else ""
