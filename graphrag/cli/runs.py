"""`graphrag runs`, `graphrag diff`, `graphrag publish`: the history of an index.

Does not: make runs (`graphrag index`, main.py).
"""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project

app = typer.Typer(rich_markup_mode="rich")


@app.command()
def runs(json: Json = False, root: Root = None, set_: Set = None) -> None:
    """All runs, newest first: status, which one is live and which are kept, counts, calls and cost.

    Example: graphrag runs
    """
    root, settings = open_project(root, set_)
    from graphrag.render.frames import render_frame, render_frame_json
    from graphrag.runs.history import list_history

    frame = list_history(root / settings.output.dir)
    if json:
        print(render_frame_json(frame))
    else:
        columns = ["run_id", "status", "place", "n_documents", "n_entities", "n_relationships", "n_failures"]
        print(render_frame(frame.select(*columns, "llm_calls", "cost_usd", "seconds")))


@app.command()
def diff(
    run_a: Annotated[str, typer.Argument(help="The earlier run; default: the one live before RUN_B.")] = "",
    run_b: Annotated[str, typer.Argument(help="The later run; default: the live one.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Lines a table; 0 shows all.")] = 20,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """What differs between two runs: documents, entities, relationships, communities, reports.

    Example: graphrag diff
    """
    root, settings = open_project(root, set_)
    from graphrag.render.frames import render_json
    from graphrag.render.runs import describe_diff, render_diff
    from graphrag.runs.history import diff_runs

    found = diff_runs(root / settings.output.dir, run_a, run_b)
    print(render_json(describe_diff(found)) if json else render_diff(found, limit=limit))


@app.command()
def publish(
    run_id: Annotated[str, typer.Argument(help="A run that is kept; see graphrag runs.")],
    root: Root = None,
    set_: Set = None,
) -> None:
    """Make a kept run the live one: one that a gate held, or an older one to roll back to.

    Example: graphrag publish 20261130T020001Z-3f9a1c
    """
    root, settings = open_project(root, set_)
    from graphrag.runs.history import publish_by_hand
    from graphrag.store import mirror_published

    before = publish_by_hand(root / settings.output.dir, run_id)
    if settings.output.mirror:
        mirror_published(root / settings.output.dir, settings.output.mirror)
    was = "It was live already." if before == run_id else f"Before: {before or 'none'}."
    print(f"Run {run_id} is live. {was} The next run compares the documents with it.")
