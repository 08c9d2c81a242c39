"""10,000 generated notes with 50,000 links: read, resolved, and made relationships (issue 8: at most 10 s).

Run: python -m tests.bench.bench_links [notes]. Notes are 4 kB: prose with code, two wikilinks, one embed, one Markdown
link and one link in front matter each, over 100 folders. Then one line of 1 MB with 50,000 `[[` (spec: under 1 s).
"""

from __future__ import annotations

import sys
import time

import polars as pl

from graphrag import ids, tables
from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.document_relations import list_related, relate_links
from graphrag.index.graph import build_graph
from graphrag.index.links import build_links
from graphrag.reading.links import read_links

WORDS = "The service writes to the queue and the worker reads `from it` when the batch is due. "


def make_documents(n_notes: int) -> pl.DataFrame:
    rows = []
    for i in range(n_notes):
        a, b, c, d = ((i * step + 1) % n_notes for step in (7, 31, 101, 977))
        text = (
            f'---\nup: "[[Note {a}]]"\n---\n# Note {i}\n\n{WORDS * 20}\n\n- requires [[Note {b}|that]] (for login)\n'
            f"- [[Note {c}#Head]]\n\n```python\nx = [[1]]\n```\n\n{WORDS * 25}\n\n![[Note {d}]] and "
            f"[more](../{a % 100}/Note%20{a}.md).\n"
        )
        path = f"{i % 100}/Note {i}.md"
        rows.append(
            {
                "id": ids.document_id(path), "human_readable_id": i, "title": f"Note {i}", "text": text,
                "text_unit_ids": [], "creation_date": "", "path": path, "kind": "md",
                "content_sha256": ids.content_sha256(text), "n_tokens": 0, "metadata": "{}",
            }
        )  # fmt: skip
    return tables.DOCUMENTS.from_rows(rows)


def run(n_notes: int) -> None:
    documents = make_documents(n_notes)
    size = documents["text"].str.len_bytes().sum() / 1e6
    started, cpu = time.perf_counter(), time.process_time()
    links = build_links(documents).links
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    statuses = dict(links["status"].value_counts().sort("status").iter_rows())
    print(f"{n_notes:,} notes, {size:.0f} MB: {links.height:,} links {statuses} in {seconds:.1f} s ({cpu:.1f} CPU s)")
    _run_graph(documents, links)
    line = "[[".join("x" * 18 for _ in range(50_001)) + "]]"
    cpu = time.process_time()
    found = read_links(line).links
    print(f"one line of {len(line) / 1e6:.1f} MB: {len(found)} link in {time.process_time() - cpu:.2f} CPU s")


def _run_graph(documents: pl.DataFrame, links: pl.DataFrame) -> None:
    mentions, statements = tables.ENTITY_MENTIONS.empty(), tables.RELATIONSHIP_MENTIONS.empty()
    units = tables.TEXT_UNITS.from_rows([
        {
            "id": ids.text_unit_id(note, text, 0), "human_readable_id": 0, "text": text, "n_tokens": 0,
            "document_id": note, "entity_ids": [], "relationship_ids": [], "covariate_ids": [], "start_char": 0,
            "end_char": len(text), "heading_path": [],
        }
        for note, text in documents.select("id", "text").iter_rows()
    ])  # fmt: skip
    cpu = time.process_time()
    relations = relate_links(links, documents, units)
    found = disambiguate_entities(mentions, statements, documents, related=list_related(relations))
    graph = build_graph(found.clusters, found.entity_mentions, statements, units, documents, relations)
    cpu = time.process_time() - cpu
    print(f"{graph.entities.height:,} entities, {graph.relationships.height:,} relationships in {cpu:.1f} CPU s")


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
