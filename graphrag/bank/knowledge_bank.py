"""The knowledge bank as people and agents use it: relate entries, take it back, delete and merge them.

Each function checks its words against the entries, writes events to the relations' log and returns them. The command
line and the MCP server call these; learning.py writes new entries.

Reads documents of the published index, notes that were learned since, the log; writes the log. Does not: index (the
next run does), print, or decide what an event says (relations/changes.py).
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from graphrag import store
from graphrag.errors import NoIndex, UnknownEntity, UsageError
from graphrag.object_storage import is_url
from graphrag.reading.new_notes import NewNote, read_new_notes
from graphrag.relations import changes
from graphrag.relations.backfill import plan_backfill
from graphrag.relations.changes import Stamp
from graphrag.relations.entries import Entry, find_entry, read_entry
from graphrag.relations.events import Event, Relation, State, Triple, check_source, check_type, find_deletion
from graphrag.relations.leaks import check_note, find_leak
from graphrag.relations.relation_log import RelationLog, append_events, read_log
from graphrag.settings import Settings


@dataclass(frozen=True)
class Bank:
    """Opened for one command. `index` is None where nothing has been published. `entries`: all that may be related."""

    settings: Settings
    root: Path
    index: store.Index | None
    new_notes: tuple[NewNote, ...]
    entries: tuple[Entry, ...]

    @property
    def log_path(self) -> Path:
        return self.root / self.settings.links.relations

    @property
    def input_dir(self) -> Path:
        """Raises UsageError where the documents lie on object storage."""
        if is_url(self.settings.input.dir):
            raise UsageError(f"input.dir is {self.settings.input.dir}: notes are written to folders only.")
        return self.root / self.settings.input.dir

    @cached_property
    def log(self) -> RelationLog:
        """As it was when it was first asked for; what is written is decided on the log under its lock."""
        return read_log(self.log_path)

    @cached_property
    def state(self) -> State:
        return self.log.state()

    def find_named(self, name: str) -> Entry:
        """The entry of that name, merged or not. Raises UnknownEntity, for one that has gone with who deleted it;
        UsageError."""
        try:
            return find_entry([*self.entries, *self._only_in_log()], name)
        except UnknownEntity:
            if not (path := self._find_gone(name)):
                raise
            if path in self.state.merged:
                return Entry(path, path)
            raise UnknownEntity(self._tell_gone(name, path)) from None

    def find(self, name: str) -> Entry:
        """The entry of that name, or what it was merged into. Raises UnknownEntity, UsageError."""
        entry = self.find_named(name)
        into = self.state.resolve(entry.path)
        return entry if into == entry.path else self.find(into)

    def read_text(self, path: str) -> str:
        """Empty for an entry that has gone."""
        for note in self.new_notes:
            if note.path == path:
                return note.text
        if self.index is None:
            return ""
        found = self.index.frame("select text from documents where path = ?", (path,))
        return str(found.item()) if found.height else ""

    def find_file(self, path: str) -> Path | None:
        """The file of an entry, of which it may be one record; None where there is none in a folder."""
        if is_url(self.settings.input.dir):
            return None
        file = self.input_dir / path.partition("#")[0]
        return file if file.is_file() else None

    def find_logged(self, name: str) -> str:
        """The path of an entry that events may be about, be it deleted. Raises as find_named."""
        return self._find_gone(name) or self.find_named(name).path

    def _find_gone(self, name: str) -> str:
        """The path of a document that is none any more, by its #number, path or file name; empty for others."""
        wanted = name.strip()
        known = {entry.path for entry in self.entries}
        if wanted.startswith("#") and wanted[1:].isdigit():
            path = self.index.find_label("documents", int(wanted[1:])) if self.index else ""
            return "" if path in known else path
        deleted = dict.fromkeys(event.entry for event in self.log.events if event.action == "delete_entry")
        fits = [path for path in deleted if path not in known and wanted in (path, Entry(path, path).stem)]
        return fits[0] if len(fits) == 1 else ""

    def _tell_gone(self, name: str, path: str) -> str:
        deletion = find_deletion(self.log.events, path)
        if deletion is None:
            return f'No entry "{name}": {path} is no document any more.'
        why = f" ({deletion.reason})" if deletion.reason else ""
        said = f"{path} was deleted by {deletion.actor} on {deletion.at[:10]}{why}"
        return f'No entry "{name}": {said}. See "graphrag relations log {path}".'

    def _only_in_log(self) -> list[Entry]:
        """Entries whose documents have gone, and names that were merged: they can be asked for still."""
        known = {entry.path for entry in self.entries}
        named = dict.fromkeys([*self.state.entries(), *self.state.merged])
        titles = self.state.titles
        return [Entry(path, titles[path][0] if path in titles else path) for path in named if path not in known]


