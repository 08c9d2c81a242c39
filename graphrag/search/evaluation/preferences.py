"""What a judge said, summed up: means of scores, which method it prefers, and how far its word can be trusted.

A preference counts when the judge holds to it in both orders; where the orders disagree, it is a tie. Verdicts that
always favour the answer shown first say nothing about answers: `measure_position` counts them, and a sign test says
whether that is chance. A method against its own second run (`basic again`) shows what the judge decides where nothing
differs. Judges that are models have such a bias: Zheng et al., "Judging LLM-as-a-Judge", 2023.

Pure: frames in (judging.SCORE_SCHEMA, VERDICT_SCHEMA), frames out. Does not: ask anything (judging.py).
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import polars as pl

from graphrag.replies.objects import FIRST, SECOND, TIE
from graphrag.search.evaluation.judging import SCORES, Judged
from graphrag.search.evaluation.measures import bootstrap_interval, compare_methods

CHANCE = 0.05


class Position(NamedTuple):
    """Verdicts that name a better answer and those of them that name the first; pairs of answers for which both orders
    name the first, or both the second; and the probability that these two are as far apart if the judge did not mind
    the place (two-sided sign test over pairs)."""

    n_decided: int
    n_first: int
    n_both_first: int
    n_both_second: int
    probability: float

    @property
    def is_biased(self) -> bool:
        return self.probability < CHANCE


class Judgement(NamedTuple):
    """scores: one row a method; differences: each method's scores against those of `reference`, the first method, as in
    measures.compare_methods; preferences: one row a method, compared with the first."""

    scores: pl.DataFrame
    reference: str
    differences: pl.DataFrame
    preferences: pl.DataFrame
    position: Position


def sum_up(judged: Judged) -> Judgement:
    """Same input, same figures."""
    reference = str(judged.verdicts["against"].first() or "")
    return Judgement(
        summarise_scores(judged.scores),
        reference,
        compare_methods(judged.scores.drop_nulls(SCORES), reference, measures=SCORES),
        summarise_preferences(judged.verdicts),
        measure_position(judged.verdicts),
    )


def summarise_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """One row a method, in the order of their first: judged (answers with scores), unread, and the mean scores."""
    return scores.group_by("method", maintain_order=True).agg(
        pl.col(SCORES[0]).count().cast(pl.Int64).alias("judged"),
        pl.col(SCORES[0]).null_count().cast(pl.Int64).alias("unread"),
        pl.mean(*SCORES),
    )


def summarise_preferences(verdicts: pl.DataFrame) -> pl.DataFrame:
    """One row a method and what it is compared with: wins, ties, losses (questions with two readable verdicts),
    contradicted (of the ties: the orders name different answers), unread (questions), and the mean of +1, 0, -1 with
    its 95 % interval (difference, low, high; null without a readable question)."""
    schema = {
        "method": pl.String(), "against": pl.String(),
        **dict.fromkeys(("wins", "ties", "losses", "contradicted", "unread"), pl.Int64()),
        **dict.fromkeys(("difference", "low", "high"), pl.Float64()),
    }  # fmt: skip
    rows = []
    for (method, against), pair in _decide(verdicts).group_by("method", "against", maintain_order=True):
        outcome = pair["outcome"].drop_nulls().cast(pl.Float64).to_numpy()
        low, high = bootstrap_interval(outcome) if len(outcome) else (None, None)
        rows.append({
            "method": method, "against": against,
            "wins": int((outcome > 0).sum()), "ties": int((outcome == 0).sum()), "losses": int((outcome < 0).sum()),
            "contradicted": int(pair["is_contradicted"].sum()), "unread": pair["outcome"].null_count(),
            "difference": float(outcome.mean()) if len(outcome) else None, "low": low, "high": high,
        })  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _decide(verdicts: pl.DataFrame) -> pl.DataFrame:
    """A row a pair of answers: outcome +1 where both orders prefer the method, -1 where both prefer the other, else 0;
    null where one of them could not be read."""
    is_first = pl.col("first") == pl.col("method")
    named = verdicts.with_columns(
        pl.when(pl.col("better") == TIE).then(0).when((pl.col("better") == FIRST) == is_first).then(1).otherwise(-1)
        .alias("preferred")
    )  # fmt: skip
    named = named.with_columns(pl.when(pl.col("better").is_not_null()).then("preferred").alias("preferred"))
    return named.group_by("method", "against", "question_id", maintain_order=True).agg(
        pl.when(pl.col("preferred").null_count() == 0)
        .then(pl.col("preferred").sum().truediv(2).cast(pl.Int64))
        .alias("outcome"),
        ((pl.col("preferred") == 1).any() & (pl.col("preferred") == -1).any()).alias("is_contradicted"),
    )


def measure_position(verdicts: pl.DataFrame) -> Position:
    decided = verdicts["better"].drop_nulls().filter(verdicts["better"].drop_nulls() != TIE)
    pairs = verdicts.group_by("method", "against", "question_id").agg(
        (pl.col("better").eq_missing(FIRST)).all().alias("first"),
        (pl.col("better").eq_missing(SECOND)).all().alias("second"),
    )
    n_first, n_second = int(pairs["first"].sum()), int(pairs["second"].sum())
    n, rarer = n_first + n_second, min(n_first, n_second)
    probability = min(1.0, 2 * sum(comb(n, i) for i in range(rarer + 1)) / 2**n)
    return Position(len(decided), int((decided == FIRST).sum()), n_first, n_second, probability)
