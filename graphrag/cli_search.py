"""`graphrag search`: a question to the published index, in the mode that is asked for or suits it.

Does not: choose a mode (search/choose_mode.py), answer (search/) or print (render.py).
"""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli_options import Json, Root, Set, Where, check_at_least, open_project
from graphrag.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from graphrag.search.folded_passages import Fold
    from graphrag.settings import Settings

MODES = ("auto", "local", "global", "basic")


def search(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    global_: Annotated[bool, typer.Option("--global", help="Themes: answers from community reports.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Look-ups: entities, facts and passages.")] = False,
    basic: Annotated[bool, typer.Option("--basic", help="Passages only, by words and meaning.")] = False,
    mode: Annotated[
        str, typer.Option("--mode", help="local, global, basic, or auto (default): what suits the question.")
    ] = "",
    level: Annotated[
        int | None, typer.Option("--level", help="Level of the hierarchy for --global; 0 is the coarsest.")
    ] = None,
    top: Annotated[int | None, typer.Option("--top", min=1, help="Sources to list.")] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", help="Tokens of context to gather.")] = None,
    show_sources: Annotated[
        bool, typer.Option("--show-sources", help="Path, offsets and exact quote of each citation.")
    ] = False,
    context_only: Annotated[
        bool, typer.Option("--context-only", help="Print the context that an answer would rest on.")
    ] = False,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Answer with an extract, without the model that llm.model names.")
    ] = False,
    dynamic: Annotated[
        bool,
        typer.Option(
            "--dynamic/--no-dynamic", help="--global: read only reports that bear on the question, level 0 down."
        ),
    ] = False,
    where: Where = "",
    fold: Annotated[
        bool | None,
        typer.Option(
            "--fold/--no-fold",
            help="Related documents share one place, with what hangs on them. Default: fold.enabled.",
        ),
    ] = None,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Answer a question from the published index, with citations: in a model's words where llm.model names one.

    Example: graphrag search --global "What are the recurring causes of incidents?"

    Example: graphrag search "What broke?" --where "type = 'incident' and date >= '2025-01-01'"
    """
    chosen = _choose_mode(mode, {"global": global_, "local": local, "basic": basic})
    question = _clean_question(question)
    if chosen == "auto" and (dynamic or level is not None):
        chosen = "global"  # nothing else has levels
    if dynamic and chosen != "global":
        raise UsageError("--dynamic is for --global.")
    root, settings = open_project(root, set_)
    from graphrag import render
    from graphrag.search import answer_question
    from graphrag.settings import EMBEDDED
    from graphrag.store import append_usage, open_index
    from graphrag.vectors import locate_model

    with open_index(root / settings.output.dir, where=where) as published, ExitStack() as stack:
        told = (published.restriction,) if where else ()
        if chosen == "auto":
            from graphrag.search.choose_mode import choose_mode

            choice = choose_mode(published, question)
            chosen, told = choice.mode, (choice.render(), *told)
        llm = None
        if not (no_llm or context_only) and settings.llm.model != EMBEDDED:
            from graphrag.search_model import load_search_model

            llm = stack.enter_context(load_search_model(settings, root, mode=chosen))
        answer = answer_question(
            published,
            question,
            mode=chosen,
            level=settings.search.level if level is None else check_at_least(0, "--level", level),
            top=top or settings.search.top,
            budget_tokens=settings.search.budget_tokens
            if budget_tokens is None
            else check_at_least(1, "--budget-tokens", budget_tokens),
            model=locate_model(settings.embeddings.model, root),
            dynamic=dynamic,
            llm=llm,
            fold=_choose_fold(settings, fold, top),
        )
    if settings.search.count_usage:
        append_usage(root / settings.output.dir, [source.path for source in answer.sources], mode=chosen)
    answer = dataclasses.replace(answer, notices=(*told, *answer.notices))
    print(render.render_answer(answer, json=json, context_only=context_only, show_sources=show_sources))
    if not answer.answered:
        raise typer.Exit(3)


def _choose_mode(mode: str, flags: dict[str, bool]) -> str:
    chosen = [name for name, is_set in flags.items() if is_set] + ([mode] if mode else [])
    if len(set(chosen)) > 1:
        raise UsageError(f"Choose one mode, got {', '.join(chosen)}.")
    if mode and mode not in MODES:
        raise UsageError(f'Unknown mode "{mode}".{did_you_mean(mode, MODES)} Use one of: {", ".join(MODES)}.')
    return chosen[0] if chosen else "auto"


def _choose_fold(settings: Settings, is_on: bool | None, top: int | None) -> Fold | None:
    """How to fold; None where the flag, or without one the setting, says not to."""
    from graphrag.search.folded_passages import Fold

    knobs = settings.fold
    if not (knobs.enabled if is_on is None else is_on):
        return None
    return Fold(max(knobs.pool, top or 0), top or knobs.results, knobs.protect, knobs.neighbors, knobs.origins)


def _clean_question(question: str) -> str:
    cleaned = " ".join("".join(c if c.isprintable() else " " for c in question).split())
    if not cleaned:
        raise UsageError("The question is empty.")
    return cleaned
