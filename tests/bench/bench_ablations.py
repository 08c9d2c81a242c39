"""Local search without its parts, one at a time: what each adds to the documents found and to what answers say.

    python -m tests.bench.bench_ablations ROOT QUESTIONS.jsonl [--sources]

A part is taken out by replacing its function or weight in the search rooms for the time of a measurement: the product
has no switches for it. With --sources no answers are composed, which takes most of the time.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from graphrag.search import local_search, next_hops
from graphrag.search.evaluation.evaluation import GoldQuestion, evaluate_search, read_questions
from graphrag.search.evaluation.measures import bootstrap_interval
from graphrag.search.facts import rank_facts
from graphrag.search.next_hops import NextHops
from graphrag.settings_file import load_settings
from graphrag.store import Index, open_index

K = 5
load_statements = next_hops._load_statements


def _load_sentences(*asked: Any) -> dict[str, list[Any]]:
    """Statements without those of relationships: the ones whose text is a piece of the passage."""
    units = asked[2]
    found = load_statements(*asked)
    return defaultdict(list, {unit: [s for s in said if s.text in units[unit].text] for unit, said in found.items()})


def _load_stated(*asked: Any) -> dict[str, list[Any]]:
    """Statements of relationships only."""
    units = asked[2]
    found = load_statements(*asked)
    return defaultdict(
        list, {unit: [s for s in said if s.text not in units[unit].text] for unit, said in found.items()}
    )


ABLATIONS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "no graph (no facts, no next hops)": [
        (local_search, "_find_facts", lambda *_: ([], {})),
        (local_search, "rank_next_hops", lambda *_: NextHops([], [])),
    ],
    "no next hops": [(local_search, "rank_next_hops", lambda *_: NextHops([], []))],
    "two hops, not three": [(next_hops, "MAX_HOPS", 2)],
    "no facts in the next hops": [(next_hops, "_load_statements", _load_sentences)],
    "facts alone in the next hops": [(next_hops, "_load_statements", _load_stated)],
    "no likeness in the next hops": [(next_hops, "NEARNESS", 0.0)],
    "no documents about an entity": [(next_hops, "_list_own_units", lambda *_: {})],
    "no cost of a common entity": [(next_hops, "UNITS_COST", 0.0)],
    "no cost of a hop": [(next_hops, "HOP_COST", 0.0)],
    "no named documents": [(local_search, "find_named_documents", lambda *_: [])],
    "no facts that are like the question": [
        (local_search, "rank_facts", lambda around, seeds, hits, like: rank_facts(around, seeds, {}, []))
    ],
    "no facts around what is named or led over": [(local_search, "expand_neighborhood", lambda *_: {})],
}


VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "next hops of the first passage": [(next_hops, "N_STARTS", 1)],
    "twice as many bridges": [(next_hops, "N_BRIDGES", 20)],
    "half as many bridges": [(next_hops, "N_BRIDGES", 5)],
    "two next documents, not three": [(next_hops, "N_NEXT", 2)],
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

    def remember(ask: Callable[[str, Any], Any]) -> Callable[..., Any]:
        memo: dict[str, Any] = {}

        def answer(sql: str, params: Any = ()) -> Any:
            key = f"{sql}\0{params!r}"
            if key not in memo:
                memo[key] = ask(sql, params)
            return memo[key]

        return answer

    patch.object(index, "frame", remember(index.frame)).start()
    patch.object(index, "rows", remember(index.rows)).start()


def measure_part(index: Index, asked: Sequence[GoldQuestion], part: str, *, sources: bool) -> pl.DataFrame:
    """Rows of measures.RESULT_SCHEMA of method local, in the order of the questions."""
    with without(part), ExitStack() as stack:
        if sources:
            stack.enter_context(patch.object(local_search, "choose_relevant", lambda *_: ([], [])))
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
