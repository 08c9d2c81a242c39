"""Index runs that are killed (SIGKILL) in every stage, publish included, night after night.

    python -m tests.bench.bench_kills_pipeline [--kills 50] [--each 5] [--seed 1] [--mode llm | embedded]

The sample's documents, half of the kills with a model (the fake server of ../shared/bench, 50 ms a call), half without
(lite rules, local vectors). Each round edits three documents, then runs are killed at a random moment after a random
stage has ended, up to five times or until one was quicker, then one is left alone. After each kill the live index is
opened and checked (store/integrity.py): it must be one whole run, the one before or the one just published. In the end
the tables must equal, row for row and number for number, those of a folder that had the same rounds without a kill, and
no call was paid for twice but those that were in flight (bench_kills.py counts them call by call).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import IO

import polars as pl
from polars.testing import assert_frame_equal

from graphrag.pipeline import PIPELINE
from graphrag.store import check_integrity, open_index
from graphrag.tables import TABLES
from tests.bench.bench_kills import CONCURRENCY, count_calls, count_kept, serve
from tests.bench.bench_llm import ROOT

DOCUMENTS = ROOT / "data" / "sample" / "docs"
STAGES = ("", *(stage.name for stage in PIPELINE))  # "": before the first has ended
MODES = ("llm", "embedded")
LONGEST_RUN = 600.0  # seconds
DELAYS = (0.0, 0.8)  # seconds after the end of a stage


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--each", type=int, default=5, help="kills a round at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=MODES, action="append")
    args = parser.parse_args()
    drawn = random.Random(args.seed)
    modes = args.mode or MODES
    for mode in modes:
        with tempfile.TemporaryDirectory() as folder, serve(50) if mode == "llm" else nullcontext("") as url:
            bench_mode(mode, Path(folder), url, args.kills // len(modes), args.each, drawn)


def bench_mode(mode: str, work: Path, url: str, n_kills: int, n_each: int, drawn: random.Random) -> None:
    roots = [work / name for name in ("undisturbed", "killed")]
    for root in roots:
        shutil.copytree(DOCUMENTS, root / "data" / "input")
        (root / "settings.toml").touch()
    calls = Counter[str]()
    n_lost, killed_after = 0, Counter[str]()
    for number in count():
        if killed_after.total() >= n_kills:
            break
        for root in roots:
            edit_documents(root / "data" / "input", number)
        with counted(calls, "undisturbed", url):
            finish_run(roots[0], url)
        with counted(calls, "killed", url):
            for _ in range(min(n_each, n_kills - killed_after.total())):
                stage = drawn.choice(STAGES)
                lost = kill_after(stage, roots[1], url, drawn)
                check_live_index(roots[1])
                if lost is None:
                    break  # it has ended, and published perhaps
                killed_after[stage or "start"] += 1
                n_lost += lost
            finish_run(roots[1], url)
    compare_tables(*roots)
    print(
        f"{mode}: killed {killed_after.total()} times, after {dict(killed_after)}; the live index was whole each time"
    )
    print(f"{mode}: all tables equal those of the undisturbed runs")
    if url:
        more = calls["killed"] - calls["undisturbed"]
        print(f"{mode}: {calls['undisturbed']} calls undisturbed, {more} more with kills, {n_lost} were in flight")
        if more > n_lost or n_lost > CONCURRENCY * n_kills:
            raise SystemExit("calls were paid for twice")


@contextmanager
def counted(calls: Counter[str], name: str, url: str) -> Iterator[None]:
    before = count_calls(url) if url else 0
    yield
    calls[name] += count_calls(url) - before if url else 0


def edit_documents(folder: Path, number: int) -> None:
    """One document gets a sentence, one goes, one comes."""
    paths = sorted(folder.rglob("*.md"))
    with paths[number].open("a", encoding="utf-8") as handle:
        handle.write(f"\nPayment Service number {number} depends on the Ledger Store {number}.\n")
    paths[-1 - number].unlink()
    (folder / f"new-{number}.md").write_text(
        f"# Night {number}\n\nBilling depends on Vault {number}.\n", encoding="utf-8"
    )


def kill_after(stage: str, root: Path, url: str, drawn: random.Random) -> int | None:
    """Calls that were in flight when the run was killed; None where it ended before."""
    made, kept = (count_calls(url) if url else 0), count_kept(root)
    run = start_run(root, url)
    assert run.stderr is not None
    wait_for_stage(run.stderr, stage)
    time.sleep(drawn.uniform(*DELAYS))
    has_ended = run.poll() is not None
    if not has_ended:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    run.stderr.close()
    if has_ended:
        return None
    return count_calls(url) - made - (count_kept(root) - kept) if url else 0


def wait_for_stage(lines: IO[str], stage: str) -> None:
    """Until a line says that the stage or a later one has ended; at once for no stage."""
    wanted = set(STAGES[STAGES.index(stage) :])
    while stage and (line := lines.readline()):
        if line.split()[0] in wanted:
            return


def start_run(root: Path, url: str) -> subprocess.Popen[str]:
    settings = ["extraction.nlp=lite"]
    if url:
        settings = ["llm.model=openai/gpt-4o-mini", f"llm.api_base={url}/v1", f"llm.max_concurrency={CONCURRENCY}"]
        settings += ["embeddings.model=none", "disambiguation.judge=false"]
    command = [sys.executable, "-m", "graphrag", "index", "--root", str(root)]
    command += [part for setting in settings for part in ("--set", setting)]
    environ = {"OPENAI_API_KEY": "unused", **os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish_run(root: Path, url: str) -> None:
    run = start_run(root, url)
    _, said = run.communicate(timeout=LONGEST_RUN)
    if run.returncode:
        raise SystemExit(f"a run that nobody killed ended with {run.returncode}: {said}")


def check_live_index(root: Path) -> None:
    output = root / "data" / "output"
    if not (output / "current").exists():
        return  # nothing was published yet
    with open_index(output) as index:
        tables = {name: index.table(name) for name in TABLES}
    faults = check_integrity(tables)
    if faults or tables["runs"]["run_id"].to_list() != [index.run_id]:
        raise SystemExit(f"the live index is damaged: {faults}")


def compare_tables(undisturbed: Path, killed: Path) -> None:
    """Raises AssertionError where a table differs."""
    for name, table in TABLES.items():
        if not table.is_log:
            whole, made = (
                pl.read_parquet(root / "data" / "output" / "current" / f"{name}.parquet")
                for root in (undisturbed, killed)
            )
            assert_frame_equal(whole, made, check_exact=True)
    left = {path.name for path in (killed / "data" / "output" / "runs").iterdir()}
    whole_runs = {path.parent.name for path in (killed / "data" / "output" / "runs").glob("*/manifest.json")}
    assert left == whole_runs, "a killed run left something"


if __name__ == "__main__":
    main()
