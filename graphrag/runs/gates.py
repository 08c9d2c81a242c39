"""The quality gates: why a run may not be published, in words.

A gate that holds a run keeps the old index live; the run is written all the same, for a look, and
`graphrag publish RUN_ID` overrides. Limits are shares, settings of the section [gates].

Does not: write or publish (run.py).
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from graphrag import store
from graphrag.index import extraction
from graphrag.settings import Gates
from graphrag.store import RunTables
from graphrag.tables import SUSPECT_SCORE

Frames = dict[str, pl.DataFrame]
FEW = 20
"""Fewer evidence rows or entities than this are too few for a share of them to mean anything."""
EVIDENCE_COLUMNS = ("relationship_id", "document_id", "start_char", "end_char")


def check_gates(frames: Frames, gates: Gates, published: RunTables | None) -> list[str]:
    """All that holds the run, one sentence each; empty when it may be published. `published`: what it would replace."""
    held = [f"integrity: {fault}" for fault in store.check_integrity(frames)]
    held += _check_files(frames, gates.failed_share)
    held += _check_text_units(frames, gates.failed_unit_share)
    held += _check_quotes(frames, gates.unverified_share)
    held += _check_duplicates(frames, gates.duplicate_share)
    if published is not None:
        held += _check_shrink(frames, published, gates.shrink_share)
    return held


def count_failed_text_units(failures: pl.DataFrame) -> int:
    """Text units of which a model said nothing that could be used: the next run asks them again."""
    return failures.filter(_is_failed_unit())["item_id"].n_unique()


def _check_files(frames: Frames, limit: float) -> list[str]:
    failures = frames["failures"]
    unread = _files(failures.filter(pl.col("stage") == "documents")["item_id"])
    files = unread | _files(frames["documents"]["path"])
    if len(unread) / max(len(files), 1) <= limit:
        return []
    return [
        f"{len(unread)} of {len(files)} files could not be read whole ({_reasons(failures)}), more than "
        "gates.failed_share allows"
    ]


def _check_text_units(frames: Frames, limit: float) -> list[str]:
    failures = frames["failures"]
    n_failed, n_units = count_failed_text_units(failures), frames["text_units"].height
    if n_failed / max(n_units, 1) <= limit:
        return []
    return [
        f"{n_failed} of {n_units} text units got no usable reply ({_reasons(failures.filter(_is_failed_unit()))}), "
        "more than gates.failed_unit_share allows"
    ]


def _check_quotes(frames: Frames, limit: float) -> list[str]:
    evidence = frames["evidence"]
    if frames["relationship_mentions"]["method"].eq(store.IMPORT).any():
        return []  # an import's quotes are whole text units, and its names are those of another tool
    n_unverified = evidence.filter(~pl.col("is_verified")).height
    if evidence.height < FEW or n_unverified / evidence.height <= limit:
        return []
    return [
        f"{n_unverified:,} of {evidence.height:,} quotes do not hold both names (evidence.is_verified), more than "
        "gates.unverified_share allows"
    ]


def _check_duplicates(frames: Frames, limit: float) -> list[str]:
    """Entities that may be another one under a second name: those of the view duplicate_suspects."""
    n_entities = frames["entities"].height
    open_pairs = frames["alias_candidates"].filter(pl.col("verdict") == "propose", pl.col("score") >= SUSPECT_SCORE)
    suspects = pl.concat([open_pairs["entity_id_a"], open_pairs["entity_id_b"]]).n_unique()
    if n_entities < FEW or suspects / n_entities <= limit:
        return []
    return [
        f"{suspects:,} of {n_entities:,} entities may be doubles (duplicate_suspects), more than gates.duplicate_share "
        "allows"
    ]


def _check_shrink(frames: Frames, published: RunTables, limit: float) -> list[str]:
    """Sentences of untouched documents that stated a relationship and state none any more.

    Counted by place, not by relationship: names that are merged or parted, and predicates that are read otherwise,
    lose nothing. Names that only share a sentence state nothing.
    """
    untouched = frames["documents"].join(
        published.frame("documents", ("id", "content_sha256")), on=["id", "content_sha256"], how="semi"
    )
    before = _stated_places(published.frame("evidence", EVIDENCE_COLUMNS), published.frame("relationships"))
    before = before.join(untouched, left_on="document_id", right_on="id", how="semi")
    after = _stated_places(frames["evidence"], frames["relationships"])
    lost = before.join(after, on=before.columns, how="anti").height
    if before.height < FEW or lost / before.height <= limit:
        return []
    return [
        f"{lost:,} of {before.height:,} sentences of unchanged documents state nothing any more, more than "
        "gates.shrink_share allows"
    ]


def _stated_places(evidence: pl.DataFrame, relationships: pl.DataFrame) -> pl.DataFrame:
    stated = relationships.filter(pl.col("origin") != "cooccurrence").select(relationship_id="id")
    return (
        evidence.join(stated, on="relationship_id", how="semi").select("document_id", "start_char", "end_char").unique()
    )


def _files(paths: pl.Series) -> set[str]:
    """Of paths of documents; records of one file have its path before #."""
    return {path.split("#")[0] for path in paths}


def _reasons(failures: pl.DataFrame) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in Counter(failures["reason"].to_list()).most_common())


def _is_failed_unit() -> pl.Expr:
    return (pl.col("stage") == extraction.STAGE) & pl.col("reason").is_in(extraction.UNIT_REASONS)
