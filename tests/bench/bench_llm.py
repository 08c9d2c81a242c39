"""One index run with a model behind an OpenAI-compatible server: calls, tokens, wall, concurrency, CPU by stage.

    python -m tests.bench.bench_llm http://localhost:8399/v1 [--documents FOLDER] [--concurrency 25] [--runs 3]

Any server does: a fake one (../shared/bench/fakellm.py), vLLM, Ollama, or a hosted one with its key in OPENAI_API_KEY.
Every run is a new process in a new folder, so that the import of litellm is in the figures and no memo helps. Without
--documents, corpus M (1.06 MB, 36 documents) is built by ../shared/bench/build_corpus.py.

Concurrency is the sum of the times of a stage's calls over the time of the stage, which for the first stage that asks
holds the 3 s in which litellm is imported. The graph is counted before names are
resolved (names as the model gave them, and pairs of them that are related, without direction) and after.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import orjson
import polars as pl

ROOT = Path(__file__).resolve().parents[2]
RUN_TABLES = ("llm_calls", "entity_mentions", "relationship_mentions", "entities", "relationships", "failures")


def main() -> None:
    args = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        documents = args.documents.resolve() if args.documents else build_corpus(work)
        cpu = []
        for number in range(args.runs):
            root = work / f"run{number}"
            root.mkdir()
            frames, seconds, wall, used = run_index(root, documents, args)
            cpu.append(used)
            print_run(frames, seconds, wall, used)
        print(f"CPU of {len(cpu)} runs: {', '.join(f'{used:.1f}' for used in cpu)} s; median {median(cpu):.1f} s")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("api_base", help="address of the server, with /v1")
    parser.add_argument("--documents", type=Path, help="folder of documents; default: corpus M of ../shared/bench")
    parser.add_argument("--model", default="openai/gpt-4o-mini", help="chat model by its litellm name")
    parser.add_argument("--embedding-model", default="openai/text-embedding-3-small", help="or: embedded, none")
    parser.add_argument("--concurrency", type=int, default=25)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a further setting, section.key=value")
    return parser.parse_args()


def build_corpus(work: Path) -> Path:
    builder = ROOT.parent / "shared" / "bench" / "build_corpus.py"
    subprocess.run([sys.executable, str(builder), str(work)], check=True, stdout=subprocess.DEVNULL)
    return work / "M" / "docs"


def run_index(
    root: Path, documents: Path, args: argparse.Namespace
) -> tuple[dict[str, pl.DataFrame], dict[str, float], float, float]:
    """Tables of the run, seconds of its stages, wall seconds and CPU seconds of the whole process."""
    settings = [
        f"input.dir={documents}", f"llm.model={args.model}", f"llm.api_base={args.api_base}",
        f"llm.max_concurrency={args.concurrency}", f"embeddings.model={args.embedding_model}",
        f"embeddings.api_base={args.api_base if '/' in args.embedding_model else ''}", *args.set,
    ]  # fmt: skip
    (root / "settings.toml").touch()
    command = [sys.executable, "-m", "graphrag", "index", "--quiet", "--json", "--root", str(root)]
    command += [part for setting in settings for part in ("--set", setting)]
    environ = {"OPENAI_API_KEY": "unused", **os.environ, "PYTHONPATH": str(ROOT)}
    started, cpu = time.monotonic(), children_cpu_seconds()
    told = subprocess.run(command, check=True, env=environ, stdout=subprocess.PIPE).stdout
    wall, used = time.monotonic() - started, children_cpu_seconds() - cpu
    run = root / "data" / "output" / "current"
    frames = {name: pl.read_parquet(run / f"{name}.parquet") for name in RUN_TABLES}
    return frames, orjson.loads(told)["seconds_by_stage"], wall, used


def children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def print_run(frames: Mapping[str, pl.DataFrame], seconds: Mapping[str, float], wall: float, cpu: float) -> None:
    print("| stage      | calls | prompt tokens | completion tokens | stage s | concurrency |")
    print("|------------|------:|--------------:|------------------:|--------:|------------:|")
    calls = frames["llm_calls"].filter(~pl.col("cached"))
    for stage in calls["stage"].unique().sort():
        rows = calls.filter(pl.col("stage") == stage)
        took = seconds.get(stage, 0.0)
        busy = sum(rows["latency_ms"].to_list()) / 1000
        print(
            f"| {stage:<10} | {rows.height:5,} | {rows['prompt_tokens'].sum():13,} "
            f"| {rows['completion_tokens'].sum():17,} | {took:7.1f} | {busy / took if took else 0:11.1f} |"
        )
    print(f"wall {wall:.1f} s, CPU {cpu:.1f} s, all its processes; {frames['failures'].height} failures")
    print(graph_counts(frames) + "\n")


def graph_counts(frames: Mapping[str, pl.DataFrame]) -> str:
    """Names and pairs: upper case, as nano-graphrag, fast-graphrag and the reference merge names and nothing else."""
    names = frames["entity_mentions"]["surface"].str.to_uppercase().n_unique()
    told, resolved = (
        {frozenset((a.upper(), b.upper())) for a, b in frame.select(pair).iter_rows()}
        for frame, pair in (
            (frames["relationship_mentions"], ("subject", "object")),
            (frames["relationships"], ("source", "target")),
        )
    )
    return (
        f"before names are resolved: {names:,} names, {len(told):,} pairs; "
        f"after: {frames['entities'].height:,} entities, {len(resolved):,} pairs, "
        f"{frames['relationships'].height:,} relationships"
    )


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    main()
