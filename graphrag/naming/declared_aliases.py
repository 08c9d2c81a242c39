"""Other names that the documents themselves declare: front matter, note titles, and phrases in running text.

`read_notes` gives each document's declared title and aliases; `read_persons` whom front matter names as author, decider
and the like; `find_phrases` reads "X (Y)", "X, also known as Y", "X (formerly Y)" right behind mentions. Tables read:
documents, entity_mentions.

Does not: merge. A title or alias counts only where a mention has the very same key; index/disambiguation.py sees to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl
import regex

from graphrag.names import abbreviates, name_key, split_legal_form

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
_FULL_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}'’.-]*(?: \p{L}[\p{L}\p{M}'’.-]*){0,3} \p{Lu}[\p{L}\p{M}'’-]+")
_KNOWN_AS = (
    r"also known as|better known as|formerly known as|previously known as|formerly called|previously called|"
    r"also called|a\.k\.a\.|aka|formerly|previously|abbreviated as|abbreviated to|abbreviated|short for|or simply"
)
_BRACKET = regex.compile(
    rf"[\"'”’]?\s?\((?:({_KNOWN_AS}|or)[:,]?\s+)?(?:the\s+)?[\"'“‘`*]*([^()\n]{{1,60}}?)[\"'”’`*]*(\s+for short)?\)"
)
_PHRASE = regex.compile(rf"[\"'”’]?,?\s({_KNOWN_AS})[:,]?\s+(?:the\s+)?[\"'“‘`*]*((?:[^\s()]+\s?){{1,6}})")
_AFTER_NAME = "\"'”’`*.,;:!?"


@dataclass(frozen=True, slots=True)
class Note:
    """A document as a declaration of names. `title_is_cased` is false for a bare file stem in lower case."""

    path: str
    document_id: str
    title: str
    aliases: tuple[str, ...]
    title_is_cased: bool
    is_generic: bool


@dataclass(frozen=True, slots=True, order=True)
class Phrase:
    """Two names that a sentence joins. `is_sure` is false for bare brackets that are no acronym: a proposal."""

    surface: str
    other: str
    words: str
    document_id: str
    is_sure: bool


def read_notes(documents: pl.DataFrame) -> list[Note]:
    """One Note a document with a title, by path; copies (equal text) count once."""
    notes: list[Note] = []
    seen: set[str] = set()
    for row in documents.sort("path").select("id", "path", "title", "metadata", "content_sha256").iter_rows(named=True):
        metadata = _read_metadata(row["metadata"])
        aliases = read_aliases(metadata.get("aliases", metadata.get("alias")))
        if row["content_sha256"] in seen or not row["title"].strip():
            continue
        seen.add(row["content_sha256"])
        title = " ".join(row["title"].split())
        is_stem = title == PurePosixPath(row["path"]).stem and "title" not in metadata
        cased = not (is_stem and title == title.lower() and title != title.upper())
        notes.append(Note(row["path"], row["id"], title, aliases, cased, name_key(title) in GENERIC_TITLES))
    return notes


def read_persons(documents: pl.DataFrame) -> set[str]:
    """Keys of the names of two to five words that front matter gives for persons (or, as the reader sees, teams)."""
    found: set[str] = set()
    for text in documents["metadata"].unique():
        for field, value in _read_metadata(text).items():
            names = read_aliases(value) if field.strip().casefold() in PERSON_FIELDS else ()
            keys = [name_key(name) for name in names if _FULL_NAME.fullmatch(name)]
            found.update(key for key in keys if not split_legal_form(key.split())[1])
    return found


def _read_metadata(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def read_aliases(value: object) -> tuple[str, ...]:
    """A list of names, or one string with commas between them (Obsidian reads both)."""
    values = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    names = (" ".join(str(item).split()) for item in values if isinstance(item, str | int | float))
    return tuple(dict.fromkeys(name for name in names if name))


def find_phrases(
    entity_mentions: pl.DataFrame, documents: pl.DataFrame, *, is_known: Callable[[str], bool]
) -> list[Phrase]:
    """The names that running text joins, where both are known names of the corpus. Sorted, without repeats."""
    texts = dict(documents.select("id", "text").iter_rows())
    found: set[Phrase] = set()
    places = entity_mentions.select("document_id", "surface", "end_char").unique()
    for document_id, surface, end in places.iter_rows():
        text = texts.get(document_id, "")
        # Cheap test first: a bracket, comma or blank must follow, and almost all mentions fail here.
        if "(" in text[end : end + 3]:
            found.update(_read_bracket(surface, _BRACKET.match(text, end), document_id, is_known))
        if text[end : end + 1] in ", \"'”’":
            found.update(_read_phrase(surface, _PHRASE.match(text, end), document_id, is_known))
    return sorted(found)


def _read_bracket(
    surface: str, match: regex.Match[str] | None, document_id: str, is_known: Callable[[str], bool]
) -> list[Phrase]:
    if match is None:
        return []
    words, inner, for_short = match.groups()
    for other in dict.fromkeys((inner.strip(_AFTER_NAME), inner.split(",")[0].strip(_AFTER_NAME))):
        if other and is_known(other) and name_key(other) != name_key(surface):
            is_sure = (
                bool(words or for_short)
                or abbreviates(surface, name_key(other))
                or abbreviates(other, name_key(surface))
            )
            return [Phrase(surface, other, words or "brackets", document_id, is_sure)]
    return []


def _read_phrase(
    surface: str, match: regex.Match[str] | None, document_id: str, is_known: Callable[[str], bool]
) -> list[Phrase]:
    """The longest run of words behind the phrase that is a known name."""
    if match is None:
        return []
    words, behind = match.groups()
    parts = behind.split()
    for size in range(len(parts), 0, -1):
        other = " ".join(parts[:size]).strip(_AFTER_NAME)
        if other and is_known(other) and name_key(other) != name_key(surface):
            return [Phrase(surface, other, words, document_id, True)]
    return []
