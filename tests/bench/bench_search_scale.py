"""Search in a large index: wall seconds of warm answers, CPU seconds of cold commands, memory.

    python -m tests.bench.bench_search_scale [entities ...]        (default: 10000 100000)

For each size an index of so many entities, five relationships and half a text unit for each (large_index.py).
Warm: one process and one open index, 40 questions after three that are not timed: median and 95th percentile. Cold: a
whole `graphrag` process, median of five.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

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


def ask_warm(index: Index, titles: list[str]) -> Iterator[tuple[str, list[float]]]:
    """Wall seconds of each kind of question, one after the other on one open index."""
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
        seconds = []
        for number in range(N_WARM_UP + N_QUESTIONS):
            started = time.perf_counter()
            ask(number)
            seconds.append(time.perf_counter() - started)
        yield kind, seconds[N_WARM_UP:]


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


def measure(n_entities: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "settings.toml").write_text(render_template(), encoding="utf-8")
        started = time.perf_counter()
        titles = publish_large_index(root / Settings().output.dir, n_entities)
        print(f"{n_entities:,} entities: made and published in {time.perf_counter() - started:.0f} s", flush=True)
        with open_index(root / Settings().output.dir) as index:
            for kind, seconds in ask_warm(index, titles):
                p50, p95 = 1000 * statistics.median(seconds), 1000 * statistics.quantiles(seconds, n=20)[-1]
                print(f"| {n_entities:,} | {kind}, warm | {p50:.0f} ms | {p95:.0f} ms |", flush=True)
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
        for kind, cpu in ask_cold(root, titles):
            print(f"| {n_entities:,} | {kind}, cold | {cpu:.2f} CPU s |", flush=True)


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    if len(sizes) == 1:
        measure(sizes[0])
        return
    for size in sizes:  # each in a process of its own, for its memory
        subprocess.run([sys.executable, "-m", "tests.bench.bench_search_scale", str(size)], check=True)


if __name__ == "__main__":
    main()
