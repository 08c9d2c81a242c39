"""The second hop: a document about what the best passage names comes up, though it shares no word with the question."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from graphrag.search.local_search import search_local
from graphrag.search.own_documents import N_OWN_DOCUMENTS, rank_own_documents
from graphrag.search.ranking import Likeness
from graphrag.store import Index

TEXTS = {
    "Thumb League.md": "Thumb League is shown on Harbour Vision every Friday.",
    "Harbour Vision.md": "It was founded by Mira Lang in an old lighthouse.",
    "Mira Lang.md": "She paints boats.",
    "Friday Soup.md": "The canteen serves soup.",
    "League of Cooks.md": "The league of cooks meets every Friday and founded a soup prize.",
}
FACTS = [
    ("Thumb League.md", "Thumb League", "shown_on", "Harbour Vision"),
    ("Harbour Vision.md", "Harbour Vision", "founded_by", "Mira Lang"),
]
UNMEASURED = Likeness(pl.Series([], dtype=pl.String), None)
QUESTION = "Who founded the broadcaster of Thumb League?"


@pytest.fixture(scope="module")
def broadcasts(make_index: Callable[..., Index]) -> Index:
    return make_index(TEXTS, FACTS)


def _units(index: Index) -> dict[str, str]:
    rows = index.frame("select d.path, u.id from text_units u join documents d on d.id = u.document_id").rows()
    return dict(rows)


def test_documents_titled_like_what_a_passage_names_are_found(broadcasts: Index) -> None:
    unit = _units(broadcasts)
    assert rank_own_documents(broadcasts, {unit["Thumb League.md"]: 0.5}, UNMEASURED) == [unit["Harbour Vision.md"]]
    assert rank_own_documents(broadcasts, {unit["Friday Soup.md"]: 0.5}, UNMEASURED) == []
    assert rank_own_documents(broadcasts, {}, UNMEASURED) == []


def test_a_document_that_was_found_already_is_no_next_hop(broadcasts: Index) -> None:
    unit = _units(broadcasts)
    found = {unit["Thumb League.md"]: 0.5, unit["Harbour Vision.md"]: 0.4}
    assert rank_own_documents(broadcasts, found, UNMEASURED) == [unit["Mira Lang.md"]]


def test_local_search_lists_the_next_hop_behind_the_passages_that_led_to_it(broadcasts: Index) -> None:
    paths = [source.path for source in search_local(broadcasts, QUESTION, model="none").sources]
    assert paths[0] == "Thumb League.md"
    assert "Harbour Vision.md" in paths[:3], paths


def test_a_passage_full_of_names_brings_a_few_documents_only(make_index: Callable[..., Index]) -> None:
    names = [f"Harbour {letter}{letter.lower()}x" for letter in "BCDFGHJKLM"]
    texts = {f"{name}.md": "A ship." for name in names} | {"Fleet List.md": "Ships: " + ", ".join(names) + "."}
    facts = [("Fleet List.md", "Fleet", "has", name) for name in names]
    index = make_index(texts, facts)
    unit = _units(index)
    found = rank_own_documents(index, {unit["Fleet List.md"]: 1.0}, UNMEASURED)
    assert len(found) == N_OWN_DOCUMENTS and len(set(found)) == N_OWN_DOCUMENTS
