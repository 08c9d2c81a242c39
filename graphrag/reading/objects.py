"""The input where it is no folder of this machine: objects below an address, listed and read as files are.

The same names are ignored as in a folder. An object's stamp is what its storage says of the version (ETag, or time of
the last change): an object that has not changed is not fetched again.

Does not: write, or keep a copy.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graphrag.errors import InputError
from graphrag.object_storage import open_storage
from graphrag.reading.folders import File, Listing, is_ignored, list_files

VERSION_KEYS = ("ETag", "etag", "content_md5", "generation")
TIME_KEYS = ("LastModified", "last_modified", "mtime", "updated", "modified", "created")  # as the drivers name it


@dataclass(frozen=True)
class StoredObject:
    """As much of a Path as a reader of documents needs."""

    storage: Any
    path: str

    def read_bytes(self) -> bytes:
        return bytes(self.storage.cat_file(self.path))


def list_input(place: Path | str, *, ignore: Sequence[str], exclude: Sequence[Path]) -> Listing:
    """All files of a folder, or all objects of an address. exclude: folders left out. Raises InputError."""
    return (
        list_objects(place, ignore=ignore)
        if isinstance(place, str)
        else list_files(place, ignore=ignore, exclude=exclude)
    )


def list_objects(url: str, *, ignore: Sequence[str]) -> Listing:
    """All objects below an address, sorted by path. Raises InputError where they cannot be listed."""
    storage, root = open_storage(url, key="input.dir")
    try:
        found: Mapping[str, Mapping[str, Any]] = storage.find(root, detail=True)
    except OSError as error:
        raise InputError(f"Cannot list {url}: {error.strerror or error}. Check the address and your rights.") from None
    files = []
    for name, about in found.items():
        path = unicodedata.normalize("NFC", name.removeprefix(root).lstrip("/"))
        folders = path.split("/")
        parts = ["/".join(folders[: depth + 1]) for depth in range(len(folders))]
        if not any(is_ignored(part.rpartition("/")[2], part, ignore) for part in parts):
            files.append(_stamp_object(path, StoredObject(storage, name), about))
    return Listing(sorted(files, key=lambda file: file.path), [])


def _stamp_object(path: str, location: StoredObject, about: Mapping[str, Any]) -> File:
    size = int(about.get("size") or 0)
    version = next((str(about[key]) for key in VERSION_KEYS if about.get(key)), "")
    changed = next((about[key] for key in TIME_KEYS if about.get(key)), None)
    stamp = f"{size}:{version}:{changed}" if version or changed else ""
    return File(path, location, size, stamp, _unix_ns(changed))


def _unix_ns(changed: object) -> int:
    """0 where the storage does not say; a version says enough then."""
    if isinstance(changed, datetime):
        return int(changed.timestamp() * 1e9)
    return int(changed * 1e9) if isinstance(changed, int | float) else 0
