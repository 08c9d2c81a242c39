"""How good search is, from one row a question and method: what a method reaches, and whether a
difference is more than chance.

Recall@k is the share of a question's gold documents among the first k; all-gold@k counts the questions of which none is
missing, which is what a question of two hops needs. A difference is of paired questions, with a bootstrap interval
(Efron and Tibshirani, "An Introduction to the Bootstrap", 1993; percentiles): one that holds 0 says nothing.

Pure: frames in, frames out. Does not: search (evaluation.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from graphrag.citations import drop_citations
from graphrag.search.answer import Answer, drop_label

N_RESAMPLES, SEED = 5_000, 42
INTERVAL = (2.5, 97.5)  # percent
RESULT_SCHEMA: Mapping[str, pl.DataType] = {
    "method": pl.String(),
    "question_id": pl.String(),
    "recall": pl.Float64(),  # null without gold documents
    "all_gold": pl.Float64(),  # 0 or 1; null without gold documents
    "answered": pl.Float64(),  # 0 or 1; null for a baseline, as are the next four
    "said": pl.Float64(),  # share of the answers that the text holds; null without answers
    "n_citations": pl.Int64(),
    "n_valid": pl.Int64(),
    "context_tokens": pl.Int64(),
    "seconds": pl.Float64(),
    "documents": pl.List(pl.String()),  # ids of the first k
}


def measure_documents(found: Sequence[str], gold: Sequence[str]) -> dict[str, float | None]:
    """recall and all_gold of the found documents; None without gold."""
    if not gold:
        return {"recall": None, "all_gold": None}
    share = len(set(found) & set(gold)) / len(set(gold))
    return {"recall": share, "all_gold": float(share == 1)}


def measure_said(answer: Answer, answers: Sequence[Sequence[str]]) -> float | None:
    """measure_held of the text; its label and citations are no part of what is said, and of an unanswered question
    nothing is."""
    return measure_held(drop_citations(drop_label(answer.text)) if answer.answered else "", answers)


def measure_held(text: str, answers: Sequence[Sequence[str]]) -> float | None:
    """Share of the answers that stand in a text as whole words, case aside; an answer is one or more spellings. None
    without answers."""
    if not answers:
        return None
    folded = _fold(text)
    held = [any(re.search(rf"(?<!\w){re.escape(_fold(s))}(?!\w)", folded) for s in spellings) for spellings in answers]
    return sum(held) / len(held)


def count_valid(answer: Answer, texts: Mapping[str, str]) -> int:
    """Citations whose quote is, to the letter, what their document (text by id) holds at their offsets."""
    return sum(bool(c.quote) and texts.get(c.document, "")[c.start : c.end] == c.quote for c in answer.citations)


def summarise_methods(results: pl.DataFrame) -> pl.DataFrame:
    """One row a method, in the order of their first result: means over the questions that have the measure; of the
    citations of all questions the share that is valid; medians of context tokens and seconds."""
    return results.group_by("method", maintain_order=True).agg(
        pl.len().alias("questions"),
        pl.mean("recall", "all_gold", "answered", "said"),
        pl.sum("n_citations"),
        pl.when(pl.sum("n_citations") > 0).then(pl.sum("n_valid") / pl.sum("n_citations")).alias("valid_citations"),
        pl.median("context_tokens", "seconds"),
    )


def choose_baseline(summary: pl.DataFrame, baselines: Sequence[str]) -> str:
    """The baseline with the best recall, then all-gold, then the first; empty when none has any."""
    rows = summary.filter(pl.col("method").is_in(list(baselines)) & pl.col("recall").is_not_null())
    best = max(rows.iter_rows(named=True), key=lambda row: (row["recall"], row["all_gold"]), default=None)
    return str(best["method"]) if best else ""


def compare_methods(
    results: pl.DataFrame, baseline: str, *, measures: Sequence[str] = ("recall", "all_gold")
) -> pl.DataFrame:
    """Each other method against the baseline, over the questions for which both have all measures: columns method,
    measure, difference, low, high (95 % interval of the mean difference), wins, losses (questions). Same input, same
    figures."""
    rows = []
    others = [m for m in results["method"].unique(maintain_order=True) if m != baseline]
    for method in others:
        pairs = _pair(results, method, baseline, measures)
        for measure in measures:
            difference = (pairs[measure] - pairs[f"{measure}_baseline"]).cast(pl.Float64).to_numpy()
            if len(difference):
                low, high = bootstrap_interval(difference)
                wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
                rows.append((method, measure, float(difference.mean()), low, high, wins, losses))
    schema = {"method": pl.String(), "measure": pl.String()} | dict.fromkeys(
        ("difference", "low", "high"), pl.Float64()
    )
    return pl.DataFrame(rows, schema=schema | {"wins": pl.Int64(), "losses": pl.Int64()}, orient="row")


def bootstrap_interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % percentile interval of the mean of paired differences, from N_RESAMPLES seeded resamples of them.

    A resample is how often each value is drawn: the same distribution as drawing the questions one by one.
    """
    values, counts = np.unique(differences, return_counts=True)
    n = len(differences)
    drawn = np.random.default_rng(SEED).multinomial(n, counts / n, size=N_RESAMPLES)
    low, high = np.percentile(drawn @ values / n, INTERVAL)
    return round(float(low), 6), round(float(high), 6)


def _pair(results: pl.DataFrame, method: str, baseline: str, measures: Sequence[str]) -> pl.DataFrame:
    columns = ["question_id", *measures]
    ours, theirs = (results.filter(pl.col("method") == name).select(columns) for name in (method, baseline))
    return ours.join(theirs, on="question_id", suffix="_baseline", maintain_order="left").drop_nulls()


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
