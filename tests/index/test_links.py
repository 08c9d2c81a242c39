"""Where links lead: the resolution of the spec (linked documents, sections 2 and 3), and the links of real vaults."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import polars as pl
import pytest

from graphrag import ids, tables
from graphrag.index.documents import read_documents
from graphrag.index.link_targets import LinkTargets, Resolution
from graphrag.index.links import build_links
from graphrag.settings import Links as LinkSettings

NOTES = (
    "Home.md", "Target.md", "Sub/My Note.md", "a/b/Note.md", "Log.md", "Café.md", "Release v1.2.md", "Kubernetes.md",
)  # fmt: skip


def resolve(
    target: str, source: str = "Home.md", *, is_address: bool = False, notes: tuple[str, ...] = NOTES
) -> Resolution:
    aliases = [("K8s", "Kubernetes.md"), ("Both", "Log.md"), ("Both", "Target.md")]
    return LinkTargets(notes, ["plan.txt"], aliases).resolve(source, target, is_address=is_address)


@pytest.mark.parametrize(
    ("source", "target", "status", "path"),
    [
        ("Home.md", "Target", "resolved", "Target.md"),
        ("Home.md", "", "self", "Home.md"),  # 4
        ("Home.md", "home", "self", "Home.md"),
        ("Home.md", unicodedata.normalize("NFD", "Café"), "resolved", "Café.md"),  # 11
        ("Home.md", "LOG", "resolved", "Log.md"),  # 12
        ("Home.md", "target", "resolved", "Target.md"),
        ("Home.md", "Target.MD", "resolved", "Target.md"),
        ("Home.md", "b/Note", "resolved", "a/b/Note.md"),  # 13
        ("Home.md", "xb/Note", "unresolved", None),
        ("Sub/x.md", "../Target", "resolved", "Target.md"),  # 14
        ("Sub/x.md", "../../Target", "unresolved", None),
        ("Sub/x.md", "./My Note", "resolved", "Sub/My Note.md"),
        ("Home.md", "./My Note", "unresolved", None),
        ("Home.md", "img.png", "attachment", None),  # 15
        ("Home.md", "Doc.pdf", "attachment", None),
        ("Home.md", "Nowhere", "unresolved", None),  # 17
        ("Home.md", "Release v1.2", "resolved", "Release v1.2.md"),  # 19
        ("Home.md", "Release v1.3", "unresolved", None),
        ("Home.md", "Node.js", "unresolved", None),
        ("Home.md", "https://example.org", "unresolved", None),
        ("Home.md", "plan", "unresolved", None),
        ("Home.md", "plan.txt", "resolved", "plan.txt"),
        ("Home.md", "/Sub/My Note", "resolved", "Sub/My Note.md"),
    ],
)
def test_wikilinks(source: str, target: str, status: str, path: str | None) -> None:
    assert resolve(target, source)[:2] == (status, path)


@pytest.mark.parametrize(
    ("source", "target", "status", "path"),
    [
        ("Home.md", "Sub/My Note.md", "resolved", "Sub/My Note.md"),  # 5
        ("Home.md", "Sub/My%zzNote.md", "unresolved", None),  # 6
        ("Home.md", "http://x.org", "external", None),
        ("Home.md", "mailto:a@b.c", "external", None),
        ("Home.md", "obsidian:x", "external", None),
        ("Home.md", "//host/x", "external", None),
        ("Sub/x.md", "Note.md", "resolved", "a/b/Note.md"),
        ("Sub/x.md", "../Log.md", "resolved", "Log.md"),
        ("a/b/x.md", "Note.md", "resolved", "a/b/Note.md"),
        ("Home.md", "img.png", "attachment", None),
    ],
)
def test_markdown_links(source: str, target: str, status: str, path: str | None) -> None:
    assert resolve(target, source, is_address=True)[:2] == (status, path)


def test_two_notes_of_one_name() -> None:  # 27, 28
    notes = ("a/Note.md", "b/Note.md", "b/x.md", "c/x.md")
    assert resolve("Note", "b/x.md", notes=notes) == Resolution("resolved", "b/Note.md")
    assert resolve("Note", "c/x.md", notes=notes) == Resolution("ambiguous", "a/Note.md")
    assert resolve("Note", "c/x.md", notes=("zz/Note.md", "aaa/Note.md")) == Resolution("ambiguous", "zz/Note.md")
    assert resolve("a", "bb/x.md", notes=("a.md", "bb/a.md")) == Resolution("resolved", "a.md")
    assert resolve("a.md", "bb/x.md", notes=("a.md", "bb/a.md"), is_address=True) == Resolution("resolved", "bb/a.md")


def test_an_alias_leads_nowhere_unless_that_is_asked_for() -> None:  # 18
    assert resolve("k8s") == Resolution("unresolved", None, ("Kubernetes.md",))
    lenient = LinkTargets(
        NOTES, [], [("K8s", "Kubernetes.md"), ("Both", "Log.md"), ("Both", "Target.md")], lenient=True
    )
    assert lenient.resolve("Home.md", "k8s") == Resolution("resolved", "Kubernetes.md")
    assert lenient.resolve("Kubernetes.md", "k8s") == Resolution("self", "Kubernetes.md")
    assert lenient.resolve("Home.md", "both") == Resolution("unresolved", None, ("Log.md", "Target.md"))


def test_twenty_notes_with_one_alias_are_all_named_and_none_is_chosen() -> None:
    notes = [f"n{i:02}.md" for i in range(20)]
    for lenient in (False, True):
        targets = LinkTargets(notes, [], [("Shared", path) for path in reversed(notes)], lenient=lenient)
        assert targets.resolve("n00.md", "shared") == Resolution("unresolved", None, tuple(notes))


def documents_of(files: dict[str, str], **metadata: str) -> pl.DataFrame:
    rows = [
        {
            "id": ids.document_id(path), "human_readable_id": 0, "title": path.rpartition("/")[2].removesuffix(".md"),
            "text": text, "text_unit_ids": [], "creation_date": "", "path": path,
            "kind": path.rpartition(".")[2], "content_sha256": ids.content_sha256(text), "n_tokens": 0,
            "metadata": metadata.get(path.partition(".")[0], "{}"),
        }
        for path, text in files.items()
    ]  # fmt: skip
    return tables.DOCUMENTS.from_rows(rows)


def test_rows_are_in_order_of_paths_and_places_whatever_the_order_of_documents() -> None:
    files = {"b.md": "[[a]]\n\n[[b]] [[c]]", "a.md": "[x](b.md)\n![[pic.png]] [[B]]", "t.csv": "[[a]]"}
    links = build_links(documents_of(files)).links
    assert links.equals(build_links(documents_of(dict(reversed(files.items())))).links)
    assert links.select("ordinal", "line", "raw", "status").rows() == [
        (0, 1, "[x](b.md)", "resolved"),
        (1, 2, "![[pic.png]]", "attachment"),
        (2, 2, "[[B]]", "resolved"),
        (0, 1, "[[a]]", "resolved"),
        (1, 3, "[[b]]", "self"),
        (2, 3, "[[c]]", "unresolved"),
    ]


def test_each_row_has_its_place_and_what_it_stands_for() -> None:
    text = '---\nup: "[[b]]"\n---\n- requires [[b]] (for login)\n\nowner:: [[b]] ![[b]] \\[[b]] [b](b.md)\n'
    links = build_links(documents_of({"a.md": text, "b.md": "x"})).links
    assert all(text[a:b] == raw for a, b, raw in links.select("start_char", "end_char", "raw").iter_rows())
    assert links.select("syntax", "predicate", "description").rows() == [
        ("frontmatter", "up", ""),
        ("wikilink", "requires", "for login"),
        ("inline_field", "owner", ""),
        ("embed", "embeds", ""),
        ("inline_field", "owner", ""),
    ]


def test_a_note_that_goes_or_comes_changes_where_links_lead() -> None:  # 33, 34, and a cycle
    files = {"a.md": "[[b]]", "b.md": "[[a]]"}
    assert set(build_links(documents_of(files)).links["status"]) == {"resolved"}
    assert build_links(documents_of({"a.md": "[[b]]"})).links["status"].to_list() == ["unresolved"]


def test_titles_and_aliases_count_where_settings_say_so() -> None:
    documents = documents_of({"k.md": "x", "home.md": "[[K8s]]"}, k='{"aliases": ["K8s"]}')
    assert build_links(documents).links["status"].to_list() == ["unresolved"]
    assert build_links(documents, aliases="lenient").links["status"].to_list() == ["resolved"]


def test_odd_front_matter_is_told_with_path_and_line() -> None:  # 8, 9
    built = build_links(documents_of({"Home.md": "---\nup: [[Log]]\n---\n"}))
    assert built.warnings == ["Home.md line 2: a link in front matter needs quotes; it was read as a link"]
    assert built.links["target"].to_list() == ["Log"]
    broken = documents_of(
        {"x.md": "---\nup: [[[Log]]\n---\n[[Body]]"}, x='{"front_matter_warning": "line 2: not YAML"}'
    )
    built = build_links(broken)
    assert built.links["target"].to_list() == ["Body"] and built.warnings == ["x.md line 2: not YAML"]


def test_a_byte_order_mark_and_dos_line_ends_move_no_link(tmp_path: Path) -> None:  # 10
    text = '\ufeff---\nup: "[[Target]]"\n---\n\nTo [[Target]].\n'
    (tmp_path / "Home.md").write_bytes(text.replace("\n", "\r\n").encode("utf-8"))
    (tmp_path / "Target.md").write_text("t")
    documents = read_notes(tmp_path)
    links = build_links(documents).links
    (read,) = documents.filter(pl.col("path") == "Home.md")["text"]
    assert links.select("syntax", "line", "predicate").rows() == [("frontmatter", 2, "up"), ("wikilink", 5, "links_to")]
    assert [read[a:b] for a, b in links.select("start_char", "end_char").iter_rows()] == ["[[Target]]"] * 2


def test_names_of_two_unicode_forms_are_one(tmp_path: Path) -> None:  # 11
    (tmp_path / unicodedata.normalize("NFD", "Café.md")).write_text("t")
    (tmp_path / "Home.md").write_text("[[Café]]")
    assert build_links(read_notes(tmp_path)).links["status"].to_list() == ["resolved"]


def test_no_documents_no_links() -> None:
    assert build_links(tables.DOCUMENTS.empty()).links.equals(tables.LINKS.empty())
    assert LinkSettings().aliases == "obsidian"


def read_notes(folder: Path) -> pl.DataFrame:
    read = read_documents(folder, max_file_mb=50, id_column="", title_column="", text_column="", count=len)
    return read.documents.filter(pl.col("path").str.ends_with(".md"))


def count_neighbours(links: pl.DataFrame) -> tuple[int, dict[str, int]]:
    """(edges from note to note, number of neighbours by document)"""
    leading = links.filter(pl.col("status").is_in(["resolved", "ambiguous"]))
    edges = {*leading.select("document_id", "target_document_id").iter_rows()}
    near: dict[str, set[str]] = {}
    for a, b in edges:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    return len(edges), {name: len(found) for name, found in near.items()}


@pytest.mark.shared
def test_foam_docs_have_the_known_links(shared: Path) -> None:
    documents = read_notes(shared / "data/foam-docs")
    links = build_links(documents).links
    wikilinks = links.filter(pl.col("syntax") == "wikilink")
    assert (documents.height, wikilinks.height) == (86, 199)
    assert (wikilinks["display"] != "").sum() == 8 and (wikilinks["subpath"] != "").sum() == 1
    assert wikilinks.filter(pl.col("status") == "unresolved")["target"].to_list() == ["publishing", "cli-grep"]
    addresses = links.filter(
        pl.col("syntax").is_in(["markdown", "embed"]) & ~pl.col("status").is_in(["external", "self"])
    )
    assert dict(addresses["status"].value_counts().iter_rows()) == {"resolved": 14, "attachment": 22, "unresolved": 2}
    n_edges, degrees = count_neighbours(links)
    assert n_edges == 191 and documents.height - len(degrees) == 7
    hubs = sorted(((n, path) for path, n in degrees.items() if n > 15), reverse=True)
    assert len(hubs) == 2 and hubs[0] == (39, ids.document_id("user/recipes/recipes.md"))


@pytest.mark.shared
def test_kepano_vault_has_the_known_links(shared: Path) -> None:
    documents = read_notes(shared / "data/kepano-vault")
    links = build_links(documents).links
    written = links.filter(pl.col("syntax").is_in(["wikilink", "embed", "frontmatter"]))
    assert (documents.height, written.height) == (103, 209)
    assert (written["syntax"] == "frontmatter").sum() == 134 and (written["subpath"] != "").sum() == 35
    assert written.filter(pl.col("raw").str.contains(".base"))["status"].to_list() == ["attachment"] * 61
    missing = written.filter(pl.col("status") == "unresolved")["target"]
    assert (missing.len(), missing.str.to_lowercase().n_unique()) == (62, 49)
    n_edges, degrees = count_neighbours(links)
    assert n_edges == 84 and documents.height - len(degrees) == 26 and max(degrees.values()) == 9
