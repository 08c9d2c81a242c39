"""Documents and text units of other tools, with offsets: documents.text[start:end] is the text unit, to the letter.

A text unit is looked for in its document, one after the other; what a tokenizer broke at its ends (U+FFFD) is left out.
Where one of a document's units does not stand in its text (a header that was put before each), the document's text is
made of its units, and its metadata say so. Text units without a document are documents of their own. Statements and
entities without a text unit become lines of a document of their own, one text unit a line: they are their own evidence.

Writes documents, text_units (id lists empty). Does not: know entities, or count anything but tokens.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import orjson
import polars as pl

from graphrag import tables
from graphrag.ids import content_sha256, document_id, text_unit_id
from graphrag.tokens import TokenCounter

BROKEN = "\ufffd"
BETWEEN = "\n\n"
MADE_OF_UNITS = "made of its text units"
KIND = "import"


class PlacedTexts:
    """Rows of documents and text_units as they are added. `count`: tokens of a text."""

    def __init__(self, *, count: TokenCounter) -> None:
        self.documents: list[dict[str, Any]] = []
        self.text_units: list[dict[str, Any]] = []
        self.texts: dict[str, str] = {}
        """Text unit id -> its text."""
        self.joined: list[str] = []
        """Titles of documents that were made of their text units."""
        self._count = count
        self._paths: Counter[str] = Counter()

    def add_tables(self, documents: pl.DataFrame, text_units: pl.DataFrame) -> None:
        """Of the shapes of shapes.py. A unit id that comes twice is one text unit: the first."""
        known = set(documents["id"])
        of_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
        alone: list[dict[str, Any]] = []
        for unit in text_units.unique("id", keep="first", maintain_order=True).to_dicts():
            (of_document[unit["document_id"]] if unit["document_id"] in known else alone).append(unit)
        for row in documents.unique("id", keep="first", maintain_order=True).to_dicts():
            self._add_document(row, of_document[row["id"]])
        for number, unit in enumerate(alone, 1):
            title = f"text unit {number}"
            made = {"id": document_id(f"text_units/{unit['id']}"), "title": title, "text": unit["text"].strip(BROKEN)}
            self._add_document(made | {"path": f"text_units/{number}", "metadata": unit["metadata"]}, [unit])

    def add_lines(self, path: str, lines: Sequence[str]) -> list[str]:
        """A document of these lines; the ids of their text units."""
        text = "\n".join(lines)
        owner = document_id(path)
        row = {"id": owner, "title": path, "text": text, "path": path, "metadata": "{}"}
        occurrences: Counter[str] = Counter()
        units, start = [], 0
        for line in lines:
            units.append((text_unit_id(owner, line, occurrences[line]), start, start + len(line)))
            occurrences[line] += 1
            start += len(line) + 1
        self._append(row, text, units)
        return [unit for unit, _, _ in units]

    def _add_document(self, row: dict[str, Any], units: Sequence[dict[str, Any]]) -> None:
        places = _find_places(row["text"], units)
        if places is not None:
            self._append(row, row["text"], places)
            return
        self.joined.append(str(row["title"] or row["id"]))
        places, start = [], 0
        for unit in units:
            places.append((unit["id"], start, start + len(unit["text"])))
            start += len(unit["text"]) + len(BETWEEN)
        metadata = _read_object(row["metadata"]) | {"text": MADE_OF_UNITS}
        row = row | {"metadata": orjson.dumps(metadata, default=str).decode()}
        self._append(row, BETWEEN.join(unit["text"] for unit in units), places)

    def _append(self, row: dict[str, Any], text: str, places: Iterable[tuple[str, int, int]]) -> None:
        path = self._choose_path(row)
        metadata = _read_object(row["metadata"])
        places = sorted(places, key=lambda place: place[1:])
        self.documents.append(
            {
                "id": row["id"], "human_readable_id": _number(row, len(self.documents)), "title": row["title"] or path,
                "text": text, "text_unit_ids": [unit for unit, _, _ in places], "creation_date": "", "raw_data": None,
                "path": path, "kind": PurePosixPath(path).suffix[1:] or KIND, "content_sha256": content_sha256(text),
                "n_tokens": self._count(text), "metadata": orjson.dumps(metadata, default=str).decode(),
            }
        )  # fmt: skip
        for unit, start, end in places:
            self.texts[unit] = text[start:end]
            self.text_units.append(
                {
                    "id": unit, "human_readable_id": len(self.text_units), "text": text[start:end],
                    "n_tokens": self._count(text[start:end]), "document_id": row["id"], "entity_ids": [],
                    "relationship_ids": [], "covariate_ids": [], "start_char": start, "end_char": end,
                    "heading_path": [],
                }
            )  # fmt: skip

    def _choose_path(self, row: dict[str, Any]) -> str:
        wanted = row.get("path") or row["title"] or row["id"]
        wanted = " ".join(str(wanted).replace("\\", "/").split())
        self._paths[wanted] += 1
        return wanted if self._paths[wanted] == 1 else f"{wanted}~{self._paths[wanted]}"

    def frames(self) -> dict[str, pl.DataFrame]:
        return {
            "documents": tables.DOCUMENTS.from_rows(self.documents),
            "text_units": tables.TEXT_UNITS.from_rows(self.text_units),
        }


def _find_places(text: str, units: Sequence[dict[str, Any]]) -> list[tuple[str, int, int]] | None:
    """(id, start, end) of each unit; None where one does not stand in the text. Overlapping units go on searching
    behind the start of the last one."""
    places: list[tuple[str, int, int]] = []
    last = 0
    for unit in units:
        words = unit["text"].strip(BROKEN)
        start = text.find(words, last)
        start = text.find(words) if start < 0 else start
        if start < 0 or not words:
            return None
        places.append((unit["id"], start, start + len(words)))
        last = start + 1
    return places


def _number(row: dict[str, Any], default: int) -> int:
    number = row.get("human_readable_id")
    return default if number is None else int(number)


def _read_object(text: str | None) -> dict[str, Any]:
    try:
        value = orjson.loads(text) if text else {}
    except orjson.JSONDecodeError:
        value = {"metadata": text}
    return value if isinstance(value, dict) else {"metadata": value}
