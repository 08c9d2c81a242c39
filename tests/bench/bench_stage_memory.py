"""Seconds, CPU and highest memory of each stage of one run, for a number of text units of full size.

    python -m tests.bench.bench_stage_memory [2000 10000] [--nlp lite|spacy] [--vectors none|embedded]
    python -m tests.bench.bench_stage_memory 1 --documents FOLDER

Documents of ten text units, each twelve sentences about services that depend on stores and are owned by teams, as in
bench_many_documents: one service every four text units. Each size is a process of its own; memory is that of all its
processes, disk that of the run folder and of the memo.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from graphrag.progress import QuietProgress
from tests.bench.bench_index import PeakMemory, cpu_seconds
from tests.bench.bench_many_documents import SYLLABLES

UNITS_PER_DOCUMENT, SENTENCES = 10, 12


class StageMemory(QuietProgress):
    """Prints a row when a stage ends; memory is the highest since the stage before."""

    def __init__(self, memory: PeakMemory) -> None:
        self._memory, self._cpu = memory, cpu_seconds()

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        now = cpu_seconds()
        print(f"| {stage} | {seconds:.1f} | {now - self._cpu:.1f} | {self._memory.peak_mb:,.0f} |", flush=True)
        self._memory.peak_mb, self._cpu = 0.0, now


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[2_000, 10_000])
    parser.add_argument("--nlp", choices=("lite", "spacy"), default="lite")
    parser.add_argument("--vectors", choices=("embedded", "none"), default="none")
    parser.add_argument("--documents", default="", help="measure a folder of your own instead")
    parser.add_argument("--here", action="store_true", help="measure one size in this process")
    args = parser.parse_args()
    for size in args.sizes:
        if args.here:
            measure(size, args.nlp, args.vectors, args.documents)
        else:
            options = ["--nlp", args.nlp, "--vectors", args.vectors, "--documents", args.documents, "--here"]
            subprocess.run([sys.executable, "-m", __spec__.name, str(size), *options], check=True)


def measure(size: int, nlp: str, vectors: str, documents: str) -> None:
    from graphrag.pipeline import run_pipeline
    from graphrag.settings_file import load_settings

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "settings.toml").touch()
        if documents:
            shutil.copytree(documents, root / "data" / "input")
        else:
            write_documents(root / "data" / "input", size)
        settings, _ = load_settings(
            root, overrides=[f"extraction.nlp={nlp}", f"embeddings.model={vectors}"], environ={}
        )
        print(f"{documents or f'{size:,} text units wanted'}\n\n| stage | wall s | CPU s | MB |\n|---|---:|---:|---:|")
        with PeakMemory() as memory:
            summary = run_pipeline(settings, root, progress=StageMemory(memory))
        disk = {name: sum(p.stat().st_size for p in (root / "data" / name).rglob("*") if p.is_file()) / 1e6
                for name in ("input", "output", "cache")}  # fmt: skip
        counts = {name: n for name, n in summary.counts.items() if n}
        print(f"\n{counts}; disk in MB: { {name: round(n, 1) for name, n in disk.items()} }\n", flush=True)


def write_documents(folder: Path, size: int) -> None:
    folder.mkdir(parents=True)
    drawn = random.Random(size)
    words = ["".join(parts).capitalize() for parts in product(SYLLABLES, repeat=4)]
    drawn.shuffle(words)
    services, stores, teams = words[: size // 4], words[size // 4 : size * 3 // 8], words[-max(size // 50, 2) :]
    for number in range(size // UNITS_PER_DOCUMENT):
        parts = []
        for unit in range(UNITS_PER_DOCUMENT):
            sentences = []
            for _ in range(SENTENCES // 3):
                service = drawn.choice(services)
                sentences += [
                    f"{service} Service depends on {drawn.choice(stores)} Store for the sessions of its users.",
                    f"{service} Service calls {drawn.choice(services)} Service when a request of a client comes in.",
                    f"It has been owned by the {drawn.choice(teams)} Team since the outage of last spring.",
                ]
            parts.append(f"## Part {unit}\n\n{' '.join(sentences)}\n")
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
