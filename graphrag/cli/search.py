"""`graphrag search`: a question, or a file of them, to the published index, in the mode that is asked for or suits it.

Does not: choose a mode or answer (api.py), read a file of questions (search_batch.py), or print (render/answers.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli.options import Budget, Json, Root, Set, Where, open_project
from graphrag.errors import UsageError

if TYPE_CHECKING:
    from graphrag.api import Index
    from graphrag.search.answer import Answer


def search(
    question: Annotated[str | None, typer.Argument(help="What to ask.", show_default=False)] = None,
    global_: Annotated[bool, typer.Option("--global", help="Themes: answers from community reports.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Look-ups: entities, facts and passages.")] = False,
    drift: Annotated[
        bool, typer.Option("--drift", help="Local, led by community reports to what the question does not name.")
    ] = False,
    basic: Annotated[bool, typer.Option("--basic", help="Passages only, by words and meaning.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Whole notes, found at an entry note and along the links of a vault.")
    ] = False,
    mode: Annotated[
        str, typer.Option("--mode", help="local, global, drift, basic, documents, or auto (default).")
    ] = "",
    routing: Annotated[
        str,
        typer.Option("--routing", help="--documents: depth, synthesis or hybrid. Default: routing.mode."),
    ] = "",
    note: Annotated[str, typer.Option("--note", help="--documents: enter at this note, by title, alias or path.")] = "",
    level: Annotated[
        int | None, typer.Option("--level", help="Level of the hierarchy for --global and --drift; 0 is the coarsest.")
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
    batch: Annotated[
        Path | None,
        typer.Option(
            "--batch",
            metavar="FILE.jsonl",
            help='Many questions: {"id": 1, "question": "..."} a line in, one JSON object a line out, in order.',
        ),
    ] = None,
    budget: Budget = None,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Answer a question from the published index, with citations: in a model's words where llm.model names one.

    Example: graphrag search --global "What are the recurring causes of incidents?"

    Example: graphrag search --documents "How did we handle expired certificates?" --routing synthesis

    Example: graphrag search --drift "Why do logins fail?"

    Example: graphrag search "What broke?" --where "type = 'incident' and date >= '2025-01-01'"

    Example: graphrag search --batch questions.jsonl > answers.jsonl
    """
    chosen = _choose_mode(
        mode, {"global": global_, "local": local, "drift": drift, "basic": basic, "documents": documents}
    )
    # Before numpy is loaded: a question multiplies few matrices, and a second thread would spin beside the rest of the
    # command for 0.2 CPU s.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from graphrag.api import Index
    from graphrag.render.answers import render_answer
    from graphrag.search.arguments import check_mode, check_question

    if (question is None) == (batch is None):
        missing = "Missing argument 'question'. Ask one, or give --batch FILE.jsonl."
        raise UsageError(missing if question is None else "Ask a question or give --batch, not both.")
    check_mode(chosen, level=level, dynamic=dynamic, fold=fold, routing=routing, note=note)
    if question is not None:
        check_question(question)
    root, settings = open_project(root, set_, budget=budget)
    asks_model = not (no_llm or context_only)
    with Index(settings, root, where=where) as index:

        def ask(text: str, on_text: Callable[[str], None] | None = None) -> Answer:
            return index.search(
                text,
                mode=chosen,
                level=level,
                top=top,
                budget_tokens=budget_tokens,
                dynamic=dynamic,
                fold=fold,
                routing=routing,
                note=note,
                llm=asks_model,
                on_text=on_text,
            )

        if question is None:
            _answer_batch(index, batch, ask, asks_model=asks_model, with_context=context_only)
            return
        stream = _Stream() if sys.stdout.isatty() and not json else None
        answer = ask(question, stream.show if stream else None)
    text = render_answer(answer, json=json, context_only=context_only, show_sources=show_sources)
    print(stream.end(answer.text, text) if stream else text)
    if not answer.answered:
        raise typer.Exit(3)


class _Stream:
    """The words of a model on a terminal, as they come."""

    def __init__(self) -> None:
        self.shown = ""

    def show(self, text: str) -> None:
        """`text` is all so far; where it is not what was shown and more, another attempt has begun."""
        if not text.startswith(self.shown):
            print("\n[again]")
            self.shown = ""
        print(text[len(self.shown) :], end="", flush=True)
        self.shown = text

    def end(self, answer: str, rendered: str) -> str:
        """What is left to print: what stands behind the answer, or all of it where checking has changed its words."""
        if not self.shown:
            return rendered
        if self.shown.strip() == answer.strip() and rendered.startswith(answer):
            return rendered[len(answer) :]
        return f"\n\nChecked:\n{rendered}"


def _answer_batch(
    index: Index, path: Path | None, ask: Callable[[str], Answer], *, asks_model: bool, with_context: bool
) -> None:
    """Print a line an answer, progress to stderr; raises Exit with 1 where a line could not be answered."""
    import time

    from graphrag.progress import choose_progress
    from graphrag.render.frames import render_json
    from graphrag.search_batch import answer_batch, read_batch

    rows = read_batch(path or Path())
    progress = choose_progress()
    progress.start("questions", len(rows))
    began, n_answered, n_errors, cost = time.perf_counter(), 0, 0, 0.0
    try:
        with index.many_at_once(llm=asks_model) as map_many:
            for found in answer_batch(rows, ask, map_many=map_many, with_context=with_context):
                print(render_json(found), flush=True)
                n_errors += "error" in found
                n_answered += bool(found.get("answered"))
                cost += found.get("usage", {}).get("cost_usd") or 0.0
                progress.advance(1, cost_usd=cost or None)
        outcome = f"{n_answered} of {len(rows)} answered" + (f", {n_errors} with an error" if n_errors else "")
        progress.finish("questions", outcome, time.perf_counter() - began)
    finally:
        progress.close()
    if n_errors:
        raise typer.Exit(1)


def _choose_mode(mode: str, flags: dict[str, bool]) -> str:
    chosen = [name for name, is_set in flags.items() if is_set] + ([mode] if mode else [])
    if len(set(chosen)) > 1:
        raise UsageError(f"Choose one mode, got {', '.join(chosen)}.")
    return chosen[0] if chosen else "auto"
