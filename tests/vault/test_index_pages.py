"""VAULT_INDEX.md and the pages of large sections: linked documents, section 6, to the byte."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from graphrag.index.documents import GENERATED, read_documents
from graphrag.index.links import build_links
from graphrag.reading.links import read_links
from graphrag.vault.index_pages import build_vault_index

VAULT17 = """# Vault index

17 notes · 40 links · 0 unresolved · sha256 f88159677ba4

| note | inbound | outbound | section |
|---|---|---|---|
| [[MOC - All Posts]] | 16 | 16 | / |
| [[Graph Engineering]] | 3 | 3 | / |
| [[Harness Engineering]] | 3 | 3 | / |
| [[Obsidian Retrieval]] | 3 | 3 | / |
| [[PARA Method]] | 2 | 2 | / |
| [[Stripe Blueprint]] | 2 | 2 | / |

## Sections

- / · 17 notes
"""


def read_vault(folder: Path, files: dict[str, str] | None = None) -> pl.DataFrame:
    for name, text in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return read_documents(folder, max_file_mb=1, id_column="", title_column="", text_column="", count=len).documents


def build_pages(documents: pl.DataFrame) -> dict[str, str]:
    return build_vault_index(documents, build_links(documents).links)


@pytest.mark.shared
def test_vault17_to_the_byte(shared: Path) -> None:
    assert build_pages(read_vault(shared / "specs" / "vault17")) == {"VAULT_INDEX.md": VAULT17}


def test_a_section_of_more_than_twenty_notes_has_its_page(tmp_path: Path) -> None:
    files = {f"guides/part {n % 2}/g{n:02}.md": f"[[hub]] [[g{(n + 1) % 21:02}]] [[gone]]" for n in range(21)}
    files |= {"guides/hub.md": "# The | hub\n", "other/x.md": "[[hub]] [[hub]]", "top.md": "[[hub]]"}
    pages = build_pages(read_vault(tmp_path, files))
    assert list(pages) == ["VAULT_INDEX.md", "index/guides.md"]
    assert pages["VAULT_INDEX.md"].startswith("# Vault index\n\n24 notes · 45 links · 21 unresolved · sha256 ")
    assert "\n| [[hub\\|The hub]] | 24 | 0 | guides |\n" in pages["VAULT_INDEX.md"]
    assert pages["VAULT_INDEX.md"].endswith(
        "- / · 1 notes\n- guides · 22 notes · [[index/guides]]\n- other · 1 notes\n"
    )
    assert pages["index/guides.md"].startswith("# Section guides\n\n22 notes · 42 links · 21 unresolved · sha256 ")
    assert pages["index/guides.md"].endswith("- / · 1 notes\n- part 0 · 11 notes\n- part 1 · 10 notes\n")


def test_a_large_root_has_its_page_beside_a_folder_of_that_name(tmp_path: Path) -> None:
    files = {f"{folder}n{n:02}.md": "words" for n in range(21) for folder in ("", "root/")}
    pages = build_pages(read_vault(tmp_path, files))
    assert list(pages) == ["VAULT_INDEX.md", "index/(root).md", "index/root.md"]
    assert "- / · 21 notes · [[index/(root)]]\n- root · 21 notes · [[index/root]]\n" in pages["VAULT_INDEX.md"]


def test_links_of_the_page_lead_to_the_notes_whatever_they_are_called(tmp_path: Path) -> None:
    names = ["a/Note.md", "b/Note.md", "C# Notes.md", "x|y.md", "Release v1.2.md", "Board.canvas"]
    linking = "[[a/Note]] [[b/Note]] [c](C%23%20Notes.md) [x](x%7Cy.md) [[Release v1.2]] [[Board.canvas]]"
    files = {name: "{}" if name.endswith("canvas") else f"# Title of [[{name}]] | here\n" for name in names}
    files["Board.canvas"] = '{"nodes": [{"id": "1", "type": "text", "text": "card"}]}'
    documents = read_vault(tmp_path, {**files, "one.md": linking, "two.md": linking})
    page = build_pages(documents)["VAULT_INDEX.md"]
    (tmp_path / "reader.md").write_text(page.partition("sha256")[2], encoding="utf-8")
    again = read_vault(tmp_path)
    found = build_links(again).links.join(again.select(document_id="id", path="path"), on="document_id")
    here = found.filter(pl.col("path") == "reader.md")
    reached = dict(again.select("id", "path").iter_rows())
    assert {reached[target] for target in here["target_document_id"]} == set(names)


def test_the_same_vault_gives_the_same_bytes_and_its_pages_are_not_notes(tmp_path: Path) -> None:
    files = {f"s/n{n:02}.md": f"[[n{(n * 7) % 25:02}]] [[n00]]" for n in range(25)}
    documents = read_vault(tmp_path, files)
    pages = build_pages(documents)
    assert build_pages(documents.reverse()) == pages
    for name, text in pages.items():
        assert GENERATED.match(text)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert build_pages(read_vault(tmp_path)) == pages
    (tmp_path / "s/n00.md").write_text("changed", encoding="utf-8")
    assert build_pages(read_vault(tmp_path)) != pages


def test_no_notes_no_pages(tmp_path: Path) -> None:
    assert build_pages(read_vault(tmp_path, {"t.csv": "id,text\n1,words\n"})) == {}


def test_the_page_links_read_back(tmp_path: Path) -> None:
    page = build_pages(read_vault(tmp_path, {"a.md": "[[b]] [[b]]", "b.md": "b"}))["VAULT_INDEX.md"]
    assert [link.target for link in read_links(page).links] == ["b"]
