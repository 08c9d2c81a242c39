"""`graphrag import` and `graphrag export`: an index from elsewhere, and ours for other tools.

Does not: read or write their formats (graphrag/interop).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphrag.cli_options import Json, Root, Set, open_project


def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="Tables of microsoft/graphrag 0.x to 3.x; or entities and relationships of your own as .csv or "
            ".parquet (source, target; title); or a .jsonl file of extracted records.",
        ),
    ],
    recompute: Annotated[
        str,
        typer.Option(
            "--recompute",
            metavar="disambiguation|communities|reports",
            help="From this stage on make anew what the files hold; disambiguation merges names.",
        ),
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Also over an index of documents.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Publish an index, graph or extraction that another tool made.

    Example: graphrag import ../old-project/output

    Example: graphrag import my-graph --recompute communities
    """
    root, settings = open_project(root, set_)
    from graphrag import render
    from graphrag.interop.import_run import run_import
    from graphrag.progress import choose_progress

    progress = choose_progress(quiet=quiet or json)
    summary = run_import(settings, root, source, recompute=recompute, replace=replace, progress=progress)
    print(render.render_summary_json(summary) if json else render.render_summary(summary))
