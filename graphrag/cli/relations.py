"""`graphrag relate`, `unrelate` and `graphrag relations`: how entries pertain to each other, and the log of it.

Does not: decide what is written (bank/knowledge_bank.py), or word it (render/relations.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graphrag.cli.options import Json, Root, Set, open_project

if TYPE_CHECKING:
    from graphrag.relations.events import Event

app = typer.Typer(
    help="The log of authored relations: list, check, undo; delete and merge entries.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
EntryName = Annotated[
    str, typer.Argument(metavar="A", help="Path, file name, id, title, alias or #number of an entry.")
]
Type = Annotated[str, typer.Argument(metavar="TYPE", help="cites, see_also, part_of, supersedes, corrects, ...")]
Target = Annotated[str, typer.Argument(metavar="B", help="The other entry.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who writes; default: the user of this machine.")]
Source = Annotated[str, typer.Option("--source", help="In what role: author, judge or import.")]
Reason = Annotated[str, typer.Option("--reason", help="Why.")]
AllowLeak = Annotated[bool, typer.Option("--allow-leak", help="Keep a note that repeats the target.")]


def relate(
    entry: EntryName,
    type_: Type,
    target: Target,
    note: Annotated[str, typer.Option("--note", help="How B pertains to A, not what B says.")] = "",
    by: By = "",
    source: Source = "author",
    allow_leak: AllowLeak = False,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Relate two entries: A TYPE B, one of 13 types. Writing it again changes nothing.

    Example: graphrag relate INC-104 requires redis-failover --note "What the follow-up asked for"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, open_bank
    from graphrag.bank.knowledge_bank import relate as write

    with open_bank(settings, root) as bank:
        event = write(bank, entry, type_, target, make_stamp(by, source), note=note, allow_leak=allow_leak)
        _warn(bank.log.warnings)
    _print_events([event], json=json)


def unrelate(
    entry: EntryName,
    type_: Type,
    target: Target,
    reason: Reason = "",
    by: By = "",
    source: Source = "author",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Remove a relation. The log keeps it, with the reason.

    Example: graphrag unrelate INC-104 requires redis-failover --reason "The runbook was withdrawn"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, open_bank
    from graphrag.bank.knowledge_bank import unrelate as write

    with open_bank(settings, root) as bank:
        event = write(bank, entry, type_, target, make_stamp(by, source), reason=reason)
        _warn(bank.log.warnings)
    _print_events([event], json=json)


@app.command()
def log(
    entry: Annotated[str, typer.Argument(metavar="[ENTRY]", help="Only events about this entry.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Last events to show; 0 shows all.")] = 20,
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """The events of the log, newest last: who did what, when and why.

    Example: graphrag relations log INC-104
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import open_bank
    from graphrag.relations.relation_log import read_log
    from graphrag.render.frames import render_json
    from graphrag.render.relations import describe_events, render_log

    path = root / settings.links.relations
    found = read_log(path)
    _warn(found.warnings)
    events = found.events
    if entry:
        with open_bank(settings, root) as bank:
            known = bank.find_logged(entry)
        events = [event for event in events if known in (event.entry, event.to)]
    shown = events[-limit:] if limit else events
    print(render_json(describe_events(shown)) if json else render_log(shown, n_events=len(events)))


