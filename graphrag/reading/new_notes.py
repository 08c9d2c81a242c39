"""Notes that were learned since the published run: files below the folder of learnings that the index does not hold.

Search reads them beside the index (search/entries/new_notes.py) until the next run folds them in. A note is read as a
run would read it: title, front matter, body.

Reads the input folder and paths of documents. Does not: write notes (bank/knowledge_bank.py), or rank them.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from graphrag.blocks import plain_title
from graphrag.ids import document_id
from graphrag.reading.decoding import clean_text
from graphrag.reading.front_matter import find_body, parse_front_matter
from graphrag.reading.markup import find_title

MAX_NOTES = 1_000  # a run is long overdue then; the newest count


class NewNote(NamedTuple):
    """`text` is the whole file; `body` the offset at which the text below the front matter begins."""

    path: str
    title: str
    text: str
    body: int
    metadata: dict[str, Any]

    @property
    def document_id(self) -> str:
        return document_id(self.path)


def read_new_notes(input_dir: Path, folder: str, *, known: Collection[str]) -> list[NewNote]:
    """The Markdown notes below input_dir/folder whose path is not known, by path. A file that cannot be read is left
    to the next run, which will say so."""
    place = input_dir / folder
    files = sorted(place.rglob("*.md")) if place.is_dir() else []
    named = [(file, file.relative_to(input_dir).as_posix()) for file in files if not file.name.startswith(".")]
    new = [(file, path) for file, path in named if path not in known]
    notes = []
    for file, path in new[-MAX_NOTES:]:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        notes.append(read_note(path, text))
    return notes


def read_note(path: str, text: str) -> NewNote:
    cleaned = clean_text(text).text
    body = find_body(cleaned, "md")
    metadata = parse_front_matter(cleaned, "md").metadata
    title = metadata.get("title")
    named = plain_title(title) if isinstance(title, str) else find_title(cleaned[body:], "md")
    return NewNote(path, named or Path(path).stem, cleaned, body, metadata)
