"""An Obsidian vault: one note an entity, its relationships as links, with aliases, description and quotes.

A link stands once for each relationship, from the source's note; brackets in quotes and descriptions are written as
entities (&#91;), so that they open no further link. File names are titles without what file systems and Obsidian
forbid; of two that differ in case only, the second gets its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphrag.interop.cited_sentences import narrow_evidence
from graphrag.interop.selection import Selection

_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f]+')
MAX_NAME = 120  # characters; file systems take 255 bytes
MAX_QUOTES = 3  # a relationship


def write_vault(selection: Selection, folder: Path) -> list[str]:
    """TITLE.md for each entity."""
    names = _name_notes(selection)
    outgoing: dict[str, list[dict[str, Any]]] = {}
    for row in selection.relationships.iter_rows(named=True):
        outgoing.setdefault(row["source_id"], []).append(row)
    paths = dict(selection.documents.select("id", "path").iter_rows())
    quotes: dict[str, list[str]] = {}
    evidence = narrow_evidence(selection.evidence, selection.relationships)
    for relationship, quote, document in evidence.select("relationship_id", "quote", "document_id").iter_rows():
        said = f'"{_plain(quote)}" ({_plain(paths.get(document, ""))})'
        quotes.setdefault(relationship, []).append(said)
    for entity in selection.entities.iter_rows(named=True):
        lines = _render_note(entity, outgoing.get(entity["id"], []), names, quotes, selection.community_of)
        (folder / f"{names[entity['id']]}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"{name}.md" for name in names.values()]


def _name_notes(selection: Selection) -> dict[str, str]:
    names: dict[str, str] = {}
    taken: set[str] = set()
    for identity, title, number in selection.entities.select("id", "title", "human_readable_id").iter_rows():
        name = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")[:MAX_NAME].rstrip(". ") or f"entity {number}"
        name = f"{name} ({number})" if name.casefold() in taken else name
        taken.add(name.casefold())
        names[identity] = name
    return names


def _render_note(
    entity: Mapping[str, Any],
    relationships: list[dict[str, Any]],
    names: Mapping[str, str],
    quotes: Mapping[str, list[str]],
    community_of: Mapping[str, int],
) -> Iterator[str]:
    name = names[entity["id"]]
    aliases = [alias for alias in dict.fromkeys([entity["title"], *entity["aliases"]]) if alias != name]
    yield "---"
    yield f"type: {json.dumps(entity['type'], ensure_ascii=False)}"
    yield f"aliases: {json.dumps(aliases, ensure_ascii=False)}"
    yield f"graphrag_id: {json.dumps(entity['id'])}"
    if entity["id"] in community_of:
        yield f"community: {community_of[entity['id']]}"
    yield "---"
    yield from ("", f"# {_plain(entity['title'])}", "")
    if entity["description"]:
        yield from (_plain(entity["description"]), "")
    if relationships:
        yield from ("## Relationships", "")
    for row in relationships:
        target, title = names[row["target_id"]], _FORBIDDEN.sub(" ", row["target"])
        link = f"[[{target}]]" if target == row["target"] else f"[[{target}|{title}]]"
        yield f"- {row['predicate'].replace('_', ' ')} {link}"
        yield from (f"    - {quote}" for quote in quotes.get(row["id"], [])[:MAX_QUOTES])


def _plain(text: str) -> str:
    """One line that holds no markup of its own that could be a link."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line.replace("[", "&#91;").replace("<", "&lt;").replace("`", "'")
