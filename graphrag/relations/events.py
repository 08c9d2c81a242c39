"""The 13 types of relations between entries, the events of their log, and the state that follows from the events.

An entry is a document, named by its path. A relation is one (from, type, to): it exists or it does not, without a
score. Events are never changed; `replay` of the same events gives the same state (specs: folding 1 to 6).

Does not: read or write the file (relation_log.py), or decide which events a command writes (changes.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphrag.errors import UsageError

RELATION_TYPES = (
    "cites", "see_also", "part_of", "supersedes", "split_from", "derived_from", "corrects", "clarifies",
    "conflicts_with", "precedes", "requires", "produces", "owned_by",
)  # fmt: skip
TRANSITIVE_TYPES = frozenset({"supersedes", "part_of", "derived_from", "precedes", "requires"})
ACTIONS = ("create", "delete", "retype", "bridge", "merge", "delete_entry", "already_present")
SOURCES = ("author", "judge", "citation_backfill", "metadata_backfill", "bridged", "import")
BACKFILLS = ("citation_backfill", "metadata_backfill")

Triple = tuple[str, str, str]
"""(path of the from entry, type, path of the to entry)."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log, or one of the events that a line holds together.

    `entry` and `to`: paths. `type`: empty for merge and delete_entry, which are about an entry (merged into `to`). For
    retype it is the new type. `payload`: what the action needs beside, such as what was deleted.
    """

    event_id: str
    action: str
    at: str  # ISO, UTC
    actor: str
    source: str
    entry: str
    type: str = ""
    to: str = ""
    note: str = ""
    reason: str = ""
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def triple(self) -> Triple:
        return self.entry, self.type, self.to

    @property
    def undoes(self) -> str:
        """Id of the event that this one takes back; empty for others."""
        return str(self.payload.get("undoes", ""))


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that exists, with the event that made it."""

    entry: str
    type: str
    to: str
    note: str
    actor: str
    source: str
    event_id: str
    at: str
    payload: dict[str, Any]

    @property
    def triple(self) -> Triple:
        return self.entry, self.type, self.to

    @property
    def is_leak(self) -> bool:
        """The note repeats what the target says, and was kept all the same."""
        return bool(self.payload.get("leaks"))


class State:
    """What exists after some events. `relations` by triple; `merged`: entry -> the entry that it went into; `titles`:
    of merged entries, (title, who decided: user or judge), where their merge gives the other entry that name.

    `refused`: triples that somebody deleted; backfill does not make them again.
    """

    def __init__(self) -> None:
        self.relations: dict[Triple, Relation] = {}
        self.merged: dict[str, str] = {}
        self.titles: dict[str, tuple[str, str]] = {}
        self.refused: set[Triple] = set()

    def resolve(self, entry: str) -> str:
        """The entry itself, or what it was merged into in the end."""
        seen = set()
        while entry in self.merged and entry not in seen:
            seen.add(entry)
            entry = self.merged[entry]
        return entry

    def around(self, entry: str) -> list[Relation]:
        """The relations from or to an entry, by triple."""
        return sorted((r for r in self.relations.values() if entry in (r.entry, r.to)), key=lambda r: r.triple)

    def entries(self) -> list[str]:
        """Every entry with a relation, sorted."""
        return sorted({end for relation in self.relations.values() for end in (relation.entry, relation.to)})

    def take(self, event: Event) -> None:
        """Apply one event. What it asks for and already is so changes nothing: two logs may have been joined."""
        match event.action:
            case "create" | "bridge":
                self._add(event, event.payload)
            case "delete":
                if self.relations.pop(event.triple, None) and event.source not in BACKFILLS:
                    self.refused.add(event.triple)
            case "retype":
                old = self.relations.pop((event.entry, str(event.payload["old_type"]), event.to), None)
                if old is not None:
                    self.refused.add(old.triple)
                    self._add(event, old.payload, note=old.note)
            case "merge" if event.undoes:
                self.merged.pop(event.entry, None)
                self.titles.pop(event.entry, None)
            case "merge":
                self.merged[event.entry] = event.to
                self.merged.pop(event.to, None)  # renamed there and back
                if title := event.payload.get("title"):
                    self.titles[event.entry] = (str(title), "judge" if event.source == "judge" else "user")
            case _:  # delete_entry, already_present: the other events of their line say all
                pass

    def _add(self, event: Event, payload: dict[str, Any], *, note: str | None = None) -> None:
        if event.triple not in self.relations:
            self.relations[event.triple] = Relation(
                *event.triple, event.note if note is None else note, event.actor, event.source, event.event_id,
                event.at, payload,
            )  # fmt: skip
        self.refused.discard(event.triple)


def find_deletion(events: Iterable[Event], entry: str) -> Event | None:
    """The event by which an entry was deleted, where that was not taken back."""
    found: Event | None = None
    for event in events:
        if event.action == "delete_entry" and event.entry == entry:
            found = None if event.undoes else event
    return found


def replay(events: Iterable[Event]) -> State:
    state = State()
    for event in events:
        state.take(event)
    return state


def check_type(name: str) -> str:
    """The name. Raises UsageError for one that is not among the 13."""
    if name not in RELATION_TYPES:
        raise UsageError(f'Unknown relation "{name}". Use one of: {", ".join(RELATION_TYPES)}.')
    return name


def check_source(name: str) -> str:
    if name not in SOURCES:
        raise UsageError(f'Unknown source "{name}". Use one of: {", ".join(SOURCES)}.')
    return name
