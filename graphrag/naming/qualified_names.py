"""Names with a description in brackets, "Mercury (the broker)", where something says which Mercury it is.

A link says so whose label is the title of its note and such a description, and so does a description that is the type
of just one of the namesakes: Mercury (planet). Reads documents.

Does not: guess what a description means. What neither a link nor a type tells stays a proposal of other rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import polars as pl
import regex

from graphrag.names import name_key, parse_name
from graphrag.naming.declared_aliases import Note
from graphrag.naming.entity_types import type_family

_LABEL = r"(?P<label>[^\[\]\n]{0,120}\([^\[\]\n]{1,120}\))"  # bounded: linear on hostile lines
_WIKILINK = regex.compile(rf"\[\[(?P<target>[^\[\]|#\n]{{1,250}})(?:#[^\[\]|\n]{{0,250}})?\|{_LABEL}\s?\]\]")
_MARKDOWN_LINK = regex.compile(rf"\[{_LABEL}\]\((?P<target>[^()\s#]{{1,250}})(?:#[^()\s]{{0,250}})?\)")


@dataclass(frozen=True, slots=True, order=True)
class LinkedName:
    """`surface` is the label of a link in `path`; `note` is where it leads, and its title but for the brackets."""

    surface: str
    path: str
    note: Note


def find_linked_names(documents: pl.DataFrame, notes: Sequence[Note]) -> list[LinkedName]:
    """The labels of links that are a note's title with a description in brackets; not of links that fit two notes."""
    ends: dict[str, list[Note]] = defaultdict(list)  # every end of a path leads to a note: redis, ops/redis
    for note in notes:
        parts = PurePosixPath(note.path).with_suffix("").parts
        for start in range(len(parts)):
            ends["/".join(parts[start:]).casefold()].append(note)
    found: set[tuple[str, str, str]] = set()
    for path, text in documents.select("path", "text").iter_rows():
        for match in (*_WIKILINK.finditer(text), *_MARKDOWN_LINK.finditer(text)):
            found.add((match["label"].strip(), path, match["target"]))
    result = []
    for label, path, target in sorted(found):
        leads_to = ends.get(_end_of_path(target), [])
        name = parse_name(label)
        if len(leads_to) == 1 and name.qualifier and " ".join(name.words) == name_key(leads_to[0].title):
            result.append(LinkedName(label, path, leads_to[0]))
    return result


def _end_of_path(target: str) -> str:
    """../places/mercury.md -> places/mercury"""
    parts = [part for part in target.strip().split("/") if part not in ("", ".", "..")]
    return "/".join(parts).removesuffix(".md").casefold()


def describes_type(qualifier: str, type_name: str) -> bool:
    """The words in brackets are the type, or another word for it: (city) and location."""
    words = qualifier.removeprefix("the ").replace(" ", "_")
    return words == name_key(type_name).replace(" ", "_") or type_family(words) == (type_family(type_name) or "none")
