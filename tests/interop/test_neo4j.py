"""The files for Neo4j: a strict reader takes them, every cell is one line, and no relationship dangles."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from graphrag import Index
from graphrag.interop.export import export_index
from graphrag.interop.neo4j import ENTITY_HEADER, RELATIONSHIP_HEADER


def read_strictly(path: Path) -> list[dict[str, str]]:
    """As Neo4j's importer does: without multi-line fields, every row as wide as the header."""
    text = path.read_text(encoding="utf-8")
    with path.open(encoding="utf-8", newline="") as handle:
        header, *rows = list(csv.reader(handle, strict=True))
    assert {len(row) for row in rows} <= {len(header)}
    assert text.count("\n") == len(rows) + 1
    assert not [c for c in text if ord(c) < 32 and c != "\n"]
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.mark.parametrize(("which", "min_weight"), [("sample", 0), ("sample", 2), ("hostile", 0)])
def test_no_dangling_id(which: str, min_weight: float, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    index: Index = request.getfixturevalue(which)
    done = export_index(index, tmp_path / "out", format="neo4j", min_weight=min_weight)
    entities, relationships = (
        read_strictly(tmp_path / "out" / f"{name}.csv") for name in ("entities", "relationships")
    )
    assert (tuple(entities[0]), tuple(relationships[0])) == (ENTITY_HEADER, RELATIONSHIP_HEADER)
    ids = [row["id:ID(Entity)"] for row in entities]
    assert len(ids) == len(set(ids)) == index.table("entities").height
    assert {row[f":{end}_ID(Entity)"] for row in relationships for end in ("START", "END")} <= set(ids)
    assert len(relationships) == done.n_relationships
    assert (done.n_relationships < index.table("relationships").height) == (min_weight > 1)


@pytest.mark.parametrize("which", ["sample", "hostile"])
def test_numbers_labels_and_types_are_what_the_importer_takes(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    export_index(request.getfixturevalue(which), tmp_path / "out", format="neo4j")
    for name in ("entities", "relationships"):
        for row in read_strictly(tmp_path / "out" / f"{name}.csv"):
            for column, value in row.items():
                if column.endswith(":long") and value:
                    int(value)
                if column.endswith(":double"):
                    float(value)
            assert re.fullmatch(r"Entity;\w+" if name == "entities" else r"[\w]+", row.get(":LABEL") or row[":TYPE"])


def test_the_script_loads_each_label_and_type_once(hostile: Index, tmp_path: Path) -> None:
    export_index(hostile, tmp_path / "out", format="neo4j")
    script = (tmp_path / "out" / "load.cypher").read_text(encoding="utf-8")
    rows = read_strictly(tmp_path / "out" / "relationships.csv")
    assert sorted(re.findall(r"-\[r:`(\w+)`", script)) == sorted({row[":TYPE"] for row in rows})
    statements = [line for line in script.splitlines() if not line.startswith("//")]
    assert "\n".join(statements).count(";\n") + 1 == len(re.findall(r"^(?:CREATE|LOAD)", script, re.MULTILINE))
