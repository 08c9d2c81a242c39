"""Our product beside the others, with the harness that measured them: calls, tokens, CPU, memory, update, kill.

    python -m tests.bench.bench_peers FOLDER run ours M --latency 200 --steps index,query,warm,update,kill
    python -m tests.bench.bench_peers FOLDER table

FOLDER gets a copy of ../shared/bench with our driver (run_ours.sh) and, in FOLDER/home, the corpora and the virtual
environment that this command runs in, as the one of our product. What follows FOLDER goes to harness.py, whose README
explains the steps and figures; results are in FOLDER/bench/results, ours beside those of the others.

The harness starts the fake server with the python of home/venv/server: a wrapper there adds --kinds kinds.json, which
teaches the server our prompts, so that the copy of the harness stays as it is.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SHARED = ROOT.parent / "shared" / "bench"
COPIED = ("run_ours.sh", "kinds.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="gets the copy of the harness, the corpora and the results")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of harness.py: run ours M --latency 0, or table")
    args = parser.parse_args()
    folder = args.folder.resolve()
    bench, home = folder / "bench", folder / "home"
    if not bench.exists():
        prepare(bench, home)
    for name in COPIED:
        shutil.copy(HERE / name, bench / name)
    environ = {**os.environ, "BENCH_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, bench / "harness.py", *args.arguments], env=environ, cwd=folder, check=False)
    raise SystemExit(done.returncode)


def prepare(bench: Path, home: Path) -> None:
    """The copy of the harness, the corpora and the two environments."""
    shutil.copytree(SHARED, bench, copy_function=shutil.copyfile)
    for path in (bench, *bench.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)  # the original may be read-only
    subprocess.run([sys.executable, bench / "build_corpus.py", home / "corpus"], check=True)
    server = home / "venv" / "server" / "bin" / "python"
    server.parent.mkdir(parents=True)
    command = f'{shlex.quote(sys.executable)} "$@" --kinds {shlex.quote(str(bench / "kinds.json"))}'
    server.write_text(f"#!/bin/sh\nexec {command}\n")
    server.chmod(0o755)
    (home / "venv" / "ours").symlink_to(Path(sys.prefix))


if __name__ == "__main__":
    main()
