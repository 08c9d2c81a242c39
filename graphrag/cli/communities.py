"""`graphrag communities` and `graphrag report`: the hierarchy as a tree, and one report with its citations resolved."""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project


def communities(
    level: Annotated[int | None, typer.Option("--level", min=0, help="Down to this level; 0 is the coarsest.")] = None,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """The communities as a tree, with title, size and rank of their reports.

    Example: graphrag communities --level 0
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.communities import render_communities
    from graphrag.render.frames import render_json

    with Index(settings, root) as index:
        rows = index.communities(level=level)
    print(render_json(rows) if json else render_communities(rows))


def report(
    which: Annotated[
        str, typer.Argument(metavar="ID", help="A number as in Reports (7), a title, or an id of the tables.")
    ],
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """The report of one community, each citation with document, offsets and quote.

    Example: graphrag report 7
    """
    root, settings = open_project(root, set_)
    from graphrag.api import Index
    from graphrag.render.communities import render_report
    from graphrag.render.frames import render_json

    with Index(settings, root) as index:
        found = index.report(which)
    print(render_json(found) if json else render_report(found))
