"""`graphrag search`: a question to the published index, in the mode that is asked for or suits it.

Does not: choose a mode or answer (api.py), or print (render.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag.cli_options import Json, Root, Set, Where, open_project
from graphrag.errors import UsageError


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
    from graphrag import render
    from graphrag.api import Index, check_question

    question = check_question(question, chosen, dynamic=dynamic)
    root, settings = open_project(root, set_)
    with Index(settings, root, where=where) as index:
        answer = index.search(
            question,
            mode=chosen,
            level=level,
            top=top,
            budget_tokens=budget_tokens,
            dynamic=dynamic,
            fold=fold,
            llm=not (no_llm or context_only),
        )
    print(render.render_answer(answer, json=json, context_only=context_only, show_sources=show_sources))
    if not answer.answered:
        raise typer.Exit(3)


def _choose_mode(mode: str, flags: dict[str, bool]) -> str:
    chosen = [name for name, is_set in flags.items() if is_set] + ([mode] if mode else [])
    if len(set(chosen)) > 1:
        raise UsageError(f"Choose one mode, got {', '.join(chosen)}.")
    return chosen[0] if chosen else "auto"
