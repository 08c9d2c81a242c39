"""Which community of last night a community of tonight is: its id stays with it while its members change.

A neighbour of communities.py. A community takes over the identity of the earlier one that it shares at least half of
the members of both with (Jaccard index): first those with the very same members, then those of the same level, then
any; better overlaps before worse. `Unconnected entities` is always itself. All others are new: their id is the hash of
their members.

Does not: decide who belongs together (graphrag/hierarchy.py), or give numbers for life (store/ledger.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from graphrag.ids import row_id
from graphrag.tables import UNCONNECTED


class Group(NamedTuple):
    """A community without a name yet. `parent` is the position of its parent in the list of groups, or -1."""

    level: int
    parent: int
    entity_ids: list[str]
    is_unconnected: bool


def name_communities(groups: Sequence[Group], last_communities: pl.DataFrame) -> list[str]:
    """The id of each group. `last_communities`: id, community, level, title, entity_ids; may be empty."""
    kept = _match(groups, last_communities)
    last_ids = last_communities["id"].to_list()
    used = set(last_ids)
    named = []
    for position, group in enumerate(groups):
        named.append(last_ids[kept[position]] if position in kept else _new_id(group, used))
        used.add(named[-1])
    return named


def _new_id(group: Group, used: set[str]) -> str:
    """The hash of the members; salted where a community of last night has it, that once had these members."""
    parts = ("unconnected" if group.is_unconnected else "community", *group.entity_ids)
    found, salt = row_id(*parts), 0
    while found in used:
        salt += 1
        found = row_id(*parts, str(salt))
    return found


def _match(groups: Sequence[Group], last_communities: pl.DataFrame) -> dict[int, int]:
    """Position of a group -> row of last_communities whose identity it takes over; each row at most once."""
    rest = [position for position, group in enumerate(groups) if group.is_unconnected]
    last = last_communities.with_row_index("earlier").with_columns(is_rest=pl.col("title") == UNCONNECTED)
    matched = dict(zip(rest, last.filter("is_rest")["earlier"].to_list(), strict=False))
    now = [(position, group) for position, group in enumerate(groups) if not group.is_unconnected]
    new = pl.DataFrame(
        {
            "position": [position for position, _ in now], "level": [group.level for _, group in now],
            "entity_ids": [group.entity_ids for _, group in now],
        },
        schema={"position": pl.Int64, "level": pl.Int64, "entity_ids": pl.List(pl.String)},
    )  # fmt: skip
    old = last.filter(~pl.col("is_rest")).select("earlier", "community", "level", "entity_ids")
    taken: set[int] = set()
    for position, earlier in _list_candidates(new, old).iter_rows():
        if position not in matched and earlier not in taken:
            matched[position] = earlier
            taken.add(earlier)
    return matched


def _list_candidates(new: pl.DataFrame, old: pl.DataFrame) -> pl.DataFrame:
    """[position, earlier] of all pairs that overlap by half or more, best first; ties by the order of both."""
    members = [frame.with_columns(size=pl.col("entity_ids").list.len()).explode("entity_ids") for frame in (new, old)]
    shared = (
        members[0].join(members[1], on="entity_ids", suffix="_old")
        .group_by("position", "earlier", "level", "level_old", "size", "size_old", "community")
        .agg(both=pl.len())
        .with_columns(either=pl.col("size") + pl.col("size_old") - pl.col("both"))
        .filter(pl.col("both") * 2 >= pl.col("either"))
        .with_columns(is_same=pl.col("both") == pl.col("either"), is_level=pl.col("level") == pl.col("level_old"))
        .with_columns(overlap=pl.col("both") / pl.col("either"))
    )  # fmt: skip
    best_first = ["is_same", "is_level", "overlap"]
    order = [*best_first, "position", "community"]
    return shared.sort(order, descending=[name in best_first for name in order]).select("position", "earlier")