@app.command()
def check(json: Json = False, root: Root = None, set_: Set = None) -> None:
    """Notes that repeat what the target says, and entries that have gone. Exit 1 if a note was not kept on purpose.

    Example: graphrag relations check
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import list_gone, list_leaks, open_bank
    from graphrag.render.frames import render_json
    from graphrag.render.relations import describe_check, render_check

    with open_bank(settings, root) as bank:
        leaks, gone, n_relations = list_leaks(bank), list_gone(bank), len(bank.state.relations)
        _warn(bank.log.warnings)
    if json:
        print(render_json(describe_check(leaks, gone, n_relations=n_relations)))
    else:
        print(render_check(leaks, gone, n_relations=n_relations))
    if any(not relation.is_leak for relation, _ in leaks):
        raise typer.Exit(1)


@app.command()
def retype(
    entry: EntryName,
    type_: Type,
    target: Target,
    new_type: Annotated[str, typer.Argument(metavar="NEW_TYPE", help="The type that it should have.")],
    reason: Reason = "",
    by: By = "",
    source: Source = "author",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Change the type of a relation; its note stays.

    Example: graphrag relations retype INC-104 cites ADR-028 precedes --reason "It led to it"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, open_bank
    from graphrag.bank.knowledge_bank import retype as write

    with open_bank(settings, root) as bank:
        event = write(bank, entry, type_, target, new_type, make_stamp(by, source), reason=reason)
    _print_events([event], json=json)


@app.command()
def delete(
    entry: EntryName,
    reason: Reason = "",
    force: Annotated[bool, typer.Option("--force", help="Also where that writes more than 200 bridges.")] = False,
    by: By = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Take an entry out of the relations; what it joined is joined by bridges. Its file stays, and is found as before.

    Example: graphrag relations delete redis-failover --reason "Replaced by the operator"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import delete_entry, make_stamp, open_bank
    from graphrag.render.relations import tell_deleted_stays

    with open_bank(settings, root) as bank:
        events = delete_entry(bank, entry, make_stamp(by), reason=reason, force=force)
        file = bank.find_file(events[-1].entry)
    _print_events(events, json=json)
    if file:
        print(tell_deleted_stays(file), file=sys.stderr)


@app.command()
def merge(
    entry: Annotated[str, typer.Argument(metavar="B", help="The entry that goes.")],
    into: Annotated[str, typer.Argument(metavar="S", help="The entry that takes its relations.")],
    reason: Reason = "",
    by: By = "",
    source: Source = "author",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Merge an entry into another: its relations, names and #number lead to the other. Its file stays, and is found.

    Example: graphrag relations merge old-failover redis-failover --reason "One runbook"
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, merge_entries, open_bank
    from graphrag.render.relations import tell_merged_stays

    with open_bank(settings, root) as bank:
        events = merge_entries(bank, entry, into, make_stamp(by, source), reason=reason)
        file = bank.find_file(events[-1].entry)
    _print_events(events, json=json)
    if file:
        print(tell_merged_stays(file, events[-1].to), file=sys.stderr)


@app.command()
def undo(
    event_id: Annotated[str, typer.Argument(metavar="EVENT_ID", help="Of an event in the log.")],
    by: By = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Take an event back, by a new event. For a merge or a deletion of an entry: all that came with it.

    Example: graphrag relations undo 5f2c9a01d3e4
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import make_stamp, open_bank
    from graphrag.bank.knowledge_bank import undo as write

    with open_bank(settings, root) as bank:
        events = write(bank, event_id, make_stamp(by))
    _print_events(events, json=json)


@app.command()
def backfill(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write; without it they are listed only.")] = False,
    by: By = "",
    json: Json = False,
    root: Root = None,
    set_: Set = None,
) -> None:
    """Relations that the documents state already: links and named ids become cites, front matter its own types.

    Example: graphrag relations backfill --yes
    """
    root, settings = open_project(root, set_)
    from graphrag.bank.knowledge_bank import backfill as write
    from graphrag.bank.knowledge_bank import open_bank

    with open_bank(settings, root) as bank:
        events = write(bank, by, dry_run=not yes)
    if not events:
        print("[]" if json else "Nothing to add: every citation is a relation already.")
        return
    _print_events(events, json=json)
    if not yes:
        print(f"{len(events)} relations are not written yet: --yes writes them.", file=sys.stderr)


def _print_events(events: Sequence[Event], *, json: bool) -> None:
    from graphrag.render.frames import render_json
    from graphrag.render.relations import describe_events, render_events

    print(render_json(describe_events(events)) if json else render_events(events))


def _warn(lines: tuple[str, ...]) -> None:
    for line in lines:
        print(line, file=sys.stderr)
