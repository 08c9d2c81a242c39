"""`graphrag import` and `graphrag export`: an index from elsewhere, and ours for other tools.

Does not: read or write their formats (graphrag/interop).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, Where, open_project


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
    from graphrag.interop.import_run import run_import
    from graphrag.progress import choose_progress
    from graphrag.render.index_run import render_summary, render_summary_json

    progress = choose_progress(quiet=quiet or json)
    summary = run_import(settings, root, source, recompute=recompute, replace=replace, progress=progress)
    print(render_summary_json(summary) if json else render_summary(summary))


def export(
    folder: Annotated[Path, typer.Argument(help="Where to write; a new or empty folder.")],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="graphml|neo4j|jsonl|obsidian|graphrag",
            help="graphml: Gephi, igraph, networkx. neo4j: CSV for its importer, and Cypher. jsonl: a file a table. "
            "obsidian: a note an entity. graphrag: the folder of microsoft/graphrag.",
        ),
    ] = "graphml",
    where: Where = "",
    level: Annotated[
        int | None, typer.Option("--level", min=0, help="Communities and reports down to this level.")
    ] = None,
    min_weight: Annotated[float, typer.Option("--min-weight", min=0, help="Relationships of this weight or more.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Also into a folder that is not empty.")] = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Write the published index for other tools.

    Example: graphrag export graph --format graphml --min-weight 2
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.interop.export import export_index
    from graphrag.render.frames import render_json

    with Index(settings, root, where=where) as index:
        done = export_index(index, folder, format=format_, level=level, min_weight=min_weight, force=force)
    if json:
        print(render_json(done._asdict()))
        return
    entities, relationships = f"{done.n_entities:,} entities", f"{done.n_relationships:,} relationships"
    print(f"{done.folder}: {entities}, {relationships} as {done.format}, {done.n_files:,} files.")
    for line in done.notices:
        print(line)
