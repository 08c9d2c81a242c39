"""Other names that the documents themselves declare: front matter and note titles.

`read_notes` gives each document's declared title and aliases; `read_persons` whom front matter names as author, decider
and the like. What sentences declare is read in phrases.py. Tables read: documents.

Does not: merge. A title or alias counts only where a mention has the very same key; index/disambiguation.py sees to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import polars as pl
import regex

from graphrag.names import name_key, split_legal_form

# Titles that many folders repeat: names of a kind of file, not of a thing.
GENERIC_TITLES = frozenset((
    "readme", "index", "overview", "introduction", "notes", "note", "untitled", "changelog", "home", "todo",
    "contents", "summary", "license", "about", "contributing", "faq", "glossary", "draft", "document",
))  # fmt: skip
# Fields of front matter that name persons (MADR, Hugo, Jekyll, Obsidian, incident templates); teams stand there too.
PERSON_FIELDS = (
    "approver", "approvers", "assignee", "assignees", "attendee", "attendees", "author", "authors", "consulted",
    "deciders", "decision-makers", "informed", "participants", "people", "persons", "present", "reviewer", "reviewers",
)  # fmt: skip
MERGED_TITLES = "titles of entries merged into it"  # in metadata: title -> who decided (relations/entry_relations.py)
_FULL_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}'’.-]*(?: \p{L}[\p{L}\p{M}'’.-]*){0,3} \p{Lu}[\p{L}\p{M}'’-]+")


@dataclass(frozen=True, slots=True)
class Note:
    """A document as a declaration of names. `title_is_cased` is false for a bare file stem in lower case."""

    path: str
    document_id: str
    title: str
    aliases: tuple[str, ...]
    title_is_cased: bool
    is_generic: bool
    type: str = ""  # as front matter has it
    merged: Mapping[str, str] = field(default_factory=dict)  # title of a merged note -> user or judge; aliases have it

    def explain(self, alias: str) -> tuple[str, str, str]:
        """(method, reason, decided_by) of one of the aliases."""
        if alias in self.merged:
            return "merge", f"Merged into {self.path}.", self.merged[alias]
        return "frontmatter", f"Front matter of {self.path}.", "user"


def read_notes(documents: pl.DataFrame) -> list[Note]:
    """One Note a document with a title, by path; copies (equal text) count once."""
    notes: list[Note] = []
    seen: set[str] = set()
    for row in documents.sort("path").select("id", "path", "title", "metadata", "content_sha256").iter_rows(named=True):
        metadata = _read_metadata(row["metadata"])
        merged = metadata.get(MERGED_TITLES)
        merged = {" ".join(title.split()): who for title, who in merged.items()} if isinstance(merged, dict) else {}
        aliases = tuple(dict.fromkeys((*declared_aliases(metadata), *merged)))
        if row["content_sha256"] in seen or not row["title"].strip():
            continue
        seen.add(row["content_sha256"])
        title = " ".join(row["title"].split())
        is_stem = title == PurePosixPath(row["path"]).stem and "title" not in metadata
        cased = not (is_stem and title == title.lower() and title != title.upper())
        is_generic, type_ = name_key(title) in GENERIC_TITLES, read_type(metadata)
        notes.append(Note(row["path"], row["id"], title, aliases, cased, is_generic, type_, merged))
    return notes


def read_persons(documents: pl.DataFrame) -> set[str]:
    """Keys of the names of two to five words that front matter gives for persons (or, as the reader sees, teams)."""
    found: set[str] = set()
    for text in documents["metadata"].unique():
        for name, value in _read_metadata(text).items():
            names = read_aliases(value) if name.strip().casefold() in PERSON_FIELDS else ()
            keys = [name_key(person) for person in names if _FULL_NAME.fullmatch(person)]
            found.update(key for key in keys if not split_legal_form(key.split())[1])
    return found


def _read_metadata(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def read_type(metadata: Mapping[str, object]) -> str:
    """The type that front matter gives, or an empty string."""
    kind = metadata.get("type")
    return kind.strip().lower() if isinstance(kind, str) else ""


def declared_aliases(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """The other names that front matter gives, under aliases or alias."""
    return read_aliases(metadata.get("aliases", metadata.get("alias")))


def read_aliases(value: object) -> tuple[str, ...]:
    """A list of names, or one string with commas between them (Obsidian reads both)."""
    values = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    names = (" ".join(str(item).split()) for item in values if isinstance(item, str | int | float))
    return tuple(dict.fromkeys(name for name in names if name))
