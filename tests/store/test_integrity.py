"""Every kind of fault is found and told in words; a sound run has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from graphrag.store.integrity import FOREIGN_KEYS, check_integrity
from graphrag.store.ledger import number_rows
from graphrag.tables import TABLES

Frames = dict[str, pl.DataFrame]
Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture(scope="module")
def sound(frames: Frames) -> Frames:
    return number_rows(frames, Path("absent"))


def set_first(column: str, value: object) -> Change:
    """The frame with one cell of its first row replaced."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[column].to_list()
        return frame.with_columns(pl.Series(column, [value, *values[1:]], dtype=frame.schema[column]))

    return change


def test_a_sound_run_has_no_faults(sound: Frames) -> None:
    assert check_integrity(sound) == []
    assert check_integrity({}) == []


FAULTS: list[tuple[str, Change, str]] = [
    ("documents", lambda f: f.head(1), "text_units.document_id: no such row in documents.id"),
    ("entities", lambda f: pl.concat([f, f.head(1)]), "entities: repeated key id"),
    ("entities", set_first("title", "Redis"), "entities: shared title"),
    ("entities", set_first("human_readable_id", 7), ""),
    ("entities", set_first("degree", 3), "entities.degree: not the number of distinct neighbours"),
    ("entities", set_first("frequency", 3), "entities.frequency: not the number"),
    ("entities", lambda f: f.tail(3), "communities.entity_ids: no such row in entities.id"),
    ("relationships", set_first("source", "auth service"), "relationships.source: not the title of source_id"),
    ("relationships", set_first("target", "Billing"), "relationships.target: not the title"),
    ("relationships", set_first("weight", 3.0), "relationships.weight: not the number of distinct text units"),
    ("relationships", set_first("n_documents", 1), "relationships.n_documents: not the number"),
    ("relationships", set_first("combined_degree", 5), "relationships.combined_degree: not the sum"),
    ("relationships", set_first("text_unit_ids", ["x"]), "relationships.text_unit_ids: no such row in"),
    ("evidence", lambda f: f.head(2), "relationships: without evidence"),
    ("evidence", set_first("start_char", -1), "evidence: offsets outside the document"),
    ("evidence", set_first("end_char", 9999), "evidence: offsets outside the document"),
    ("evidence", set_first("start_char", 9), "evidence.quote: not the slice of documents.text"),
    ("evidence", set_first("quote", "The Auth Service depends on Redis."), "evidence.quote: not the slice"),
    ("entity_mentions", set_first("surface", "Auth  Service"), "entity_mentions.surface: not the slice"),
    ("entity_mentions", set_first("entity_id", "x"), "entity_mentions.entity_id: no such row in"),
    ("text_units", set_first("end_char", 5), "text_units.text: not the slice"),
    ("text_units", set_first("entity_ids", ["x"]), "text_units.entity_ids: no such row in entities.id"),
    ("documents", set_first("text_unit_ids", []), "text_units: not in text_unit_ids of their document"),
    ("communities", set_first("size", 9), "communities.size: not the number of entity_ids"),
    ("communities", set_first("children", [1]), "communities: not in children of their parent"),
    ("communities", set_first("children", [1, 2, 9]), "communities.children: no such row in"),
    ("communities", lambda f: f.with_columns(parent=pl.lit(-1)), "communities: a child whose parent is another"),
    ("communities", lambda f: f.with_columns(level=pl.lit(0)), "communities.level: not one below their parent's"),
    ("communities", lambda f: f.tail(2), "entities: in no community of level 0"),
    ("communities", lambda f: f.with_columns(entity_ids=f["entity_ids"].list.head(1)),
     "communities.relationship_ids: "),
    ("communities", lambda f: pl.concat([f.head(2), f.tail(1).with_columns(entity_ids=f["entity_ids"][1:2])]),
     "communities.entity_ids: in two communities of one level"),
    ("communities", lambda f: f.head(2).with_columns(children=pl.Series([[1], []], dtype=pl.List(pl.Int64))),
     "communities.entity_ids: in no child of a community that has children"),
    ("community_reports", set_first("size", 9), "community_reports.size: not their community's"),
    ("community_reports", set_first("community", 9), "community_reports.community: no such row in"),
    ("embeddings", set_first("owner_id", "x"), "embeddings.owner_id: no such row in entities"),
    ("aliases", set_first("entity_id", "x"), "aliases.entity_id: no such row in entities.id"),
    ("alias_candidates", set_first("entity_id_b", "x"), "alias_candidates.entity_id_b: no such row"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "change", "fault"), FAULTS)
def test_each_fault_is_told(sound: Frames, table: str, change: Change, fault: str) -> None:
    faults = check_integrity({**sound, table: change(sound[table])})
    if fault:
        assert any(told.startswith(fault) for told in faults), faults
    else:
        assert faults == []


def test_evidence_without_text_unit_counts_as_one(sound: Frames) -> None:
    evidence = sound["evidence"].with_columns(
        text_unit_id=pl.when(pl.col("subject_surface") == "Billing").then(None).otherwise(pl.col("text_unit_id"))
    )
    assert check_integrity({**sound, "evidence": evidence}) == []


def test_every_id_column_is_a_foreign_key() -> None:
    free = {"failures", "llm_calls", "runs", "run_changes", "relationship_events", "embeddings"}
    own = {"relationships.covariate_ids", "covariates.object_id", "embeddings.owner_id"}
    named = {
        f"{table.name}.{column.name}"
        for table in TABLES.values()
        if table.name not in free
        for column in table.columns
        if column.name.endswith(("_id", "_ids", "_id_a", "_id_b")) and column.name != "human_readable_id"
    }
    assert named - own <= set(FOREIGN_KEYS)
