"""The folder of microsoft/graphrag 3.x: settings.yaml, output/*.parquet, output/lancedb, for its own query engine.

The first columns of our tables are its columns; further columns and tables of ours lie beside them, where it does not
look, so that `graphrag import` of the folder gives the same index again. A part of an index has its tables only.
Vectors are ours: a query must be embedded by the same model, or what it finds means nothing.

Does not: call its code. lancedb (extra `lancedb`) is imported here only.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from graphrag import tables
from graphrag.interop.selection import Selection
from graphrag.store import Index

VECTOR_TABLES = {
    "entity_description": "entities", "community_full_content": "community_reports", "text_unit_text": "text_units",
}  # fmt: skip
PART = "A part of the index: without our own tables, so graphrag import takes whole text units as its evidence."
SETTINGS = """\
# Written by graphrag export. Fill in the models; the embedding model must be the one that made the vectors: {model}.
completion_models:
  default_completion_model:
    model_provider: openai
    model: gpt-4.1
    api_key: ${{GRAPHRAG_API_KEY}}
embedding_models:
  default_embedding_model:
    model_provider: openai
    model: {model}
    api_key: ${{GRAPHRAG_API_KEY}}
vector_store:
  type: lancedb
  db_uri: output/lancedb
"""
SIZE = "  vector_size: {dim}\n"


def write_reference(selection: Selection, folder: Path, index: Index) -> tuple[list[str], list[str]]:
    """The files written, and lines that say what is missing."""
    output = folder / "output"
    output.mkdir(exist_ok=True)
    chosen = {name: getattr(selection, name) for name in Selection._fields if name in tables.TABLES}
    written = []
    for name, table in tables.TABLES.items():
        is_log = table.is_log and name != "relationship_events"
        if is_log or name == "embeddings" or not (selection.is_whole or table.n_reference):
            continue
        frame = chosen[name] if name in chosen else index.table(name)
        frame.write_parquet(output / f"{name}.parquet", compression="zstd")
        written.append(f"output/{name}.parquet")
    dim, model = _describe_vectors(index)
    (folder / "settings.yaml").write_text(
        SETTINGS.format(model=model) + (SIZE.format(dim=dim) if dim else ""), encoding="utf-8"
    )
    notices = [] if selection.is_whole else [PART]
    return [*written, "settings.yaml"], notices + _write_vectors(index, chosen, output / "lancedb")


def _describe_vectors(index: Index) -> tuple[int, str]:
    rows = index.frame("select dim, model from embeddings limit 1").rows()
    return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "none")


def _write_vectors(index: Index, chosen: dict[str, pl.DataFrame], place: Path) -> list[str]:
    try:
        import lancedb
    except ImportError:
        return ['No vectors: local, drift and basic need them. pip install "graphrag-batch[lancedb]", then again.']
    import pyarrow

    database = lancedb.connect(str(place))
    missing = []
    for name, owner_table in VECTOR_TABLES.items():
        ids, vectors = index.vectors(owner_table)
        kept = set(chosen[owner_table]["id"])
        rows = [n for n, identity in enumerate(ids) if identity in kept]
        if not rows:
            missing.append(name)
            continue
        values = vectors[rows].astype("float32")
        flat = pyarrow.array(values.reshape(-1), type=pyarrow.float32())
        lists = pyarrow.FixedSizeListArray.from_arrays(flat, values.shape[1])
        database.create_table(name, pyarrow.table({"id": [ids[n] for n in rows], "vector": lists}))
    return [f"No vectors for {', '.join(missing)}: the index has none."] if missing else []
