"""Files of a vault, changed only where somebody asks: accepted links, the pages of VAULT_INDEX.md.

Every file is replaced whole, by one rename, with its rights, its byte order mark and its line ends; all new texts are
on disk before the first rename. What is not UTF-8, mixes line ends, or has changed meanwhile stays as it is, and is
told.

Does not: propose (link_proposals.py), or make pages (index_pages.py).
"""

from __future__ import annotations

import codecs
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphrag.errors import InputError, shown_path
from graphrag.index.documents import GENERATED
from graphrag.store.runs import disk_errors
from graphrag.vault.link_proposals import LinkWriter, Proposal, apply_proposal


class Change(NamedTuple):
    """What became of a proposal. `why`: of one that was not written; empty for one that was."""

    proposal: Proposal
    why: str


class _Rewrite(NamedTuple):
    path: Path
    old: bytes
    new: bytes


def write_links(proposals: Sequence[Proposal], files: Mapping[str, Path], writer: LinkWriter) -> list[Change]:
    """Write accepted proposals into their notes; each with what became of it, in order.

    files: where the document of a path lies. Raises StoreError where the disk refuses; files renamed before stay.
    """
    changes: dict[str, Change] = {}
    rewrites: dict[str, _Rewrite] = {}
    for path in dict.fromkeys(proposal.path for proposal in proposals):
        here = [proposal for proposal in proposals if proposal.path == path]
        file = files.get(path)
        text, old, why = _read_text(file) if file else ("", b"", "the file is gone")
        before = text
        for proposal in here:
            changed = None if why else apply_proposal(writer, proposal, text)
            text = text if changed is None else changed
            told = why or ("" if changed is not None else "the link is there, or the words are not")
            changes[proposal.id] = Change(proposal, told)
        if file and text != before:
            rewrites[path] = _Rewrite(file, old, _encode_like(text, old))
    for path, reason in _replace_files(rewrites).items():
        for proposal in proposals:
            if proposal.path == path and not changes[proposal.id].why:
                changes[proposal.id] = Change(proposal, reason)
    return [changes[proposal.id] for proposal in proposals]


def write_pages(pages: Mapping[str, str], folder: Path) -> list[tuple[Path, bool]]:
    """Write generated pages below a folder; (file, whether it changed).

    Raises InputError where a file of that name was not generated, StoreError where the disk refuses.
    """
    rewrites: dict[str, _Rewrite] = {}
    for name, text in pages.items():
        path = folder / name
        with disk_errors("read", path):
            old = path.read_bytes() if path.exists() else b""
        if old and not GENERATED.match(old.decode("utf-8", "replace")):
            raise InputError(f"{shown_path(path)} is not a page of ours. Move it, or write the index elsewhere.")
        rewrites[name] = _Rewrite(path, old, text.encode())
    _replace_files({name: rewrite for name, rewrite in rewrites.items() if rewrite.old != rewrite.new})
    return [(rewrite.path, rewrite.old != rewrite.new) for rewrite in rewrites.values()]


def _read_text(path: Path) -> tuple[str, bytes, str]:
    """(text with \n line ends and without mark, the bytes, why it cannot be changed)."""
    with disk_errors("read", path):
        data = path.read_bytes()
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        return "", data, "the file is not UTF-8"
    plain = text.replace("\r\n", "\n")
    is_mixed = "\r" in plain or text.count("\r\n") not in (0, text.count("\n"))
    return plain, data, "the file mixes line ends" if is_mixed else ""


def _encode_like(text: str, old: bytes) -> bytes:
    """As UTF-8 with the mark and the line ends of `old`."""
    ends = text.replace("\n", "\r\n") if b"\r\n" in old else text
    return (codecs.BOM_UTF8 if old.startswith(codecs.BOM_UTF8) else b"") + ends.encode()


def _replace_files(rewrites: Mapping[str, _Rewrite]) -> dict[str, str]:
    """Write all aside, then rename; why not, by key, for files that somebody changed meanwhile."""
    aside: dict[str, Path] = {}
    refused = {}
    try:
        for key, rewrite in rewrites.items():
            with disk_errors("write", rewrite.path):
                rewrite.path.parent.mkdir(parents=True, exist_ok=True)
                aside[key] = rewrite.path.with_name(f".{rewrite.path.name[:100]}.{os.getpid()}.new")
                aside[key].write_bytes(rewrite.new)
                if rewrite.path.exists():
                    shutil.copymode(rewrite.path, aside[key])
        for key, rewrite in rewrites.items():
            with disk_errors("write", rewrite.path):
                now = rewrite.path.read_bytes() if rewrite.path.exists() else b""
                if now == rewrite.old:
                    aside[key].replace(rewrite.path)
                else:
                    refused[key] = "the file has changed meanwhile"
    finally:
        for path in aside.values():
            path.unlink(missing_ok=True)
    return refused
