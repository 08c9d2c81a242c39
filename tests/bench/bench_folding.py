"""What folding costs a search: 10,000 entries, 5,000 relations, the same questions with and without.

    python -m tests.bench.bench_folding

Prints the milliseconds of a folding (CPU and wall, median and worst) beside those of the search that it is part of.
Target (specs/folding.md, 25): 20 ms.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from pathlib import Path

import polars as pl

from graphrag import ids, store, tables
from graphrag.relations.events import RELATION_TYPES
from graphrag.search.basic_search import search_basic
from graphrag.search.entries.folded_entries import Fold
from graphrag.search.entries.folded_passages import fold_passages
from graphrag.search.ranking import prepare_question, rank_rows
from graphrag.search.rows import load_passages

N_ENTRIES, N_RELATIONS, N_QUESTIONS = 10_000, 5_000, 60
WORDS = [f"word{number}" for number in range(400)]


def write_bank(output: Path, chance: random.Random) -> None:
    documents, units = [], []
    for number in range(N_ENTRIES):
        text = f"Entry {number} says this. " + " ".join(chance.choices(WORDS, k=120)) + "."
        path = f"e{number:05d}.md"
        document, content = ids.document_id(path), ids.content_sha256(text)
        unit = ids.text_unit_id(document, text, 0)
        documents.append({
            "id": document, "human_readable_id": number, "title": f"Entry {number}", "text": text, "path": path,
            "text_unit_ids": [unit], "creation_date": "", "kind": "md", "content_sha256": content, "n_tokens": 160,
            "metadata": "{}",
        })  # fmt: skip
        units.append({
            "id": unit, "human_readable_id": number, "text": text, "n_tokens": 160, "document_id": document,
            "entity_ids": [], "relationship_ids": [], "covariate_ids": [], "start_char": 0, "end_char": len(text),
            "heading_path": [],
        })  # fmt: skip
    related = {
        (chance.randrange(N_ENTRIES), chance.choice(RELATION_TYPES), chance.randrange(N_ENTRIES))
        for _ in range(N_RELATIONS)
    }
    relations = [
        {
            "from_document_id": documents[a]["id"], "type": type_, "to_document_id": documents[b]["id"], "note": "",
            "origin": "authored", "source": "author", "actor": "bench", "event_id": "", "at": "", "is_leak": False,
        }
        for a, type_, b in sorted(related)
    ]  # fmt: skip
    frames = {
        "documents": tables.DOCUMENTS.from_rows(documents),
        "text_units": tables.TEXT_UNITS.from_rows(units),
        "entry_relations": tables.ENTRY_RELATIONS.from_rows(relations),
    }
    store.write_run(output, "20260101T000000-000000", frames, manifest={})
    store.publish_run(output, "20260101T000000-000000")


def measure_folding(index: store.Index, chance: random.Random) -> pl.DataFrame:
    rows = []
    for _ in range(N_QUESTIONS):
        question = " ".join(chance.choices(WORDS, k=4))
        asked, _ = prepare_question(index, question, model="none")
        hits = rank_rows(index, asked, "text_units", top=30)
        scores = {hit.owner_id: hit.score for hit in hits}
        passages = load_passages(index, list(scores))
        began, began_cpu = time.perf_counter(), time.process_time()
        folded = fold_passages(index, passages, scores, fold=Fold(), rank_more=lambda n: [])
        wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        began = time.perf_counter()
        search_basic(index, question, model="none")
        rows.append((wall * 1000, cpu * 1000, (time.perf_counter() - began) * 1000, folded.folded is not None))
    return pl.DataFrame(rows, schema=["wall_ms", "cpu_ms", "search_ms", "is_folded"], orient="row")


def main() -> None:
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        write_bank(Path(folder), chance)
        with store.open_index(Path(folder)) as index:
            measure_folding(index, chance)  # warm
            found = measure_folding(index, chance)
    print(f"{N_ENTRIES:,} entries, {N_RELATIONS:,} relations; {found['is_folded'].sum()} of {found.height} were folded")
    for name in ("wall_ms", "cpu_ms", "search_ms"):
        values = found[name].to_list()
        print(f"{name:<10} median {statistics.median(values):6.1f}   worst {max(values):6.1f}")


if __name__ == "__main__":
    main()
