"""`graphrag evaluate` and `hop-lab`: search measured on a file of questions, and on the relations of a bank.

Does not: measure (search/evaluation.py, search/hop_lab.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project
from graphrag.errors import UsageError, did_you_mean

MODES = ("basic", "local", "global")
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
        str, typer.Option("--modes", help="Which to ask, by commas: basic, local, global.")
    ] = "basic,local",
    k: Annotated[int, typer.Option("--k", min=1, help="Documents of each method that count.")] = 5,
    level: Annotated[int | None, typer.Option("--level", min=0, help="Level of the hierarchy for global.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", min=1, help="Tokens of context to gather.")
    ] = None,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Measure search on questions of one's own, beside BM25, vectors and their fusion. Asks no model.

    A line: {"question": "Who owns Billing?", "gold_documents": ["teams/platform-team.md"], "answers": ["Platform"]}

    Example: graphrag evaluate data/sample/questions.jsonl --modes basic,local,global
    """
    chosen = _split_modes(modes)
    root, settings = open_project(root, set_)
    from graphrag.render.evaluation import describe_evaluation, render_evaluation
    from graphrag.render.frames import render_json
    from graphrag.search.evaluation import evaluate_search, read_questions
    from graphrag.store import open_index
    from graphrag.vectors import locate_model

    with open_index(root / settings.output.dir) as published:
        found = evaluate_search(
            published,
            read_questions(questions, published),
            modes=chosen,
            k=k,
            level=settings.search.level if level is None else level,
            budget_tokens=budget_tokens or settings.search.budget_tokens,
            model=locate_model(settings.embeddings.model, root),
        )
    print(render_json(describe_evaluation(found)) if json else render_evaluation(found))


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
    from graphrag.search.folded_entries import read_fold
    from graphrag.search.hop_lab import run_hop_lab
    from graphrag.store import open_index
    from graphrag.vectors import locate_model

    with open_index(root / settings.output.dir) as published:
        model = locate_model(settings.embeddings.model, root)
        found = run_hop_lab(published, mode=mode, fold=read_fold(settings.fold), model=model)
    print(render_json(describe_hop_lab(found)) if json else render_hop_lab(found, show=show))


def _split_modes(modes: str) -> list[str]:
    """Raises UsageError for an unknown mode or none."""
    chosen = list(dict.fromkeys(mode.strip() for mode in modes.split(",") if mode.strip()))
    for mode in chosen:
        if mode not in MODES:
            raise UsageError(f'Unknown mode "{mode}".{did_you_mean(mode, MODES)} Use: {", ".join(MODES)}.')
    if not chosen:
        raise UsageError(f"--modes names no mode. Use: {', '.join(MODES)}.")
    return chosen
