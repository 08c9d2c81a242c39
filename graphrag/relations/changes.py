"""What each change of relations writes: pure functions from the state of the log to the events of one line.

Deleting an entry bridges it: for X -> B -> Y the relation X -> Y is written before B goes; merging B into S points B's
relations to S (specs: folding 26 to 29). Every event holds what its reverse needs, so that `undo_event` is a new event.

Does not: write them (relation_log.py), look whether entries exist (entries.py), or check notes (leaks.py).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphrag.errors import UsageError
from graphrag.relations.events import TRANSITIVE_TYPES, Event, Relation, State, Triple
from graphrag.relations.relation_log import RelationLog

MAX_BRIDGES = 200  # relations in times relations out; more need --force (specs: folding 27)


@dataclass(frozen=True)
class Stamp:
    """Who changes something, in what role, when (ISO, UTC), and how ids of events are made."""

    actor: str
    source: str
    at: str
    make_id: Callable[[], str] = lambda: secrets.token_hex(6)

    def event(
        self, action: str, triple: Triple, *, note: str = "", reason: str = "", payload: dict[str, Any] | None = None
    ) -> Event:
        entry, type_, to = triple
        return Event(
            self.make_id(), action, self.at, self.actor, self.source, entry, type_, to, note, reason, payload or {}
        )


def create_relation(
    state: State,
    triple: Triple,
    stamp: Stamp,
    *,
    note: str = "",
    reason: str = "",
    action: str = "create",
    payload: dict[str, Any] | None = None,
) -> Event:
    """The relation, or already_present where it exists: its note stays. Raises UsageError for from = to."""
    if triple[0] == triple[2]:
        raise UsageError(f"An entry cannot relate to itself: {triple[0]}.")
    if triple in state.relations:
        action = "already_present"
    return stamp.event(action, triple, note=note, reason=reason, payload=payload)


def delete_relation(state: State, triple: Triple, stamp: Stamp, *, reason: str) -> Event:
    """Raises UsageError without a reason, or where there is no such relation."""
    if not reason.strip():
        raise UsageError("--reason is required to remove a relation.")
    return _delete(_find(state, triple), stamp, reason=reason)


def retype_relation(state: State, triple: Triple, new_type: str, stamp: Stamp, *, reason: str) -> Event:
    """One event for the old and the new type. Raises UsageError without a reason, or where the new one exists."""
    if not reason.strip():
        raise UsageError("--reason is required to change the type of a relation.")
    relation = _find(state, triple)
    new = (relation.entry, new_type, relation.to)
    if new in state.relations:
        raise UsageError(f'"{_show(new)}" exists already. Use "graphrag unrelate" for the other.')
    return stamp.event("retype", new, note=relation.note, reason=reason, payload={"old_type": relation.type})


def delete_entry(state: State, entry: str, stamp: Stamp, *, reason: str = "", force: bool = False) -> list[Event]:
    """Bridges over the entry, then a delete event for each of its relations, then one delete_entry event.

    Raises UsageError for more than 200 pairs of relations in and out without `force`.
    """
    around = state.around(entry)
    into = [relation for relation in around if relation.to == entry]
    out = [relation for relation in around if relation.entry == entry]
    if len(into) * len(out) > MAX_BRIDGES and not force:
        n = len(into) * len(out)
        raise UsageError(f"Deleting {entry} would write {n} bridges. Use --force, or merge it into another entry.")
    bridging, known = replace(stamp, source="bridged"), set(state.relations)
    events = []
    for first in into:
        for second in out:
            if first.entry == second.to:
                continue
            same = first.type == second.type and first.type in TRANSITIVE_TYPES
            triple = (first.entry, first.type if same else "see_also", second.to)
            payload = {"bridged": entry, "hops": [_describe(first), _describe(second)]}
            action = "already_present" if triple in known else "bridge"
            events.append(bridging.event(action, triple, payload=payload))
            known.add(triple)
    events += [_delete(relation, stamp, reason=f"{entry} was deleted") for relation in around]
    return [*events, stamp.event("delete_entry", (entry, "", ""), reason=reason)]


def merge_entries(
    state: State, entry: str, into: str, stamp: Stamp, *, reason: str = "", title: str = ""
) -> list[Event]:
    """The relations of `entry` become those of `into`, with their notes and sources; then one merge event.

    title: of the entry; it becomes a name of the other one. Empty where a file has only moved.

    What would lead from `into` to itself is dropped, what exists there already is not written twice.
    """
    if entry == into:
        raise UsageError(f"An entry cannot be merged into itself: {entry}.")
    known, events = set(state.relations), []
    for relation in state.around(entry):
        events.append(_delete(relation, stamp, reason=f"{entry} was merged into {into}"))
        triple = (
            into if relation.entry == entry else relation.entry,
            relation.type,
            into if relation.to == entry else relation.to,
        )
        if triple[0] == triple[2]:
            continue
        action = "already_present" if triple in known else "create"
        payload = relation.payload | {"merged": entry, "was": relation.event_id}
        event = replace(stamp, source=relation.source).event(action, triple, note=relation.note, payload=payload)
        events.append(event)
        known.add(triple)
    payload = {"title": title} if title else {}
    return [*events, stamp.event("merge", (entry, "", into), reason=reason, payload=payload)]


def undo_event(log: RelationLog, event_id: str, stamp: Stamp) -> list[Event]:
    """The reverse of an event, as new events. For merge and delete_entry of all events that were written with it.

    Raises UsageError for an unknown event, one that changed nothing, and one whose effect is gone already.
    """
    line = next((line for line in log.lines if any(event.event_id == event_id for event in line)), None)
    if line is None:
        raise UsageError(f'No event "{event_id}". See "graphrag relations log".')
    event = next(event for event in line if event.event_id == event_id)
    undone = [event] if event.type else list(line)
    state = log.state()
    if any(other.undoes == event_id for other in log.events) and not _is_effective(state, event):
        raise UsageError(f"Event {event_id} is undone already.")
    events = [made for each in reversed(undone) for made in _reverse(state, each, stamp)]
    if not events:
        raise UsageError(f"Event {event_id} changed nothing that could be taken back.")
    return events


def _is_effective(state: State, event: Event) -> bool:
    match event.action:
        case "create" | "bridge" | "retype":
            return event.triple in state.relations
        case "delete":
            return event.triple not in state.relations
        case "merge":
            return (state.merged.get(event.entry) == event.to) != bool(event.undoes)
        case _:
            return False


def _reverse(state: State, event: Event, stamp: Stamp) -> list[Event]:
    payload: dict[str, Any] = {"undoes": event.event_id}
    reason = f"undo {event.event_id}"
    there = state.relations.get(event.triple)
    match event.action:
        case "create" | "bridge" if there is not None:
            return [_delete(there, stamp, reason=reason, payload=payload)]
        case "delete" if there is None:
            was = event.payload.get("was", {})
            restored = replace(stamp, source=was.get("source", stamp.source))
            payload = {**was.get("payload", {}), **payload}
            return [restored.event("create", event.triple, note=was.get("note", ""), reason=reason, payload=payload)]
        case "retype" if there is not None:
            old = str(event.payload["old_type"])
            triple = (event.entry, old, event.to)
            if triple in state.relations:
                return []
            return [
                stamp.event(
                    "retype", triple, note=there.note, reason=reason, payload={"old_type": event.type} | payload
                )
            ]
        case "merge" if event.undoes:
            return [stamp.event("merge", (event.entry, "", event.to), reason=reason, payload=event.payload["was"])]
        case "merge":
            return [stamp.event("merge", event.triple, reason=reason, payload=payload | {"was": event.payload})]
        case "delete_entry":
            return [stamp.event(event.action, event.triple, reason=reason, payload=payload)]
        case _:
            return []


def _delete(relation: Relation, stamp: Stamp, *, reason: str, payload: dict[str, Any] | None = None) -> Event:
    was = {"source": relation.source, "note": relation.note, "payload": relation.payload}
    was = {name: value for name, value in was.items() if value}
    return stamp.event("delete", relation.triple, reason=reason, payload={"was": was} | (payload or {}))


def _find(state: State, triple: Triple) -> Relation:
    if relation := state.relations.get(triple):
        return relation
    between = [r for r in state.relations.values() if {r.entry, r.to} == {triple[0], triple[2]}]
    there = "; ".join(_show(relation.triple) for relation in between)
    raise UsageError(f'No relation "{_show(triple)}".' + (f" There is: {there}." if there else ""))


def _describe(relation: Relation) -> dict[str, Any]:
    """A hop of a bridge, with the hops of its own where it is a bridge itself."""
    described: dict[str, Any] = {"relation": relation.event_id, "type": relation.type, "note": relation.note}
    if hops := relation.payload.get("hops"):
        described |= {"bridged": relation.payload["bridged"], "hops": hops}
    return described


def _show(triple: Sequence[str]) -> str:
    return " ".join(triple)
