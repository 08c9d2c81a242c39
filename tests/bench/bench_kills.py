"""An index run that is killed (SIGKILL) at random moments and started again each time: what is paid for twice.

    python -m tests.bench.bench_kills [--kills 10] [--latency 500] [--seed 1] [--documents FOLDER]

Starts the fake server of ../shared/bench on loopback, indexes the folder (default: corpus M) once without a kill and
counts the calls; then again in a new folder, killed when so many calls have been made, drawn at random over the whole
run. At each kill, the calls made and not in the memo are those that were in flight, and replies of no use, which are
never kept: they alone may be made again. Ends with 1 if more was asked, if more were in flight than there are places,
or if the tables differ. No vectors, and no judge, whom the server cannot play.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import polars as pl
from polars.testing import assert_frame_equal

from graphrag.runs.run_model import CALLS_LOG
from tests.bench.bench_llm import ROOT, build_corpus

SERVER = ROOT.parent / "shared" / "bench" / "fakellm.py"
KINDS = Path(__file__).resolve().with_name("kinds.json")
COMPARED = ("entities", "relationships", "evidence", "entity_mentions", "communities", "community_reports")
CONCURRENCY = 25
POLL_SECONDS, LONGEST_RUN_SECONDS = 0.02, 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--latency", type=int, default=500, help="milliseconds a call, +-50 %%")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=Path, help="folder of documents; default: corpus M of ../shared/bench")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve(args.latency) as url:
        work = Path(folder)
        documents = args.documents.resolve() if args.documents else build_corpus(work)
        undisturbed = start_run(work / "whole", documents, url)
        wait_for_end(undisturbed)
        n_calls = count_calls(url)
        print(f"undisturbed: {n_calls} calls")
        ask(url, "/reset", {})
        points = sorted(random.Random(args.seed).sample(range(1, n_calls), args.kills))
        kills = [kill_at(point, work / "killed", documents, url) for point in points]
        n_lost, most_in_flight = sum(kill.n_lost for kill in kills), max(kill.n_in_flight for kill in kills)
        wait_for_end(start_run(work / "killed", documents, url))
        n_killed = count_calls(url)
        print(
            f"killed {args.kills} times: {n_killed} calls, {n_killed - n_calls} more; in flight at the kills, or of no "
            f"use: {n_lost}; in flight at most {most_in_flight}"
        )
        compare_tables(work)
    raise SystemExit(n_killed > n_calls + n_lost or most_in_flight > CONCURRENCY)


class Kill(NamedTuple):
    """`n_lost`: calls that may be made again. `n_in_flight`: those of them that had no reply yet."""

    n_lost: int
    n_in_flight: int


def kill_at(n_calls: int, root: Path, documents: Path, url: str) -> Kill:
    """Runs until so many calls have been kept or are under way, and kills."""
    before, n_kept, n_answered = count_calls(url), count_kept(root), count_answered(root)
    run = start_run(root, documents, url)
    while count_calls(url) - before + n_kept < n_calls:
        if run.poll() is not None:
            raise SystemExit(f"the run ended by itself (exit {run.returncode}) before call {n_calls}")
        time.sleep(POLL_SECONDS)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    n_made = count_calls(url) - before
    kill = Kill(n_made + n_kept - count_kept(root), n_made + n_answered - count_answered(root))
    print(f"killed at call {n_calls}: {kill.n_in_flight} in flight")
    return kill


def start_run(root: Path, documents: Path, url: str) -> subprocess.Popen[bytes]:
    root.mkdir(exist_ok=True)
    (root / "settings.toml").touch()
    settings = [
        f"input.dir={documents}", "llm.model=openai/gpt-4o-mini", f"llm.api_base={url}/v1",
        f"llm.max_concurrency={CONCURRENCY}", "embeddings.model=none", "disambiguation.judge=false",
    ]  # fmt: skip
    command = [sys.executable, "-m", "graphrag", "index", "--quiet", "--json", "--root", str(root)]
    command += [part for setting in settings for part in ("--set", setting)]
    environ = {"OPENAI_API_KEY": "unused", **os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, start_new_session=True)


def wait_for_end(run: subprocess.Popen[bytes]) -> None:
    try:
        code = run.wait(LONGEST_RUN_SECONDS)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    if code:
        raise SystemExit(f"a run that nobody killed ended with {code}")


def count_kept(root: Path) -> int:
    """Replies in the memo."""
    path = root / "data" / "cache" / "memo.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as memo:
        return int(memo.execute("select count(*) from memo where kind = 'llm'").fetchone()[0])


def count_answered(root: Path) -> int:
    """Calls that had a reply, of use or not: lines of the log that a run writes as they come."""
    path = root / "data" / "output" / CALLS_LOG
    return path.read_bytes().count(b"\n") if path.exists() else 0


def count_calls(url: str) -> int:
    return int(ask(url, "/stats")["chat"].get("calls", 0))


def ask(url: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else orjson.dumps(body)
    with urllib.request.urlopen(urllib.request.Request(url + path, data), timeout=10) as reply:
        answer: dict[str, Any] = orjson.loads(reply.read())
    return answer


def compare_tables(work: Path) -> None:
    """Raises AssertionError where the killed run's tables are not those of the undisturbed one."""
    for name in COMPARED:
        whole, killed = (
            pl.read_parquet(work / run / "data" / "output" / "current" / f"{name}.parquet")
            for run in ("whole", "killed")
        )
        assert_frame_equal(whole, killed)
    print(f"tables equal: {', '.join(COMPARED)}")


@contextmanager
def serve(latency_ms: int) -> Iterator[str]:
    """The fake server, on a free port of loopback."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(SERVER), "--port", str(port), "--kinds", str(KINDS), f"--latency-ms={latency_ms}"]
    server = subprocess.Popen(command)
    try:
        for _ in range(200):
            try:
                ask(url, "/stats")
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
