"""VAULT_INDEX.md and a page for each large section: what a reader of a vault opens first.

specs/linked-documents.md, section 6: the notes that most links lead to, the sections (top folders) with their sizes,
and a digest of all notes, so that equal vaults give equal bytes. Each run keeps its pages beside its tables; `graphrag
links --write-index` writes them into a vault. Pages are told by their second line and never indexed
(index/documents.py).

Reads documents, links. Does not: write a file (note_files.py).
"""

from __future__ import annotations

import polars as pl

from graphrag.ids import content_sha256
from graphrag.index.link_targets import AMBIGUOUS, RESOLVED, UNRESOLVED, LinkTargets
from graphrag.index.links import LINKING, collect_targets
from graphrag.reading.written_link import write_link

INDEX_FILE = "VAULT_INDEX.md"
MIN_INBOUND, MAX_ROWS = 2, 20
LARGE_SECTION = 20  # notes; a larger section has a page of its own
ROOT = "/"
MAX_SECTION_BYTES = 240  # of a page's name, which must fit a file system with its suffix


def build_vault_index(documents: pl.DataFrame, links: pl.DataFrame, *, index_file: str = INDEX_FILE) -> dict[str, str]:
    """Path -> text of the index and of the section pages, index/SECTION.md. Nothing for documents without notes.

    documents needs id, path, title, kind, metadata, content_sha256 (of the decoded text).
    """
    notes = _count_links(documents.filter(pl.col("kind").is_in(LINKING)).sort("path"), links)
    if notes.is_empty():
        return {}
    targets = collect_targets(documents)
    notes = notes.with_columns(section=_name_sections(pl.col("path")))
    sizes = dict(notes.group_by("section").len().sort("section").iter_rows())
    files = {section: f"index/{_name_file(section)}" for section, n in sizes.items() if n > LARGE_SECTION}
    pages = {index_file: _render_page("Vault index", notes, targets, files)}
    for section, file in files.items():
        inside = notes.filter(pl.col("section") == section)
        if section != ROOT:
            below = pl.col("path").str.slice(len(section) + 1)
            inside = inside.with_columns(section=_name_sections(below))
        pages[f"{file}.md"] = _render_page(f"Section {section}", inside, targets, {})
    return pages


def _name_sections(path: pl.Expr) -> pl.Expr:
    """The first folder of a path, / where it has none."""
    folder = path.str.extract(r"^([^/]+)/")
    return folder.fill_null(ROOT)


def _name_file(section: str) -> str:
    name = "(root)" if section == ROOT else section
    return name.encode()[:MAX_SECTION_BYTES].decode(errors="ignore")


def _count_links(notes: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """notes with inbound and outbound, links from one document to another, every mention; and unresolved."""
    leading = links.filter(
        pl.col("status").is_in([RESOLVED, AMBIGUOUS]) & (pl.col("target_document_id") != pl.col("source_document_id"))
    )
    missing = links.filter(pl.col("status") == UNRESOLVED)
    for column, frame, key in (
        ("inbound", leading, "target_document_id"),
        ("outbound", leading, "source_document_id"),
        ("unresolved", missing, "document_id"),
    ):
        counts = frame.group_by(pl.col(key).alias("id")).agg(pl.len().cast(pl.Int64).alias(column))
        notes = notes.join(counts, on="id", how="left", maintain_order="left")
    return notes.with_columns(pl.col("inbound", "outbound", "unresolved").fill_null(0))


def _render_page(heading: str, notes: pl.DataFrame, targets: LinkTargets, files: dict[str, str]) -> str:
    """One page. files: section -> its own page, without .md."""
    n_links, n_missing = notes["outbound"].sum(), notes["unresolved"].sum()
    digest = digest_notes(notes)
    lines = [
        f"# {heading}",
        "",
        f"{notes.height} notes · {n_links} links · {n_missing} unresolved · sha256 {digest}",
        "",
        "| note | inbound | outbound | section |",
        "|---|---|---|---|",
    ]
    wanted = notes.filter(pl.col("inbound") >= MIN_INBOUND).sort(-pl.col("inbound"), "title", "path").head(MAX_ROWS)
    for path, title, *cells in wanted.select("path", "title", "inbound", "outbound", "section").iter_rows():
        link = write_link(targets.shortest_name(path), path, title, in_table=True)
        lines.append(f"| {' | '.join([link, *(str(cell).replace('|', '&#124;') for cell in cells)])} |")
    lines += ["", "## Sections", ""]
    for section, n in notes.group_by("section").len().sort("section").iter_rows():
        page = f" · {write_link(files[section], f'{files[section]}.md')}" if section in files else ""
        lines.append(f"- {section} · {n} notes{page}")
    return "\n".join(lines) + "\n"


def digest_notes(notes: pl.DataFrame) -> str:
    """12 hex digits over the notes' paths and content hashes. notes needs path, content_sha256; sorted by path."""
    lines = [f"{path}\t{sha}\n" for path, sha in notes.select("path", "content_sha256").iter_rows()]
    return content_sha256("".join(lines))[:12]
