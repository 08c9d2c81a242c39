"""Notes around a note: the table of vault17 with its token figures (linked documents, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag.errors import NothingFound, UsageError
from graphrag.pipeline import run_pipeline
from graphrag.render.notes import render_notes
from graphrag.search.notes.note_neighborhood import NoteNeighborhood, find_note_neighborhood
from graphrag.settings_file import load_settings
from graphrag.store import Index, open_index

pytestmark = pytest.mark.shared
GRAPH, MOC = "Graph Engineering", "MOC - All Posts"


@pytest.fixture(scope="module")
def vault17(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("vault17")
    folder = (shared / "specs" / "vault17").as_posix()
    (root / "settings.toml").write_text(
        f'[input]\ndir = "{folder}"\n[embeddings]\nmodel = "none"\n[extraction]\nnlp = "lite"\n'
    )
    run_pipeline(load_settings(root, environ={})[0], root)
    with open_index(root / "data" / "output") as index:
        yield index


def walk(index: Index, name: str, hops: int, cutoff: str, *, stubs: bool = False) -> NoteNeighborhood:
    return find_note_neighborhood(index, name, hops=hops, direction="both", hub_cutoff=cutoff, stubs=stubs)


@pytest.mark.parametrize(
    ("cutoffs", "expected"),
    [
        (("0", "1", "2"), (4, 306, 68)),
        (("3", "4", "15", "auto"), (6, 367, 62)),
        (("16", "999", "off"), (17, 949, 0)),
    ],
)
def test_all_cutoffs(vault17: Index, cutoffs: tuple[str, ...], expected: tuple[int, int, int]) -> None:
    for cutoff in cutoffs:
        found = walk(vault17, GRAPH, 2, cutoff)
        assert (len(found.notes), found.n_tokens, found.reduction) == expected, cutoff


@pytest.mark.parametrize(
    ("name", "hops", "n_notes"),
    [(GRAPH, 0, 1), (GRAPH, 1, 4), (GRAPH, 3, 6), (GRAPH, 4, 6), ("tax papers for 2026", 2, 2), (MOC, 1, 17)],
)
def test_hops(vault17: Index, name: str, hops: int, n_notes: int) -> None:
    assert len(walk(vault17, name, hops, "4").notes) == n_notes


def test_line_by_line(vault17: Index) -> None:
    assert render_notes(walk(vault17, GRAPH, 2, "4"), top=50, show_tokens=True) == (
        "Neighborhood: 6 notes (2 hops, hub-cutoff=4)\n"
        "  - Graph Engineering (anchor)\n"
        "  - Harness Engineering\n"
        "  - MOC - All Posts (hub, 16 links, not expanded)\n"
        "  - Obsidian Retrieval\n"
        "  - Stripe Blueprint\n"
        "  - PARA Method\n"
        "Approx tokens for this neighborhood: 367\n"
        "Approx tokens for the whole vault:    949\n"
        "Reduction: 62%"
    )
    assert render_notes(walk(vault17, MOC, 1, "4"), top=50, show_tokens=False).endswith("\nanchor is a hub")


def test_a_stub_costs_its_line(vault17: Index) -> None:
    found = walk(vault17, GRAPH, 2, "4", stubs=True)
    assert (len(found.notes), found.n_tokens) == (6, 249)


def test_errors(vault17: Index) -> None:
    with pytest.raises(
        NothingFound, match=r'^No note "Graf Engineering"\. Nearest: Graph Engineering, Harness Engineering\.$'
    ):
        walk(vault17, "Graf Engineering", 2, "4")
    with pytest.raises(UsageError, match="--hub-cutoff must be"):
        walk(vault17, GRAPH, 2, "-1")
