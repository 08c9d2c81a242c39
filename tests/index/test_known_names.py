"""Declared names: which count, and what type they have where."""

from __future__ import annotations

import orjson
import polars as pl

from graphrag.index.known_names import collect_known_names, type_own_mentions
from graphrag.tables import ENTITY_MENTIONS


def notes(*rows: tuple[str, str, dict[str, object]]) -> pl.DataFrame:
    """documents with id, title, metadata."""
    columns = [{"id": i, "title": title, "metadata": orjson.dumps(fields).decode()} for i, title, fields in rows]
    return pl.DataFrame(columns)


def mention(document_id: str, surface: str, start: int) -> dict[str, object]:
    return {
        "id": f"{document_id}-{start}", "text_unit_id": f"u-{document_id}", "document_id": document_id,
        "surface": surface, "type": "unknown", "description": "", "start_char": start,
        "end_char": start + len(surface), "method": "spacy",
    }  # fmt: skip


def test_titles_and_aliases_are_names_with_their_type() -> None:
    documents = notes(
        ("d1", "token cache", {"type": "Component", "aliases": ["Token Store", 7]}),
        ("d2", "Kubernetes", {"aliases": "K8s"}),
        ("d3", "README", {}),
        ("d4", "How we came to run four databases and why we regret three", {}),
    )
    assert collect_known_names(documents, declared=["Postgres"]) == {
        "K8s": "unknown",
        "Kubernetes": "unknown",
        "Postgres": "unknown",
        "Token Store": "component",
        "token cache": "component",
    }


def test_notes_that_disagree_leave_the_type_open_elsewhere_and_keep_it_at_home() -> None:
    documents = notes(("s", "Mercury", {"type": "service"}), ("p", "Mercury", {"type": "place"}), ("o", "Other", {}))
    assert collect_known_names(documents)["Mercury"] == "unknown"
    mentions = ENTITY_MENTIONS.from_rows([mention(d, "Mercury", n) for n, d in enumerate("spo")])
    typed = type_own_mentions(mentions, documents)
    assert typed.select("document_id", "type", "method").rows() == [
        ("s", "service", "declared"), ("p", "place", "declared"), ("o", "unknown", "spacy"),
    ]  # fmt: skip


def test_a_model_s_own_word_for_a_note_gets_its_type_and_stays_unverified() -> None:
    documents = notes(("s", "Ana Kovač", {"type": "person"}))
    unverified = {**mention("s", "Ana Kovač", 0), "end_char": 40, "method": "llm_unverified"}
    typed = type_own_mentions(ENTITY_MENTIONS.from_rows([unverified]), documents)
    assert typed.select("type", "method").rows() == [("person", "llm_unverified")]
