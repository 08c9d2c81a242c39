"""What a name means, and what it does not: specs/folding.md 4."""

from __future__ import annotations

import pytest

from graphrag.errors import UnknownEntity, UsageError
from graphrag.relations.entries import Entry, find_entry, read_entry

ENTRIES = [
    Entry("runbooks/redis-failover.md", "Redis failover", 1),
    Entry("decisions/ADR-028.md", "ADR-028: Redis Sentinel", 2, ("ADR-028", "Sentinel decision")),
    Entry("places/mercury.md", "Mercury", 3),
    Entry("services/mercury.md", "Mercury (broker)", 4),
    Entry("e09.md", "e09", 5),
]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("decisions/ADR-028.md", "decisions/ADR-028.md"),
        ("Decisions/adr-028", "decisions/ADR-028.md"),
        ("ADR-028", "decisions/ADR-028.md"),
        ("[[ADR-028]]", "decisions/ADR-028.md"),
        ("sentinel decision", "decisions/ADR-028.md"),
        ("#1", "runbooks/redis-failover.md"),
        ("Redis-Failover", "runbooks/redis-failover.md"),
        ("Mercury", "places/mercury.md"),
        ("Mercury (broker)", "services/mercury.md"),
    ],
)
def test_a_name_means_one_entry(name: str, path: str) -> None:
    assert find_entry(ENTRIES, name).path == path


def test_a_name_of_several_lists_them_and_an_unknown_one_the_nearest() -> None:
    with pytest.raises(UsageError, match=r'^"mercury" may be 2 entries: places/mercury.md, services/mercury.md\.'):
        find_entry(ENTRIES, "mercury")
    with pytest.raises(UnknownEntity, match=r'^No entry "e99"\. Nearest: e09\.$'):
        find_entry(ENTRIES, "e99")
    with pytest.raises(UnknownEntity, match=r'^No entry "#99"\.$'):
        find_entry(ENTRIES, "#99")


def test_front_matter_declares_names() -> None:
    row = {"path": "a.md", "title": "A", "human_readable_id": 7, "metadata": '{"id": 12, "aliases": ["B", "C"]}'}
    assert read_entry(row).names == ("a.md", "a", "A", "12", "B", "C")
    assert read_entry(row | {"metadata": "{}"}).names == ("a.md", "a", "A")
