"""Names that people declared: note titles, front matter aliases, the names in aliases.toml.

Reads documents. The extraction looks for these names in every text, so that a note "token cache" and the words
"token cache" in another note meet. Does not decide that two names mean the same thing: disambiguation does.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
import polars as pl

from graphrag.index.placed_records import LLM_UNVERIFIED
from graphrag.names import name_key
from graphrag.naming.declared_aliases import GENERIC_TITLES, declared_aliases, read_type
from graphrag.tables import ENTITY_MENTIONS

MAX_NAME_WORDS = 6


def collect_known_names(documents: pl.DataFrame, *, declared: Sequence[str] = ()) -> dict[str, str]:
    """Declared surface -> its type (front matter `type`; unknown where notes disagree or none says), by surface.

    documents needs title and metadata. Titles of more than six words and generic ones (README, Overview) are no names:
    nobody writes them in a sentence to mean the note.
    """
    types: dict[str, set[str]] = {name: set() for name in declared}
    for title, metadata in documents.select("title", "metadata").iter_rows():
        entity_type, surfaces = _read_declaration(title, metadata)
        for surface in surfaces:
            types.setdefault(surface, set()).update({entity_type} - {"unknown"})
    return {surface: min(found) if len(found) == 1 else "unknown" for surface, found in sorted(types.items())}


def type_own_mentions(entity_mentions: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Mentions of a note's own name inside the note get the note's type, method declared.

    A name that a model gave for something in a sentence stays llm_unverified: it stands nowhere in the note's text.
    This tells two notes "Mercury" apart, one of type service, one of type place, where elsewhere the name says nothing.
    """
    rows = [
        {"document_id": document_id, "surface": surface, "own_type": entity_type}
        for document_id, title, metadata in documents.select("id", "title", "metadata").iter_rows()
        for entity_type, surfaces in [_read_declaration(title, metadata)]
        for surface in dict.fromkeys(surfaces)
        if entity_type != "unknown"
    ]
    own = pl.DataFrame(rows, schema={"document_id": pl.String, "surface": pl.String, "own_type": pl.String})
    joined = entity_mentions.join(own, on=["document_id", "surface"], how="left", maintain_order="left")
    is_own = pl.col("own_type").is_not_null()
    typed = joined.with_columns(
        type=pl.coalesce("own_type", "type"),
        method=pl.when(is_own & (pl.col("method") != LLM_UNVERIFIED)).then(pl.lit("declared")).otherwise("method"),
    )
    return ENTITY_MENTIONS.conform(typed.drop("own_type"))


def _read_declaration(title: str, metadata: str) -> tuple[str, list[str]]:
    """(type or unknown, names that a note declares)."""
    fields = orjson.loads(metadata)
    surfaces = [title, *declared_aliases(fields)]
    return read_type(fields) or "unknown", [surface for surface in surfaces if _is_name(surface)]


def _is_name(surface: str) -> bool:
    words = surface.split()
    if not words or len(words) > MAX_NAME_WORDS or name_key(surface) in GENERIC_TITLES:
        return False
    return len(surface) > 1 and any(character.isalpha() for character in surface)
