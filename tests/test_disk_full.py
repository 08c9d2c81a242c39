"""A disk that is full (RLIMIT_FSIZE) ends a run with one line; the live index stays, the next run is fine."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.pipeline import run_pipeline
from graphrag.project import create_project
from graphrag.settings_file import load_settings
from graphrag.store import list_runs, open_index

from .conftest import ROOT

OVERRIDES = ["embeddings.model=none", "extraction.nlp=lite"]


def run_limited(root: Path, n_bytes: int) -> subprocess.CompletedProcess[str]:
    """`graphrag index` in a process none of whose files may grow beyond n_bytes."""
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({n_bytes}, {n_bytes})); "
        "from graphrag.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code, "index", "--quiet", "--root", str(root)]
    command += [part for override in OVERRIDES for part in ("--set", override)]
    # Byte code that the limit cuts short would be found by every later process.
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on the size of files here")
def test_a_full_disk_is_one_line_and_the_live_index_stays(tmp_path: Path) -> None:
    create_project(tmp_path)
    source, output = tmp_path / "data" / "input", tmp_path / "data" / "output"
    (source / "a.md").write_text("Billing depends on Redis.\n", encoding="utf-8")
    settings, _ = load_settings(tmp_path, overrides=OVERRIDES, environ={})
    first = run_pipeline(settings, tmp_path).run_id
    numbers = random.Random(1)
    noise = " ".join(f"{numbers.getrandbits(64):x}" for _ in range(20_000))  # what does not compress
    # It stands in the front matter, which no stage reads names out of: the memo of the NLP parts stays small.
    (source / "b.md").write_text(f"---\nnote: {noise}\n---\nAuth Service depends on Redis.\n", encoding="utf-8")
    for n_bytes, file in ((100, "memo.sqlite"), (150_000, ".parquet"), (600_000, "graphrag.duckdb")):
        done = run_limited(tmp_path, n_bytes)
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("Cannot write ") and file in done.stderr
        assert str(tmp_path) in done.stderr and done.stderr.count("\n") == 1
        assert list_runs(output) == [first]
        with open_index(output) as index:
            assert index.run_id == first and index.table("documents").height == 1
    assert run_pipeline(settings, tmp_path).status == "published"
    with open_index(output) as index:
        assert index.table("documents").height == 2
    assert sorted(path.name for path in (output / "runs").iterdir()) == list_runs(output)
