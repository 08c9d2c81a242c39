"""Tables cut over text units: each later part knows its header (hostile-inputs A12)."""

from __future__ import annotations

import re

import pytest

from graphrag.index.claims import plan_claims
from graphrag.index.extraction import plan_extraction
from graphrag.index.passages import HEADER_MARK
from graphrag.index.table_headers import find_table_headers, header_at_end
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedLlm

from .model_rows import CLAIM_PROMPTS, PROMPTS, TYPES, extract, passage_of, read_folder

HEADER = "| id | service | store |"
N_ROWS = 3000
TABLE = "\n".join([HEADER, "|---|---|---|", *(f"| {k} | Service{k} | Store{k} |" for k in range(N_ROWS))])
ROW = re.compile(r"\[(\d+)\] \| \d+ \| (Service\d+) \| (Store\d+) \|")


def answer_rows(request: ChatRequest) -> str:
    lines = [
        f'["E","{service}","service",""]\n["R","{service}","uses","{store}","uses it",5,[{number}]]'
        for number, service, store in ROW.findall(passage_of(request))
    ]
    return "\n".join(lines) or "NONE"


def test_rows_of_a_long_table_are_read_under_its_header_and_quoted_alone() -> None:
    text = f"# Inventory\n\n{TABLE}\n\nService1 is old.\n"
    llm = ScriptedLlm(answer_rows)
    found = extract({"a.md": text}, llm, max_tokens=300, max_passage_tokens=900)
    views = [passage_of(request) for request in llm.requests]
    assert len(views) > 20
    begun = [view for view in views if view.startswith(HEADER_MARK)]
    assert len(begun) == len(views) - 1
    assert all(view.startswith(f"{HEADER_MARK} {HEADER}\n[1] | ") for view in begun)
    assert found.relationship_mentions.height == N_ROWS
    assert found.relationship_mentions["is_verified"].all()
    for row in found.relationship_mentions.iter_rows(named=True):
        number = row["subject"].removeprefix("Service")
        assert text[row["start_char"] : row["end_char"]] == f"| {number} | Service{number} | Store{number} |"


def test_claims_and_plans_see_the_header_too() -> None:
    documents, text_units = read_folder({"a.md": TABLE}, max_tokens=300)
    graph = plan_extraction(
        text_units, documents, prompts=PROMPTS, entity_types=TYPES, max_passage_tokens=300, max_gleanings=0,
        max_reply_tokens=500,
    )  # fmt: skip
    claims = plan_claims(
        text_units, prompts=CLAIM_PROMPTS, entity_types=TYPES, description="Any.", max_reply_tokens=500
    )
    for requests in (list(graph), list(claims)):
        assert len(requests) == text_units.height
        assert sum(HEADER_MARK in passage_of(request) for request in requests) == text_units.height - 1


def test_a_table_of_its_own_and_prose_have_no_header_from_before() -> None:
    second = TABLE.replace("id", "number")
    _, units = read_folder({"a.md": f"{TABLE}\n\n{second}\n", "b.md": "| x | y |\n"}, max_tokens=300)
    headers = find_table_headers(units)
    at_break = next(row for row in units.iter_rows(named=True) if "| number |" in row["text"])
    for row in units.iter_rows(named=True):
        is_second = row["start_char"] > at_break["start_char"]
        expected = "| number | service | store |" if is_second else HEADER
        begins_table = row["text"].startswith(("| id |", "| number |", "| x |"))
        assert headers.get(row["id"]) == (None if begins_table else expected)


@pytest.mark.parametrize(
    ("text", "header", "expected"),
    [
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "", "| a | b |"),
        ("a | b\n--|--\n1 | 2", "", "a | b"),
        ("| 1 | 2 |\n| 3 | 4 |", "| a | b |", "| a | b |"),
        ("| 1 | 2 |\n| 3 | 4 |", "", ""),
        ("| 1 | 2 |\n\n| 3 | 4 |", "| a | b |", ""),
        ("| 1 | 2 |\n\n| c | d |\n|---|---|", "| a | b |", "| c | d |"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nWords.", "", ""),
        ("Words | more words.", "", ""),
        ("", "| a | b |", ""),
    ],
)
def test_the_header_of_the_table_in_which_a_text_ends(text: str, header: str, expected: str) -> None:
    assert header_at_end(text, header) == expected
