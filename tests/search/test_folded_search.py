"""Folding in basic and local search: the vectors as a reader sees them; nothing changes where nothing is related."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from graphrag.ids import document_id
from graphrag.render.answers import render_answer
from graphrag.search import answer_question
from graphrag.search.answer import Answer, Citation
from graphrag.search.entries.entry_summary import summarise_entry
from graphrag.search.entries.folded_entries import Fold
from graphrag.store import Index

MODES = pytest.mark.parametrize("mode", ["basic", "local"])
NAMES = [f"e{number:02d}" for number in range(1, 46)] + [f"x{number}" for number in range(1, 8)]
MATCHING = 45
QUESTION = "export quota"


def _text(place: int, name: str) -> str:
    """Of 100 words; the further behind, the fewer of the question's. x1 to x7 have none."""
    n = max(0, 60 - place) if place < MATCHING else 0
    words = ["quota"] * n + ["harbour"] * (60 - n)
    return f"{name.upper()} tells a short story of the sea. " + " ".join(words) + "."


def _relations(written: str) -> list[tuple[str, str, str, str]]:
    found = []
    for part in filter(None, written.split(";")):
        source, type_, target, *note = part.split()
        found.append((f"{source}.md", type_, f"{target}.md", f"How {source} bears on {target}." if note else ""))
    return found


V1 = (
    "e03 corrects e01 (n); e07 cites e02; e09 clarifies e04 (n); e15 corrects e09 (n); e05 part_of e11; "
    "e06 see_also e12; e16 supersedes e12 (n); e08 corrects e13; e13 clarifies e08;"
    "e02 see_also x1; e02 corrects x2; e02 see_also x3 (n); x4 conflicts_with e02 (n); e02 cites x5; "
    "e10 part_of x6 (n); e03 requires x7 (n)"
)
V5 = "; ".join(f"e{n:02d} see_also e{n + 1:02d}" for n in range(1, 20))


@pytest.fixture(scope="module")
def make_bank(make_index: Callable[..., Index]) -> Callable[[str], Index]:
    texts = {f"{name}.md": _text(place, name) for place, name in enumerate(NAMES)}
    opened: dict[str, Index] = {}

    def make(written: str) -> Index:
        if written not in opened:
            opened[written] = make_index(texts, [], relations=_relations(written))
        return opened[written]

    return make


def _ask(index: Index, mode: str = "basic", *, fold: Fold | None = None, top: int = 10) -> Answer:
    return answer_question(index, QUESTION, mode=mode, level=1, top=top, budget_tokens=4000, model="none", fold=fold)


def _name(id_: str) -> str:
    return next(name for name in NAMES if document_id(f"{name}.md") == id_)


def _shown(answer: Answer) -> list[tuple[int, str, list[str]]]:
    rows = []
    for source in json.loads(render_answer(answer, json=True, context_only=False, show_sources=False))["sources"]:
        related = [f"{_name(r['id'])} {r['relation']} {r['direction']} {r['kind']}" for r in source["related"]]
        rows.append((source["rank"], _name(source["document"]), related))
    return rows


@MODES
def test_vector_1_as_search_prints_it(make_bank: Callable[[str], Index], mode: str) -> None:
    index = make_bank(V1)
    assert [_name(source.document) for source in _ask(index, mode).sources] == NAMES[:10]
    answer = _ask(index, mode, fold=Fold())
    assert _shown(answer) == [
        (1, "e01", ["e03 corrects in folded"]),
        (2, "e02", ["e07 cites in folded", "x4 conflicts_with in neighbor", "x3 see_also out neighbor",
                    "x2 corrects out neighbor"]),
        (4, "e15", ["e09 corrects out folded", "e04 clarifies out folded"]),
        (5, "e11", ["e05 part_of in folded"]),
        (6, "e06", ["e12 see_also out folded", "e16 supersedes in folded"]),
        (8, "e08", ["e13 corrects out folded"]),
        (10, "e10", ["x6 part_of out neighbor"]),
        (14, "e14", []),
    ]  # fmt: skip
    described = answer.to_json()["sources"]
    assert described[0]["corrected_by"] == (answer.sources[0].folded.related[0].id,)  # type: ignore[union-attr]
    clarified = described[2]["related"][1]
    assert clarified["note"] == "How e09 bears on e04."
    assert clarified["summary"] == "E04 tells a short story of the sea."
    assert [_name(id_) for id_ in clarified["via"]] == ["e09"]


@MODES
def test_a_list_that_folding_made_short_is_filled_from_the_next_twenty(
    make_bank: Callable[[str], Index], mode: str
) -> None:
    found = [name for _, name, _ in _shown(_ask(make_bank(V5), mode, fold=Fold()))]
    assert found == ["e01", "e02", "e21", "e22", "e23", "e24", "e25", "e26"]


