"""Communities and reports of other tools, kept: members, levels and words as they are, lists and citations made anew.

The files cluster the largest component only; entities in none of their communities go to one of their own
("Unconnected entities", without a report). relationship_ids and text_unit_ids are counted again, numbers in citations
([Data: Entities (5)]) are those of this run. Before 1.1 members are found through the table nodes, and a parent by the
members it shares.

Reads the shapes of shapes.py, entities, relationships; writes communities, community_reports. Does not: cluster
(index/communities.py) or write reports (index/reports.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from graphrag import tables
from graphrag.citations import renumber_citations
from graphrag.ids import content_sha256, row_id
from graphrag.interop.cited_sentences import Citables
from graphrag.tables import UNCONNECTED

Rows = list[dict[str, Any]]


def keep_communities(
    frames: Mapping[str, pl.DataFrame], entities: pl.DataFrame, relationships: pl.DataFrame
) -> tuple[pl.DataFrame, str]:
    """Rows of communities; or none, and why they cannot be kept. community is the number that the files give."""
    rows = _read_rows(frames, entities)
    if not rows:
        return tables.COMMUNITIES.empty(), "there are none"
    if fault := _find_fault(rows):
        return tables.COMMUNITIES.empty(), fault
    placed = {entity for row in rows if row["level"] == 0 for entity in row["entity_ids"]}
    if left := [entity for entity in entities["id"] if entity not in placed]:
        number = max(row["community"] for row in rows) + 1
        rows.append({"community": number, "level": 0, "parent": -1, "entity_ids": left, "title": UNCONNECTED})
    children: dict[int, list[int]] = {}
    for row in rows:
        children.setdefault(row["parent"], []).append(row["community"])
    edges = relationships.select("id", "source_id", "target_id", "text_unit_ids").to_dicts()
    return tables.COMMUNITIES.from_rows([_finish(row, children, edges) for row in rows]), ""


def _read_rows(frames: Mapping[str, pl.DataFrame], entities: pl.DataFrame) -> Rows:
    """community, level, parent, entity_ids of those with a known member."""
    if "communities" not in frames:
        return []
    known = set(entities["id"])
    members = _members_by_nodes(frames, entities)
    rows = []
    for row in frames["communities"].sort("level", "community").to_dicts():
        listed = members.get((row["level"], row["community"]), []) if row["entity_ids"] is None else row["entity_ids"]
        inside = sorted({entity for entity in listed if entity in known})
        if inside:
            number = row["community"]
            title = f"Community {number}"
            rows.append({**row, "entity_ids": inside, "title": title, "id": row["id"] or ""})
    _find_parents(rows)
    return rows


def _members_by_nodes(frames: Mapping[str, pl.DataFrame], entities: pl.DataFrame) -> dict[tuple[int, int], list[str]]:
    """(level, community) -> ids, of 0.x and 1.0."""
    found: dict[tuple[int, int], list[str]] = {}
    if "nodes" in frames:
        ids = dict(entities.select("title", "id").iter_rows())
        for title, level, community in frames["nodes"].select("title", "level", "community").iter_rows():
            if community is not None and title in ids:
                found.setdefault((level, community), []).append(ids[title])
    return found


def _find_parents(rows: Rows) -> None:
    """Where the files name none, the community of the level above that holds most of the members."""
    home = {(row["level"], entity): row["community"] for row in rows for entity in row["entity_ids"]}
    for row in rows:
        if row["level"] == 0:
            row["parent"] = -1
        elif row["parent"] is None:
            above = Counter(home.get((row["level"] - 1, entity), -1) for entity in row["entity_ids"])
            row["parent"] = above.most_common(1)[0][0]


def _find_fault(rows: Rows) -> str:
    """Why they are no hierarchy of ours, in words; empty if they are one."""
    by_number = {row["community"]: row for row in rows}
    if len(by_number) < len(rows):
        return "two have one number"
    below: dict[int, list[str]] = {}
    for row in rows:
        if row["parent"] == -1:
            if row["level"] != 0:
                return f"community {row['community']} of level {row['level']} has no parent"
            continue
        if row["parent"] not in by_number or by_number[row["parent"]]["level"] != row["level"] - 1:
            return f"the parent of community {row['community']} is not on the level above"
        below.setdefault(row["parent"], []).extend(row["entity_ids"])
    for number, members in below.items():
        if sorted(members) != sorted(by_number[number]["entity_ids"]):
            return f"the children of community {number} do not divide its members"
    top = [entity for row in rows if row["level"] == 0 for entity in row["entity_ids"]]
    return "an entity is in two communities of level 0" if len(set(top)) < len(top) else ""


def _finish(row: Mapping[str, Any], children: Mapping[int, list[int]], edges: Rows) -> dict[str, Any]:
    members = set(row["entity_ids"])
    inside = [edge for edge in edges if edge["source_id"] in members and edge["target_id"] in members]
    units = sorted({unit for edge in inside for unit in edge["text_unit_ids"]})
    entity_ids = sorted(members)
    identity = row.get("id") or ""
    return {
        "id": identity if len(identity) > 8 else row_id("community", str(row["community"]), *entity_ids),
        "human_readable_id": row["community"], "community": row["community"], "level": row["level"],
        "parent": row["parent"], "children": sorted(children.get(row["community"], [])), "title": row["title"],
        "entity_ids": entity_ids, "relationship_ids": sorted(edge["id"] for edge in inside), "text_unit_ids": units,
        "period": "", "size": len(members), "content_sha256": content_sha256(json.dumps([entity_ids, units])),
    }  # fmt: skip


def keep_reports(
    reports: pl.DataFrame,
    communities: pl.DataFrame,
    citables: Citables,
    renumbered: Mapping[int, int],
) -> tuple[pl.DataFrame, int, int]:
    """Rows of community_reports; how many reports are of no community that is kept; how many citations lead nowhere.

    citables: the rows that the files may cite. renumbered: community of the files -> community here.
    """
    numbers = citables.numbers | {("Reports", old): ("Reports", new) for old, new in renumbered.items()}
    by_number = {row["community"]: row for row in communities.to_dicts()}
    rows: Rows = []
    taken: set[int] = set()
    ids: set[str] = set()
    n_lost = n_removed = 0
    for report in reports.to_dicts():
        community = by_number.get(renumbered.get(report["community"], -1))
        if community is None or community["community"] in taken:
            n_lost += 1
            continue
        taken.add(community["community"])
        checked = [renumber_citations(report[name] or "", numbers) for name in ("full_content", "summary")]
        findings = [
            {key: renumber_citations(text or "", numbers).text for key, text in finding.items()}
            for finding in report["findings"] or ()
        ]
        n_removed += checked[0].n_removed
        as_json = renumber_citations(report["full_content_json"] or "{}", numbers).text
        copied = ("human_readable_id", "community", "level", "parent", "children", "period", "size")
        rows.append(
            {
                "id": _choose_id(report, community, ids),
                **{name: community[name] for name in copied}, "title": report["title"], "summary": checked[1].text,
                "full_content": checked[0].text, "rank": float(report["rank"] or 0.0),
                "rating_explanation": report["rating_explanation"] or "", "findings": findings,
                "full_content_json": as_json, "method": "llm",
                "citations": json.dumps(citables.cite(checked[0]), ensure_ascii=False),
                "left_out": "{}",
            }
        )  # fmt: skip
    return tables.COMMUNITY_REPORTS.from_rows(rows), n_lost, n_removed


def _choose_id(report: Mapping[str, Any], community: Mapping[str, Any], taken: set[str]) -> str:
    """That of the file; two reports of one text have one id there."""
    identity = report["id"] or ""
    if not identity or identity in taken:
        identity = row_id("community_report", community["id"], report["full_content"])
    taken.add(identity)
    return identity
