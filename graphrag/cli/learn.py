"""`graphrag learn`: a note of what was learned, with its relations, in one step.

Does not: decide what may be learned (bank/learning.py), or word the result (render/relations.py).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project
from graphrag.errors import UsageError


def learn(
    title: Annotated[str, typer.Option("--title", help="What was learned, in a line.")],
    text: Annotated[str, typer.Option("--text", help="The note, Markdown.")] = "",
    file: Annotated[Path | None, typer.Option("--file", help="A file with the note; - reads stdin.")] = None,
    relates: Annotated[
        list[str] | None, typer.Option("--relates", metavar="TYPE:ENTRY:NOTE", help="A relation; repeatable.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Who learned it; default: the user of this machine.")
    ] = "",
    source: Annotated[str, typer.Option("--source", help="In what role: author, judge or import.")] = "author",
    allow_leak: Annotated[
        bool, typer.Option("--allow-leak", help="Keep a note of a relation that repeats the target.")
    ] = False,
    allow_duplicate: Annotated[
        bool, typer.Option("--allow-duplicate", help="Write it though an entry says much of it.")
    ] = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Write down what was learned, as a note with its relations. Search finds it at once.

    Example: graphrag learn --title "Sentinels need a third node" --file note.md --relates "clarifies:ADR-028:Why"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, open_bank
    from graphrag.bank.learning import learn as write
    from graphrag.render.frames import render_json
    from graphrag.render.relations import describe_learned, render_learned

    body = _read_text(text, file)
    with open_bank(settings, root) as bank:
        stamp = make_stamp(by, source)
        learned = write(
            bank, title, body, stamp, relates=relates or (), allow_leak=allow_leak, allow_duplicate=allow_duplicate
        )
        for line in bank.log.warnings:
            print(line, file=sys.stderr)
    print(render_json(describe_learned(learned)) if json else render_learned(learned))


def _read_text(text: str, file: Path | None) -> str:
    if bool(text) == (file is not None):
        raise UsageError("Give the note as --text or as --file.")
    if file is None:
        return text
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"Cannot read {file}: {reason}.") from None
