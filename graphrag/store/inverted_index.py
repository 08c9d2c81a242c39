"""The inverted index: which owner rows hold which search terms, as two plain SQL tables, ranked by BM25.

    search_owners(owner_table, position, owner_id, n_terms)     one row an indexed row, position = its row in the table
    search_postings(owner_table, term, position, n)             one row a term of an owner, sorted by term

Co-occurrences are not indexed, as they are not embedded: their positions are missing.

DuckDB 2.0.1 has no offline full-text extension; sorted postings and zone maps do what one would.
Ranking: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of
Lucene, ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.

Rows whose text the last run had too keep its postings: words are cut in what is new.

Reads: documents, text_units, entities, relationships, community_reports. Does not: open a database (database.py does).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from graphrag.tokens import split_search_terms

K1, B = 1.2, 0.75  # the usual values of Robertson and Zaragoza 2009, section 3.4
BATCH = 5_000  # rows whose terms are held as lists at once; counted terms take a tenth of that
INDEXED = {
    "documents": ("title",),
    "text_units": ("text",),
    "entities": ("title", "aliases", "description"),
    "relationships": ("source", "predicate", "target", "description"),
    "community_reports": ("title", "full_content"),
}
"""By table, the columns whose words are looked for."""
OWNERS_SCHEMA = pl.Schema(
    {"owner_table": pl.String(), "position": pl.Int64(), "owner_id": pl.String(), "n_terms": pl.Int64()}
)
POSTINGS_SCHEMA = pl.Schema({"owner_table": pl.String(), "term": pl.String(), "position": pl.Int64(), "n": pl.Int64()})

COMMENTS = {
    "search_owners": "Inverted index: one row a row that can be found by words. Used by search; see also search_bm25.",
    "search_owners.owner_table": "documents, text_units, entities, relationships or community_reports.",
    "search_owners.position": "Number of the row in its table, from 0.",
    "search_owners.owner_id": "id of the row.",
    "search_owners.n_terms": "Number of terms in its text.",
    "search_postings": "Inverted index: one row a term of a row.",
    "search_postings.owner_table": "Table of the row.",
    "search_postings.term": "Folded word, part of a code identifier, or pair of CJK characters.",
    "search_postings.position": "Number of the row in its table, from 0.",
    "search_postings.n": "How often the term stands in the row's text.",
}

OWNERS_SQL = """
select position, owner_id from search_owners
semi join (select unnest($positions::bigint[]) as position) using (position) where owner_table = $owner_table
"""
POSTINGS_SQL = """
select list_position($terms::varchar[], term) as term, position, n
from search_postings where owner_table = $owner_table and term in (select unnest($terms::varchar[]))
"""


def list_lengths(owner_table: str) -> str:
    """SQL for the rows of an indexed table; of an index cut to some documents, positions are missing."""
    return f"select position, n_terms from search_owners where owner_table = '{owner_table}'"


def score_bm25(postings: pl.DataFrame, owners: pl.DataFrame, *, top: int) -> pl.DataFrame:
    """Columns position, score: the `top` rows by BM25, equal scores in table order.

    postings: rows of POSTINGS_SQL; owners: rows of list_lengths.
    """
    terms, positions, n = (postings[name].to_numpy() for name in ("term", "position", "n"))
    if (np.diff(terms) < 0).any():  # sums of floats must not depend on the order of rows
        order = np.argsort(terms, kind="stable")
        terms, positions, n = terms[order], positions[order], n[order]
    if not owners["position"].is_sorted():
        owners = owners.sort("position")
    known, lengths = owners["position"].to_numpy(), owners["n_terms"].to_numpy()
    is_whole = owners.height > 0 and known[-1] == owners.height - 1
    places = positions if is_whole else np.searchsorted(known, positions)
    df = np.bincount(terms) if len(terms) else terms
    idf = np.log(1 + (owners.height - df + 0.5) / (df + 0.5))[terms]
    mean = lengths.mean() if owners.height else 1.0
    weights = idf * n * (K1 + 1) / (n + K1 * (1 - B + B * lengths[places] / mean))
    sums = np.bincount(places, weights=weights, minlength=owners.height)
    found = np.flatnonzero(sums)
    scores = np.round(sums[found], 9)
    if len(found) > top:
        is_best = scores >= np.partition(scores, -top)[-top]
        found, scores = found[is_best], scores[is_best]
    best = np.lexsort((found, -scores))[:top]
    return pl.DataFrame({"position": known[found[best]], "score": pl.Series(scores[best], dtype=pl.Float64)})


def count_holding(postings: pl.DataFrame, terms: Sequence[str]) -> dict[str, int]:
    """How many rows hold each of the terms that POSTINGS_SQL was given; 0 for a term that none holds."""
    counts = np.bincount(postings["term"].to_numpy(), minlength=len(terms) + 1)
    return dict(zip(terms, counts[1:].tolist(), strict=True))


def weigh_rarity(n_rows: int, n_holding: int) -> float:
    """idf of a term that so many of the rows hold, as in score_bm25."""
    return math.log(1 + (n_rows - n_holding + 0.5) / (n_holding + 0.5))


def render_search_text(owner_table: str, frame: pl.DataFrame) -> list[str]:
    """The text of each row of an indexed table that search terms are taken from, in row order."""
    join = pl.concat_str
    text = {
        "documents": lambda: pl.col("title"),
        "text_units": lambda: pl.col("text"),
        "entities": lambda: join("title", pl.col("aliases").list.join("\n"), "description", separator="\n"),
        "relationships": lambda: join(
            "source", pl.col("predicate").str.replace_all("_", " ", literal=True), "target", "description",
            separator="\n",
        ),
        "community_reports": lambda: join("title", "full_content", separator="\n"),
    }[owner_table]()  # fmt: skip
    return frame.select(text.fill_null("").alias("text"))["text"].to_list()


class Indexed(NamedTuple):
    """An indexed table as it was: `rows` (position, owner_id, n_terms, text), `postings` (term, position, n)."""

    rows: pl.DataFrame
    postings: pl.DataFrame


def build_postings(
    frames: Mapping[str, pl.DataFrame],
    *,
    split: Callable[[str], list[str]] = split_search_terms,
    read_last: Callable[[str], Indexed | None] = lambda _: None,
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """For each indexed table: (search_owners rows in table order, search_postings rows by term and position).

    read_last: by name, a table of which an earlier run cut the words in the same way; None where there is none.
    """
    for name in INDEXED:
        rows = list_texts(name, frames[name])
        owners, postings = [pl.DataFrame(schema=OWNERS_SCHEMA)], [pl.DataFrame(schema=POSTINGS_SCHEMA)]
        if (last := read_last(name)) is not None:
            same = rows.join(last.rows.rename({"position": "last"}), on=["owner_id", "text"])
            kept = last.postings.rename({"position": "last"}).join(same.select("last", "position"), on="last")
            owners.append(_label(name, same).select(list(OWNERS_SCHEMA)))
            postings.append(_label(name, kept).select(list(POSTINGS_SCHEMA)))
            rows = rows.join(same, on="position", how="anti")
        for batch in rows.iter_slices(BATCH):
            terms = pl.Series("term", [split(text) for text in batch["text"]], dtype=pl.List(pl.String))
            cut = _label(name, batch.drop("text").with_columns(terms))
            owners.append(
                cut.with_columns(n_terms=pl.col("term").list.len().cast(pl.Int64)).select(list(OWNERS_SCHEMA))
            )
            counted = cut.explode("term").group_by("owner_table", "term", "position").agg(n=pl.len().cast(pl.Int64))
            postings.append(counted.drop_nulls("term").select(list(POSTINGS_SCHEMA)))
        yield pl.concat(owners).sort("position"), pl.concat(postings).sort("term", "position")


def list_columns(owner_table: str) -> list[str]:
    """The columns that list_texts reads."""
    return ["id", *INDEXED[owner_table], *(["origin"] if owner_table == "relationships" else [])]


def list_texts(owner_table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """position, owner_id and text of each row of an indexed table. A co-occurrence is no row to be found: it says no
    more than its names, and would stand before what is stated of them."""
    frame = frame.select(list_columns(owner_table)).with_row_index("position").cast({"position": pl.Int64})
    if owner_table == "relationships":
        frame = frame.filter(pl.col("origin") != "cooccurrence")
    texts = pl.Series(render_search_text(owner_table, frame), dtype=pl.String)
    return pl.DataFrame({"position": frame["position"], "owner_id": frame["id"], "text": texts})


def _label(owner_table: str, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(owner_table=pl.lit(owner_table))
