"""What `graphrag evaluate` prints: one table of all methods, and each against the best baseline; and `hop-lab`: the
shares of needed entries that were reached. What a judge said is in judged.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from graphrag.search.evaluation.evaluation import Evaluation
from graphrag.search.evaluation.hop_lab import HopLab, HopTask
from graphrag.search.evaluation.measures import N_RESAMPLES

MEASURES = {"recall": "recall@{k}", "all_gold": "all-gold@{k}"}


def render_evaluation(evaluation: Evaluation) -> str:
    """A Markdown table, blank where a method has no such figure, and the paired differences below it."""
    k = evaluation.k
    head = ["method", *(label.format(k=k) for label in MEASURES.values())]
    head += ["answered", "answer said", "valid citations", "context tokens", "seconds"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for row in evaluation.summary.iter_rows(named=True):
        shares = [show_share(row[name]) for name in ("recall", "all_gold", "answered", "said")]
        valid = (
            "" if row["valid_citations"] is None else f"{show_share(row['valid_citations'])} of {row['n_citations']:,}"
        )
        tokens = "" if row["context_tokens"] is None else f"{row['context_tokens']:,.0f}"
        cells = [row["method"], *shares, valid, tokens, f"{row['seconds']:.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    n_questions = evaluation.results["question_id"].n_unique()
    lines += [f"{n_questions:,} question{'s' if n_questions != 1 else ''}; medians of context tokens and seconds.", ""]
    if evaluation.comparison.height:
        lines.append(f"Against {evaluation.baseline}, the best baseline (95 % interval, {N_RESAMPLES:,} resamples):")
    for row in evaluation.comparison.iter_rows(named=True):
        measure = MEASURES[row["measure"]].format(k=k)
        lines.append(
            f"  {row['method']:<8} {measure:<11} {show_difference(row)}  {row['wins']} better, {row['losses']} worse"
            f"{show_doubt(row)}"
        )
    return "\n".join([*lines, *evaluation.notices]).rstrip()


def describe_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    """For --json: k, baseline, methods (the table), comparison, results (one a method and question), notices."""
    return {
        "k": evaluation.k,
        "baseline": evaluation.baseline,
        "methods": evaluation.summary.to_dicts(),
        "comparison": evaluation.comparison.to_dicts(),
        "results": evaluation.results.to_dicts(),
        "notices": evaluation.notices,
    }


def render_hop_lab(lab: HopLab, *, show: bool = False) -> str:
    """Counts, the two shares over the tasks and over all pairs, and on demand every task."""
    tasks = lab.hop_tasks
    left_out = Counter(task.left_out for task in lab.tasks if task.left_out)
    lines = [
        f"{lab.n_relations:,} relations, {len(lab.tasks):,} pairs, {len(tasks):,} hop tasks",
        *(f"  no task: {n:>4,}  {reason}" for reason, n in sorted(left_out.items())),
        "",
        "| reached | hop tasks | all pairs |",
        "|---|---:|---:|",
        f"| flat | {_reached(tasks, folded=False)} | {_reached(lab.tasks, folded=False)} |",
        f"| folded | {_reached(tasks, folded=True)} | {_reached(lab.tasks, folded=True)} |",
    ]
    if show:
        lines.append("")
        for task in sorted(tasks, key=lambda task: bool(task.folded)):
            lines.append(f'{task.folded or "not reached":<11}  "{task.question}" -> {task.needed} ({task.proof})')
            lines.append(f"             {task.relation}")
    return "\n".join(lines)


def describe_hop_lab(lab: HopLab) -> dict[str, Any]:
    tasks = lab.hop_tasks
    return {
        "relations": lab.n_relations,
        "n_tasks": len(tasks),
        "flat": _count_reached(tasks, folded=False) / len(tasks) if tasks else None,
        "folded": _count_reached(tasks, folded=True) / len(tasks) if tasks else None,
        "pairs": [task._asdict() for task in lab.tasks],
    }


def _reached(tasks: Sequence[HopTask], *, folded: bool) -> str:
    """`.967 (29 of 30)`."""
    n = _count_reached(tasks, folded=folded)
    return f"{show_share(n / len(tasks))} ({n} of {len(tasks)})" if tasks else ""


def _count_reached(tasks: Sequence[HopTask], *, folded: bool) -> int:
    return sum(bool(task.folded) if folded else task.flat for task in tasks)


def show_share(value: float | None) -> str:
    """`.875`, `1.00`, or nothing."""
    if value is None:
        return ""
    return f"{value:.2f}" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")


def show_difference(row: Mapping[str, Any]) -> str:
    """`+.105 [+.055, +.160]`."""
    return f"{_signed(row['difference'])} [{_signed(row['low'])}, {_signed(row['high'])}]"


def show_doubt(row: Mapping[str, Any]) -> str:
    """What is said of an interval that holds 0."""
    return "" if row["low"] > 0 or row["high"] < 0 else "  may be chance"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)
