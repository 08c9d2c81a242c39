"""Local search without its parts, one at a time: what each adds to the documents found, to what the context holds in
1,000 and in 4,000 tokens, and to what answers say.

    python -m tests.bench.bench_ablations ROOT QUESTIONS.jsonl [--contexts] [--odd | --even]

A part is taken out by replacing its function or weight in the search rooms for the time of a measurement: the product
has no switches for it. With --contexts no answers are composed, which takes most of the time. --odd and --even take
every second question only: to choose a weight on one half and see it on the other.

The columns of relationships and entities are those of tests/context_gold.py, for the questions of data/sample. A figure
whose paired 95 % interval of the difference from the first row leaves out 0 bears a mark: + better, - worse.
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

from graphrag.search import facts, local_search, next_hops
from graphrag.search.evaluation.evaluation import GoldQuestion, evaluate_search, read_questions
from graphrag.search.evaluation.measures import bootstrap_interval
from graphrag.search.facts import rank_facts
from graphrag.search.next_hops import NextHops
from graphrag.search.sections import entity_section
from graphrag.search.walks.leading import Leading
from graphrag.settings_file import load_settings
from graphrag.store import Index, open_index
from tests.context_gold import ContextGold, match_index, measure_context, read_chains
from tests.gold import load_gold

K, BUDGETS = 5, (1_000, 4_000)
SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
COLUMNS = {
    "recall": f"recall@{K}",
    "all_gold": f"all-gold@{K}",
    **{f"{name} {budget}": f"{name} in {budget:,}" for name in ("answers", "relationships") for budget in BUDGETS},
    "place 1000": "place in 1,000",
    "entities 1000": "entities in 1,000",
    "said": "answer said",
}
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


NO_HOPS = (local_search, "rank_next_hops", lambda *_: NextHops([], []))
NO_FACTS = (local_search, "_find_facts", lambda *_: ([], {}))
ABLATIONS: dict[str, list[tuple[Any, str, Any]]] = {
    "as it is": [],
    "no graph (no facts, walks, next hops)": [NO_FACTS, NO_HOPS, (local_search, "find_leading", lambda *_: Leading())],
    "no facts": [NO_FACTS],
    "no facts that are like the question": [
        (local_search, "rank_facts", lambda around, seeds, like: rank_facts(around, seeds, []))
    ],
    "no facts around what is named or led over": [(local_search, "expand_neighborhood", lambda *_: {})],
    "no worth of ends that are named or led over": [(facts, "END_WORTH", 0.0)],
    "no passages of walks and facts that answer": [(local_search, "_list_units_of", lambda *_: [])],
    "no entities": [(local_search, "entity_section", lambda *_, **knobs: entity_section([], **knobs))],
    "no reports": [(local_search, "_find_reports", lambda *_: [])],
    "no next hops": [NO_HOPS],
    "two hops, not three": [(next_hops, "MAX_HOPS", 2)],
    "no facts in the next hops": [(next_hops, "_load_statements", _load_sentences)],
    "facts alone in the next hops": [(next_hops, "_load_statements", _load_stated)],
    "no likeness in the next hops": [(next_hops, "NEARNESS", 0.0)],
    "no documents about an entity": [(next_hops, "_list_own_units", lambda *_: {})],
    "no cost of a common entity": [(next_hops, "UNITS_COST", 0.0)],
    "no cost of a hop": [(next_hops, "HOP_COST", 0.0)],
    "no named documents": [(local_search, "find_named_documents", lambda *_: [])],
}


VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "next hops of the first passage": [(next_hops, "N_STARTS", 1)],
    "twice as many bridges": [(next_hops, "N_BRIDGES", 20)],
    "half as many bridges": [(next_hops, "N_BRIDGES", 5)],
    "two next documents, not three": [(next_hops, "N_NEXT", 2)],
    "half the worth of ends": [(facts, "END_WORTH", facts.END_WORTH / 2)],
    "twice the worth of ends": [(facts, "END_WORTH", facts.END_WORTH * 2)],
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


def measure_part(
    index: Index, asked: Sequence[GoldQuestion], gold: ContextGold | None, part: str, *, is_answered: bool
) -> pl.DataFrame:
    """A row a question, in their order: the columns of COLUMNS."""
    rows: list[dict[str, float | None]] = [{} for _ in asked]
    for budget in BUDGETS:
        with without(part), ExitStack() as stack:
            if not is_answered or budget != BUDGETS[-1]:
                stack.enter_context(patch.object(local_search, "choose_quotes", lambda *_, **knobs: []))
            found = evaluate_search(index, asked, modes=["local"], baselines=[], k=K, budget_tokens=budget)
        for row, question, result in zip(rows, asked, found.results.iter_rows(named=True), strict=True):
            row |= {name: result[name] for name in ("recall", "all_gold")}
            row["said"] = result["said"] if is_answered else None
            answer = found.answers["local"][question.id]
            held = measure_context(answer, question.id, question.answers, gold)
            row |= {f"{name} {budget}": share for name, share in held.items()}
    return pl.DataFrame(
        [[row[name] for name in COLUMNS] for row in rows], dict.fromkeys(COLUMNS, pl.Float64()), orient="row"
    )


def render_row(part: str, results: pl.DataFrame, whole: pl.DataFrame) -> str:
    cells = []
    for name in (column for column in COLUMNS if whole[column].count()):
        difference = (results[name] - whole[name]).drop_nulls().to_numpy()
        low, high = bootstrap_interval(difference)
        cells.append(f"{results[name].mean():.3f}{'+' if low > 0 else '-' if high < 0 else ''}")
    moved = (results["recall"] - whole["recall"]).drop_nulls()
    return f"| {part} | {' | '.join(cells)} | {(moved > 0).sum()} / {(moved < 0).sum()} |"


def main(root: Path, questions: Path, *, is_answered: bool, half: int | None) -> None:
    settings, _ = load_settings(root)
    with open_index(root / settings.output.dir) as index:
        remember_queries(index)
        asked = [each for n, each in enumerate(read_questions(questions, index), start=1) if half in (None, n % 2)]
        gold_edges = load_gold(SAMPLE / "gold.json")
        chains = read_chains(gold_edges, SAMPLE / "multihop.jsonl")
        gold = match_index(index, gold_edges, chains) if any(each.id in chains for each in asked) else None
        whole = measure_part(index, asked, gold, "as it is", is_answered=is_answered)
        shown = [title for name, title in COLUMNS.items() if whole[name].count()]
        print(f"| local | {' | '.join(shown)} | better / worse in recall |")
        print(f"|---|{'---:|' * (len(shown) + 1)}")
        for part in [*ABLATIONS, *VARIANTS]:
            results = measure_part(index, asked, gold, part, is_answered=is_answered)
            print(render_row(part, results, whole), flush=True)


if __name__ == "__main__":
    half_of = {"--odd": 1, "--even": 0}
    halves = [half_of[flag] for flag in sys.argv if flag in half_of]
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        is_answered="--contexts" not in sys.argv,
        half=halves[0] if halves else None,
    )
