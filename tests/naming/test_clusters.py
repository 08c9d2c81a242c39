"""Unions of whole clusters, refused on any conflict."""

from __future__ import annotations

from graphrag.naming.clusters import Clusters


def test_no_conflict_gives_one_cluster_of_four() -> None:
    clusters = Clusters(4)
    for a, b in ((0, 1), (2, 3), (1, 2)):
        assert clusters.find_conflict(a, b, lambda i, j: "") == ""
        clusters.join(a, b)
    assert clusters.groups() == [[0, 1, 2, 3]]


def test_conflict_of_any_pair_across_is_found() -> None:
    clusters = Clusters(4)
    clusters.join(1, 0)
    clusters.join(3, 2)
    assert clusters.find_conflict(1, 2, lambda i, j: "apart" if {i, j} == {0, 3} else "") == "apart"
    assert clusters.groups() == [[0, 1], [2, 3]]


def test_members_can_be_added_and_joined_in_any_order() -> None:
    one, other = Clusters(3), Clusters(3)
    for clusters, pairs in ((one, [(0, 1), (1, 3)]), (other, [(3, 1), (1, 0)])):
        assert clusters.add() == 3
        for a, b in pairs:
            clusters.join(a, b)
    assert one.groups() == other.groups() == [[0, 1, 3], [2]]
    assert one.are_single(2, 2)
    assert not one.are_single(0, 2)
