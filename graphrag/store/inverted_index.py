"""The inverted index: which owner rows hold which search terms, as two plain SQL tables, ranked by BM25 in SQL.

    search_owners(owner_table, position, owner_id, n_terms)     one row an indexed row, position = its row in the table
    search_postings(owner_table, term, position, n)             one row a term of an owner, sorted by term

DuckDB 2.0.1 has no offline full-text extension; sorted postings and zone maps do what one would.
Ranking: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf of
Lucene, ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.

Reads: documents, text_units, entities, relationships, community_reports. Does not: open a database (database.py does).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import polars as pl

from graphrag.tokens import split_search_terms

K1, B = 1.2, 0.75  # the usual values of Robertson and Zaragoza 2009, section 3.4
BATCH = 5_000  # rows whose terms are held as lists at once; counted terms take a tenth of that
INDEXED = ("documents", "text_units", "entities", "relationships", "community_reports")
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

BM25_SQL = f"""
with hits as (
    select position, n, count(*) over (partition by term) as df
    from search_postings
    where owner_table = $owner_table and term in (select unnest($terms::varchar[]))),
stats as (
    select count(*) as n_owners, avg(n_terms) as mean_terms from search_owners where owner_table = $owner_table)
select o.owner_id, round(sum(
    ln(1 + (s.n_owners - h.df + 0.5) / (h.df + 0.5)) * h.n * {K1 + 1}
    / (h.n + {K1} * (1 - {B} + {B} * o.n_terms / s.mean_terms))), 9) as score
from hits h join search_owners o on o.owner_table = $owner_table and o.position = h.position cross join stats s
group by o.owner_id, o.position
order by score desc, o.position
limit $top
"""


def weigh_rarity(n_rows: int, n_holding: int) -> float:
    """idf of a term that so many of the rows hold, as in BM25_SQL."""
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


def build_postings(
    frames: Mapping[str, pl.DataFrame], *, split: Callable[[str], list[str]] = split_search_terms
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """For each indexed table: (search_owners rows in table order, search_postings rows by term and position)."""
    for name in INDEXED:
        owners, postings = [pl.DataFrame(schema=OWNERS_SCHEMA)], [pl.DataFrame(schema=POSTINGS_SCHEMA)]
        for start in range(0, frames[name].height, BATCH):
            rows = _split_rows(name, frames[name].slice(start, BATCH), start, split)
            owners.append(
                rows.with_columns(n_terms=pl.col("term").list.len().cast(pl.Int64)).select(list(OWNERS_SCHEMA))
            )
            counted = rows.explode("term").group_by("owner_table", "term", "position").agg(n=pl.len().cast(pl.Int64))
            postings.append(counted.drop_nulls("term").select(list(POSTINGS_SCHEMA)))
        yield pl.concat(owners), pl.concat(postings).sort("term", "position")


def _split_rows(name: str, frame: pl.DataFrame, start: int, split: Callable[[str], list[str]]) -> pl.DataFrame:
    terms = [split(text) for text in render_search_text(name, frame)]
    return pl.DataFrame(
        {
            "owner_table": pl.repeat(name, frame.height, dtype=pl.String, eager=True),
            "position": pl.int_range(start, start + frame.height, dtype=pl.Int64, eager=True),
            "owner_id": frame["id"],
            "term": pl.Series(terms, dtype=pl.List(pl.String)),
        }
    )
