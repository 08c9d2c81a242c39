"""community_lineage.py: who takes over whose id."""

from __future__ import annotations

import polars as pl

from graphrag import tables
from graphrag.ids import row_id
from graphrag.index.community_lineage import Group, name_communities
from graphrag.tables import UNCONNECTED


def group(members: str, *, level: int = 0, is_unconnected: bool = False) -> Group:
    return Group(level, -1, list(members), is_unconnected)


def last(*rows: tuple[str, int, int, str]) -> pl.DataFrame:
    """(id, community, level, members); the id `rest` is that of the unconnected ones."""
    columns = [
        {"id": id_, "community": number, "level": level, "entity_ids": list(members),
         "title": UNCONNECTED if id_ == "rest" else f"Community {number}"}
        for id_, number, level, members in rows
    ]  # fmt: skip
    names = ("id", "community", "level", "title", "entity_ids")
    return pl.DataFrame(columns, schema={name: tables.COMMUNITIES.schema[name] for name in names}, orient="row")


def test_in_a_first_run_ids_are_hashes_of_members() -> None:
    named = name_communities([group("abc"), group("de"), group("ab", level=1)], last())
    assert named == [row_id("community", *members) for members in ("abc", "de", "ab")]


def test_half_of_the_members_of_both_is_enough_and_less_is_not() -> None:
    before = last(("A", 4, 0, "abcd"), ("B", 7, 0, "wxyz"))
    named = name_communities([group("abef"), group("wxyz"), group("cd")], before)
    assert named[1] == "B"
    assert named[2] == "A"  # 2 of 4; abef shares 2 of 6
    assert named[0] == row_id("community", *"abef")


def test_a_split_leaves_the_name_with_the_larger_part_and_a_tie_with_the_first() -> None:
    before = last(("A", 0, 0, "abcdef"))
    assert [found == "A" for found in name_communities([group("ab"), group("cdef")], before)] == [False, True]
    assert [found == "A" for found in name_communities([group("abc"), group("def")], before)] == [True, False]


def test_the_very_same_members_come_first_then_the_level() -> None:
    before = last(("parent", 0, 0, "abcdef"), ("child", 1, 1, "abcd"))
    moved = name_communities([group("abcd"), group("ef")], before)
    assert moved[0] == "child"  # to the letter, though on another level
    grown = name_communities([group("abcde"), group("abc", level=1)], before)
    assert grown == ["parent", "child"]


def test_unconnected_entities_are_always_themselves_and_nobody_else() -> None:
    before = last(("A", 0, 0, "abc"), ("rest", 1, 0, "xyz"))
    named = name_communities([group("abc"), group("xyz"), group("q", is_unconnected=True)], before)
    assert named[0] == "A" and named[2] == "rest"
    assert named[1] == row_id("community", *"xyz")


def test_an_id_that_another_community_was_born_with_is_not_given_again() -> None:
    born = row_id("community", *"abc")
    before = last((born, 0, 0, "abdefg"))
    named = name_communities([group("abdefg"), group("abc")], before)
    assert named[0] == born
    assert named[1] == row_id("community", *"abc", "1")
