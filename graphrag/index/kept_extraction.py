"""What the documents of last night gave without a model, kept in the memo: a night reads only what it must.

The names of a document follow from its text and from what the corpus shows of the words that were looked up for it
(nlp/corpus.Lexicon). Kept are, by document, its counts, what was looked up, and its rows; the counts of all of them
make the lexicon of last night. A document is read again where its text, title or text units are others, or where what
was looked up for it has another answer now. All else that decides is in the memo's key.

In the model's mode nothing hangs on the corpus: kept_records.py keeps rows of replies by their text alone.

A neighbour of nlp_extraction.py. Does not: read texts, or know the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars as pl

from graphrag.index.kept_frames import keep_frames, recall_frames
from graphrag.memo import Memo
from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.words import find_words
from graphrag.tables import ENTITY_MENTIONS, RELATIONSHIP_MENTIONS

MEMO_KIND = "extraction"
DOCUMENT = {"document_id": pl.String()}
SCHEMAS: dict[str, pl.Schema] = {
    "documents": pl.Schema(DOCUMENT | {"sha256": pl.String()}),
    "counts": pl.Schema(
        DOCUMENT | {"what": pl.String(), "fold": pl.String(), "type": pl.String(), "n": pl.Int64()},
    ),
    "asked": pl.Schema(DOCUMENT | {"asked": pl.String()}),
    "mentions": ENTITY_MENTIONS.schema,
    "relations": RELATIONSHIP_MENTIONS.schema,
    "definitions": pl.Schema(DOCUMENT | {"surface": pl.String(), "type": pl.String(), "n": pl.Int64()}),
    "places": pl.Schema(DOCUMENT | {"surface": pl.String(), "n": pl.Int64()}),
}


class Extracted(NamedTuple):
    """Frames by document (SCHEMAS). counts: of nlp/corpus.Counts; asked: keys of Lexicon.answers; mentions and
    relations: rows before types are settled; definitions, places: what nlp/evidence.settle_types is given."""

    documents: pl.DataFrame
    counts: pl.DataFrame
    asked: pl.DataFrame
    mentions: pl.DataFrame
    relations: pl.DataFrame
    definitions: pl.DataFrame
    places: pl.DataFrame

    def select(self, document_ids: pl.Series) -> Extracted:
        """Those of some documents."""
        chosen = pl.DataFrame({"document_id": document_ids}, schema=DOCUMENT)
        return Extracted(*(frame.join(chosen, on="document_id", how="semi", maintain_order="left") for frame in self))

    def without(self, document_ids: pl.Series) -> Extracted:
        dropped = pl.DataFrame({"document_id": document_ids}, schema=DOCUMENT)
        return Extracted(*(frame.join(dropped, on="document_id", how="anti", maintain_order="left") for frame in self))

    def join(self, other: Extracted) -> Extracted:
        return Extracted(*(pl.concat(pair) for pair in zip(self, other, strict=True)))


NOTHING = Extracted(**{name: pl.DataFrame(schema=schema) for name, schema in SCHEMAS.items()})


def recall_extraction(memo: Memo | None, key: str) -> tuple[Extracted, dict[str, str]]:
    """What the night before left, and the names that were declared then; nothing where it was made under another key.

    `key`: of all that decides on rows beside the documents.
    """
    frames, declared = recall_frames(memo, MEMO_KIND, key)
    return (Extracted(**frames), declared) if frames else (NOTHING, {})


def keep_extraction(memo: Memo | None, key: str, extracted: Extracted, declared: Mapping[str, str]) -> None:
    keep_frames(memo, MEMO_KIND, key, extracted._asdict(), declared)


def sum_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """what, fold, type, n over all documents."""
    return counts.group_by("what", "fold", "type").agg(pl.col("n").sum())


def list_other_folds(before: pl.DataFrame, now: pl.DataFrame) -> set[str]:
    """Folds whose sums differ."""
    both = before.join(now, on=["what", "fold", "type"], how="full", suffix="_now", coalesce=True)
    return set(both.filter(pl.col("n").ne_missing(pl.col("n_now")))["fold"])


def list_other_names(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Folds of what is declared in one of both only, or with another type, and of its first word."""
    surfaces = [surface for surface in before.keys() | now.keys() if before.get(surface) != now.get(surface)]
    words = [[word.fold for word in find_words(surface)] for surface in surfaces]
    return {fold for folds in words if folds for fold in (folds[0], " ".join(folds))}


def find_stale(extracted: Extracted, before: Lexicon, now: Lexicon, folds: Iterable[str]) -> pl.Series:
    """Ids of the documents for which something was asked of these folds that is answered in another way now; all where
    the corpus has become technical, or ceased to be."""
    if before.is_technical != now.is_technical:
        return extracted.documents["document_id"]
    other = [
        asked
        for fold in folds
        for (asked, then), answer in zip(before.answers(fold).items(), now.answers(fold).values(), strict=True)
        if answer != then
    ]
    is_other = pl.DataFrame({"asked": other}, schema={"asked": pl.String})
    return extracted.asked.join(is_other, on="asked", how="semi")["document_id"].unique()
