"""`graphrag links`: the links that people wrote, and what is odd about them."""

from __future__ import annotations

from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project


def links(
    unresolved: Annotated[bool, typer.Option("--unresolved", help="Only the targets that no document has.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Lines a list; 0 shows all.")] = 10,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Links between the documents: missing targets, ambiguous names, hubs, notes without a link.

    Example: graphrag links --unresolved
    """
    root, settings = open_project(root, set_)
    from graphrag.link_report import report_links
    from graphrag.render.frames import render_json
    from graphrag.render.links import render_links
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        found = report_links(index)
    if json:
        print(render_json(found.missing if unresolved else found._asdict()))
    else:
        print(render_links(found, limit=limit, missing_only=unresolved))
