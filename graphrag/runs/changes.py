"""What differs between two runs, row by row: the table run_changes, and `graphrag diff`.

Compares documents, entities, relationships, communities and community_reports. Rows are the same where their id is;
a document that moved with its content is renamed; a community is the one of the same level that shares most members
(Jaccard 0.5 or more), and a report is its community's. Details name columns, counts and titles, never what a removed
text said: nothing of a deleted document comes back through its obituary.

Does not: read settings, print, or decide anything (gates.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from graphrag import tables
from graphrag.store import RunTables

Frames = Mapping[str, pl.DataFrame]
COLUMNS = {
    "documents": ("id", "path", "title", "content_sha256", "metadata"),
    "entities": ("id", "title", "type", "description", "frequency", "degree", "aliases", "n_documents"),
    "relationships": ("id", "source", "predicate", "target", "description", "weight", "n_documents", "origin"),
    "communities": ("id", "community", "level", "title", "entity_ids", "relationship_ids", "content_sha256"),
    "community_reports": ("id", "community", "title", "full_content"),
}
SAME_COMMUNITY = 0.5
"""Shared members of two communities that count as one, as a share of all members of both (specs/indexing.md 5)."""
CITATION = re.compile(r"\[Data: [^\]]*\]")
CHANGES = ("added", "removed", "renamed", "changed")


def list_changes(published: RunTables, frames: Frames, *, run_id: str) -> pl.DataFrame:
    """run_changes of a run beside the published one that it replaces."""
    return compare_runs(read_rows(published), frames, run_id)


def read_rows(run: RunTables) -> Frames:
    """The columns of a run's tables that are compared."""
    return {name: run.frame(name, columns) for name, columns in COLUMNS.items()}


def compare_runs(before: Frames, after: Frames, run_id: str) -> pl.DataFrame:
    """run_changes between two runs; frames of all tables in COLUMNS. Sorted by table, kind of change and label."""
    rows = [
        *_compare_documents(before["documents"], after["documents"]),
        *_compare("entities", before, after, label=lambda row: str(row["title"]), name="title"),
        *_compare("relationships", before, after, label=_say_relationship, skip=("source", "target")),
    ]
    pairs = match_communities(before["communities"], after["communities"])
    rows += _compare_communities(before, after, pairs)
    rows += _compare_reports(before["community_reports"], after["community_reports"], pairs)
    for row in rows:
        row["run_id"] = run_id
    order = {name: number for number, name in enumerate([*COLUMNS, *CHANGES])}
    rows.sort(key=lambda row: (order[row["table"]], order[row["change"]], row["label"], row["id"]))
    return tables.RUN_CHANGES.from_rows(rows)


