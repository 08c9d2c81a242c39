"""A folder of files -> documents, and a failure row for each file or record that could not be read.

Writes documents (text_unit_ids empty) and failures. The formats live on the floors below: graphrag/folders.py lists,
decoding.py turns bytes into text, front_matter.py, markup.py, records.py and office.py read what is inside.

documents.text is the whole file, decoded and clean (graphrag/decoding.py); html and office formats are their text as
Markdown; a record of csv, json, jsonl or parquet is its text column, its path is `file.csv#ID`.
documents.metadata is a JSON object: front matter or the record's other columns, and where they apply `encoding`,
`removed_characters`, `replaced_bytes`, `front_matter_warning`.

Does not: follow links that leave the folder, use file times, or run anything that stands in a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from graphrag import ids, tables
from graphrag.blocks import plain_title
from graphrag.errors import InputError, shown_path
from graphrag.reading import office
from graphrag.reading import records as record_files
from graphrag.reading.dates import iso_date
from graphrag.reading.decoding import Decoded, clean_text, decode_text, is_binary
from graphrag.reading.folders import File
from graphrag.reading.front_matter import find_body, parse_front_matter
from graphrag.reading.known_files import KnownFile, PublishedRows, hash_rows, know_fault, know_file
from graphrag.reading.markup import find_title, read_header_fields, read_html
from graphrag.reading.objects import list_input
from graphrag.reading.records import Record, Records
from graphrag.tokens import TokenCounter

STAGE = "documents"
KINDS = {
    "md": "md", "markdown": "md", "mdown": "md", "mkd": "md", "mdx": "md", "qmd": "md", "rmd": "md",
    "rst": "rst", "rest": "rst", "html": "html", "htm": "html", "xhtml": "html",
    "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet",
    "canvas": "canvas", "adoc": "adoc", "asciidoc": "adoc", "org": "org",
    **{suffix: suffix for suffix in office.MIME_TYPES},
}  # fmt: skip
TEMPLATE_SUFFIXES = frozenset({"erb", "j2", "jinja", "jinja2", "tmpl", "liquid", "hbs", "mustache"})
DATE_NAMES = ("creation_date", "date", "created", "created_at", "published", "published_at", "datecreated", "timestamp")
MAX_TITLE = 300
GENERATED = re.compile(r"# [^\n]+\n\n\d+ notes · \d+ links · \d+ unresolved · sha256 [0-9a-f]{12}\n")


class Documents(NamedTuple):
    """`files`: what each file gave, for the next run."""

    documents: pl.DataFrame
    failures: pl.DataFrame
    files: list[KnownFile]


@dataclass
class _Reading:
    """What is gathered while the files are walked."""

    max_bytes: float
    id_column: str
    title_column: str
    text_column: str
    count: TokenCounter
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, str | None]] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    without_text: list[str] = field(default_factory=list)  # messages on tables in which no column holds text

    def fail(self, path: str, reason: str, detail: str) -> None:
        self.failures.append(tables.failure_row(STAGE, path, reason, detail, document_id=ids.document_id(path)))

    def take_over(self, rows: list[dict[str, Any]], failures: list[dict[str, str | None]]) -> bool:
        """Rows that an earlier run read, unless another file has one of their paths now."""
        paths = {row["path"] for row in rows}
        if paths & self.paths:
            return False
        self.paths |= paths
        self.rows += rows
        self.failures += failures
        return True

    def add(
        self, path: str, kind: str, text: str, *, title: str, metadata: dict[str, Any], creation_date: str = "",
        raw_data: str | None = None,
    ) -> None:  # fmt: skip
        """One document. A path that is taken (a repeated id, a name in NFC and NFD) gets ~2 and a failure row."""
        if path in self.paths:
            number = 2
            while f"{path}~{number}" in self.paths:
                number += 1
            self.fail(path, "duplicate_id", f"a second document of this name; it is kept as {path}~{number}")
            path = f"{path}~{number}"
        self.paths.add(path)
        self.rows.append(
            {
                "id": ids.document_id(path), "human_readable_id": 0,
                "title": _one_line(title) or _one_line(_stem(path)) or path,
                "text": text, "text_unit_ids": [], "creation_date": creation_date, "raw_data": raw_data,
                "path": path, "kind": kind, "content_sha256": ids.content_sha256(text),
                "n_tokens": self.count(text), "metadata": record_files.to_json(metadata),
            }
        )  # fmt: skip


def read_documents(
    input_dir: Path | str,
    *,
    max_file_mb: float,
    id_column: str,
    title_column: str,
    text_column: str,
    ignore: Sequence[str] = (),
    exclude: Sequence[Path] = (),
    count: TokenCounter,
    published: pl.DataFrame | None = None,
    known: Mapping[str, KnownFile] | None = None,
    started_ns: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Documents:
    """Reads every file below `input_dir` (text: an address), one after the other; documents are sorted by path.

    Column knobs: names of the id, title and text columns of records, "" = found by name. `advance(1)` after each file.
    `published`, the documents of the published run: their rows stand for files that are as `known` says, and for files
    that are there and cannot be read now, which is told in failures. `started_ns`: when the run began, Unix time.
    Raises InputError when the folder does not exist, holds nothing, or holds only tables without a text column.
    """
    shown = shown_path(input_dir) if isinstance(input_dir, Path) else input_dir
    if isinstance(input_dir, Path) and not input_dir.is_dir():
        start = f"{shown} is not a folder." if input_dir.exists() else f"No input folder {shown}."
        raise InputError(f"{start} Create it and put documents there, or set input.dir in settings.toml.")
    listing = list_input(input_dir, ignore=ignore, exclude=exclude)
    if not listing.files and not listing.faults:
        raise InputError(f"No documents in {shown}. Put files there, or set input.dir.")
    reading = _Reading(max_file_mb * 1e6, id_column, title_column, text_column, count)
    for fault in listing.faults:
        reading.fail(fault.path, fault.reason, fault.detail)
    rows_of = PublishedRows(published)
    files = [know_fault(fault) for fault in listing.faults]
    for file in listing.files:
        files.append(_read_or_take_over(file, reading, rows_of, (known or {}).get(file.path), started_ns))
        advance(1)
    _keep_unreadable(reading, rows_of)
    if reading.without_text and not reading.rows:
        raise InputError(reading.without_text[0])
    documents = tables.DOCUMENTS.from_rows(reading.rows).sort("path")
    documents = documents.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("human_readable_id"))
    failures = tables.FAILURES.from_rows(reading.failures).sort("item_id", "reason", "detail")
    return Documents(tables.DOCUMENTS.conform(documents), tables.FAILURES.conform(failures), files)


def _read_or_take_over(
    file: File, reading: _Reading, rows_of: PublishedRows, known: KnownFile | None, started_ns: int
) -> KnownFile:
    if known and known.stamp and known.stamp == file.stamp:
        rows = rows_of.of_file(file.path)
        if hash_rows(rows) == known.rows_sha256 and reading.take_over(rows, known.failures):
            return known
    n_rows, n_failures = len(reading.rows), len(reading.failures)
    _read_file(file, reading)
    return know_file(file, reading.rows[n_rows:], reading.failures[n_failures:], started_ns=started_ns)


def _keep_unreadable(reading: _Reading, rows_of: PublishedRows) -> None:
    """What cannot be read tonight is not gone: the rows of the published run stay, and the failure says so."""
    for failure in reading.failures:
        if failure["reason"] == "unreadable_file":
            rows = rows_of.below(str(failure["item_id"]))
            if rows and reading.take_over(rows, []):
                failure["detail"] = f"{failure['detail']}; stale: what the published run had read of it is kept"


def _read_file(file: File, reading: _Reading) -> None:
    suffix = _suffix(file.path)
    kind = KINDS.get(suffix, "txt")
    if file.n_bytes > reading.max_bytes:
        detail = f"{file.n_bytes / 1e6:.1f} MB is over input.max_file_mb = {reading.max_bytes / 1e6:g}"
        reading.fail(file.path, "too_large", detail)
        return
    try:
        data = file.location.read_bytes()
    except OSError as error:
        reading.fail(file.path, "unreadable_file", str(error.strerror or error))
        return
    if not data.strip():
        reading.fail(file.path, "empty_document", f"{len(data)} bytes, no text")
    elif kind in office.MIME_TYPES:
        _read_office(file.path, kind, data, reading)
    elif kind == "parquet":
        found = record_files.read_parquet(data, max_bytes=reading.max_bytes * office.EXPANDED_SHARE)
        _add_records(file.path, kind, found, {}, reading)
    elif is_binary(data) or suffix == "svg":
        reading.fail(file.path, "binary_content", "a picture, program or archive, not text")
    else:
        _read_text(file.path, kind, suffix, decode_text(data), reading)


def _suffix(path: str) -> str:
    """The last suffix in lower case without its dot; of a template (index.html.md.erb) that of what it makes."""
    suffixes = path.rpartition("/")[2].casefold().split(".")[1:]
    while len(suffixes) > 1 and suffixes[-1] in TEMPLATE_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_text(path: str, kind: str, suffix: str, decoded: Decoded, reading: _Reading) -> None:
    text, notes = decoded.text, _notes(decoded)
    if not text.strip():
        reading.fail(path, "empty_document", "no text")
    elif kind == "csv":
        _add_records(path, kind, record_files.read_csv(text, delimiter="\t" if suffix == "tsv" else ""), notes, reading)
    elif kind == "json":
        _add_records(path, kind, record_files.read_json(text), notes, reading)
    elif kind == "jsonl":
        _add_records(path, kind, record_files.read_jsonl(text), notes, reading)
    elif kind == "canvas":
        if cards := clean_text(record_files.read_canvas(text)).text:
            reading.add(path, kind, cards, title="", metadata=notes, raw_data=text)
        else:
            reading.fail(path, "empty_document", "the canvas has no text")
    elif kind == "html":
        html = read_html(text)
        if html.is_too_deep:
            reading.fail(path, "too_deep", "elements are nested too deep")
        elif not html.text:
            reading.fail(path, "empty_document", "the page has no text")
        else:
            reading.add(path, kind, html.text, title=html.title, metadata=notes)
    elif not GENERATED.match(text):  # vault/index_pages.py
        _add_text(path, kind, text, notes, reading)


def _add_text(path: str, kind: str, text: str, notes: dict[str, Any], reading: _Reading) -> None:
    front = parse_front_matter(text, kind)
    metadata = dict(front.metadata)
    if kind == "rst":
        metadata = {**read_header_fields(text), **metadata}
    for name in ("aliases", "tags"):
        if name in metadata:
            metadata[name] = _words(metadata[name], is_tag=name == "tags")
    if front.warning:
        notes = {**notes, "front_matter_warning": front.warning}
    title = plain_title(_first_text(metadata, ("title",))) or find_title(
        text[find_body(text, kind) :], "" if kind == "txt" else kind
    )
    reading.add(path, kind, text, title=title, metadata={**metadata, **notes}, creation_date=_date_of(metadata))


def _read_office(path: str, kind: str, data: bytes, reading: _Reading) -> None:
    found = office.read_office(data, kind, max_bytes=reading.max_bytes * office.EXPANDED_SHARE)
    if found.reason:
        reading.fail(path, found.reason, found.detail)
        return
    cleaned = clean_text(found.text)
    if not cleaned.text.strip():
        reading.fail(path, "empty_document", "no text; scanned pages need text recognition first")
        return
    notes = {"removed_characters": cleaned.removed_characters} if cleaned.removed_characters else {}
    reading.add(path, kind, cleaned.text, title=found.title or find_title(cleaned.text, "md"), metadata=notes)


def _add_records(path: str, kind: str, found: Records, notes: dict[str, Any], reading: _Reading) -> None:
    for fault in found.faults:
        reading.fail(f"{path}#{fault.number}" if fault.number else path, fault.reason, fault.detail)
    if not found.records:
        if not found.faults:
            reading.fail(path, "empty_document", "no records")
        return
    text_name = record_files.find_column(found.columns, reading.text_column, record_files.TEXT_NAMES)
    if not text_name and kind in ("csv", "parquet"):
        shown = ", ".join(found.columns[:20]) + (", ..." if len(found.columns) > 20 else "")
        wanted = f'no column "{reading.text_column}"' if reading.text_column else "no text column"
        detail = f"{wanted} among {shown}. Set input.text_column."
        reading.without_text.append(f"{path}: {detail}")
        reading.fail(path, "missing_text", detail)
        return
    columns = [name for name in found.columns if name != text_name]
    title_name = record_files.find_column(columns, reading.title_column, record_files.TITLE_NAMES)
    id_name = record_files.find_column(columns, reading.id_column, record_files.ID_NAMES)
    for record in found.records:
        _add_record(path, kind, record, (id_name, title_name, text_name), notes, reading)


def _add_record(
    path: str, kind: str, record: Record, names: tuple[str, str, str], notes: dict[str, Any], reading: _Reading
) -> None:
    id_name, title_name, text_name = names
    values = record.values
    key = _cell(values.get(id_name)) or str(record.number)
    item = f"{path}#{clean_text(_one_line(key)).text}"
    if not isinstance(value := values.get(text_name), str):
        reading.fail(item, "missing_text", f'record {record.number} has no text in "{text_name or "text"}"')
        return
    cleaned = clean_text(value)
    if not cleaned.text.strip():
        reading.fail(item, "empty_document", f'record {record.number} has a blank "{text_name}"')
        return
    if cleaned.removed_characters:
        notes = {**notes, "removed_characters": notes.get("removed_characters", 0) + cleaned.removed_characters}
    metadata = {name: cell for name, cell in values.items() if name != text_name}
    reading.add(
        item, kind, cleaned.text, title=clean_text(_cell(values.get(title_name))).text,
        metadata={**metadata, **notes}, creation_date=_date_of(values), raw_data=record_files.to_json(values),
    )  # fmt: skip


def _notes(decoded: Decoded) -> dict[str, Any]:
    """What decoding had to do, for metadata; nothing where the file was clean UTF-8."""
    notes: dict[str, Any] = {}
    if decoded.encoding != "utf-8":
        notes["encoding"] = decoded.encoding
    if decoded.removed_characters:
        notes["removed_characters"] = decoded.removed_characters
    if decoded.replaced_bytes:
        notes["replaced_bytes"] = decoded.replaced_bytes
    return notes


def _date_of(metadata: dict[str, Any]) -> str:
    by_fold = {str(name).casefold(): value for name, value in metadata.items()}
    return next((date for name in DATE_NAMES if (date := iso_date(by_fold.get(name)))), "")


def _first_text(metadata: dict[str, Any], names: Sequence[str]) -> str:
    by_fold = {str(name).casefold(): value for name, value in metadata.items()}
    return next((text for name in names if (text := _cell(by_fold.get(name)))), "")


def _cell(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _words(value: Any, *, is_tag: bool) -> list[str]:
    """Aliases or tags as a list: one string may hold several, tags lose their #."""
    if isinstance(value, str):
        return _words(list(re.split(r"[,\s]+" if is_tag else r",\s*", value)), is_tag=is_tag)
    cells = value if isinstance(value, list) else [value]
    items = [_cell(cell) for cell in cells]
    return [word for item in items if (word := item.lstrip("#") if is_tag else item)]


def _one_line(title: str) -> str:
    return " ".join(title.split())[:MAX_TITLE]


def _stem(path: str) -> str:
    """A file's name without its suffix; of a record, its id."""
    name = path.rpartition("/")[2]
    if name.casefold().endswith(".html.md"):
        return name[:-8]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and suffix.casefold().partition("#")[0] in {*KINDS, "txt", "text", "log"} else name
