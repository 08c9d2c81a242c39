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
from graphrag.search.support import narrow_quote

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
    is_one, wanted = one_of("v.relationship_id", ids)
    rows = index.frame(
        "select v.relationship_id, v.document_id, d.path, v.text_unit_id, v.start_char, v.end_char, v.quote, "
        "concat_ws(' ', r.source, r.target, r.description) as claim "
        "from evidence v left join documents d on d.id = v.document_id "
        f"left join relationships r on r.id = v.relationship_id where {is_one} order by all",
        wanted,
    ).rows()
    labels = _label_rows(index, {(str(row[1] or ""), str(row[2] or ""), row[3]) for row in rows})
    found: dict[str, list[Statement]] = {relationship: [] for relationship in ids}
    for relationship, document, path, unit, start, end, quote, claim in rows:
        said, first, last = narrow_quote(quote, start, claim) if path else (quote or "", start or 0, end or 0)
        found[relationship].append(Statement(labels.get((document, unit), AUTHORED), path or "", first, last, said))
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


def _label_rows(index: Index, places: set[tuple[str, str, str | None]]) -> Mapping[tuple[str, str | None], str]:
    """(document id, text unit id) -> label. A statement without a text unit has the label of its document."""
    documents = sorted({document for document, _, _ in places if document})
    stems = sorted({PurePosixPath(path).stem for _, path, _ in places if path})
    paths = index.frame(
        r"select path from documents where regexp_replace(regexp_extract(path, '[^/]+$'), '(.)\.[^.]*$', '\1') "
        "in (select unnest(?::varchar[]))",
        (stems,),
    )["path"].to_list()
    by_path = label_documents([*paths, *(path for _, path, _ in places if path)])
    units = index.frame(
        "select id, row_number() over (partition by document_id order by start_char, end_char, id) as n, "
        "count(*) over (partition by document_id) as n_units from text_units "
        "where document_id in (select unnest(?::varchar[]))",
        (documents,),
    ).rows()
    number = {unit: n for unit, n, n_units in units if n_units > 1}
    return {
        (document, unit): by_path[path] + (f"#{number[unit]}" if unit in number else "")
        for document, path, unit in places
        if path
    }
