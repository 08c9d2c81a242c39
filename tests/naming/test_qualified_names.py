"""Descriptions in brackets: which labels of links and which types tell namesakes apart."""

from __future__ import annotations

import pytest

from graphrag.naming.declared_aliases import read_notes
from graphrag.naming.qualified_names import describes_type, find_linked_names
from graphrag.tables import DOCUMENTS
from tests.mention_rows import document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [[stores/orbit|Orbit (the cache)]].", "stores/orbit.md"),
        ("See [[stores/orbit#Setup|Orbit (the cache)]].", "stores/orbit.md"),
        ("See [Orbit (the cache)](../stores/orbit.md#setup).", "stores/orbit.md"),
        ("See [[orbit|Orbit (the cache)]].", ""),  # two notes end so
        ("See [[stores/orbit|Orbit]].", ""),
        ("See [[stores/orbit|the cache (old)]].", ""),
        ("See [[nowhere|Orbit (the cache)]].", ""),
        ("See [Orbit (the cache)](https://example.com/stores/orbit).", ""),
    ],
)
def test_labels_of_links(text: str, expected: str) -> None:
    rows = [document("stores/orbit.md", "a", title="Orbit"), document("places/orbit.md", "b", title="Orbit")]
    frame = DOCUMENTS.from_rows([*rows, document("start.md", text)])
    found = find_linked_names(frame, read_notes(frame))
    assert [link.note.path for link in found] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("qualifier", "type_name", "expected"),
    [
        ("planet", "planet", True),
        ("planet", "celestial body", True),
        ("the city", "location", True),
        ("cloud provider", "cloud_provider", True),
        ("the broker", "service", False),
        ("old", "unknown", False),
    ],
)
def test_descriptions_that_are_types(qualifier: str, type_name: str, expected: bool) -> None:
    assert describes_type(qualifier, type_name) is expected
