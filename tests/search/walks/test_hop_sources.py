"""Labels of text units: stems, numbers within a document, the shortest unique suffix."""

from __future__ import annotations

from collections.abc import Callable

from graphrag.search.walks.hop_sources import Statement, label_documents, load_statements, natural_key, render_labels
from graphrag.store import Index


def test_labels_are_the_shortest_unique_suffix() -> None:
    assert label_documents(["a/c1.md", "ops/c2.md", "dev/c2.md", "x/ops/c3.md", "y/ops/c3.md", "v1.2.md"]) == {
        "a/c1.md": "c1", "ops/c2.md": "ops/c2", "dev/c2.md": "dev/c2", "x/ops/c3.md": "x/ops/c3",
        "y/ops/c3.md": "y/ops/c3", "v1.2.md": "v1.2",
    }  # fmt: skip
    assert label_documents(["c.md", "a/c.md", "c.txt"]) == {"c.md": "c.md", "a/c.md": "a/c", "c.txt": "c.txt"}


def test_labels_sort_naturally_and_are_cut_at_five() -> None:
    labels = sorted([f"c{n}" for n in range(12, 1, -1)], key=natural_key)
    assert labels[:3] == ["c2", "c3", "c4"] and labels[-1] == "c12"
    statements = [Statement(label, "", 0, 0, "") for label in labels for _ in range(2)]
    assert render_labels(statements) == "[c2,c3,c4,c5,c6,+6]" and render_labels(statements[:2]) == "[c2]"


def test_files_of_one_name_are_told_apart_even_if_one_states_nothing(make_index: Callable[..., Index]) -> None:
    index = make_index({"ops/a.md": "A uses B.", "dev/a.md": "Nothing.", "b.md": "A uses B."},
                       [("ops/a.md", "A", "uses", "B"), ("b.md", "A", "uses", "B")])  # fmt: skip
    ((relationship, statements),) = load_statements(index, index.table("relationships")["id"]).items()
    assert relationship and [(s.label, s.document, s.quote) for s in statements] == [
        ("b", "b.md", "A uses B."), ("ops/a", "ops/a.md", "A uses B."),
    ]  # fmt: skip
