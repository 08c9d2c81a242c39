"""`graphrag aliases`: which names are one entity and why; join two, split one off, list what is open.

`merge` and `split` edit aliases.toml (setting disambiguation.aliases) after a preview and a question; the next run
applies it. Without a terminal they need --yes to write.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project

if TYPE_CHECKING:
    from graphrag.alias_changes import AliasChange

app = typer.Typer(
    help="Which names are one entity and why; join two, split one off, list what is open.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without a question.")]


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A title, an alias, or #12.")],
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """The names of an entity, who decided on each and why, and what was kept apart.

    Example: graphrag aliases show Kubernetes
    """
    root, settings = open_project(root, set_)
    from graphrag.aliases import describe_names, find_named
    from graphrag.render.aliases import render_entity
    from graphrag.render.frames import render_json
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        found = [describe_names(index, one.entity_id) for one in find_named(index, name)]
    print(render_json([one._asdict() for one in found]) if json else "\n\n".join(map(render_entity, found)))


@app.command()
def suspects(
    top: Annotated[int, typer.Option("--top", min=1, help="Pairs to list.")] = 30,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Pairs of entities that may be one, the most alike first.

    Example: graphrag aliases suspects --top 10
    """
    root, settings = open_project(root, set_)
    from graphrag.aliases import list_suspects
    from graphrag.render.aliases import render_suspects
    from graphrag.render.frames import render_json
    from graphrag.store import open_index

    with open_index(root / settings.output.dir) as index:
        rows, n_open = list_suspects(index, top=top)
    print(render_json(rows) if json else render_suspects(rows, n_open))


@app.command()
def merge(
    name: Annotated[str, typer.Argument(metavar="A", help="The entity that stays.")],
    other: Annotated[str, typer.Argument(metavar="B", help="The entity that becomes a name of it.")],
    yes: Yes = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Make B a name of A in aliases.toml, after a preview.

    Example: graphrag aliases merge "Route 53" "Amazon Route 53"
    """
    root, settings = open_project(root, set_)
    from graphrag.alias_changes import plan_merge
    from graphrag.store import open_index

    path = root / settings.disambiguation.aliases
    with open_index(root / settings.output.dir) as index:
        change = plan_merge(index, path, name, other)
    _write_if_wanted(change, root, yes=yes, json=json)


@app.command()
def split(
    surface: Annotated[str, typer.Argument(help="A name of an entity, other than its title.")],
    yes: Yes = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Make a name an entity of its own in aliases.toml, after a preview.

    Example: graphrag aliases split "Kube cluster"
    """
    root, settings = open_project(root, set_)
    from graphrag.alias_changes import plan_split
    from graphrag.store import open_index

    path = root / settings.disambiguation.aliases
    with open_index(root / settings.output.dir) as index:
        change = plan_split(index, path, surface)
    _write_if_wanted(change, root, yes=yes, json=json)


def _write_if_wanted(change: AliasChange, root: Path, *, yes: bool, json: bool) -> None:
    from graphrag.alias_changes import write_change
    from graphrag.errors import shown_path
    from graphrag.render.aliases import render_change
    from graphrag.render.frames import render_json

    shown = shown_path(change.path)
    if not json:
        print(render_change(change, shown))
    is_wanted = yes or (not json and sys.stdin.isatty() and typer.confirm("Write it?"))
    if is_wanted:
        write_change(change)
    if json:
        effects = change.effects._asdict() | {"moves": [move._asdict() for move in change.effects.moves]}
        print(
            render_json(
                {"action": change.action, "names": change.names, "path": shown, "diff": change.diff, **effects,
                 "written": is_wanted}
            )
        )  # fmt: skip
    elif is_wanted:
        first, second = change.names
        undo = f'split "{second}"' if change.action == "merge" else f'merge "{first}" "{second}"'
        print(f'Written. The next "graphrag index" applies it. To undo, afterwards: graphrag aliases {undo}')
    else:
        print("Not written." + ("" if sys.stdin.isatty() else " Add --yes to write it."))
