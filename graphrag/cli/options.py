"""What the rooms of the command line share: the options of every command, and how a project is opened.

Does not: know commands (main.py, aliases.py).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.errors import GraphragError

if TYPE_CHECKING:
    from graphrag.settings import Settings

Root = Annotated[
    Path | None, typer.Option("--root", help="Project folder; default: here or the nearest parent with settings.toml.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting for this run; repeatable."),
]
Where = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only documents for which a condition in SQL holds, on columns of documents and keys of their metadata: "
        "\"country = 'DE' and 'redis' in tags\". What they do not back is not there: text, mentions, evidence. A "
        "community counts when one of its text units lies in them; of its report the statements that cite them.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

Budget = Annotated[
    float | None, typer.Option("--budget", min=0, metavar="USD", help="Stop before the call that may pass it.")
]


def open_project(
    root: Path | None, overrides: list[str] | None, *, budget: float | None = None
) -> tuple[Path, Settings]:
    """The project folder and its settings; warnings about the environment go to stderr. budget: over llm.budget_usd."""
    from graphrag.settings_file import find_root, load_settings

    _refuse_other_graphrag()
    root = root if root is not None else find_root(Path.cwd())
    overrides = [*(overrides or ()), *([] if budget is None else [f"llm.budget_usd={budget}"])]
    settings, warnings = load_settings(root, overrides=overrides)
    for line in warnings:
        print(line, file=sys.stderr)
    return root, settings


def tell_restriction(restriction: str) -> None:
    """How many documents match --where, on stderr; nothing without it."""
    if restriction:
        print(restriction, file=sys.stderr)


def _refuse_other_graphrag() -> None:
    """Microsoft's distribution `graphrag` has the same import name: in one environment files of both mix."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution("graphrag")
    except PackageNotFoundError:
        return
    raise GraphragError(
        'The package "graphrag" (Microsoft) is installed here too and has the same import name. '
        "Use a fresh virtual environment for graphrag-batch."
    )
