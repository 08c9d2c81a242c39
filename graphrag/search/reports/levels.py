"""The hierarchy of communities that have reports, and its roll-up to a level: each entity is covered by one report.

Reads communities and community_reports. Does not: load the reports' text, or ask whether they bear on a question
(select_communities.py).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.errors import SearchError
from graphrag.tables import UNCONNECTED

if TYPE_CHECKING:
    from graphrag.store import Index


class Community(NamedTuple):
    """What a walk through the hierarchy needs of a row of communities."""

    community: int
    level: int
    parent: int
    children: list[int]


class Hierarchy(NamedTuple):
    """Communities by number, and ids of their reports and counts of their text units by community. The entities that no
    relationship connects are not in it."""

    communities: list[Community]
    reports: dict[int, str]
    n_text_units: dict[int, int]


def load_hierarchy(index: Index) -> Hierarchy:
    """Raises SearchError when the index has no reports."""
    rows = index.frame(
        "select community, level, parent, children, len(text_unit_ids) from communities where title <> $unconnected "
        "order by community",
        {"unconnected": UNCONNECTED},
    ).rows()
    reports = dict(
        index.frame(
            "select community, id from community_reports where title <> ? order by community", (UNCONNECTED,)
        ).rows()
    )
    if not reports:
        raise SearchError(
            'No community reports. Run "graphrag index".'
            if rows
            else "No community reports: the index has no relationships to find communities by. Ask with --basic."
        )
    return Hierarchy([Community(*row[:4]) for row in rows], reports, {row[0]: row[4] for row in rows})


def select_reports(hierarchy: Hierarchy, *, level: int) -> tuple[list[str], int]:
    """Ids of the reports of a level after roll-up, and the number of communities that no report covers."""
    used, missing = roll_up_level(hierarchy.communities, set(hierarchy.reports), level=level)
    return [hierarchy.reports[community] for community in used], missing


def explain_missing(missing: int, *, level: int) -> list[str]:
    """The notice on communities that no report covers; none where all are covered."""
    if not missing:
        return []
    return [f"{missing} communities have no report at level {level} or above and were left out."]


def roll_up_level(
    communities: Sequence[Community], with_report: Collection[int], *, level: int
) -> tuple[list[int], int]:
    """Communities whose reports cover every entity once: those of the level, leaves above it, and, where a report is
    missing, the nearest ancestor that has one in place of all below it. Second: communities left uncovered."""
    by_number = {community.community: community for community in communities}

    def cover(number: int) -> tuple[list[int], int]:
        community = by_number[number]
        if community.level >= level or not community.children:
            return ([number], 0) if number in with_report else ([], 1)
        parts = [cover(child) for child in sorted(community.children) if child in by_number]
        missing = sum(part[1] for part in parts)
        if missing and number in with_report:
            return [number], 0
        return [used for part in parts for used in part[0]], missing

    roots = sorted(community.community for community in communities if community.parent == -1)
    covers = [cover(root) for root in roots]
    return [used for part in covers for used in part[0]], sum(part[1] for part in covers)
