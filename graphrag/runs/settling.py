"""Entries of the relations' log whose documents are gone: deleted with bridges, or moved with their content.

A run works out the events, builds its tables as if the log held them, and appends them after it has published
(specs: folding 28). A document that is in the folder but was not read is waited for; and so is every missing one where
the published run read another folder, or there is none: then nobody has removed it.

Reads documents, those of the published run, the input folder and the log; appends to the log. Does not: say what a
deletion writes (relations/changes.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from graphrag.relations.changes import Stamp, delete_entry, merge_entries
from graphrag.relations.events import Event, State
from graphrag.relations.relation_log import RelationLog, append_events
from graphrag.runs.changes import match_renames
from graphrag.runs.run import Run

RENAMED = "renamed"
"""Reason of the merge of an old path into the new one."""
ACTOR = "index"
MAX_TOLD = 5  # entries that a notice names


def settle_entries(run: Run, documents: pl.DataFrame) -> list[Event]:
    """The events that the log lacks: merge for a document that moved, delete_entry for one that is gone."""
    known = set(documents["path"])
    waiting = [e for e in run.relations.state().entries() if e not in known and not _is_gone(run, e, known)]
    if waiting:
        more = f" and {len(waiting) - MAX_TOLD} more" if len(waiting) > MAX_TOLD else ""
        run.notices.append(f"Relations of {', '.join(waiting[:MAX_TOLD])}{more} wait: no such document was read.")
    return _plan(run, run.relations, documents)


def append_settling(run: Run, documents: pl.DataFrame) -> None:
    """Append the events of this run to the log; made anew where somebody else has written since the run began."""

    def plan(log: RelationLog) -> Sequence[Event]:
        is_same = log.sha256 == run.relations.sha256
        return run.settling if is_same and run.settling else _plan(run, log, documents)

    if not run.settling and not _plan(run, run.relations, documents):
        return
    written = append_events(run.relations_path, plan)
    for event in written:
        if event.action == "delete_entry":
            bridged = sum(other.payload.get("bridged") == event.entry for other in written)
            run.notices.append(f"{event.entry} is gone: its relations were deleted, {bridged} bridged.")


def _plan(run: Run, log: RelationLog, documents: pl.DataFrame) -> list[Event]:
    state = log.state()
    known = set(documents["path"])
    gone = [entry for entry in state.entries() if entry not in known and _is_gone(run, entry, known)]
    if not gone:
        return []
    moved = _find_moved(run, documents)
    stamp = Stamp(ACTOR, "import", run.started_at.isoformat(timespec="seconds"))
    return [event for entry in gone for event in _settle(state, entry, moved.get(entry), stamp)]


def _settle(state: State, entry: str, moved_to: str | None, stamp: Stamp) -> list[Event]:
    """The events of one entry, which are taken into the state: what is bridged may be bridged again."""
    if moved_to is None:
        events = delete_entry(state, entry, stamp, reason="the document is gone", force=True)
    else:
        events = merge_entries(state, entry, moved_to, stamp, reason=RENAMED)
    for event in events:
        state.take(event)
    return events


def _is_gone(run: Run, entry: str, known: set[str]) -> bool:
    """Not in the folder that the published run read, or a record of a file that gave other records."""
    if run.published is None or run.published.manifest["settings"]["input"]["dir"] != run.settings.input.dir:
        return False
    file, is_record, _ = entry.partition("#")
    if is_record and any(path.startswith(f"{file}#") for path in known):
        return True
    return not (isinstance(run.input_dir, Path) and (run.input_dir / file).is_file())


def _find_moved(run: Run, documents: pl.DataFrame) -> dict[str, str]:
    """Old path -> new path."""
    if run.published is None:
        return {}
    published = run.published.frame("documents", ("path", "content_sha256"))
    return {old: new for new, old in match_renames(published, documents).items()}
