"""The files of an input folder: which are documents, which are ignored, which cannot be had and why.

Never leaves the folder: links that lead out are faults, links inside are followed only for files that are not listed
under their own name, folders are entered by their own name only. Never blocks: pipes, sockets and devices are ignored.
Ignored without a fault: hidden files and folders, lock and swap files, system files, patterns and folders named by the
caller.

Does not: open files.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Protocol

_SYSTEM = frozenset({"thumbs.db", "desktop.ini", "ehthumbs.db", "icon\r", "vault_index.md"})


class Location(Protocol):
    """A Path, or what stands for one (objects.py)."""

    def read_bytes(self) -> bytes: ...


class File(NamedTuple):
    path: str  # relative to the folder, forward slashes, NFC
    location: Location
    n_bytes: int
    stamp: str  # changes when the file does; empty: nobody knows
    changed_ns: int  # Unix time of its last change


class FileFault(NamedTuple):
    path: str
    reason: str
    detail: str


class Listing(NamedTuple):
    files: list[File]  # sorted by path
    faults: list[FileFault]


def list_files(folder: Path, *, ignore: Sequence[str], exclude: Sequence[Path]) -> Listing:
    """All files below `folder`. ignore: glob patterns over the relative path or the name; exclude: what is left out."""
    root = folder.resolve()
    excluded = {path.resolve() for path in exclude}
    excluded.discard(root)
    files: list[File] = []
    faults: list[FileFault] = []
    links: list[tuple[str, Path]] = []
    waiting = [(root, "")]
    while waiting:
        where, prefix = waiting.pop()
        try:
            entries = sorted(os.scandir(where), key=lambda entry: entry.name)
        except OSError as error:
            faults.append(FileFault(prefix.rstrip("/") or ".", "unreadable_file", f"folder: {error.strerror}"))
            continue
        for entry in entries:
            path = prefix + _readable(entry.name)
            location = where / entry.name
            if is_ignored(entry.name, path, ignore):
                continue
            if entry.is_symlink():
                links.append((path, location))
            elif entry.is_dir(follow_symlinks=False):
                if location not in excluded:
                    waiting.append((location, path + "/"))
            elif entry.is_file(follow_symlinks=False) and location not in excluded:
                try:
                    files.append(_stamp_file(path, location, entry.stat(follow_symlinks=False)))
                except OSError as error:
                    faults.append(FileFault(path, "unreadable_file", str(error.strerror)))
    _follow(links, root, excluded, files, faults)
    return Listing(sorted(files, key=lambda file: (file.path, str(file.location))), sorted(faults))


def _follow(
    links: list[tuple[str, Path]], root: Path, excluded: set[Path], files: list[File], faults: list[FileFault]
) -> None:
    listed = {file.location for file in files}
    for path, location in sorted(links):
        try:
            target = Path(os.path.realpath(location, strict=False))
            if not target.is_relative_to(root):
                faults.append(FileFault(path, "outside_input", "symbolic link to a place outside the input folder"))
                continue
            status = target.stat()
        except OSError as error:
            faults.append(FileFault(path, "unreadable_file", f"symbolic link: {error.strerror}"))
            continue
        is_new = target not in listed and not any(target.is_relative_to(folder) for folder in excluded)
        if stat.S_ISREG(status.st_mode) and is_new:
            listed.add(target)
            files.append(_stamp_file(path, target, status))


def _stamp_file(path: str, location: Path, status: os.stat_result) -> File:
    stamp = f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    return File(path, location, status.st_size, stamp, max(status.st_mtime_ns, status.st_ctime_ns))


def _readable(name: str) -> str:
    """A file's name in NFC; bytes that are not UTF-8 become U+FFFD."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))


def is_ignored(name: str, path: str, ignore: Sequence[str]) -> bool:
    """Whether a file or folder of this name is left out, with all that is in it."""
    if name.startswith((".", "~$")) or name.endswith(("~", ".swp", ".swo", ".lock", ".part", ".crdownload")):
        return True
    if (name.startswith("#") and name.endswith("#")) or name.casefold() in _SYSTEM:
        return True
    return any(_matches(name, path, pattern) for pattern in ignore)


def _matches(name: str, path: str, pattern: str) -> bool:
    """As in .gitignore, roughly: "*.bak" any name, "drafts/**" below a folder, "**/old" at any depth."""
    pattern = pattern.strip("/")
    return fnmatchcase(path, pattern) or fnmatchcase(name, pattern.removeprefix("**/"))
