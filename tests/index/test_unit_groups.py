"""Groups hold every text unit once, within the limit, and an edit changes the groups near it only."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.index.unit_groups import group_text_units

from .model_rows import read_folder


def paragraphs(n: int, *, seed: int = 0) -> list[str]:
    return [f"Service {seed + i} depends on store {(seed + i) * 7}. It was built in year {i}." for i in range(n)]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(16, 120), st.sampled_from([0, 8]))
def test_groups_partition_the_units_and_slice_the_documents(lengths: list[int], limit: int, overlap: int) -> None:
    texts = {f"{i}.md": "\n\n".join(paragraphs(n, seed=i * 100)) + "\n" for i, n in enumerate(lengths)}
    documents, text_units = read_folder(texts, max_tokens=40, overlap=overlap)
    groups = group_text_units(text_units, documents, max_tokens=limit)
    assert [unit.id for group in groups for unit in group.units] == (
        text_units.sort("document_id", "start_char")["id"].to_list()
    )
    whole = dict(documents.select("id", "text").iter_rows())
    by_id = {row["id"]: row for row in text_units.iter_rows(named=True)}
    for group in groups:
        assert whole[group.document_id][group.start : group.start + len(group.text)] == group.text
        assert len(group.units) == 1 or sum(by_id[unit.id]["n_tokens"] for unit in group.units) <= limit
        for unit in group.units:
            assert group.text[unit.start : unit.end] == by_id[unit.id]["text"]
            assert group.unit_at(unit.end - 1).start <= unit.end - 1


def test_an_edit_at_the_start_of_a_document_leaves_the_groups_further_down() -> None:
    parts = [f"# Part {i}\n\n{text}" for i, text in enumerate(paragraphs(60))]
    before, after = "\n\n".join(parts), "\n\n".join(["# New\n\nA new part. It says much that is new.", *parts])
    found = []
    for text in (before, after):
        documents, text_units = read_folder({"a.md": text}, max_tokens=40)
        found.append({group.text for group in group_text_units(text_units, documents, max_tokens=120)})
    assert len(found[0]) > 10
    assert len(found[0] - found[1]) <= 4


def test_copies_have_the_same_groups() -> None:
    text = "\n\n".join(paragraphs(30))
    documents, text_units = read_folder({"a.md": text, "z.md": text}, max_tokens=40)
    groups = group_text_units(text_units, documents, max_tokens=120)
    assert len({group.text for group in groups}) == len(groups) / 2
