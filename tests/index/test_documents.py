"""The A rows of specs/hostile-inputs.md that concern files, front matter of specs/linked-documents.md, every format."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import tarfile
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag import ids, tables
from graphrag.errors import InputError
from graphrag.index.documents import Documents, read_documents
from graphrag.index.text_units import build_text_units
from graphrag.tokens import count_tokens

IS_ROOT = os.geteuid() == 0


def read(folder: Path, **knobs: Any) -> Documents:
    defaults: dict[str, Any] = {"max_file_mb": 5, "id_column": "", "title_column": "", "text_column": ""}
    return read_documents(folder, **{**defaults, **knobs}, count=count_tokens)


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def texts(found: Documents) -> dict[str, str]:
    return dict(found.documents.select("path", "text").rows())


def reasons(found: Documents) -> list[tuple[str, str]]:
    return found.failures.select("item_id", "reason").rows()


def metadata(found: Documents, row: int = 0) -> dict[str, Any]:
    value = json.loads(found.documents["metadata"][row])
    assert isinstance(value, dict)
    return value


# A1


def test_no_input_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(Path("data/nowhere"))
    assert str(caught.value) == (
        "No input folder data/nowhere. Create it and put documents there, or set input.dir in settings.toml."
    )
    write(tmp_path, {"file.txt": "x"})
    with pytest.raises(InputError, match=r"file.txt is not a folder"):
        read(tmp_path / "file.txt")


def test_empty_folder(tmp_path: Path) -> None:
    write(tmp_path, {".hidden": "x", "sub/.DS_Store": "x"})
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"No documents in {tmp_path}. Put files there, or set input.dir."


# A2, A3, A5


def test_empty_and_binary_files_are_failures_and_the_others_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "zero.txt": "", "blank.md": " \n\t\n", "bom.txt": b"\xef\xbb\xbf\n",
            "png.txt": b"\x89PNG\r\n\x1a\n" + bytes(99), "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(99),
            "tool": b"\x7fELF" + bytes(99), "hello.md": "Hello, world",
        },
    )  # fmt: skip
    found = read(tmp_path)
    assert texts(found) == {"hello.md": "Hello, world"}
    assert reasons(found) == [
        ("blank.md", "empty_document"), ("bom.txt", "empty_document"), ("picture.png", "binary_content"),
        ("png.txt", "binary_content"), ("tool", "binary_content"), ("zero.txt", "empty_document"),
    ]  # fmt: skip
    row = found.documents.row(0, named=True)
    assert row["id"] == ids.document_id("hello.md")
    assert row["title"] == "hello" and row["kind"] == "md" and row["n_tokens"] == 3
    assert set(found.failures["stage"]) == {"documents"}


# A6, A7, A8, A9


def test_encodings_are_named_in_metadata_unless_utf8(tmp_path: Path) -> None:
    text = "Der Müller prüft “die Größe” – naïve"
    write(
        tmp_path,
        {
            "a.txt": text.encode("utf-8-sig"),
            "b.txt": text.encode("utf-16"),
            "c.txt": text.encode("cp1252"),
            "d.md": text,
        },
    )
    found = read(tmp_path)
    assert set(texts(found).values()) == {text}
    assert [metadata(found, row) for row in range(4)] == [{}, {"encoding": "utf-16-le"}, {"encoding": "cp1252"}, {}]


def test_bad_bytes_and_controls_are_counted_and_offsets_slice(tmp_path: Path) -> None:
    data = "Größe é.\r\nfoo\x00bar\x01\u2028ñandú\r".encode() + b"\xff" + "öäü\n".encode()
    found = read(write(tmp_path, {"a.md": data}))
    assert texts(found)["a.md"] == "Größe é.\nfoobar\nñandú\n\ufffdöäü\n"
    assert metadata(found) == {"removed_characters": 2, "replaced_bytes": 1}
    units = build_text_units(found.documents, max_tokens=8, overlap=2, count=count_tokens)
    for unit in units.iter_rows(named=True):
        assert texts(found)["a.md"][unit["start_char"] : unit["end_char"]] == unit["text"]


def test_lone_surrogates_from_json(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"a.json": '{"text": "a\\ud800b", "x": "\\udfff"}'}))
    assert texts(found) == {"a.json#1": "ab"}
    assert metadata(found)["removed_characters"] == 1
    found.documents.write_parquet(tmp_path / "out.parquet")


# A11


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", "<b>" * 30_000),
        ("a.html", "<div>" * 30_000),
        ("a.json", "[" * 100_000),
        ("a.jsonl", '{"a":' * 100_000),
    ],
)
def test_nested_too_deep(tmp_path: Path, name: str, content: str) -> None:
    found = read(write(tmp_path, {name: content, "ok.md": "fine"}))
    assert texts(found) == {"ok.md": "fine"}
    assert [reason for _, reason in reasons(found)] == ["too_deep"]


def test_nested_brackets_in_markdown_are_text(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"a.md": "[" * 100_000 + ">" * 1000}))
    assert found.failures.is_empty()
    assert build_text_units(found.documents, max_tokens=300, overlap=0, count=count_tokens).height > 10


# A14


def test_copies_are_documents_with_one_content_hash(tmp_path: Path) -> None:
    found = read(write(tmp_path, {f"{k}/README.md": "# Same\n\ntext" for k in range(5)}))
    assert found.documents.height == 5
    assert found.documents["content_sha256"].n_unique() == 1
    assert found.documents["id"].n_unique() == 5


# A15


def test_many_files(tmp_path: Path) -> None:
    for k in range(1500):
        (tmp_path / f"note {k:05}.md").write_text(f"# Note {k}\n\nText.")
    advanced: list[int] = []
    found = read(tmp_path, advance=advanced.append)
    assert found.documents.height == sum(advanced) == 1500
    assert found.documents["path"].is_sorted()


# A16


def test_ignored_files(tmp_path: Path) -> None:
    ignored = [
        ".DS_Store", "~$x.docx", ".#lock", "Thumbs.db", "desktop.ini", "a.md~", "b.swp", "#c.md#", ".obsidian/app.json",
        ".trash/x.md", ".smart-env/x.md", "data/output/old.md", "data/cache/memo.md", "VAULT_INDEX.md", "drafts/x.md",
        "n.bak",
    ]  # fmt: skip
    index = "# Section\n\n17 notes · 40 links · 0 unresolved · sha256 f88159677ba4\n"
    write(tmp_path, {**dict.fromkeys(ignored, "text"), "index/S.md": index, "kept.md": "text"})
    exclude = [tmp_path / "data" / "output", tmp_path / "data" / "cache"]
    found = read(tmp_path, exclude=exclude, ignore=["drafts/**", "*.bak"])
    assert texts(found) == {"kept.md": "text"}
    assert found.failures.is_empty()


# A17


def test_links_pipes_and_sockets(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {"a.md": "a", "sub/b.md": "b", ".store/c.md": "c"})
    write(tmp_path / "outside", {"secret.md": "secret"})
    (root / "etc").symlink_to("/etc")
    (root / "secret.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "climbing.md").symlink_to("../outside/secret.md")
    (root / "loop").symlink_to(root)
    (root / "self.md").symlink_to("self.md")
    (root / "broken.md").symlink_to("nowhere.md")
    (root / "twice.md").symlink_to("a.md")
    (root / "c.md").symlink_to(".store/c.md")
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        with contextlib.suppress(OSError):  # where the path of the test's folder is too long for a socket
            listener.bind(str(root / "s.md"))
        found = read(root)
    assert texts(found) == {"a.md": "a", "sub/b.md": "b", "c.md": "c"}
    assert reasons(found) == [
        ("broken.md", "unreadable_file"), ("climbing.md", "outside_input"), ("etc", "outside_input"),
        ("secret.md", "outside_input"), ("self.md", "unreadable_file"),
    ]  # fmt: skip


# A18


@pytest.mark.skipif(IS_ROOT, reason="root may read everything")
def test_file_without_permission(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a", "b.md": "b"})
    (tmp_path / "a.md").chmod(0)
    assert reasons(read(tmp_path)) == [("a.md", "unreadable_file")]


def test_file_that_vanishes_between_listing_and_reading(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a", "b.md": "b"})
    found = read(tmp_path, advance=lambda _: (tmp_path / "b.md").unlink(missing_ok=True))
    assert texts(found) == {"a.md": "a"}
    assert reasons(found) == [("b.md", "unreadable_file")]


# A19


def test_strange_names(tmp_path: Path) -> None:
    names = ["new\nline.md", "🚀 rocket.md", "é" * 120 + ".md", "trailing ", "a#b.md", "100%.md", 'it\'s "x".md']
    write(tmp_path, dict.fromkeys(names, "text"))
    found = read(tmp_path)
    assert sorted(texts(found)) == sorted(names)
    assert found.failures.is_empty()
    assert not any("\n" in title for title in found.documents["title"])


def test_name_in_nfd_is_given_in_nfc_and_a_twin_is_kept(tmp_path: Path) -> None:
    nfc = "Café.md"
    write(tmp_path, {unicodedata.normalize("NFD", nfc): "one", nfc: "two"})
    found = read(tmp_path)
    assert sorted(texts(found)) == [nfc, nfc + "~2"]
    assert reasons(found) == [(nfc, "duplicate_id")]


def test_name_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("text")
    assert texts(read(tmp_path)) == {"caf\ufffd.md": "text"}


# A20


def test_large_files_are_not_read(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"a.txt": "x" * 30_000, "b.txt": "y"}), max_file_mb=0.02)
    assert reasons(found) == [("a.txt", "too_large")]


def test_zip_bomb_is_too_large_by_expanded_size(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("word/document.xml", b"0" * 3_000_000)
    found = read(write(tmp_path, {"bomb.docx": buffer.getvalue(), "a.md": "a"}), max_file_mb=0.5)
    assert len(buffer.getvalue()) < 10_000
    assert reasons(found) == [("bomb.docx", "too_large")]


# A21, A23


def test_csv_records(tmp_path: Path) -> None:
    csv = (
        'id,title,text,country\n7,Seven,Redis is a store.,DE\n7,Again,"Two\nlines, quoted",FR\n8,Short\n'
        ",No id,Body,=cmd()\n9,Blank,  ,DE\n"
    )
    found = read(write(tmp_path, {"t.csv": csv}))
    assert texts(found) == {"t.csv#7": "Redis is a store.", "t.csv#7~2": "Two\nlines, quoted", "t.csv#4": "Body"}
    assert reasons(found) == [("t.csv#3", "bad_row"), ("t.csv#7", "duplicate_id"), ("t.csv#9", "empty_document")]
    by_path = {row["path"]: row for row in found.documents.iter_rows(named=True)}
    assert by_path["t.csv#7"]["title"] == "Seven"
    assert json.loads(by_path["t.csv#7"]["metadata"]) == {"id": "7", "title": "Seven", "country": "DE"}
    assert json.loads(by_path["t.csv#7"]["raw_data"])["text"] == "Redis is a store."
    assert json.loads(by_path["t.csv#4"]["metadata"])["country"] == "=cmd()"


def test_csv_with_semicolons_tabs_and_many_columns(tmp_path: Path) -> None:
    wide = ",".join([*(f"c{k}" for k in range(2000)), "text"]) + "\n" + ",".join(["1"] * 2000 + ["wide"])
    write(
        tmp_path,
        {"a.csv": "id;text\n1;one; two", "b.csv": "id;text\n1;one", "c.tsv": "id\ttext\n1\ttab", "d.csv": wide},
    )
    found = read(tmp_path)
    assert texts(found) == {"b.csv#1": "one", "c.tsv#1": "tab", "d.csv#1": "wide"}
    assert reasons(found) == [("a.csv#1", "bad_row")]


def test_table_without_text_column(tmp_path: Path) -> None:
    write(tmp_path, {"t.csv": "service,owner\nauth,Ana"})
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert str(caught.value) == "t.csv: no text column among service, owner. Set input.text_column."
    write(tmp_path, {"a.md": "other document"})
    assert reasons(read(tmp_path)) == [("t.csv", "missing_text")]
    assert texts(read(tmp_path, text_column="owner"))["t.csv#1"] == "Ana"


def test_column_knobs(tmp_path: Path) -> None:
    write(tmp_path, {"t.csv": "text,key,head,body,date\nno,k1,H,yes,2024-01-08"})
    found = read(tmp_path, text_column="body", id_column="key", title_column="head")
    row = found.documents.row(0, named=True)
    assert (row["path"], row["title"], row["text"], row["creation_date"]) == ("t.csv#k1", "H", "yes", "2024-01-08")


# A22


def test_json_and_jsonl_records(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "list.json": '[{"id": 1, "text": "one", "n": 1e400, "m": NaN, "big": ' + "9" * 40 + '}, {"id": 2}, 3]',
            "one.json": '{"title": "T", "body": "text", "tags": ["a"]}',
            "wrapped.json": '{"total": 1, "items": [{"content": "inner"}]}',
            "string.json": '"just text"',
            "broken.json": '{"text": ',
            "lines.jsonl": '{"text": "a", "id": 1}\n{bad json}\n\n{"text": null}\n{"text": "b"}\n',
        },
    )
    found = read(tmp_path)
    assert texts(found) == {
        "list.json#1": "one", "one.json#1": "text", "wrapped.json#1": "inner", "lines.jsonl#1": "a",
        "lines.jsonl#5": "b",
    }  # fmt: skip
    assert reasons(found) == [
        ("broken.json", "bad_json"), ("lines.jsonl#2", "bad_json"), ("lines.jsonl#4", "missing_text"),
        ("list.json#2", "missing_text"), ("list.json#3", "bad_json"), ("string.json", "bad_json"),
    ]  # fmt: skip
    assert json.loads(found.documents.filter(pl.col("path") == "list.json#1")["metadata"][0]) == {
        "id": 1, "n": "1e400", "m": "NaN", "big": "9" * 40,
    }  # fmt: skip


def test_parquet_records(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "text": ["one", None], "day": ["2024-01-08", ""], "tags": [["a"], []]})
    frame.with_columns(pl.col("day").replace("", None).str.to_date()).write_parquet(tmp_path / "t.parquet")
    write(tmp_path, {"broken.parquet": b"PAR1" + bytes(50)})
    found = read(tmp_path)
    assert texts(found) == {"t.parquet#1": "one"}
    assert reasons(found) == [("broken.parquet", "unreadable_file"), ("t.parquet#2", "missing_text")]
    assert metadata(found) == {"id": 1, "day": "2024-01-08", "tags": ["a"]}


# A24, front matter


def test_front_matter_becomes_metadata(tmp_path: Path) -> None:
    text = "\ufeff---\ntitle: Redis outage\naliases: K8s, Kube\ntags: '#a b'\ndate: 2024-01-18\nup: '[[X]]'\n---\nBody"
    found = read(write(tmp_path, {"n.md": text.replace("\n", "\r\n")}))
    row = found.documents.row(0, named=True)
    assert (row["title"], row["creation_date"]) == ("Redis outage", "2024-01-18")
    assert metadata(found) == {
        "title": "Redis outage", "aliases": ["K8s", "Kube"], "tags": ["a", "b"], "date": "2024-01-18", "up": "[[X]]",
    }  # fmt: skip
    assert row["text"].startswith("---\ntitle: Redis outage\n")
    units = build_text_units(found.documents, max_tokens=50, overlap=0, count=count_tokens)
    assert units["text"].to_list() == ["Body"]


def test_bad_front_matter_is_a_warning_in_metadata(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"Home.md": "---\na: [b\nc: d\n---\nThe body"}))
    assert list(metadata(found)) == ["front_matter_warning"]
    assert found.failures.is_empty()
    units = build_text_units(found.documents, max_tokens=50, overlap=0, count=count_tokens)
    assert units["text"].to_list() == ["The body"]


# Titles and formats


@pytest.mark.parametrize(
    ("name", "text", "title", "kind"),
    [
        ("a.md", "# The *Auth* Service\n\ntext", "The Auth Service", "md"),
        ("a.md", "Intro\n\n## Sources", "a", "md"),
        ("a.md", "## Only top\n\ntext\n\n### Sub", "Only top", "md"),
        ("index.html.md", "text", "index", "md"),
        ("a.b.md", "text", "a.b", "md"),
        ("page.html.md.erb", "# Page\n\ntext", "Page", "md"),
        ("Release v1.2", "text", "Release v1.2", "txt"),
        ("a.log", "text", "a", "txt"),
        ("a.rst", "PEP: 600\nTitle: Wheels\n\nText\n====\n", "Wheels", "rst"),
        ("a.rst", "Top\n###\n\ntext", "Top", "rst"),
        ("a.html", "<title>Run &amp; book</title><h1>X</h1><p>y", "Run & book", "html"),
        ("a.htm", "<h1>X</h1><p>y", "X", "html"),
        ("novel.txt", "CHAPTER I\n\nIt was", "novel", "txt"),
    ],
)
def test_titles(tmp_path: Path, name: str, text: str, title: str, kind: str) -> None:
    row = read(write(tmp_path, {name: text})).documents.row(0, named=True)
    assert (row["title"], row["kind"]) == (title, kind)


def test_header_fields_of_restructured_text(tmp_path: Path) -> None:
    text = (
        "PEP: 600\nTitle: Future\nAuthor: A,\n        B\nCreated: 03-May-2019\nEmpty:\n\nAbstract\n========\n\nIt is."
    )
    found = read(write(tmp_path, {"pep.rst": text}))
    assert metadata(found) == {
        "PEP": "600", "Title": "Future", "Author": "A, B", "Created": "03-May-2019", "Empty": "",
    }  # fmt: skip
    assert found.documents["creation_date"].to_list() == ["2019-05-03"]


def test_html_text_keeps_its_blocks(tmp_path: Path) -> None:
    html = (
        "<html><head><title>T</title><script>var x</script></head><body><h2>Head</h2>one <b>bold</b><br>two<ul><li>x"
        "<li>y</ul><table><tr><th>a<th>b<tr><td>1<td>2|3</table><pre>code\n  here</pre><p>A &amp; B&nbsp;C.</body>"
    )
    assert texts(read(write(tmp_path, {"a.html": html})))["a.html"] == (
        "## Head\n\none bold two\n\n- x\n- y\n\n| a | b |\n| 1 | 2\\|3 |\n\n```\ncode\n  here\n```\n\nA & B C."
    )


def test_canvas_gives_its_cards_and_keeps_its_json(tmp_path: Path) -> None:
    canvas = '{"nodes":[{"type":"text","text":"Redis card"},{"type":"file","file":"a.md"}],"edges":[{"label":"needs"}]}'
    found = read(write(tmp_path, {"map.canvas": canvas, "empty.canvas": "{}", "icon.svg": "<svg/>"}))
    assert texts(found) == {"map.canvas": "Redis card\n\na.md\n\nneeds"}
    assert found.documents["raw_data"].to_list() == [canvas]
    assert reasons(found) == [("empty.canvas", "empty_document"), ("icon.svg", "binary_content")]


def test_result_does_not_depend_on_the_folder_or_times(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"b/x.md": "---\ntitle: X\n---\nx", "a.txt": "a", "t.csv": "id,text\n1,one\n1,two"}
    one = read(write(tmp_path / "one", files))
    two = read(write(tmp_path / "two", dict(reversed(files.items()))))
    os.utime(tmp_path / "two" / "a.txt", (4_070_908_800, 4_070_908_800))
    assert one.documents.equals(two.documents)
    assert one.failures.equals(two.failures)
    assert one.documents.schema == tables.DOCUMENTS.schema


def test_languages_are_titled_as_written(tmp_path: Path) -> None:
    titles = ["القاهرة", "ירושלים", "กรุงเทพ", "दिल्ली", "東京", "Москва", "🚀"]
    found = read(write(tmp_path, {f"{k}.md": f"# {title}\n\ntext" for k, title in enumerate(titles)}))
    assert found.documents["title"].to_list() == titles


def test_office_formats_come_in_as_documents(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("Runbook", 1)
    document.add_paragraph("Auth Service depends on Redis.")
    document.save(tmp_path / "a.docx")
    docx.Document().save(tmp_path / "blank.docx")
    write(tmp_path, {"b.pdf": b"%PDF-1.4 junk", "c.xlsx": b"PK\x03\x04 junk"})
    found = read(tmp_path)
    assert found.documents.select("path", "title", "kind", "text").rows() == [
        ("a.docx", "Runbook", "docx", "# Runbook\n\nAuth Service depends on Redis.\n")
    ]
    assert reasons(found) == [
        ("b.pdf", "unreadable_file"), ("blank.docx", "empty_document"), ("c.xlsx", "unreadable_file"),
    ]  # fmt: skip


def test_pdf_docx_and_pptx_become_documents(tmp_path: Path) -> None:
    from tests.reading.test_office import make_pdf, make_pptx

    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_paragraph("Billing is owned by the Platform Team.")
    document.save(tmp_path / "billing.docx")
    (tmp_path / "auth.pdf").write_bytes(make_pdf("Auth Service depends on Redis."))
    (tmp_path / "plan.pptx").write_bytes(make_pptx("Plan", "Redis backs the Auth Service."))
    found = read(tmp_path)
    assert found.failures.is_empty()
    assert found.documents.select("path", "kind").rows() == [
        ("auth.pdf", "pdf"), ("billing.docx", "docx"), ("plan.pptx", "pptx"),
    ]  # fmt: skip
    for text, words in zip(
        found.documents["text"], ("depends on Redis", "owned by the Platform", "backs"), strict=True
    ):
        assert words in text


def test_office_formats_need_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrag.reading.office.find_spec", lambda _: None)
    found = read(write(tmp_path, {"a.pdf": b"%PDF-1.4 ...", "a.md": "a"}))
    assert reasons(found) == [("a.pdf", "needs_documents_extra")]
    assert "graphrag-batch[documents]" in found.failures["detail"][0]


# ../shared


@pytest.mark.shared
def test_messy_folder(tmp_path: Path, shared: Path) -> None:
    with tarfile.open(shared / "data" / "messy_folder.tar.gz") as archive:
        archive.extractall(tmp_path, filter="tar")
    found = read(tmp_path / "messy")
    units = build_text_units(found.documents, max_tokens=300, overlap=30, count=count_tokens)
    assert units["n_tokens"].max() <= 300  # type: ignore[operator]  # polars types max() for every dtype
    files = {
        path.relative_to(tmp_path / "messy").as_posix() for path in (tmp_path / "messy").rglob("*") if not path.is_dir()
    }
    told = {path.partition("#")[0] for path in [*found.documents["path"], *found.failures["item_id"]]}
    assert files - told == {".hidden.md", "~$lock.docx"}
    assert reasons(found) == [
        ("broken_link.md", "outside_input"), ("empty.txt", "empty_document"), ("events.jsonl#2", "bad_json"),
        ("events.jsonl#2", "empty_document"), ("table.csv", "missing_text"), ("tiny_pdf.pdf", "unreadable_file"),
        ("whitespace.md", "empty_document"),
    ]  # fmt: skip
    names = {path: text for path, text in texts(found).items() if "Société Générale" in text}
    assert "latin1_bytes.txt" in names
