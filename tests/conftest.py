"""Fixtures that more than one room's tests use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: what fails, fails because of a change. HYPOTHESIS_PROFILE=search looks for others.
settings.register_profile("same", derandomize=True, deadline=None)  # a busy machine is no failure
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data beside the checkout; tests that need it carry the marker `shared`."""
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SHARED.is_dir():
        return
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason="../shared is absent"))


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A fresh embedded run over data/sample: its output folder, and what `graphrag index` prints at its end."""
    from graphrag.pipeline import run_pipeline
    from graphrag.render.index_run import render_summary
    from graphrag.settings_file import load_settings

    work = tmp_path_factory.mktemp("sample")
    overrides = [f"output.dir={work / 'output'}", f"cache.dir={work / 'cache'}"]
    settings, _ = load_settings(ROOT, overrides=overrides, environ={})
    return work / "output", render_summary(run_pipeline(settings, ROOT))


@pytest.fixture(scope="session")
def sample_index(sample_run: tuple[Path, str]) -> Path:
    """The output folder of a fresh embedded run over data/sample."""
    return sample_run[0]
