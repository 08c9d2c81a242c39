"""A log in words: relations as "a cites b", and the state as a set of them."""

from __future__ import annotations

from itertools import count

from graphrag.relations.changes import Stamp, create_relation
from graphrag.relations.events import Event, State, replay
from graphrag.relations.relation_log import RelationLog


def make_stamp(source: str = "author") -> Stamp:
    numbers = count(1)
    return Stamp("ana", source, "2026-11-30T05:00:00+00:00", lambda: f"ev{next(numbers)}")


def parse(words: str) -> list[tuple[str, str, str]]:
    """ "a cites b, b requires c" as triples."""
    triples = [part.split() for part in words.split(",") if part.strip()]
    return [(entry, type_, to) for entry, type_, to in triples]


def write_relations(words: str, stamp: Stamp, notes: dict[str, str] | None = None) -> RelationLog:
    state, lines = State(), []
    for triple in parse(words):
        event = create_relation(state, triple, stamp, note=(notes or {}).get(" ".join(triple), ""))
        state.take(event)
        lines.append((event,))
    return RelationLog(lines)


def add_line(log: RelationLog, events: list[Event]) -> RelationLog:
    return RelationLog([*log.lines, tuple(events)])


def show(state: State) -> set[str]:
    return {" ".join(triple) for triple in state.relations}


def show_log(log: RelationLog) -> set[str]:
    return show(replay(log.events))