@MODES
def test_one_statement_reads_the_relations_of_the_pool_and_one_the_neighbors(
    make_bank: Callable[[str], Index], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def listen(index: Index, sql: str, *args: Any) -> Any:
        asked.append(sql)
        return frame(index, sql, *args)

    frame = Index.frame
    monkeypatch.setattr(Index, "frame", listen)
    _ask(make_bank(V1), mode)
    assert not any("entry_relations" in sql for sql in asked)
    for relations, n_statements in ((V1, 2), (V5, 3), ("x1 corrects x2", 2)):  # V5: the next twenty are fetched once
        asked.clear()
        _ask(make_bank(relations), mode, fold=Fold())
        assert sum("entry_relations" in sql for sql in asked) == n_statements


@MODES
def test_without_a_relation_everything_is_as_it_was(make_bank: Callable[[str], Index], mode: str) -> None:
    index = make_bank("x1 corrects x2")
    said = [
        render_answer(answer, json=json_, context_only=context_only, show_sources=True)
        for answer in (_ask(index, mode), _ask(index, mode, fold=Fold()))
        for json_, context_only in ((True, False), (False, False), (False, True))
    ]
    timeless = [re.sub(r'"seconds":[\d.]+', "", text) for text in said]
    assert timeless[:3] == timeless[3:]
    assert "related" not in said[0]


def test_text_shows_what_hangs_on_what_the_answer_cites(make_bank: Callable[[str], Index]) -> None:
    found = _ask(make_bank(V1), fold=Fold())
    cited = [Citation("Sources (0)", "sources", s.id, 0, s.document, s.path, 0, 1, "E") for s in found.sources]
    answer = replace(found, citations=tuple(cited))
    text = render_answer(answer, json=False, context_only=False, show_sources=False)
    without_first = replace(found, citations=tuple(cited[1:]))
    assert "e01.md" not in render_answer(without_first, json=False, context_only=False, show_sources=False)
    related = text[text.index("Related\n") :].split("\n\n")[0].split("\n")[1:]
    story = "tells a short story of the sea."
    assert related[:7] == [
        "  e01  e01.md  (corrected by e03)",
        f"    <- corrects e03: How e03 bears on e01. | E03 {story}",
        "  e02  e02.md",
        f"    <- cites e07: E07 {story}",
        f"    <- conflicts_with x4 (neighbor): How x4 bears on e02. | X4 {story}",
        f"    -> see_also x3 (neighbor): How e02 bears on x3. | X3 {story}",
        f"    -> corrects x2 (neighbor): X2 {story}",
    ]
    assert f"    -> clarifies e04 (via e09): How e09 bears on e04. | E04 {story}" in related
    assert not any("e14" in line for line in related), "nothing hangs on it"


@MODES
def test_what_another_entry_corrects_is_not_quoted_as_truth(make_index: Callable[..., Index], mode: str) -> None:
    texts = {
        "first.md": "The export quota is the export quota of the export desk.",
        "second.md": "Ask the desk about the export quota of exports.",
        "old limit.md": "The export quota is 250 parcels a minute for export.",
        "new limit.md": "The quota was raised to 400 in spring.",
        "lunch.md": "Soup at noon.",
    }
    relations = [("new limit.md", "supersedes", "old limit.md", "")]
    index = make_index(texts, [], relations=relations)
    flat = answer_question(index, QUESTION, mode=mode, level=1, top=10, budget_tokens=4000, model="none")
    assert "250" in flat.text
    folded = answer_question(index, QUESTION, mode=mode, level=1, top=10, budget_tokens=4000, model="none", fold=Fold())
    assert "250" not in folded.text
    assert [source.path for source in folded.sources] == ["first.md", "second.md", "new limit.md"]
    assert "old limit (superseded by new limit)" in folded.context
    everything = answer_question(
        index, QUESTION, mode=mode, level=1, top=10, budget_tokens=4000, model="none", fold=Fold(protect=3)
    )
    assert "old limit is superseded by new limit." in everything.notices, "a protected one stays, and says so"


def test_as_many_as_asked_for_are_listed(make_bank: Callable[[str], Index]) -> None:
    assert len(_ask(make_bank(V1), fold=Fold(results=3), top=3).sources) == 3
    assert len(_ask(make_bank(V1), fold=Fold(results=12), top=12).sources) == 12


@pytest.mark.parametrize(
    ("declared", "text", "summary"),
    [
        (None, "# Limits\n\nThe export limit is 250 parcels. More follows.", "The export limit is 250 parcels."),
        ("What the desk may export. Twice.", "Other words stand here.", "What the desk may export."),
        (3, "That is all. We need a copy of [[INC-1|the cache]] at night.", "We need a copy of the cache at night."),
        (None, "```sh\nssh ops@vm\n```\n\nThat is all.", "That is all."),
        (None, "The harbour " * 100 + "ends.", ("The harbour " * 100)[:199].rstrip() + "…"),
        (None, "", ""),
    ],
)  # fmt: skip
def test_a_summary_is_one_sentence_that_reads_by_itself(declared: object, text: str, summary: str) -> None:
    assert summarise_entry(declared, text) == summary


def test_usage_counts_what_is_listed_once_a_search(tmp_path: Any) -> None:
    from graphrag.store import append_usage, read_usage

    append_usage(tmp_path, ["a.md", "b.md", "a.md"], mode="basic")
    append_usage(tmp_path, ["a.md"], mode="local")
    append_usage(tmp_path, [], mode="local")
    append_usage(tmp_path / "absent", ["a.md"], mode="local")
    with (tmp_path / "usage.jsonl").open("a", encoding="utf-8") as handle:
        handle.write('{"at": "2026')
    assert read_usage(tmp_path).select("path", "n_listed").rows() == [("a.md", 2), ("b.md", 1)]
