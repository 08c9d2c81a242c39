"""Imports into a folder of their own: without vectors and without the sample's aliases."""

from __future__ import annotations

from pathlib import Path

from graphrag import Index
from graphrag.interop.import_run import run_import
from graphrag.runs.run import RunSummary
from graphrag.settings import Settings
from graphrag.settings_file import load_settings

from ..conftest import ROOT


def open_settings(work: Path, *more: str) -> Settings:
    places = [f"input.dir={work / 'input'}", f"output.dir={work / 'output'}", f"cache.dir={work / 'cache'}"]
    overrides = [*places, "embeddings.model=none", "disambiguation.aliases=none.toml"]
    overrides += [f"links.relations={work / 'relations.jsonl'}", *more]
    return load_settings(ROOT, overrides=overrides, environ={})[0]


def import_into(work: Path, source: Path, *more: str, **options: str) -> tuple[RunSummary, Index]:
    """`more`: settings; `options`: of run_import."""
    settings = open_settings(work, *more)
    summary = run_import(settings, ROOT, source, **options)  # type: ignore[arg-type]
    return summary, Index(settings, ROOT)
