"""`graphrag communities` and `graphrag report` on the sample, as a person meets them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphrag.community_reports import find_report, list_communities
from graphrag.errors import NothingFound
from graphrag.render.communities import render_report
from graphrag.store import open_index
from graphrag.tables import UNCONNECTED

from ..conftest import ROOT
from .test_main import run


@pytest.fixture
def sample(sample_index: Path) -> list[str]:
    return ["--root", str(ROOT), "--set", f"output.dir={sample_index}"]


def test_the_tree_has_every_community_once_below_its_parent(
    sample: list[str], sample_index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("communities", *sample) == 0
    head, *lines, _, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["#", "rank", "size", "title"]
    rows = {row["community"]: row for row in _table(sample_index, "communities")}
    titles = {row["community"]: row["title"] for row in _table(sample_index, "community_reports")}
    above: dict[int, int] = {}
    for line in lines:
        number, _, size, indent, title = re.fullmatch(r" *(\d+) +([\d.]+) +(\d+)  ((?:  )*)(\S.*)", line).groups()  # type: ignore[union-attr]  # no match is a failure too
        row = rows.pop(int(number))
        assert (row["size"], row["level"], titles[row["community"]]) == (int(size), len(indent) // 2, title)
        assert row["level"] == 0 or above[row["level"] - 1] == row["parent"]
        above[row["level"]] = row["community"]
    assert rows == {} and title == UNCONNECTED
    assert last.startswith("level 0: ") and "graphrag report" in last


def test_a_level_ends_the_tree(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("communities", "--level", "0", "--json", *sample) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["level"] for row in found} == {0}
    assert list(found[0]) == [
        "community", "level", "parent", "children", "title", "size", "rank", "method", "n_relationships", "period",
    ]  # fmt: skip
    assert run("communities", "--level", "-1", *sample) == 2


def test_every_report_resolves_its_citations(sample_index: Path) -> None:
    texts = {row["path"]: row["text"] for row in _table(sample_index, "documents")}
    with open_index(sample_index) as index:
        for row in list_communities(index):
            report = find_report(index, str(row["community"]))
            shown = render_report(report)
            assert report["full_content"] in shown and len(report["members"]) == row["size"]
            for cited in report["citations"]:
                assert texts[cited["path"]][cited["start"] : cited["end"]] == cited["quote"]
                assert cited["ref"] in shown and (cited["label"] or cited["kind"] == "text_units")


def test_a_report_is_found_by_number_title_and_id(sample: list[str], sample_index: Path) -> None:
    row = _table(sample_index, "community_reports")[0]
    with open_index(sample_index) as index:
        asked = ("0", "#0", row["title"], row["title"].upper(), row["id"], _table(sample_index, "communities")[0]["id"])
        found = [find_report(index, which) for which in asked]
    assert all(report == found[0] for report in found) and found[0]["community"] == 0


def test_a_report_as_json(sample: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", "0", "--json", *sample) == 0
    report = json.loads(capsys.readouterr().out)
    assert {"title", "summary", "findings", "rank", "rating_explanation", "members", "citations", "left_out"} <= set(
        report
    )
    assert set(report["citations"][0]) == {
        "ref", "kind", "id", "human_readable_id", "label", "document", "path", "start", "end", "quote",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("4444", r"No community 4444\. Nearest: \d+, \d+, \d+\. See \"graphrag communities\" for all\."),
        ("Unconected entities", r'No report "Unconected entities"\. Did you mean "Unconnected entities"\? See '),
        ("Redis", r'No report "Redis"\. The entity Redis is in community \d+'),
    ],
)
def test_an_unknown_report_names_the_nearest(
    sample: list[str], asked: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("report", asked, *sample) == 3
    assert re.match(message, capsys.readouterr().err)


def test_an_entity_or_claim_without_a_sentence_is_shown_where_it_is_first_said(sample_index: Path) -> None:
    from graphrag.community_reports import _place_entities

    entity = next(row for row in _table(sample_index, "entities") if row["title"] == "Redis")
    texts = {row["id"]: row["text"] for row in _table(sample_index, "documents")}
    with open_index(sample_index) as index:
        document, start, end, quote = _place_entities(index, [entity["id"]])[entity["id"]]
    assert texts[document][start:end] == quote and "redis" in quote.casefold()


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    from graphrag.tables import TABLES

    class Empty:
        def frame(self, sql: str, params: object = ()) -> pl.DataFrame:
            return TABLES["communities"].empty()

    with pytest.raises(NothingFound, match=r'No community reports\. Run "graphrag index"'):
        find_report(Empty(), "1")  # type: ignore[arg-type]  # an index without rows
    with pytest.raises(NothingFound, match="No communities"):
        list_communities(Empty())  # type: ignore[arg-type]  # an index without rows


def _table(sample_index: Path, name: str) -> list[dict[str, Any]]:
    return pl.read_parquet(sample_index / "current" / f"{name}.parquet").to_dicts()
