"""A published index of any size, made up: entities in a graph with hubs, text units that state it, vectors, reports.

How often an entity is in a relationship follows a power law, so that some have thousands of neighbours. Every
relationship is a sentence of one text unit, with its evidence and the mentions of both ends in place. Every other
document has the title of an entity, every fourth entity an alias. Vectors are random: they cost what real ones cost,
and find what chance finds. The same on every machine.

Does not: time anything (bench_search_scale.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

from graphrag import store, tables
from graphrag.ids import content_sha256
from graphrag.vectors import EMBEDDED, load_embedder
from tests.bench.bench_disambiguation_scale import SYLLABLES

RELATIONSHIPS_AN_ENTITY, ENTITIES_A_UNIT, UNITS_A_DOCUMENT, MEMBERS = 5, 2, 5, 10
KINDS = ("Service", "API", "Cluster", "Team", "Database", "Gateway", "Cache", "Queue", "Worker", "Pipeline", "Registry")
PREDICATES = (
    "depends_on",
    "calls",
    "runs_on",
    "owned_by",
    "writes_to",
    "reads_from",
    "replaced",
    "monitors",
    "mentions",
)
RUN = "20260101T000000Z-0large"


def publish_large_index(output_dir: Path, n_entities: int, *, with_vectors: bool = True) -> list[str]:
    """Write and publish the run; the entities' titles, those of the most relationships first."""
    random, numbers = Random(7), np.random.default_rng(7)
    titles = _make_titles(random, n_entities)
    weights = 1 / (np.arange(n_entities) + 10.0) ** 0.7
    ends = numbers.choice(n_entities, size=(n_entities * RELATIONSHIPS_AN_ENTITY, 2), p=weights / weights.sum())
    ends[:n_entities, 0] = np.arange(n_entities)  # nobody is alone
    facts = sorted({(int(a), PREDICATES[k % len(PREDICATES)], int(b)) for k, (a, b) in enumerate(ends) if a != b})
    random.shuffle(facts)
    frames = _write_documents(random, titles, facts)
    frames |= _list_entities(titles, frames["relationships"], frames["text_units"]) | _group_entities(titles)
    if with_vectors:
        frames["embeddings"] = _embed(numbers, frames)
    store.write_run(output_dir, RUN, frames, manifest={"version": "bench"})
    store.publish_run(output_dir, RUN)
    return titles


def _make_titles(random: Random, n: int) -> list[str]:
    syllables = SYLLABLES.split()
    found: dict[str, None] = {}
    while len(found) < n:
        word = "".join(random.choice(syllables) for _ in range(3)).capitalize()
        found[f"{word} {random.choice(KINDS)}"] = None
    return list(found)


def _make_words(random: Random) -> dict[str, float]:
    """3,000 words and how often they come, as in text: the n-th an n-th as often as the first."""
    syllables = SYLLABLES.split()
    return {"".join(random.choices(syllables, k=2)) + "ed": 1 / n for n in range(1, 3_001)}


def _id(kind: str, number: int) -> str:
    return content_sha256(f"{kind}{number}")


def _fill(table: tables.Table, rows: Iterable[dict[str, object]]) -> pl.DataFrame:
    """Rows with a plain value in every column that they leave out."""
    plain = {pl.String: "", pl.Int64: 0, pl.Float64: 1.0, pl.Boolean: True, pl.List: []}
    blank = {c.name: None if c.nullable else plain[type(c.dtype)] for c in table.columns}
    return table.from_rows([blank | row for row in rows])


