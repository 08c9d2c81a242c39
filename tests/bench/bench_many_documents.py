"""Many tiny documents in embedded mode: seconds by stage and peak memory for 2,000 and 20,000, and the next night.

    python -m tests.bench.bench_many_documents [2000 20000] [--vectors embedded|none] [--nlp lite|auto]

Documents of three sentences about services that depend on stores and are owned by teams; names are made of syllables,
one service every two documents. Each size is indexed, again after 1 % of its documents were edited, and again without a
change; each night in a process of its own, whose imports are not in the figures. Wall, CPU of all processes, and the
sum of resident memory looked at ten times a second.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from tests.bench.bench_index import PeakMemory, StageClock, cpu_seconds

SYLLABLES = ("ka", "ro", "mi", "ten", "vol", "sar", "lu", "dex", "pin", "gor", "ba", "zen", "fi", "tor", "quel", "nim")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--vectors", choices=("embedded", "none"), default="embedded")
    parser.add_argument("--nlp", choices=("auto", "lite"), default="lite")
    parser.add_argument("--night", nargs=2, metavar=("NAME", "FOLDER"), help="measure one night in this process")
    args = parser.parse_args()
    overrides = [f"embeddings.model={args.vectors}", f"extraction.nlp={args.nlp}"]
    if args.night:
        spend_night(args.night[0], Path(args.night[1]), overrides)
        return
    options = [f"--vectors={args.vectors}", f"--nlp={args.nlp}"]
    for size in args.sizes:
        with tempfile.TemporaryDirectory() as folder:
            spend_nights(size, Path(folder), options)


def spend_nights(size: int, root: Path, options: list[str]) -> None:
    def night(name: str) -> None:
        command = [sys.executable, "-m", __spec__.name, *options, "--night", f"{size:,} documents{name}", str(root)]
        subprocess.run(command, check=True)

    (root / "settings.toml").touch()
    write_documents(root / "data" / "input", size)
    night("")
    time.sleep(3)
    for path in sorted((root / "data" / "input").rglob("*.md"))[::100]:
        with path.open("a", encoding="utf-8") as handle:
            handle.write("\nThe Night Gate guards the Old Vault.\n")
    night(", 1 % edited")
    night(", nothing new")


def write_documents(folder: Path, size: int) -> None:
    drawn = random.Random(size)
    words = ["".join(parts).capitalize() for parts in product(SYLLABLES, repeat=4)]
    drawn.shuffle(words)
    services, stores, teams = words[: size // 2], words[size // 2 : size * 3 // 4], words[-max(size // 50, 2) :]
    for number in range(size):
        path = folder / f"{number % 100:02}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        service, other = services[number % len(services)], drawn.choice(services)
        path.write_text(
            f"# Note {number}\n\n{service} Service depends on {drawn.choice(stores)} Store. {service} Service calls "
            f"{other} Service. It is owned by the {drawn.choice(teams)} Team.\n",
            encoding="utf-8",
        )


def spend_night(name: str, root: Path, overrides: list[str]) -> None:
    from graphrag.pipeline import run_pipeline
    from graphrag.settings_file import load_settings

    settings, _ = load_settings(root, overrides=overrides, environ={})
    clock, wall, cpu = StageClock(), time.monotonic(), cpu_seconds()
    with PeakMemory() as memory:
        summary = run_pipeline(settings, root, progress=clock)
    counts = summary.counts
    print(
        f"{name}: {summary.status}, {time.monotonic() - wall:.1f} s wall, {cpu_seconds() - cpu:.1f} CPU s, peak "
        f"{memory.peak_mb:,.0f} MB; {counts['entities']:,} entities, {counts['relationships']:,} relationships, "
        f"{counts['communities']:,} communities, {counts['embeddings']:,} vectors"
    )
    print("  CPU s: " + ", ".join(f"{stage} {used:.1f}" for stage, _, used in clock.rows), flush=True)


if __name__ == "__main__":
    main()
