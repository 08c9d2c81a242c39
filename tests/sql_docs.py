"""docs/sql.md: its questions, and the same page with the answers that an index of the sample gives.

`python -m tests.sql_docs OUTPUT_DIR` writes the answers of a fresh index of data/sample into the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl

from graphrag.render.frames import render_frame
from graphrag.store import open_index, run_sql

from .conftest import ROOT

PAGE = ROOT / "docs" / "sql.md"
QUESTION = re.compile(r"```sql\n(?P<query>.*?)\n```\n\n```text\n(?P<answer>.*?)```\n", re.DOTALL)


def ask_sql(output_dir: Path, query: str) -> pl.DataFrame:
    with open_index(output_dir) as index:
        return run_sql(index, query)


def rewrite_answers(text: str, output_dir: Path) -> str:
    """The page with each ```text block after a ```sql block replaced by what `graphrag sql` prints."""

    def answer(block: re.Match[str]) -> str:
        table = render_frame(ask_sql(output_dir, block["query"]))
        return f"```sql\n{block['query']}\n```\n\n```text\n{table}\n```\n"

    return QUESTION.sub(answer, text)


if __name__ == "__main__":
    PAGE.write_text(rewrite_answers(PAGE.read_text(encoding="utf-8"), Path(sys.argv[1])), encoding="utf-8")
