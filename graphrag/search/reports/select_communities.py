"""Dynamic selection: which communities' reports are worth reading for a question, from the coarsest level down.

A community that has to do with the question is followed into its children; where one of them has too, they stand in its
place. What has nothing to do with it is left out with all below it. Microsoft's dynamic community selection, but
without falling through to all communities of the next level: where nothing is relevant, nothing is read.

Does not: load reports, or know who rates: a model (rate_reports.py) or words and meaning (global_search.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from graphrag.search.reports.levels import Community, Hierarchy

RELEVANT = 1.0  # of 0..5, as in Microsoft's dynamic selection

Rate = Callable[[Sequence[int]], Sequence[float | None]]
"""The ratings 0..5 of communities, in their order; None where none could be read."""


class Selection(NamedTuple):
    """Communities to read, by number, the ids of their reports, how many communities were rated, and how many of them
    have no readable rating."""

    communities: list[int]
    report_ids: list[str]
    n_rated: int
    n_unread: int = 0


def add_ancestors(hierarchy: Hierarchy, relevant: Collection[int]) -> set[int]:
    """The communities and all above them: what only a fine report says, its parent's report may not."""
    parents = {community.community: community.parent for community in hierarchy.communities}
    found: set[int] = set()
    for number in relevant:
        while number in parents and number not in found:
            found.add(number)
            number = parents[number]
    return found


def select_communities(hierarchy: Hierarchy, *, level: int, rate: Rate, followed: Collection[int] = ()) -> Selection:
    """The relevant communities down to `level`, none of them below another.

    One without a readable rating, or without a report, is followed too: leaving it out could lose the answer.
    followed: communities with something below them that is known to matter: they are gone into without a rating, for
    what only a fine report says, its parent's may not; what is below decides, and they are not read themselves. So few
    rounds of ratings are needed: what stands below the followed is rated together with the others.
    """
    by_number = {community.community: community for community in hierarchy.communities}
    with_report = hierarchy.reports
    relevant: set[int] = set()
    walked: set[int] = set()  # followed without a rating
    n_rated = n_unread = 0
    below = [number for number, community in by_number.items() if community.parent == -1]
    while frontier := _go_into(by_number, below, level=level, followed=followed, walked=walked):
        rated = [number for number in frontier if number in with_report]
        ratings = dict(zip(rated, rate(rated), strict=True)) if rated else {}
        n_rated += len(rated)
        n_unread += sum(rating is None for rating in ratings.values())
        passed = [n for n in frontier if (rating := ratings.get(n)) is None or rating >= RELEVANT]
        relevant.update(passed)
        below = [child for n in passed if by_number[n].level < level for child in by_number[n].children]
    relevant |= walked

    def read(number: int) -> list[int]:
        below = [c for child in by_number[number].children if child in relevant for c in read(child)]
        return below or ([number] if number in with_report and number not in walked else [])

    roots = [number for number in relevant if by_number[number].parent == -1]
    chosen = sorted(number for root in roots for number in read(root))
    return Selection(chosen, [with_report[number] for number in chosen], n_rated, n_unread)


def _go_into(
    by_number: Mapping[int, Community],
    numbers: Sequence[int],
    *,
    level: int,
    followed: Collection[int],
    walked: set[int],
) -> list[int]:
    """The communities, by number; in place of one that is followed, which is added to `walked`, what is below it."""
    left, frontier = list(numbers), []
    while left:
        number = left.pop()
        if (community := by_number.get(number)) is None:
            continue
        if number in followed and community.children and community.level < level:
            walked.add(number)
            left += community.children
        else:
            frontier.append(number)
    return sorted(frontier)
