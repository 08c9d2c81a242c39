"""Local search without its parts, one at a time: what each adds to the documents found and to what answers say.

    python -m tests.bench.bench_ablations ROOT QUESTIONS.jsonl [--sources]

A part is taken out by replacing its function or weight in the search rooms for the time of a measurement: the product
has no switches for it. With --sources no answers are composed, which takes most of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from graphrag.search import local_search, neighborhood, own_documents
from graphrag.search.evaluation import GoldQuestion, evaluate_search, read_questions
from graphrag.search.measures import bootstrap_interval
from graphrag.search.neighborhood import Ranks
from graphrag.settings_file import load_settings
from graphrag.store import Index, open_index

K = 5
fuse_passages, rank_neighborhood = local_search._fuse_passages, neighborhood.rank_neighborhood


def _fuse_what_there_is(lists: Sequence[Sequence[str]], **knobs: Any) -> dict[str, float]:
    """An empty list is no list: the next hop counts as one of those that are left."""
    return fuse_passages([ranked for ranked in lists if ranked], **knobs)


class _EqualShare(float):
    """A share that does not fall with the rank it is divided by, as in HippoRAG 2; of twenty it makes the same sum."""

    def __truediv__(self, rank: float) -> float:
        return float(self)


ABLATIONS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "no graph (no walk)": [
        (local_search, "rank_neighborhood", lambda *_: Ranks({}, {})),
        (local_search, "_fuse_passages", _fuse_what_there_is),
    ],
    "no relationships in the walk": [
        (
            local_search,
            "rank_neighborhood",
            lambda around, *rest: rank_neighborhood(around._replace(edges=[]), *rest),
        )
    ],
    "no fact seeds": [(local_search, "N_FACT_SEEDS", 0)],
    "no name seeds": [(local_search, "NAME_WEIGHT", 0.0)],
    "no passage seeds": [(local_search, "N_PASSAGE_SEEDS", 0)],
    "no hub rule": [(neighborhood, "_without_hubs", lambda index, ids, *, keep: list(ids))],
    "one hop": [(neighborhood, "MAX_HOPS", 1)],
    "no own documents": [(local_search, "rank_own_documents", lambda *_: [])],
    "no named documents": [(local_search, "find_named_documents", lambda *_: [])],
    "no graph, no own documents": [
        (local_search, "rank_neighborhood", lambda *_: Ranks({}, {})),
        (local_search, "_fuse_passages", _fuse_what_there_is),
        (local_search, "rank_own_documents", lambda *_: []),
    ],
}


VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "passage seeds of equal weight": [(neighborhood, "PASSAGE_SHARE", _EqualShare(0.018))],
    "own documents of the first passage": [(own_documents, "N_FOLLOWED", 1), (local_search, "N_FOLLOWED", 1)],
    "own documents of five passages": [(own_documents, "N_FOLLOWED", 5), (local_search, "N_FOLLOWED", 5)],
    "all own documents, not three": [(own_documents, "N_OWN_DOCUMENTS", 1_000)],
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """The search rooms without a part."""
    with ExitStack() as stack:
        for room, name, value in (ABLATIONS | VARIANTS)[part]:
            stack.enter_context(patch.object(room, name, value))
        yield


def remember_queries(index: Index) -> None:
    """The index is read-only: what was asked for one part is not asked again for the next. Only the time changes."""
    ask, memo = index.frame, dict[str, pl.DataFrame]()

    def frame(sql: str, params: Any = ()) -> pl.DataFrame:
        key = f"{sql}\0{params!r}"
        if key not in memo:
            memo[key] = ask(sql, params)
        return memo[key]

    patch.object(index, "frame", frame).start()


def measure_part(index: Index, asked: Sequence[GoldQuestion], part: str, *, sources: bool) -> pl.DataFrame:
    """Rows of measures.RESULT_SCHEMA of method local, in the order of the questions."""
    with without(part), ExitStack() as stack:
        if sources:
            stack.enter_context(patch.object(local_search, "_choose_relevant", lambda *_: ([], [])))
        return evaluate_search(index, asked, modes=["local"], baselines=[], k=K).results


def main(root: Path, questions: Path, *, sources: bool) -> None:
    settings, _ = load_settings(root)
    print(f"| local | recall@{K} | all-gold@{K} | difference in recall | better / worse | answer said |")
    print("|---|---:|---:|---|---:|---:|")
    with open_index(root / settings.output.dir) as index:
        remember_queries(index)
        asked = read_questions(questions, index)
        whole: pl.DataFrame | None = None
        for part in [*ABLATIONS, *VARIANTS]:
            results = measure_part(index, asked, part, sources=sources)
            whole = results if whole is None else whole
            difference = (results["recall"] - whole["recall"]).drop_nulls().to_numpy()
            low, high = bootstrap_interval(difference)
            means = results.select(pl.mean("recall", "all_gold", "said")).row(0)
            said = "" if sources else f"{means[2]:.3f}"
            print(f"| {part} | {means[0]:.3f} | {means[1]:.3f} | {difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] "
                  f"| {(difference > 0).sum()} / {(difference < 0).sum()} | {said} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sources="--sources" in sys.argv)
