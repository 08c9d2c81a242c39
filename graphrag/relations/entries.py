"""Names of entries: which document a person means by a path, a file's name, an id, a title or an alias.

Reads rows of documents (number, path, title, metadata). Does not: open the index, or guess: several entries of one
name are an error that lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import orjson

from graphrag.errors import UnknownEntity, UsageError, nearest
from graphrag.ids import document_id
from graphrag.names import name_key
from graphrag.naming.declared_aliases import declared_aliases


@dataclass(frozen=True)
class Entry:
    """A document as something that relations lead to. `number`: its human_readable_id, None before an index run."""

    path: str
    title: str
    number: int | None = None
    declared: tuple[str, ...] = ()  # id and aliases of its front matter

    @property
    def document_id(self) -> str:
        return document_id(self.path)

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def names(self) -> tuple[str, ...]:
        return (self.path, self.stem, self.title, *self.declared)


def read_entry(row: Mapping[str, Any]) -> Entry:
    """Of a row of documents: path, title, human_readable_id, metadata."""
    declared: list[str] = []
    if "alias" in row["metadata"] or '"id"' in row["metadata"]:
        fields = orjson.loads(row["metadata"])
        declared = [str(fields["id"])] if isinstance(fields.get("id"), str | int) else []
        declared += declared_aliases(fields)
    return Entry(row["path"], row["title"], row["human_readable_id"], tuple(declared))


def find_entry(entries: Iterable[Entry], name: str) -> Entry:
    """The entry that a name means: path, #number, file name, id or alias, title, and then by key, the first that fits.

    Raises UsageError where several entries fit equally, UnknownEntity with the nearest names where none does.
    """
    known = list(entries)
    wanted = name.strip().removeprefix("[[").removesuffix("]]")
    fold, key = wanted.casefold(), name_key(wanted)
    is_number = wanted.startswith("#") and wanted[1:].isdigit()
    rules = (
        lambda entry: entry.path == wanted or entry.document_id == wanted,
        lambda entry: is_number and entry.number == int(wanted[1:]),
        lambda entry: fold in (entry.path.casefold(), entry.path.casefold().removesuffix(".md")),
        lambda entry: wanted in (entry.stem, entry.title, *entry.declared),
        lambda entry: key in {name_key(each) for each in entry.names},
    )
    for fits in rules:
        found = [entry for entry in known if fits(entry)]
        if len(found) == 1:
            return found[0]
        if found:
            paths = ", ".join(sorted(entry.path for entry in found))
            raise UsageError(f'"{name}" may be {len(found)} entries: {paths}. Use the path.')
    near = nearest(wanted, sorted({each for entry in known for each in (entry.stem, entry.title, *entry.declared)}))
    raise UnknownEntity(f'No entry "{name}".' + (f" Nearest: {', '.join(near)}." if near else ""))
