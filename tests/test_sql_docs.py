"""docs/sql.md tells the truth: each query, asked again, gives the printed answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphrag.render.frames import render_frame

from .sql_docs import PAGE, QUESTION, ask_sql

QUESTIONS = [(block["query"], block["answer"]) for block in QUESTION.finditer(PAGE.read_text(encoding="utf-8"))]


def test_there_are_ten_questions_or_more_and_each_has_an_answer() -> None:
    assert len(QUESTIONS) >= 10
    assert PAGE.read_text(encoding="utf-8").count("```sql") == len(QUESTIONS)


@pytest.mark.parametrize(("query", "answer"), QUESTIONS)
def test_the_printed_answer_is_the_real_one(sample_index: Path, query: str, answer: str) -> None:
    assert render_frame(ask_sql(sample_index, query)) + "\n" == answer
