"""`graphrag evaluate` and `hop-lab`: search measured on a file of questions, and on the relations of a bank.

Does not: measure, or judge (search/evaluation/).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli.options import Budget, Json, Root, Set, open_project
from graphrag.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from graphrag.search.evaluation.evaluation import Evaluation, GoldQuestion
    from graphrag.search.evaluation.judging import Judged
    from graphrag.settings import Settings

MODES = ("basic", "local", "global", "drift")
FOLDING_MODES = ("basic", "local")


def evaluate(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS.jsonl",
            help='One object a line: "question" with "gold_documents" (paths, titles or ids), "answers", or both.',
        ),
    ],
    modes: Annotated[
        str, typer.Option("--modes", help="Which to ask, by commas: basic, local, global, drift.")
    ] = "basic,local",
    k: Annotated[int, typer.Option("--k", min=1, help="Documents of each method that count.")] = 5,
    level: Annotated[int | None, typer.Option("--level", min=0, help="Level of the hierarchy for global.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", min=1, help="Tokens of context to gather.")
    ] = None,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge", help="Have a model answer, and judge the answers: 0-3 scores, pairs in both orders, an A/A run."
        ),
    ] = False,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="--judge: judge extracts, not a model's answers.")] = False,
    budget: Budget = None,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Measure search on questions of one's own, beside BM25, vectors and their fusion. Without --judge, asks no model.

    A line: {"question": "Who owns Billing?", "gold_documents": ["teams/platform-team.md"], "answers": ["Platform"]}

    Example: graphrag evaluate data/sample/questions.jsonl --modes basic,local,global

    Example: graphrag evaluate data/sample/questions.jsonl --judge --budget 1.00
    """
    chosen = _split_modes(modes)
    if not judge and (no_llm or budget is not None):
        raise UsageError(f"{'--no-llm' if no_llm else '--budget'} is for --judge.")
    root, settings = open_project(root, set_, budget=budget)
    from graphrag.render.evaluation import describe_evaluation, render_evaluation
    from graphrag.render.frames import render_json
    from graphrag.render.judged import describe_judged, render_judged
    from graphrag.search.evaluation.evaluation import evaluate_search, read_questions
    from graphrag.store import open_index
    from graphrag.vectors import locate_model

    with open_index(root / settings.output.dir) as published:
        asked = read_questions(questions, published)
        evaluate = partial(
            evaluate_search,
            published,
            asked,
            modes=chosen,
            k=k,
            level=settings.search.level if level is None else level,
            budget_tokens=budget_tokens or settings.search.budget_tokens,
            model=locate_model(settings.embeddings.model, root),
        )
        if not judge:
            found = evaluate()
            print(render_json(describe_evaluation(found)) if json else render_evaluation(found))
            return
        found, judged, calls = _evaluate_and_judge(evaluate, asked, settings, root, answers_with_model=not no_llm)
    if json:
        print(render_json({**describe_evaluation(found), "judged": describe_judged(judged, calls)}))
    else:
        print(render_evaluation(found), render_judged(judged, calls), sep="\n\n")


def hop_lab(
    mode: Annotated[str, typer.Option("--mode", help="basic or local.")] = "basic",
    show: Annotated[bool, typer.Option("--show", help="List the tasks, those that were not reached first.")] = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Whether search hands over an entry that is one relation away from what it finds, flat and folded.

    Example: graphrag hop-lab --show
    """
    if mode not in FOLDING_MODES:
        raise UsageError(f'Unknown mode "{mode}". Use one of: {", ".join(FOLDING_MODES)}.')
    root, settings = open_project(root, set_)
    from graphrag.render.evaluation import describe_hop_lab, render_hop_lab
    from graphrag.render.frames import render_json
    from graphrag.search.entries.folded_entries import read_fold
    from graphrag.search.evaluation.hop_lab import run_hop_lab
    from graphrag.store import open_index
    from graphrag.vectors import locate_model

    with open_index(root / settings.output.dir) as published:
        model = locate_model(settings.embeddings.model, root)
        found = run_hop_lab(published, mode=mode, fold=read_fold(settings.fold), model=model)
    print(render_json(describe_hop_lab(found)) if json else render_hop_lab(found, show=show))


def _evaluate_and_judge(
    evaluate: Callable[..., Evaluation],
    questions: Sequence[GoldQuestion],
    settings: Settings,
    root: Path,
    *,
    answers_with_model: bool,
) -> tuple[Evaluation, Judged, pl.DataFrame]:
    """The evaluation, what the judge says, and the calls by stage. Raises UsageError without a model."""
    from graphrag.search.evaluation.judging import judge_answers
    from graphrag.search.model_answer import SearchModel
    from graphrag.search_model import load_search_prompts, map_in_threads, open_search_model

    prompts = load_search_prompts("judge", root)
    with open_search_model(settings, root) as open_llm:
        if open_llm is None:
            raise UsageError(
                f'--judge asks a model, and llm.model is "{settings.llm.model}". Set it to a model\'s name.'
            )
        model = SearchModel(open_llm, load_search_prompts("auto", root))
        if answers_with_model:
            with map_in_threads(model.llm, settings.llm.max_concurrency) as map_many:
                found = evaluate(llm=model, is_repeated=True, map_many=map_many)
        else:
            found = evaluate(is_repeated=True)
        judged = judge_answers(model.llm, prompts, questions, found.answers)
        return found, judged, model.llm.ledger.totals()


def _split_modes(modes: str) -> list[str]:
    """Raises UsageError for an unknown mode or none."""
    chosen = list(dict.fromkeys(mode.strip() for mode in modes.split(",") if mode.strip()))
    for mode in chosen:
        if mode not in MODES:
            raise UsageError(f'Unknown mode "{mode}".{did_you_mean(mode, MODES)} Use: {", ".join(MODES)}.')
    if not chosen:
        raise UsageError(f"--modes names no mode. Use: {', '.join(MODES)}.")
    return chosen
