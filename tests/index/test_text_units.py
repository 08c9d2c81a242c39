"""Text units: exact, within the limit, cut where the author would cut; nothing of the body is lost."""

from __future__ import annotations

import base64
import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import ids, tables
from graphrag.index.text_units import build_text_units
from graphrag.reading.front_matter import find_body
from graphrag.tokens import count_tokens


def documents(*texts: str, kind: str = "md") -> pl.DataFrame:
    return tables.DOCUMENTS.from_rows(
        [
            {
                "id": ids.document_id(f"{number:03}.md"), "human_readable_id": number, "title": "t", "text": text,
                "text_unit_ids": [], "creation_date": "", "raw_data": None, "path": f"{number:03}.md", "kind": kind,
                "content_sha256": ids.content_sha256(text), "n_tokens": count_tokens(text), "metadata": "{}",
            }
            for number, text in enumerate(texts)
        ]
    )  # fmt: skip


def build(text: str, *, kind: str = "md", max_tokens: int = 40, overlap: int = 0) -> pl.DataFrame:
    frame = documents(text, kind=kind)
    units = build_text_units(frame, max_tokens=max_tokens, overlap=overlap, count=count_tokens)
    check(units, frame, max_tokens)
    return units


def check(units: pl.DataFrame, frame: pl.DataFrame, max_tokens: int) -> None:
    """What holds for all text units of all documents (specs/indexing.md section 1)."""
    for document in frame.iter_rows(named=True):
        text = document["text"]
        covered = bytearray(len(text))
        rows = units.filter(pl.col("document_id") == document["id"])
        assert rows["start_char"].to_list() == sorted(rows["start_char"].to_list())
        for unit in rows.iter_rows(named=True):
            start, end = unit["start_char"], unit["end_char"]
            assert text[start:end] == unit["text"] == unit["text"].strip() != ""
            assert unit["n_tokens"] == count_tokens(unit["text"]) <= max_tokens
            covered[start:end] = b"\x01" * (end - start)
        body = find_body(text, document["kind"])
        lost = [char for at, char in enumerate(text) if at >= body and not covered[at] and not char.isspace()]
        assert lost == []


def sentence(n: int, topic: str = "redis") -> str:
    return " ".join(f"Service {k} depends on {topic} cluster {k}." for k in range(n))


TEXTS_OF_NIGHTS = ("", "One line.", f"# Head\n\n{sentence(9)}", sentence(6, "kafka"), sentence(9, "nginx"))


def test_one_short_document_is_one_unit() -> None:
    units = build("Hello, world")
    assert units.select("text", "start_char", "end_char").rows() == [("Hello, world", 0, 12)]
    assert units["id"][0] == ids.text_unit_id(ids.document_id("000.md"), "Hello, world", 0)


def test_no_documents_and_blank_documents_give_a_typed_empty_frame() -> None:
    empty = build_text_units(tables.DOCUMENTS.empty(), max_tokens=10, overlap=0, count=count_tokens)
    assert empty.schema == tables.TEXT_UNITS.schema
    assert build("---\ntitle: nothing\n---\n").is_empty()
    assert build(" \n\t\n").is_empty()


def test_front_matter_is_skipped_and_offsets_count_from_the_start() -> None:
    text = "---\ntitle: A\n---\n\n# Head\n\nBody."
    units = build(text)
    assert units["text"].to_list() == ["# Head\n\nBody."]
    assert units["start_char"].to_list() == [text.index("# Head")]
    assert units["heading_path"].to_list() == [["Head"]]


def test_sections_that_do_not_fit_together_are_units_with_their_paths() -> None:
    parts = [f"## Part {k}\n\n{sentence(4)}" for k in range(3)]
    units = build("# Doc\n\n" + "\n\n".join(parts), max_tokens=60)
    assert units["heading_path"].to_list() == [["Doc", "Part 0"], ["Doc", "Part 1"], ["Doc", "Part 2"]] or (
        units["heading_path"].to_list() == [["Doc"], ["Doc", "Part 1"], ["Doc", "Part 2"]]
    )
    assert all(text.startswith("#") for text in units["text"])


def test_small_sections_are_joined_under_their_common_heading() -> None:
    text = "# Doc\n\n" + "\n\n".join(f"## Part {k}\n\nShort text {k}." for k in range(3))
    units = build(text, max_tokens=200)
    assert units["heading_path"].to_list() == [["Doc"]]
    assert units["text"].to_list() == [text]


def test_a_heading_stays_with_what_follows() -> None:
    text = f"# One\n\n{sentence(5)}\n\n## Two\n\n### Three\n\n{sentence(5)}"
    for unit in build(text, max_tokens=50)["text"]:
        assert not unit.splitlines()[-1].startswith("#")


def test_overlap_repeats_whole_sentences_of_the_same_section() -> None:
    units = build("# Doc\n\n" + sentence(12), max_tokens=50, overlap=12)
    starts, ends = units["start_char"].to_list(), units["end_char"].to_list()
    assert units.height >= 3
    for k in range(1, units.height):
        assert starts[k] < ends[k - 1]
        assert units["text"][k].startswith("Service")
        repeated = units["text"][k][: ends[k - 1] - starts[k]]
        assert 0 < count_tokens(repeated) <= 12


def test_overlap_of_none_repeats_nothing() -> None:
    units = build("# Doc\n\n" + sentence(12), max_tokens=50)
    assert all(b >= a for a, b in zip(units["end_char"], units["start_char"][1:], strict=False))