def count_changes(run_changes: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Table -> change -> rows."""
    counts = Counter(run_changes.select("table", "change").iter_rows())
    return {name: found for name in COLUMNS if (found := {c: n for c in CHANGES if (n := counts[name, c])})}


def match_communities(before: pl.DataFrame, after: pl.DataFrame) -> dict[int, int]:
    """Number before -> number after of the communities that are the same: pairs of one level, best overlap first."""
    old, new = (
        frame.select("level", "community", entity="entity_ids", size=pl.col("entity_ids").list.len()).explode("entity")
        for frame in (before, after)
    )
    shared = old.join(new, on=["level", "entity"], suffix="_after")
    pairs = (
        shared.group_by("community", "community_after", "size", "size_after")
        .agg(n=pl.len())
        .with_columns(overlap=pl.col("n") / (pl.col("size") + pl.col("size_after") - pl.col("n")))
        .filter(pl.col("overlap") >= SAME_COMMUNITY)
        .sort("overlap", "community", "community_after", descending=[True, False, False])
    )
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for number, number_after in pairs.select("community", "community_after").iter_rows():
        if number not in matched and number_after not in taken:
            matched[number] = number_after
            taken.add(number_after)
    return matched


def match_renames(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, str]:
    """New path -> old path of the documents that moved with their content; both frames need path, content_sha256."""
    old, new = dict(before.select("path", "content_sha256").rows()), dict(after.select("path", "content_sha256").rows())
    gone: dict[str, list[str]] = {}
    for path in sorted(set(old) - set(new), reverse=True):
        gone.setdefault(old[path], []).append(path)
    return {path: gone[new[path]].pop() for path in sorted(set(new) - set(old)) if gone.get(new[path])}


def _compare_documents(before: pl.DataFrame, after: pl.DataFrame) -> list[dict[str, Any]]:
    old, new = _by_id(before, COLUMNS["documents"]), _by_id(after, COLUMNS["documents"])
    renames = match_renames(before, after)
    moved = set(renames.values())
    rows = []
    for key, row in new.items():
        if source := renames.get(row["path"]):
            rows.append(_row("documents", key, row["path"], "renamed", f"from {source}"))
        elif key not in old:
            rows.append(_row("documents", key, row["path"], "added"))
        elif detail := _say_differences(old[key], row, ("title", "content_sha256", "metadata")):
            rows.append(_row("documents", key, row["path"], "changed", detail.replace("content_sha256", "text")))
    for key, row in old.items():
        if key not in new and row["path"] not in moved:
            rows.append(_row("documents", key, row["path"], "removed"))
    return rows


def _compare(
    table: str,
    before: Frames,
    after: Frames,
    *,
    label: Callable[[Mapping[str, Any]], str],
    name: str = "",
    skip: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Rows by id; `name` is the column whose change is a new name, `skip` columns that follow from other tables."""
    columns = COLUMNS[table]
    old, new = _by_id(before[table], columns), _by_id(after[table], columns)
    rows = [_row(table, key, label(row), "removed") for key, row in old.items() if key not in new]
    for key, row in new.items():
        if key not in old:
            rows.append(_row(table, key, label(row), "added"))
        elif old[key] != row:
            detail = _say_differences(old[key], row, [c for c in columns if c not in (*skip, name)])
            if name and old[key][name] != row[name]:
                detail = "; ".join(filter(None, [f"from {old[key][name]}", detail]))
                rows.append(_row(table, key, label(row), "renamed", detail))
            elif detail:
                rows.append(_row(table, key, label(row), "changed", detail))
    return rows


def _compare_communities(before: Frames, after: Frames, pairs: Mapping[int, int]) -> list[dict[str, Any]]:
    old, new = _by_number(before["communities"]), _by_number(after["communities"])
    titles = [dict(frames["community_reports"].select("community", "title").iter_rows()) for frames in (before, after)]
    rows = [_row("communities", row["id"], titles[0].get(n, row["title"]), "removed") for n, row in old.items()
            if n not in pairs]  # fmt: skip
    source_of = {target: source for source, target in pairs.items()}
    for number, row in new.items():
        label = titles[1].get(number, row["title"])
        if number not in source_of:
            rows.append(_row("communities", row["id"], label, "added"))
        elif (was := old[source_of[number]])["content_sha256"] != row["content_sha256"]:
            detail = ", ".join(
                f"{word} {_say_moves(was[column], row[column])}"
                for word, column in (("entities", "entity_ids"), ("relationships", "relationship_ids"))
                if set(was[column]) != set(row[column])
            )
            rows.append(_row("communities", row["id"], label, "changed", detail or "what is said of its members"))
    return rows


def _compare_reports(before: pl.DataFrame, after: pl.DataFrame, pairs: Mapping[int, int]) -> list[dict[str, Any]]:
    old, new = _by_number(before), _by_number(after)
    source_of = {target: source for source, target in pairs.items() if source in old}
    rows = [_row("community_reports", row["id"], row["title"], "removed") for n, row in old.items()
            if pairs.get(n) not in new]  # fmt: skip
    for number, row in new.items():
        if number not in source_of:
            rows.append(_row("community_reports", row["id"], row["title"], "added"))
        elif _say_report(old[source_of[number]]) != _say_report(row):
            detail = "title, text" if old[source_of[number]]["title"] != row["title"] else "text"
            rows.append(_row("community_reports", row["id"], row["title"], "changed", detail))
    return rows


def _by_id(frame: pl.DataFrame, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in frame.select(columns).iter_rows(named=True)}


def _by_number(frame: pl.DataFrame) -> dict[int, dict[str, Any]]:
    return {row["community"]: row for row in frame.iter_rows(named=True)}


def _say_relationship(row: Mapping[str, Any]) -> str:
    return f"{row['source']} {row['predicate']} {row['target']}"


def _say_moves(old: Sequence[str], new: Sequence[str]) -> str:
    """`+2 -1`: how many came and how many went."""
    moves = (("+", len(set(new) - set(old))), ("-", len(set(old) - set(new))))
    return " ".join(f"{sign}{n}" for sign, n in moves if n)


def _say_report(row: Mapping[str, Any]) -> str:
    """Its words: the numbers in citations change with the path of a document that says the same."""
    return CITATION.sub("", row["full_content"])


def _say_differences(old: Mapping[str, Any], new: Mapping[str, Any], columns: Sequence[str]) -> str:
    """`degree 2 -> 3, description`: numbers are told, texts are named."""
    said = []
    for name in columns:
        if old[name] != new[name]:
            is_number = isinstance(new[name], int | float)
            said.append(f"{name} {old[name]:g} -> {new[name]:g}" if is_number else name)
    return ", ".join(said)


def _row(table: str, key: str, label: str, change: str, detail: str = "") -> dict[str, Any]:
    return {"table": table, "id": key, "label": label, "change": change, "detail": detail}
