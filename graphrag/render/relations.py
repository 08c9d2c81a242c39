"""What `graphrag relate`, `learn` and `graphrag relations` print for people, and as rows for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrag.errors import shown_path

if TYPE_CHECKING:
    from graphrag.bank.learning import Learned
    from graphrag.relations.events import Event, Relation

WORDS = {
    "create": "related", "delete": "removed", "retype": "retyped", "bridge": "bridged", "merge": "merged",
    "delete_entry": "deleted", "already_present": "was there",
}  # fmt: skip


def render_events(events: Sequence[Event]) -> str:
    """One line an event, `related  a requires b  (event 5f2c...)`."""
    width = max(len(WORDS[event.action]) for event in events)
    return "\n".join(f"{WORDS[e.action]:<{width}}  {_show(e)}  (event {e.event_id})" for e in events)


def tell_deleted_stays(file: Path) -> str:
    return (
        f"{shown_path(file)} stays in the input folder: it is indexed and found as before, without relations. Remove "
        "the file to take it out; the next run has nothing more to write for it."
    )


def tell_merged_stays(file: Path, into: str) -> str:
    return (
        f"{shown_path(file)} stays in the input folder: search finds it beside {into}. Move what still holds there and "
        "remove the file; its path and #number lead to the other one for good."
    )


def render_learned(learned: Learned) -> str:
    lines = [f"learned  {shown_path(learned.file)}"]
    return "\n".join([*lines, *([render_events(learned.events)] if learned.events else [])])


def render_log(events: Sequence[Event], *, n_events: int) -> str:
    """Newest last, with who, when and why."""
    if not events:
        return "No events."
    lines = [f"... {n_events - len(events):,} earlier events (--limit 0 shows all)"] if n_events > len(events) else []
    for event in events:
        who = event.actor if event.source == "author" else f"{event.actor}, {event.source}"
        lines.append(f"{event.event_id}  {event.at}  {event.action:<15}  {_show(event)}  [{who}]")
        said = [*([f"note: {event.note}"] if event.note else []), *([f"why: {event.reason}"] if event.reason else [])]
        lines += [f"    {line}" for line in said]
    return "\n".join(lines)


def render_check(leaks: Sequence[tuple[Relation, str]], gone: Sequence[str], *, n_relations: int) -> str:
    lines = []
    for relation, leak in leaks:
        kept = ", kept" if relation.is_leak else ""
        lines += [f"{' '.join(relation.triple)}", f'    repeats "{leak}"{kept}: {relation.note}']
    lines += [f"{path} has no document: the next index run deletes it with bridges" for path in gone]
    found = f"{len(leaks):,} with a note that repeats the target" if leaks else "no note repeats its target"
    return "\n".join([*lines, f"{n_relations:,} relation{'' if n_relations == 1 else 's'}; {found}."])


def describe_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """As in the log, with every key."""
    rows = [asdict(event) for event in events]
    return [{"from" if name == "entry" else name: value for name, value in row.items()} for row in rows]


def describe_learned(learned: Learned) -> dict[str, Any]:
    return {"path": learned.path, "file": str(learned.file), "events": describe_events(learned.events)}


def describe_check(leaks: Sequence[tuple[Relation, str]], gone: Sequence[str], *, n_relations: int) -> dict[str, Any]:
    rows = [
        {"from": r.entry, "type": r.type, "to": r.to, "note": r.note, "repeats": leak, "kept": r.is_leak}
        for r, leak in leaks
    ]
    return {"relations": n_relations, "leaks": rows, "gone": list(gone)}


def _show(event: Event) -> str:
    match event.action:
        case "merge":
            taken_back = "no longer in" if event.undoes else "into"
            return f"{event.entry} {taken_back} {event.to}"
        case "delete_entry":
            return f"{event.entry}{' is back' if event.undoes else ''}"
        case "retype":
            return f"{event.entry} {event.payload['old_type']} -> {event.type} {event.to}"
        case _:
            return " ".join(event.triple)
