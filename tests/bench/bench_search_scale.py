"""Search in a large index: time by the clock and CPU time of warm answers, CPU seconds of cold commands, memory.

    python -m tests.bench.bench_search_scale [entities ...] [--keep FOLDER]        (default: 10000 100000)

For each size an index of so many entities, five relationships and half a text unit for each (large_index.py); with
--keep it is left in the folder, and found there by the next run.
Warm: one process and one open index, 40 questions after three that are not timed: median and 95th percentile; CPU is
that of all threads. Cold: a whole `graphrag` process, median of five.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from graphrag.search import answer_question
from graphrag.search.answer import Answer
from graphrag.search.walks.edges import open_edges
from graphrag.search.walks.impact import choose_carrying, find_impact, list_predicates
from graphrag.search.walks.reach import choose_cutoff, list_neighbors, open_degrees
from graphrag.settings import Settings
from graphrag.settings_file import render_template
from graphrag.store import Index, open_index
from tests.bench.bench_search import time_command
from tests.bench.large_index import publish_large_index

SIZES = (10_000, 100_000)
N_QUESTIONS, N_WARM_UP, N_COLD = 40, 3, 5
SHOWN = 50  # impacted entities, as the command shows them


class Times(NamedTuple):
    """Seconds of each question."""

    wall: list[float]
    cpu: list[float]


def ask_warm(index: Index, titles: list[str]) -> Iterator[tuple[str, Times]]:
    """Each kind of question, one after the other on one open index."""
    middle = titles[len(titles) // 100 :: len(titles) // (N_QUESTIONS + N_WARM_UP + 1)]
    asked = [f"What does {title} need after the release of {titles[n]}?" for n, title in enumerate(middle)]
    impact = Settings().impact
    carrying = choose_carrying(
        list_predicates(index), predicates=impact.predicates, reversed_predicates=impact.reversed_predicates
    )

    def ask_in(mode: str, n: int) -> Answer:
        return answer_question(index, asked[n], mode=mode, level=1, top=10, budget_tokens=4000)

    kinds: dict[str, Callable[[int], object]] = {
        "local": lambda n: ask_in("local", n),
        "basic": lambda n: ask_in("basic", n),
        "neighborhood, 2 hops": lambda n: list_neighbors(
            open_edges(index), open_degrees(index), middle[n], hops=2, direction="both",
            cutoff=choose_cutoff(index, "auto"),
        ),
        "impact and survivors": lambda n: find_impact(index, middle[n], carrying, top=SHOWN),
    }  # fmt: skip
    for kind, ask in kinds.items():
        times = Times([], [])
        for number in range(N_WARM_UP + N_QUESTIONS):
            wall, cpu = time.perf_counter(), time.process_time()
            ask(number)
            times.wall.append(time.perf_counter() - wall)
            times.cpu.append(time.process_time() - cpu)
        yield kind, Times(times.wall[N_WARM_UP:], times.cpu[N_WARM_UP:])


def ask_cold(root: Path, titles: list[str]) -> Iterator[tuple[str, float]]:
    name = titles[len(titles) // 100]
    for arguments in (
        ("search", "--local", f"What does {name} need?", "--context-only"),
        ("search", "--basic", f"What does {name} need?", "--context-only"),
        ("neighborhood", name),
        ("impact", name),
    ):
        at_root = (*arguments, "--root", str(root))
        time_command(at_root)
        yield (
            arguments[0] + (" " + arguments[1] if arguments[0] == "search" else ""),
            statistics.median(time_command(at_root)[0] for _ in range(N_COLD)),
        )


def measure(n_entities: int, keep: Path | None) -> None:
    with nullcontext(str(keep / str(n_entities))) if keep else tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        output = root / Settings().output.dir
        if not output.exists():
            root.mkdir(parents=True, exist_ok=True)
            (root / "settings.toml").write_text(render_template(), encoding="utf-8")
            started = time.perf_counter()
            publish_large_index(output, n_entities)
            print(f"{n_entities:,} entities: made and published in {time.perf_counter() - started:.0f} s", flush=True)
        with open_index(output) as index:
            titles = index.frame("select title from entities order by human_readable_id")["title"].to_list()
            for kind, times in ask_warm(index, titles):
                shown = " | ".join(f"{figure:.0f} ms" for seconds in times for figure in _summarise(seconds))
                print(f"| {n_entities:,} | {kind}, warm | {shown} |", flush=True)
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
        for kind, cpu in ask_cold(root, titles):
            print(f"| {n_entities:,} | {kind}, cold | {cpu:.2f} CPU s |", flush=True)


def _summarise(seconds: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    return 1000 * statistics.median(seconds), 1000 * statistics.quantiles(seconds, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(usage="python -m tests.bench.bench_search_scale [entities ...] [--keep FOLDER]")
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if len(arguments.sizes) == 1:
        measure(arguments.sizes[0], arguments.keep)
        return
    print("| entities | | wall, median | 95th percentile | CPU, median | 95th percentile |\n|---:|---|" + 4 * "---:|")
    kept = ["--keep", str(arguments.keep)] if arguments.keep else []
    for size in arguments.sizes:  # each in a process of its own, for its memory
        subprocess.run([sys.executable, "-m", "tests.bench.bench_search_scale", str(size), *kept], check=True)


if __name__ == "__main__":
    main()
