"""Writes the generated pages (`make docs`).

settings.toml of this repository, docs/tables.md, docs/settings.md; and, from a fresh index of the sample, the output in
the console blocks of README.md and of the pages that readme.py names, the answers in docs/sql.md, and the session of
docs/knowledge-bank.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from graphrag.pipeline import run_pipeline
from graphrag.render.index_run import render_summary
from graphrag.settings_file import load_settings, render_settings_page, render_template
from graphrag.tables import render_data_dictionary

from . import bank_session
from .conftest import ROOT
from .readme import PAGES, README, rewrite_outputs, run_command
from .sql_docs import PAGE, rewrite_answers

SAMPLE_VALUES = {
    "input.dir": "data/sample/docs",
    "disambiguation.aliases": "data/sample/aliases.toml",
    "links.relations": "data/sample/relations.jsonl",
}


def generate_docs() -> None:
    pages = {
        "settings.toml": render_template(SAMPLE_VALUES),
        "docs/tables.md": render_data_dictionary(),
        "docs/settings.md": render_settings_page(),
    }
    for name, text in pages.items():
        (ROOT / name).write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        output_dir = Path(folder) / "output"
        settings, _ = load_settings(ROOT, overrides=[f"output.dir={output_dir}"], environ={})
        summary = render_summary(run_pipeline(settings, ROOT, full=True))

        def run(command: str) -> str:
            return f"{summary}\n" if command == "graphrag index" else run_command(command, output_dir)

        README.write_text(rewrite_outputs(README.read_text(encoding="utf-8"), run), encoding="utf-8")
        PAGE.write_text(rewrite_answers(PAGE.read_text(encoding="utf-8"), output_dir), encoding="utf-8")
        session = bank_session.rewrite_session(bank_session.PAGE.read_text(encoding="utf-8"), output_dir)
        bank_session.PAGE.write_text(session, encoding="utf-8")
        for name in PAGES:
            page = ROOT / "docs" / name
            page.write_text(rewrite_outputs(page.read_text(encoding="utf-8"), run), encoding="utf-8")


if __name__ == "__main__":
    generate_docs()
