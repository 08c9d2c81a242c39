"""The command line: parse, call, print.

Every command takes --root (default: this folder or the nearest parent with a settings.toml) and --set.
What a command answers goes to stdout, progress and errors to stderr. Errors are one line; --debug shows the trace.
Exit codes: 0 done, 1 expected error, 2 usage, 3 nothing found, 4 held at a gate, 5 budget spent, 130 interrupted.

Heavy packages are imported inside the commands that need them, so that `graphrag --help` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from graphrag import __version__
from graphrag.cli import aliases, communities, evaluate, interop, learn, links, mcp, paths, relations, runs, search
from graphrag.cli.options import Budget, Json, Root, Set, open_project
from graphrag.errors import GraphragError

app = typer.Typer(
    help="Turns a folder of documents into a cited knowledge graph and answers questions from it.",
    epilog="Start with: graphrag init my-index; put documents into my-index/data/input; graphrag index; "
    'graphrag search "What depends on Redis?"',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

app.command()(search.search)
app.add_typer(aliases.app, name="aliases")
app.add_typer(runs.app)
app.add_typer(paths.app)
app.command()(communities.communities)
app.command()(communities.report)
app.command()(evaluate.evaluate)
app.command()(evaluate.hop_lab)
app.command()(mcp.mcp)
app.command()(links.links)
app.command("import")(interop.import_)
app.command()(interop.export)
app.command()(relations.relate)
app.command()(relations.unrelate)
app.command()(learn.learn)
app.add_typer(relations.app, name="relations")


@app.callback()
def common(
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
) -> None:
    if debug:
        os.environ["GRAPHRAG_DEBUG"] = "1"


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(help="Folder to create; may exist, must not hold a settings.toml.")
    ] = Path(),
) -> None:
    """Create a project folder: settings.toml, aliases.toml and data/input.

    Example: graphrag init my-index
    """
    from graphrag.project import create_project

    for path in create_project(folder):
        print(f"created {path}")
    print(f'Put documents into {folder / "data" / "input"}, then run "graphrag index --root {folder}".')


@app.command()
def index(
    root: Root = None,
    set_: Set = None,
    full: Annotated[bool, typer.Option("--full", help="Recompute even when nothing has changed.")] = False,
    budget: Budget = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Stop before the call that may pass it; all calls count.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    json: Json = False,
) -> None:
    """Read the documents, build all tables and publish them.

    Example: graphrag index --budget 5.00
    """
    root, settings = open_project(root, set_, budget=budget)
    from graphrag.pipeline import run_pipeline
    from graphrag.progress import choose_progress
    from graphrag.render.index_run import render_summary, render_summary_json

    # Rows are many and cycles few: to look for cycles after every 700 new objects was 4 % of the CPU of a night.
    gc.set_threshold(50_000, 20, 100)
    progress = choose_progress(quiet=quiet or json)
    summary = run_pipeline(settings, root, full=full, max_tokens=max_tokens, progress=progress)
    print(render_summary_json(summary) if json else render_summary(summary))


@app.command()
def plan(json: Json = False, root: Root = None, set_: Set = None) -> None:
    """What an index run would ask a model, and what that may cost. Asks nothing.

    Example: graphrag plan --set llm.model=openai/gpt-4.1-mini
    """
    root, settings = open_project(root, set_)
    from graphrag.planning import plan_run
    from graphrag.progress import QuietProgress
    from graphrag.render.index_run import render_plan, render_plan_json

    planned = plan_run(settings, root, progress=QuietProgress())
    print(render_plan_json(planned) if json else render_plan(planned))


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One SELECT over the tables and views.")],
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Ask the DuckDB tables; read-only, no other files.

    Example: graphrag sql "from top_entities limit 5"
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.frames import render_frame, render_frame_json

    with Index(settings, root) as opened:
        frame = opened.sql(query)
    print(render_frame_json(frame) if json else render_frame(frame))


@app.command()
def tables(
    name: Annotated[str, typer.Argument(help="A table; empty lists all.")] = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """List the tables with their rows, or the columns of one.

    Example: graphrag tables evidence
    """
    root, settings = open_project(root, set_)
    from graphrag.render.frames import describe_table, describe_tables, render_frame, render_frame_json
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as published:
        frame = describe_table(name) if name else describe_tables(published)
    print(render_frame_json(frame) if json else render_frame(frame))


@app.command()
def failures(
    reason: Annotated[str, typer.Option("--reason", help="Only this reason.")] = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What the published run could not do, and why.

    Example: graphrag failures --reason empty_document
    """
    root, settings = open_project(root, set_)
    from graphrag.render.frames import render_frame, render_frame_json
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as published:
        frame = published.frame(
            "select stage, reason, item_id, detail from failures where ? in ('', reason) order by all", (reason,)
        )
    if json:
        print(render_frame_json(frame))
    else:
        print(render_frame(frame) if frame.height else "No failures.")


@app.command()
def check(root: Root = None, set_: Set = None) -> None:
    """Look at settings, input folder, local models and index, before a run.

    Example: graphrag check
    """
    root, settings = open_project(root, set_)
    from graphrag.project import check_project

    found = check_project(settings, root)
    for state, name, words in found:
        print(f"{state:<3} {name:<12} {words}")
    if "no" in {state for state, _, _ in found}:
        raise typer.Exit(1)


@app.command()
def version() -> None:
    """Print the version.

    Example: graphrag version
    """
    print(f"graphrag-batch {__version__}")


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors become one line and an exit code. Raises SystemExit, always."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except GraphragError as error:
        _print_error(error, str(error))
        code = error.exit_code
    except typer.TyperException as error:
        message = error.format_message().rstrip(".")
        print(f'{message}{"" if message.endswith("?") else "."} Try "graphrag --help".', file=sys.stderr)
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing is left to say, and the interpreter must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # the outermost edge: a bug, told in one line instead of a screen of trace
        _print_error(error, f"Internal error: {type(error).__name__}: {error}. See --debug for the trace.")
        code = 1
    if code == 130:
        print("Interrupted. The live index is as it was; what was computed is kept in the memo.", file=sys.stderr)
    sys.exit(code or 0)


def _print_error(error: Exception, line: str) -> None:
    if os.environ.get("GRAPHRAG_DEBUG"):
        import traceback

        traceback.print_exception(error)
    print(line, file=sys.stderr)


def run() -> None:
    """The console script: `main`, then an end at once.

    Taking polars, duckdb and onnxruntime apart at the end of the interpreter costs 0.25 CPU s of a search's 1.5 and
    changes nothing: files are closed and pools have ended when a command returns.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # to look for them reads what every installed package says
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
