"""Writes the generated files: settings.toml of this repository, docs/tables.md, docs/settings.md."""

from __future__ import annotations

from graphrag.settings import render_settings_page, render_template
from graphrag.tables import render_data_dictionary

from .conftest import ROOT

SAMPLE_VALUES = {"input.dir": "data/sample/docs", "disambiguation.aliases": "data/sample/aliases.toml"}


def generate_docs() -> None:
    pages = {
        "settings.toml": render_template(SAMPLE_VALUES),
        "docs/tables.md": render_data_dictionary(),
        "docs/settings.md": render_settings_page(),
    }
    for name, text in pages.items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    generate_docs()