def _write_documents(random: Random, titles: list[str], facts: list[tuple[int, str, int]]) -> dict[str, pl.DataFrame]:
    n_units = len(titles) // ENTITIES_A_UNIT
    n_stated = -(-len(facts) // n_units)
    words = _make_words(random)
    documents, units, relationships, evidence, mentions = [], [], [], [], []
    for place, first in enumerate(range(0, n_units, UNITS_A_DOCUMENT)):
        document, text = _id("d", first), ""
        numbers = range(first, min(first + UNITS_A_DOCUMENT, n_units))
        for number in numbers:
            unit, start, mentioned = _id("u", number), len(text), set()
            stated = range(number * n_stated, min((number + 1) * n_stated, len(facts)))
            for fact in stated:
                a, predicate, b = facts[fact]
                said = " ".join(random.choices(list(words), weights=list(words.values()), k=8))
                sentence = f"{titles[a]} {predicate.replace('_', ' ')} {titles[b]}, {said}."
                ends = {"source_id": _id("e", a), "target_id": _id("e", b)}
                span = {"start_char": len(text), "end_char": len(text) + len(sentence)}
                behind = len(f"{titles[a]} {predicate} ")
                for end, begin in ((a, len(text)), (b, len(text) + behind)):
                    mentions.append({
                        "id": _id("m", len(mentions)), "entity_id": _id("e", end), "text_unit_id": unit,
                        "document_id": document, "surface": titles[end], "type": titles[end].split()[-1].lower(),
                        "start_char": begin, "end_char": begin + len(titles[end]), "method": "rule",
                    })  # fmt: skip
                relationships.append({
                    "id": _id("r", fact), "human_readable_id": fact, "source": titles[a], "target": titles[b],
                    "description": sentence, "text_unit_ids": [unit], "predicate": predicate, "origin": "extracted",
                    **ends,
                })  # fmt: skip
                evidence.append({
                    "id": _id("v", fact), "relationship_id": _id("r", fact), "text_unit_id": unit,
                    "document_id": document, "quote": sentence, **span,
                })  # fmt: skip
                text += sentence + " "
                mentioned |= set(ends.values())
            units.append({
                "id": unit, "human_readable_id": number, "text": text[start:], "document_id": document,
                "n_tokens": (len(text) - start) // 4, "entity_ids": sorted(mentioned), "start_char": start,
                "relationship_ids": sorted(_id("r", fact) for fact in stated), "end_char": len(text),
            })  # fmt: skip
        documents.append({
            "id": document, "human_readable_id": first, "text": text, "kind": "md",
            "title": f"Note {first}" if place % 2 else titles[place * len(titles) * UNITS_A_DOCUMENT // n_units],
            "text_unit_ids": [_id("u", number) for number in numbers], "path": f"{first}.md", "metadata": "{}",
        })  # fmt: skip
    return {
        "documents": _fill(tables.DOCUMENTS, documents), "text_units": _fill(tables.TEXT_UNITS, units),
        "relationships": _fill(tables.RELATIONSHIPS, relationships), "evidence": _fill(tables.EVIDENCE, evidence),
        "entity_mentions": _fill(tables.ENTITY_MENTIONS, mentions),
    }  # fmt: skip


def _list_entities(titles: list[str], relationships: pl.DataFrame, units: pl.DataFrame) -> dict[str, pl.DataFrame]:
    both = pl.concat([
        relationships.select(id="source_id", near="target_id"), relationships.select(id="target_id", near="source_id"),
    ])  # fmt: skip
    degrees = dict(both.group_by("id").agg(pl.col("near").n_unique()).iter_rows())
    held = units.select(unit="id", id="entity_ids").explode("id").group_by("id").agg(pl.col("unit").sort())
    units_of = dict(held.iter_rows())
    cutoff = max(15.0, float(np.quantile(list(degrees.values()), 0.95)))
    rows = []
    for number, title in enumerate(titles):
        entity = _id("e", number)
        rows.append({
            "id": entity, "human_readable_id": number, "title": title, "type": title.split()[-1].lower(),
            "description": f"{title} of region {number % 17}.", "text_unit_ids": units_of.get(entity, []),
            "frequency": len(units_of.get(entity, [])), "degree": degrees.get(entity, 0), "pagerank": 1 / len(titles),
            "is_hub": degrees.get(entity, 0) > cutoff, "is_cut_vertex": False,
            "aliases": [] if number % 4 else [f"{title.split()[0]}-{number}"],
        })  # fmt: skip
    return {"entities": _fill(tables.ENTITIES, rows)}


def _group_entities(titles: list[str]) -> dict[str, pl.DataFrame]:
    """One level of communities of ten, each with a report."""
    communities, reports = [], []
    for community, first in enumerate(range(0, len(titles), MEMBERS)):
        members = range(first, min(first + MEMBERS, len(titles)))
        row = {"human_readable_id": community, "community": community, "parent": -1, "size": len(members)}
        summary = f"{', '.join(titles[number] for number in members)} share a region."
        ids = [_id("e", number) for number in members]
        communities.append({**row, "id": _id("c", community), "title": f"Community {community}", "entity_ids": ids})
        reports.append({
            **row, "id": _id("p", community), "title": f"{titles[first]} and others", "summary": summary,
            "full_content": f"# {titles[first]} and others\n\n{summary}", "method": "extractive", "citations": "[]",
            "full_content_json": "{}", "left_out": "{}",
        })  # fmt: skip
    return {
        "communities": _fill(tables.COMMUNITIES, communities),
        "community_reports": _fill(tables.COMMUNITY_REPORTS, reports),
    }


def _embed(numbers: np.random.Generator, frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    dim = load_embedder(EMBEDDED).dim
    parts = []
    for owner_table in ("entities", "relationships", "text_units", "community_reports"):
        owners = frames[owner_table]["id"].sort()  # as index/embeddings.py has them
        matrix = numbers.standard_normal((len(owners), dim), dtype=np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        columns = {"owner_table": owner_table, "model": EMBEDDED, "content_sha256": ""}
        frame = pl.DataFrame({"owner_id": owners, "vector": pl.Series(matrix).cast(pl.List(pl.Float32))})
        frame = frame.with_columns(dim=pl.lit(dim, pl.Int64), **{name: pl.lit(text) for name, text in columns.items()})
        parts.append(tables.EMBEDDINGS.conform(frame))
    return pl.concat(parts)
