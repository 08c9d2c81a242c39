"""GraphML as igraph and networkx read it: equal counts of nodes, edges and attributes, whatever stands in the names."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import igraph
import networkx
import pytest

from graphrag import Index
from graphrag.interop.export import export_index
from graphrag.interop.graphml import EDGE_KEYS, NODE_KEYS


def export(index: Index, folder: Path) -> tuple[igraph.Graph, networkx.MultiDiGraph]:
    export_index(index, folder, format="graphml")
    path = str(folder / "graph.graphml")
    return igraph.Graph.Read_GraphML(path), networkx.read_graphml(path, force_multigraph=True)


@pytest.mark.parametrize("which", ["sample", "hostile"])
def test_both_read_equal_counts(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    index: Index = request.getfixturevalue(which)
    in_igraph, in_networkx = export(index, tmp_path / "out")
    n_entities, n_relationships = index.table("entities").height, index.table("relationships").height
    assert in_igraph.vcount() == in_networkx.number_of_nodes() == n_entities
    assert in_igraph.ecount() == in_networkx.number_of_edges() == n_relationships
    assert in_igraph.is_directed() and in_networkx.is_directed()
    assert set(in_igraph.vs.attributes()) - {"id"} == set(NODE_KEYS)
    assert set(in_igraph.es.attributes()) - {"id"} == set(EDGE_KEYS)
    nodes = Counter(name for _, values in in_networkx.nodes(data=True) for name in values)
    edges = Counter(name for *_, values in in_networkx.edges(data=True) for name in values)
    assert nodes == count_said(in_igraph.vs, NODE_KEYS)
    assert edges == count_said(in_igraph.es, EDGE_KEYS)


def count_said(rows: igraph.VertexSeq | igraph.EdgeSeq, keys: dict[str, str]) -> Counter[str]:
    """How many rows have a value, by attribute. igraph gives an empty text or NaN where the file has none."""
    absent = lambda value: value == "" or (isinstance(value, float) and math.isnan(value))  # noqa: E731
    return Counter(name for row in rows for name in keys if not absent(row[name]))


def test_values_are_those_of_the_tables(sample: Index, tmp_path: Path) -> None:
    in_igraph, in_networkx = export(sample, tmp_path / "out")
    for row in sample.table("entities").to_dicts():
        node = in_networkx.nodes[row["id"]]
        assert (node["label"], node["degree"], node["is_hub"]) == (row["title"], row["degree"], row["is_hub"])
    weights = dict(sample.table("relationships").select("human_readable_id", "weight").iter_rows())
    assert {edge["number"]: edge["weight"] for edge in in_igraph.es} == weights
    assert {values["number"]: values["weight"] for *_, values in in_networkx.edges(data=True)} == weights


def test_control_characters_are_replaced_and_the_rest_stands(hostile: Index, tmp_path: Path) -> None:
    _, in_networkx = export(hostile, tmp_path / "out")
    labels = {values["label"] for _, values in in_networkx.nodes(data=True)}
    assert 'Bell \ufffd & <b>"quoted"</b>' in labels
    assert {"Redis", "redis", "CON/AUX: a|b#c^d", "Alone"} < labels
    text = (tmp_path / "out" / "graph.graphml").read_text(encoding="utf-8")
    assert not [c for c in text if ord(c) < 32 and c not in "\t\n\r"]
    assert len(ET.fromstring(text)[-1]) == hostile.table("entities").height + hostile.table("relationships").height
