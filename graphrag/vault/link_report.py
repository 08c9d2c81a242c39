"""What the links of an index are like: `graphrag links`. Missing targets, ambiguous names, orphans, hubs, advice.

Reads links and documents of the published index. Does not: propose links (link_proposals.py), or change a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from graphrag.index.graph import hub_cutoff
from graphrag.index.link_targets import AMBIGUOUS, RESOLVED, UNRESOLVED, fold_target
from graphrag.index.links import collect_targets
from graphrag.search.notes.linked_notes import count_neighbours
from graphrag.store import Index

DEPTH, SYNTHESIS, HYBRID, WHOLE = "depth", "synthesis", "hybrid", "whole vault"


class LinkReport(NamedTuple):
    """`missing`: target, n_links, places (path:line), owners (notes of that title or alias). `ambiguous`: target, path
    that was chosen, n_links. `cut_names`: place, raw, path of links that end at the # in a note's name. `orphans`:
    paths of notes that no link joins to another. `hubs`: path, n_neighbours."""

    n_documents: int
    n_links: int
    by_status: dict[str, int]
    n_edges: int
    missing: list[dict[str, Any]]
    ambiguous: list[dict[str, Any]]
    cut_names: list[dict[str, Any]]
    orphans: list[str]
    hubs: list[dict[str, Any]]
    advice: str


def report_links(index: Index) -> LinkReport:
    """The report on the published index."""
    documents = index.frame(
        "select id, path, title, kind, metadata, human_readable_id from documents where kind in ('md', 'canvas')"
    ).sort("path")
    links = index.frame("select l.*, d.path from links l join documents d on d.id = l.document_id").sort(
        "path", "ordinal"
    )
    paths = dict(index.frame("select id, path from documents").iter_rows())
    leading = links.filter(pl.col("status").is_in([RESOLVED, AMBIGUOUS]))
    between = pl.all_horizontal(pl.col("source_document_id", "target_document_id").is_in(documents["id"].implode()))
    edges = leading.filter(between).select("target_document_id", document_id="source_document_id").unique()
    near = count_neighbours(edges)
    degrees = documents.select("id", "path").join(near, on="id", how="left").with_columns(pl.col("degree").fill_null(0))
    cutoff = hub_cutoff(degrees["degree"])
    hubs = degrees.filter(pl.col("degree") > cutoff).sort(-pl.col("degree"), "path")
    return LinkReport(
        n_documents=documents.height,
        n_links=links.height,
        by_status=dict(links["status"].value_counts().sort("status").iter_rows()),
        n_edges=edges.height,
        missing=_list_missing(links, documents),
        ambiguous=_list_ambiguous(leading, paths),
        cut_names=_list_cut_names(links, documents),
        orphans=degrees.filter(pl.col("degree") == 0)["path"].to_list(),
        hubs=[{"path": path, "n_neighbours": n} for path, n in hubs.select("path", "degree").iter_rows()],
        advice=advise(documents.height, leading.height),
    )


def advise(n_notes: int, n_links: int) -> str:
    """How `graphrag search --documents` walks such a vault best (specs: linked documents 19)."""
    if not n_links:
        return WHOLE
    if n_notes > 500:
        return HYBRID
    return DEPTH if n_notes < 200 and n_links > 2 * n_notes else SYNTHESIS


def _list_missing(links: pl.DataFrame, documents: pl.DataFrame) -> list[dict[str, Any]]:
    """Most wanted first. A target in several spellings is one, in its first."""
    targets = collect_targets(documents)
    found: dict[str, dict[str, Any]] = {}
    for path, line, target in links.filter(pl.col("status") == UNRESOLVED).select("path", "line", "target").iter_rows():
        row = found.setdefault(fold_target(target), {"target": target, "n_links": 0, "places": [], "owners": []})
        row["n_links"] += 1
        row["places"].append(f"{path}:{line}")
        row["owners"] = list(targets.resolve(path, target).owners)
    return sorted(found.values(), key=lambda row: (-row["n_links"], fold_target(row["target"])))


def _list_cut_names(links: pl.DataFrame, documents: pl.DataFrame) -> list[dict[str, Any]]:
    """Links whose words with # and all are a note's name: [[C# Notes]] leads to C, for # begins a heading."""
    names: dict[str, str] = {}
    for path in documents.filter(pl.col("path").str.contains("#", literal=True))["path"]:
        names.setdefault(fold_target(path.rpartition("/")[2]).removesuffix(".md"), path)
    rows = links.filter(pl.col("subpath") != "").select("path", "line", "raw", "target", "subpath").iter_rows()
    wanted = (
        (f"{path}:{line}", raw, names.get(fold_target(f"{target}#{sub}"))) for path, line, raw, target, sub in rows
    )
    return [{"place": place, "raw": raw, "path": path} for place, raw, path in wanted if path]


def _list_ambiguous(leading: pl.DataFrame, paths: dict[str, str]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], int] = {}
    for target, document_id in (
        leading.filter(pl.col("status") == AMBIGUOUS).select("target", "target_document_id").rows()
    ):
        key = (target, paths[document_id])
        rows[key] = rows.get(key, 0) + 1
    return [{"target": target, "path": path, "n_links": n} for (target, path), n in sorted(rows.items())]