def test_a_fence_that_fits_is_not_cut() -> None:
    fence = "```python\n" + "\n\n".join(f"x{k} = {k}" for k in range(6)) + "\n```"
    units = build(f"{sentence(4)}\n\n{fence}\n\n{sentence(4)}", max_tokens=60)
    assert sum(fence in text for text in units["text"]) == 1


def test_an_unclosed_fence_is_one_block_and_all_is_covered() -> None:
    units = build("Intro.\n\n```\n" + "\n".join(f"line {k}\n" for k in range(100)), max_tokens=50)
    assert units.height > 5


def test_a_table_of_3000_rows_is_cut_between_rows() -> None:
    rows = ["| id | service |", "|---|---|", *(f"| {k} | service {k} |" for k in range(3000))]
    units = build("# T\n\n" + "\n".join(rows), max_tokens=100)
    lines = [line for text in units["text"] for line in text.splitlines() if line.startswith("|")]
    assert lines == rows


def test_a_table_that_fits_stays_whole() -> None:
    table = "\n".join(["| a | b |", "|---|---|", *(f"| {k} | x |" for k in range(5))])
    units = build(f"{sentence(5)}\n\n{table}\n\n{sentence(5)}", max_tokens=60)
    assert sum(table in text for text in units["text"]) == 1


NO_SPACES = [
    ("base64", base64.b64encode(random.Random(7).randbytes(30_000)).decode()),
    ("one letter", "a" * 40_000),
    ("CJK", "認証部門" * 10_000),
    ("family emoji", "👨‍👩‍👧‍👦" * 2_000),
    ("combining", "e\u0301" * 10_000),
    ("one line of words", "redis depends on disk " * 2_000),
    ("stops", "." * 20_000),
    ("one grapheme", "e" + "\u0301" * 5_000),
    ("headings only", "# a\n\n" * 5_000),
]


@pytest.mark.parametrize("text", [text for _, text in NO_SPACES], ids=[name for name, _ in NO_SPACES])
def test_text_without_places_to_cut(text: str) -> None:
    units = build(text, kind="txt", max_tokens=100)
    assert units["n_tokens"].mean() > 50
    if "👨" in text:
        assert all(unit.startswith("👨") and unit.endswith("👦") for unit in units["text"])
    if text.startswith("e\u0301e"):
        assert all(unit.startswith("e") and unit.endswith("\u0301") for unit in units["text"])


def test_equal_texts_in_a_document_have_different_ids() -> None:
    text = "\n\n".join(f"# Head\n\n{sentence(4)}" for _ in range(3))
    units = build(text, max_tokens=50)
    assert units["text"].n_unique() == 1 and units["id"].n_unique() == 3


def test_order_of_documents_does_not_matter() -> None:
    frame = documents("b text", "a text", "c text")
    knobs = {"max_tokens": 10, "overlap": 0}
    units = build_text_units(frame, **knobs, count=count_tokens)
    assert units.equals(build_text_units(frame.reverse(), **knobs, count=count_tokens))
    assert units["human_readable_id"].to_list() == [0, 1, 2]


def test_chapters_of_plain_text_are_sections() -> None:
    units = build(f"CHAPTER I\n\n{sentence(4)}\n\nCHAPTER II\n\n{sentence(4)}", kind="txt", max_tokens=50)
    assert units["heading_path"].to_list() == [["CHAPTER I"], ["CHAPTER II"]]


def test_restructured_text_levels_follow_first_use() -> None:
    text = f"Top\n***\n\n{sentence(4)}\n\nSub\n~~~\n\n{sentence(4)}\n\nNext\n~~~~\n\n{sentence(4)}"
    units = build(text, kind="rst", max_tokens=50)
    assert units["heading_path"].to_list() == [["Top"], ["Top", "Sub"], ["Top", "Next"]]


LINES = st.lists(
    st.sampled_from(
        ["# A", "## B", "### C", "para one. And two.", "- item", "1. x", "| a | b |", "|---|---|", "```", "~~~", "> q",
         "", "", "===", "---", "    code", "Key: value", "文。字" * 9, "word " * 30, "x" * 90,
         "👨‍👩‍👧‍👦" * 5, "+--+", "== ==", "::", "\t"]
    )
    | st.text(max_size=20),
    max_size=25,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(LINES.map("\n".join), st.sampled_from(["md", "txt", "rst"]), st.integers(12, 60), st.sampled_from([0, 5, 10]))
def test_random_markdown_is_covered_exactly(text: str, kind: str, max_tokens: int, overlap: int) -> None:
    build(text, kind=kind, max_tokens=max_tokens, overlap=overlap)


@given(
    st.lists(st.sampled_from(TEXTS_OF_NIGHTS), min_size=1, max_size=4),
    st.lists(st.sampled_from(TEXTS_OF_NIGHTS), min_size=1, max_size=4),
    st.sampled_from(["md", "txt"]),
)
@settings(max_examples=60, deadline=None)
def test_what_the_last_run_cut_is_not_cut_again(before: list[str], now: list[str], kind: str) -> None:
    knobs = {"max_tokens": 40, "overlap": 5}
    last = documents(*before)
    units = build_text_units(last, **knobs, count=count_tokens).with_columns(
        entity_ids=pl.lit(["e"], dtype=tables.TEXTS), human_readable_id=pl.lit(7, dtype=pl.Int64)
    )  # as later stages leave them
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return count_tokens(text)

    frame = documents(*now, kind=kind)
    built = build_text_units(frame, last, units, **knobs, count=count)
    assert built.equals(build_text_units(frame, **knobs, count=count_tokens))
    if kind == "md" and now == before[: len(now)]:
        assert counted == []
