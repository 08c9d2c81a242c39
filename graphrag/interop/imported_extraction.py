"""An extraction of one's own: a JSON Lines file, one text unit a line, with what a model found in it.

    {"text": "The token cache is backed by Redis.", "document": "notes/cache.md", "title": "Cache",
     "records": [["E", "Redis", "technology", "A store."], ["R", "token cache", "backed by", "Redis", "", 8, [1]]]}

`records` are the lines that the extraction prompt asks for, as lists or as one text with a record a line: ["E", name,
type, description], ["R", subject, predicate, object, description, strength, [sentence numbers]]. Sentences are counted
from 1 in the text, so evidence is the sentence. Lines of one `document` follow each other in it; without one, a line
is a document. What a record names wrongly is a failure, as after a model's reply (docs/failures.md).

Writes documents, text_units, entity_mentions, relationship_mentions, failures. Does not: merge names (index/).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import polars as pl

from graphrag import tables
from graphrag.errors import InputError, shown_path
from graphrag.ids import document_id, text_unit_id
from graphrag.index.extraction import build_frames
from graphrag.index.passage_calls import PassageReply
from graphrag.index.passages import Excerpt, Passage, Span
from graphrag.index.placed_records import Parsed, parse_extraction
from graphrag.index.unit_groups import Unit, UnitGroup
from graphrag.interop.placed_texts import PlacedTexts
from graphrag.tokens import TokenCounter


def read_extraction(path: Path, *, max_records: int, count: TokenCounter) -> dict[str, pl.DataFrame]:
    """Raises InputError that names the file and the first line that is none."""
    lines = _read_lines(path)
    texts = PlacedTexts(count=count)
    texts.add_tables(*_list_texts(lines))
    frames = texts.frames()
    homes = {row["id"]: row for row in texts.text_units}
    groups: list[UnitGroup] = []
    parsed: dict[tuple[Excerpt, tuple[Span, ...]], Parsed] = {}
    for line in lines:
        unit, text = homes[line["id"]], texts.texts[line["id"]]
        group = UnitGroup(unit["document_id"], unit["start_char"], text, (Unit(line["id"], 0, len(text)),), "")
        groups.append(group)
        found = _parse(text, line["records"], max_records)
        parsed[group.excerpt, group.spans] = _add(parsed.get((group.excerpt, group.spans)), found)
    return frames | build_frames(groups, parsed)._asdict()


def _parse(text: str, records: str, max_records: int) -> Parsed:
    reply = PassageReply(Passage(text), (records,), (False,), "", "")
    return parse_extraction([reply], max_records=max_records) if records else Parsed([], [], [])


def _add(known: Parsed | None, found: Parsed) -> Parsed:
    """Of a text that stands on two lines: what both say."""
    if known is None:
        return found
    return Parsed(*(a + [row for row in b if row not in a] for a, b in zip(known, found, strict=True)))


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """text, document, title, records (text), and the id of the text unit."""
    lines: list[dict[str, Any]] = []
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(path.read_bytes().decode("utf-8-sig", "replace").splitlines(), 1):
        if not line.strip():
            continue
        value = _read_line(line, f"{shown_path(path)}:{number}")
        document = value["document"] or f"{path.name}#{number}"
        occurrence = seen.get((document, value["text"]), 0)
        seen[document, value["text"]] = occurrence + 1
        unit = text_unit_id(document_id(document), value["text"], occurrence)
        lines.append(value | {"document": document, "id": unit})
    if not lines:
        raise InputError(f"{shown_path(path)}: holds no line with a text.")
    return lines


def _read_line(line: str, place: str) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f'{place}: is no JSON ({error}). A line: {{"text": "...", "records": [...]}}.') from None
    if not isinstance(value, dict) or not isinstance(value.get("text"), str) or not value["text"].strip():
        raise InputError(f'{place}: the key "text" is missing. A line: {{"text": "...", "records": [...]}}.')
    records = value.get("records")
    if isinstance(records, list):
        records = "\n".join(orjson.dumps(record).decode() for record in records)
    elif not isinstance(records, str):
        raise InputError(f'{place}: the key "records" is missing: a list of ["E", ...] and ["R", ...], or their text.')
    return {
        "text": value["text"], "records": records, "document": str(value.get("document") or ""),
        "title": str(value.get("title") or ""),
    }  # fmt: skip


def _list_texts(lines: list[dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """In the shapes that PlacedTexts takes: a document's text is that of its lines."""
    texts: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for line in lines:
        texts.setdefault(line["document"], []).append(line["text"])
        titles[line["document"]] = titles.get(line["document"]) or line["title"]
    documents = [
        {"id": document_id(name), "human_readable_id": None, "text": "\n\n".join(parts), "title": titles[name] or name,
         "metadata": "{}", "path": name}
        for name, parts in texts.items()
    ]  # fmt: skip
    units = [
        {"id": line["id"], "human_readable_id": None, "text": line["text"], "metadata": "{}",
         "document_id": document_id(line["document"])}
        for line in lines
    ]  # fmt: skip
    text = tables.TEXT
    schema = {"id": text, "human_readable_id": tables.INT, "text": text, "title": text, "metadata": text, "path": text}
    unit_schema = {"id": text, "human_readable_id": tables.INT, "text": text, "metadata": text, "document_id": text}
    return pl.DataFrame(documents, schema=schema), pl.DataFrame(units, schema=unit_schema)
