"""Names that people declared: note titles, front matter aliases, the names in aliases.toml.

Reads documents. The extraction looks for these names in every text, so that a note "token cache" and the words
"token cache" in another note meet. Does not decide that two names mean the same thing: disambiguation does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import polars as pl

MAX_NAME_WORDS = 6
GENERIC_TITLES = frozenset(
    {"about", "changelog", "contents", "contributing", "faq", "glossary", "home", "index"}
    | {"introduction", "notes", "overview", "readme", "summary", "todo"}
)


def collect_known_names(documents: pl.DataFrame, *, declared: Sequence[str] = ()) -> dict[str, str]:
    """Declared surface -> its type (front matter `type`, else unknown), sorted by surface.

    documents needs title and metadata. Titles of more than six words and generic ones (README, Overview) are no names:
    nobody writes them in a sentence to mean the note.
    """
    names: dict[str, str] = dict.fromkeys(declared, "unknown")
    for title, metadata in documents.select("title", "metadata").iter_rows():
        fields = orjson.loads(metadata)
        kind = fields.get("type")
        entity_type = kind.strip().lower() if isinstance(kind, str) and kind.strip() else "unknown"
        for surface in [title, *_as_texts(fields.get("aliases", fields.get("alias")))]:
            if _is_name(surface):
                names[surface] = entity_type if names.get(surface, "unknown") == "unknown" else names[surface]
    return dict(sorted(names.items()))


def _as_texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value.strip()]
    return [item.strip() for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _is_name(surface: str) -> bool:
    words = surface.split()
    if not words or len(words) > MAX_NAME_WORDS or surface.casefold() in GENERIC_TITLES:
        return False
    return len(surface) > 1 and any(character.isalpha() for character in surface)
