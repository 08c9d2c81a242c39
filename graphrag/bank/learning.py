"""Learning: a note of what was learned, written below the input folder, and its relations, in one step.

A note that is a log or the state of the day is refused (learnable.py), one that an entry says already is pointed out.
The next index run reads it like any document; until then search reads it beside the index (reading/new_notes.py).

Reads what the bank holds; writes the note and the log. Does not: index, or change a note that is there.
"""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from graphrag.bank.knowledge_bank import Bank
from graphrag.bank.learnable import find_refusal
from graphrag.errors import StoreError, UnknownEntity, UsageError, shown_path
from graphrag.relations.changes import Stamp, create_relation
from graphrag.relations.entries import Entry
from graphrag.relations.events import Event, Triple, check_type
from graphrag.relations.leaks import check_note
from graphrag.relations.relation_log import append_events
from graphrag.search.entries.near_duplicates import NearDuplicate, find_near_duplicates
from graphrag.store.runs import sync_path
from graphrag.vectors import locate_model

MAX_SLUG = 60


class Connection(NamedTuple):
    """A relation of a note that is about to be learned, `corrects:ID:note` taken apart."""

    type: str
    entry: Entry
    note: str
    is_leak: bool


class Learned(NamedTuple):
    path: str  # relative to the input folder
    file: Path
    events: list[Event]


def learn(
    bank: Bank,
    title: str,
    text: str,
    stamp: Stamp,
    *,
    relates: Sequence[str] = (),
    allow_leak: bool = False,
    allow_duplicate: bool = False,
) -> Learned:
    """A note below the folder of learnings, and its relations in one line of the log.

    relates: `TYPE:ENTRY:note` each. Nothing is written where anything is wrong: raises UsageError for a transient note,
    an unknown type, a leaking note, and a near-duplicate that none of the relations names.
    """
    knobs, title = bank.settings.learn, " ".join(title.split())
    text = text.strip()
    refusal = find_refusal(
        title, text, refuse=knobs.refuse, log_share=knobs.log_share, min_words=knobs.min_words,
        max_words=knobs.max_words,
    )  # fmt: skip
    if refusal:
        raise UsageError(refusal)
    connections = [read_connection(bank, words, text, allow_leak=allow_leak) for words in relates]
    if not allow_duplicate:
        _refuse_duplicate(list_duplicates(bank, title, text), {each.entry.path for each in connections})
    path, file = _write_note(bank, title, text, stamp)
    events: list[Event] = []
    if connections:
        triples: dict[Triple, Connection] = {(path, each.type, each.entry.path): each for each in connections}
        events = append_events(
            bank.log_path,
            lambda log: [
                create_relation(
                    log.state(), triple, stamp, note=each.note, payload={"leaks": True} if each.is_leak else None
                )
                for triple, each in triples.items()
            ],
        )
    return Learned(path, file, events)


def list_duplicates(bank: Bank, title: str, text: str) -> list[NearDuplicate]:
    """The entries that say already what a note would say."""
    model = locate_model(bank.settings.embeddings.model, bank.root)
    return find_near_duplicates(
        bank.index, bank.new_notes, f"{title}\n{text}", model=model, floor=bank.settings.learn.near_duplicate
    )


def read_connection(bank: Bank, words: str, text: str, *, allow_leak: bool = False) -> Connection:
    """`corrects:ENTRY:note`; the name of the entry may hold colons, the note is what follows the longest name."""
    type_, _, rest = words.partition(":")
    if not rest.strip():
        raise UsageError(f'--relates is "TYPE:ENTRY:note", got "{words}".')
    check_type(type_.strip())
    parts = rest.split(":")
    for n in range(len(parts), 0, -1):
        try:
            entry = bank.find(":".join(parts[:n]))
        except UnknownEntity:
            if n > 1:
                continue
            raise
        break
    note = " ".join(":".join(parts[n:]).split())
    is_leak = check_note(
        note, from_text=text, to_text=bank.read_text(entry.path), to_names=entry.names, allow_leak=allow_leak
    )
    return Connection(type_.strip(), entry, note, is_leak)


def _refuse_duplicate(found: Sequence[NearDuplicate], related: set[str]) -> None:
    if not found or related & {each.path for each in found}:
        return
    first = found[0]
    raise UsageError(
        f'"{first.title}" ({first.path}) says much of this (likeness {first.likeness:.2f}). If the note replaces it, '
        f'add --relates "supersedes:{first.path}:why"; if it explains it, --relates "clarifies:{first.path}:how"; '
        "if it says something else, --allow-duplicate."
    )


def _write_note(bank: Bank, title: str, text: str, stamp: Stamp) -> tuple[str, Path]:
    """The file appears whole or not at all, and never in place of another."""
    folder = bank.input_dir / bank.settings.learn.folder
    front = {"title": title, "type": "learning", "date": stamp.at[:10], "learned_by": stamp.actor}
    lines = [f"{name}: {orjson.dumps(value).decode()}" for name, value in front.items()]
    heading = "" if text.startswith("# ") else f"# {title}\n\n"
    content = "\n".join(["---", *lines, "---", f"{heading}{text}", ""])
    aside = folder / f".{secrets.token_hex(8)}.new"  # hidden: no run reads it
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with aside.open("w", encoding="utf-8") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        file = _link_free(aside, folder, _slug(title))
        aside.unlink()
        sync_path(folder)
    except OSError as error:
        raise StoreError(f"Cannot write a note to {shown_path(folder)}: {error.strerror or error}.") from error
    return file.relative_to(bank.input_dir).as_posix(), file


def _link_free(aside: Path, folder: Path, slug: str) -> Path:
    for number in range(1, 10_000):
        file = folder / (f"{slug}.md" if number == 1 else f"{slug}-{number}.md")
        try:
            os.link(aside, file)  # fails where the name is taken, whoever took it
        except FileExistsError:
            continue
        return file
    raise UsageError(f"There are too many notes called {slug}.md in {shown_path(folder)}.")


def _slug(title: str) -> str:
    words = re.sub(r"[^\w]+", "-", unicodedata.normalize("NFC", title).casefold()).strip("-_")
    return words[:MAX_SLUG].rstrip("-_") or "note"
