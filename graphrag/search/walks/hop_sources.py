"""Where the hops of an answer are stated: every evidence row of a relationship, with a short label of its text unit.

A label is the file's stem where the document has one text unit, else `stem#n` with n from 1 in document order. Stems
that clash become the shortest suffix of the path that is unique (specs/context-graph.md, section 3).

Reads evidence, relationships, documents, text_units. Does not: choose or rank hops.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.lookups import one_of
from graphrag.search.support import LONGEST_QUOTE, narrow_quote

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_LABELS = 5
AUTHORED = "authored"


class Statement(NamedTuple):
    """One sentence that states a relationship; `document` is its path, `quote` is documents.text[start:end]. Of
    evidence that is a whole text unit, the sentence nearest to the relationship."""

    label: str
    document: str
    start: int
    end: int
    quote: str


def load_statements(index: Index, relationship_ids: Iterable[str]) -> dict[str, list[Statement]]:
    """By relationship id: its statements in the order of label and place. Only rows asked for are read."""
    ids = sorted(set(relationship_ids))
    is_one, wanted = one_of("relationship_id", ids)
    rows = index.frame(
        "select relationship_id, document_id, text_unit_id, start_char, end_char, quote from evidence "
        f"where {is_one} order by all",
        wanted,
    ).rows()
    documents = _load_documents(index, sorted({document for _, document, *_ in rows if document}))
    labels = _label_documents(index, documents)
    found: dict[str, list[Statement]] = {relationship: [] for relationship in ids}
    claims = _load_claims(index, {row[0] for row in rows if len(row[-1] or "") > LONGEST_QUOTE})
    for relationship, document, unit, start, end, quote in rows:
        path, units = documents.get(document, ("", []))
        number = f"#{units.index(unit) + 1}" if len(units) > 1 and unit in units else ""
        label = labels[path] + number if path else AUTHORED
        said, first, last = quote or "", start or 0, end or 0
        if relationship in claims and path:
            said, first, last = narrow_quote(said, first, claims[relationship])
        found[relationship].append(Statement(label, path, first, last, said))
    for statements in found.values():
        statements.sort(key=lambda statement: (natural_key(statement.label), statement.document, statement.start))
    return found


def render_labels(statements: Sequence[Statement]) -> str:
    """`[c2,c8]`; more than five: the first five, then +N."""
    labels = list(dict.fromkeys(statement.label for statement in statements))
    more = [f"+{len(labels) - MAX_LABELS}"] if len(labels) > MAX_LABELS else []
    return f"[{','.join([*labels[:MAX_LABELS], *more])}]"


def natural_key(label: str) -> list[tuple[int, int | str]]:
    """c2 before c10."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", label) if part]


def label_documents(paths: Iterable[str]) -> dict[str, str]:
    """The shortest suffix of each path, without its extension, that no other path has; the whole path where none is."""
    shortest: dict[str, str] = {}
    by_stem: dict[str, list[str]] = defaultdict(list)
    for path in sorted(set(paths)):
        by_stem[PurePosixPath(path).stem].append(path)
    for stem, alike in by_stem.items():
        if len(alike) == 1:
            shortest[alike[0]] = stem
            continue
        parts = {path: PurePosixPath(path).with_suffix("").parts for path in alike}
        for path, own in parts.items():
            suffixes = ("/".join(own[-n:]) for n in range(1, len(own) + 1))
            shortest[path] = next(
                (
                    suffix
                    for n, suffix in enumerate(suffixes, start=1)
                    if not any(parts[other][-n:] == own[-n:] for other in alike if other != path)
                ),
                path,
            )
    return shortest


def _load_claims(index: Index, ids: Iterable[str]) -> dict[str, str]:
    """What relationships say, by id: the words that the sentence to show is looked for by."""
    is_one, wanted = one_of("id", sorted(ids))
    sql = f"select id, concat_ws(' ', source, target, description) from relationships where {is_one}"
    return dict(index.frame(sql, wanted).rows())


def _load_documents(index: Index, ids: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Path and text units, in order, of documents by id."""
    is_one, wanted = one_of("id", ids)
    rows = index.frame(f"select id, path, text_unit_ids from documents where {is_one}", wanted).rows()
    return {document: (path, units) for document, path, units in rows}


def _label_documents(index: Index, documents: Mapping[str, tuple[str, list[str]]]) -> dict[str, str]:
    """The label of each path, beside all documents of the same stem."""
    shown = [path for path, _ in documents.values()]
    alike = index.frame(
        "select path from documents where parse_filename(path, true) in (select unnest(?::varchar[]))",
        (sorted({PurePosixPath(path).stem for path in shown}),),
    )["path"].to_list()
    return label_documents([*alike, *shown])
