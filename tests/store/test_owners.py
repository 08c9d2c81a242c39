"""The ids beside the vectors: found by row and by id, in memory and on disk."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from graphrag.store.owners import make_owners, open_owners, write_owners

IDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), unique=True)


@given(IDS, IDS)
def test_rows_are_found_by_id_and_ids_by_row(ids: list[str], others: list[str]) -> None:
    owners = make_owners(ids)
    assert len(owners) == len(ids)
    assert owners.list_ids(range(len(ids))) == ids
    assert owners.find_rows([*others, *ids]) == {owner: row for row, owner in enumerate(ids)}
    assert list(owners.find_rows(sorted(ids))) == ids, "in the order of the rows"
    assert owners.find_rows([owner + "x" for owner in others if owner + "x" not in ids]) == {}


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    assert open_owners(tmp_path, "entities") is None
    write_owners(["b", "ä", "a"], tmp_path, "entities")
    owners = open_owners(tmp_path, "entities")
    assert owners is not None
    assert owners.list_ids([0, 1, 2]) == ["b", "ä", "a"]
    assert owners.find_rows(["a", "ä", "c", "a longer one"]) == {"ä": 1, "a": 2}