@contextmanager
def open_bank(settings: Settings, root: Path) -> Iterator[Bank]:
    """The bank with its entries; an index that is published underneath later does not change them."""
    try:
        index = store.open_index(root / settings.output.dir)
    except NoIndex:
        index = None
    try:
        entries = []
        if index is not None:
            rows = index.frame("select path, title, human_readable_id, metadata from documents order by path")
            entries = [read_entry(row) for row in rows.iter_rows(named=True)]
        notes: list[NewNote] = []
        if not is_url(settings.input.dir):
            known = {entry.path for entry in entries}
            notes = read_new_notes(root / settings.input.dir, settings.learn.folder, known=known)
        entries += [Entry(note.path, note.title) for note in notes]
        yield Bank(settings, root, index, tuple(notes), tuple(entries))
    finally:
        if index is not None:
            index.close()


def make_stamp(actor: str = "", source: str = "author") -> Stamp:
    """Who and when; the actor is the user of the machine where none is named."""
    return Stamp(
        actor.strip() or getpass.getuser(), check_source(source), datetime.now(UTC).isoformat(timespec="seconds")
    )


def relate(
    bank: Bank, name: str, type_: str, to: str, stamp: Stamp, *, note: str = "", allow_leak: bool = False
) -> Event:
    """A relation between two entries; already_present where it exists. Raises UsageError, UnknownEntity."""
    check_type(type_)
    entry, target = bank.find(name), bank.find(to)
    if entry.path == target.path:
        raise UsageError(f"An entry cannot relate to itself: {name}.")
    for end, asked in ((entry, name), (target, to)):
        if end not in bank.entries:
            raise UsageError(f'The document of "{asked}" has gone: {end.path}.')
    note = " ".join(note.split())
    is_leak = check_note(
        note, from_text=bank.read_text(entry.path), to_text=bank.read_text(target.path), to_names=target.names,
        allow_leak=allow_leak,
    )  # fmt: skip
    payload = {"leaks": True} if is_leak else None
    triple = (entry.path, type_, target.path)
    (event,) = append_events(
        bank.log_path,
        lambda log: [changes.create_relation(log.state(), triple, stamp, note=note, payload=payload)],
    )
    return event


def unrelate(bank: Bank, name: str, type_: str, to: str, stamp: Stamp, *, reason: str) -> Event:
    triple = _find_triple(bank, name, type_, to)
    (event,) = append_events(
        bank.log_path, lambda log: [changes.delete_relation(log.state(), triple, stamp, reason=reason)]
    )
    return event


def retype(bank: Bank, name: str, type_: str, to: str, new_type: str, stamp: Stamp, *, reason: str) -> Event:
    triple = _find_triple(bank, name, type_, to)
    check_type(new_type)
    (event,) = append_events(
        bank.log_path, lambda log: [changes.retype_relation(log.state(), triple, new_type, stamp, reason=reason)]
    )
    return event


def delete_entry(bank: Bank, name: str, stamp: Stamp, *, reason: str = "", force: bool = False) -> list[Event]:
    """Bridges, deletes and the deletion of an entry, in one line. The document stays in the folder."""
    path = bank.find(name).path
    return append_events(
        bank.log_path, lambda log: changes.delete_entry(log.state(), path, stamp, reason=reason, force=force)
    )


def merge_entries(bank: Bank, name: str, into: str, stamp: Stamp, *, reason: str = "") -> list[Event]:
    """The relations of one entry become those of another, in one line. The document stays in the folder."""
    entry, kept = bank.find(name), bank.find(into).path
    return append_events(
        bank.log_path,
        lambda log: changes.merge_entries(log.state(), entry.path, kept, stamp, reason=reason, title=entry.title),
    )


def undo(bank: Bank, event_id: str, stamp: Stamp) -> list[Event]:
    return append_events(bank.log_path, lambda log: changes.undo_event(log, event_id, stamp))


def list_leaks(bank: Bank) -> list[tuple[Relation, str]]:
    """The relations whose note repeats the target, with what it repeats, by triple; kept ones too (is_leak)."""
    relations = sorted(bank.state.relations.values(), key=lambda relation: relation.triple)
    texts = {path: bank.read_text(path) for path in {end for r in relations for end in (r.entry, r.to)}}
    names = {entry.path: entry.names for entry in bank.entries}
    checked = (
        (r, find_leak(r.note, from_text=texts[r.entry], to_text=texts[r.to], to_names=names.get(r.to, ())))
        for r in relations
    )
    return [(relation, leak) for relation, leak in checked if leak]


def list_gone(bank: Bank) -> list[str]:
    """Paths of entries with relations that are no documents, neither of the index nor since."""
    known = {entry.path for entry in bank.entries}
    return [path for path in bank.state.entries() if path not in known]


def backfill(bank: Bank, actor: str = "", *, dry_run: bool = False) -> list[Event]:
    """The relations that the documents of the index state and the log lacks. Raises NoIndex."""
    if bank.index is None:
        raise NoIndex(f'No index in {bank.settings.output.dir}. Run "graphrag index" first.')
    documents = bank.index.frame("select id, path, title, text, metadata, human_readable_id from documents")
    links, stamp = bank.index.table("links"), make_stamp(actor)
    if dry_run:
        return plan_backfill(bank.state, documents, links, stamp)
    return append_events(bank.log_path, lambda log: plan_backfill(log.state(), documents, links, stamp))


def _find_triple(bank: Bank, name: str, type_: str, to: str) -> Triple:
    check_type(type_)
    return bank.find(name).path, type_, bank.find(to).path
