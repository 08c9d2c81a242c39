"""Walks over a graph of a million relationships: CPU of warm calls of the Python API, and of cold commands.

    python -m tests.bench.bench_walks [entities | folder of an index of this bench]        (default: 200000)

The index is that of large_index.py without vectors, five relationships an entity, so that one part of the graph holds
nearly all of it, and most of it depends on most of the rest: the worst case of `impact`. Warm: one process and one open
index, 20 entities from all over the power law after two that are not timed. Cold: a whole `graphrag` process.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from graphrag.api import Index
from graphrag.settings import Settings
from graphrag.settings_file import render_template
from tests.bench.bench_search import time_command
from tests.bench.large_index import publish_large_index

N_ENTITIES, N_WARM, N_WARM_UP, N_COLD = 200_000, 20, 2, 3


def make_index(root: Path, n_entities: int) -> None:
    (root / "settings.toml").write_text(render_template(), encoding="utf-8")
    titles = publish_large_index(root / Settings().output.dir, n_entities, with_vectors=False)
    (root / "titles.txt").write_text("\n".join(titles), encoding="utf-8")


def walk_warm(index: Index, titles: list[str]) -> Iterator[tuple[str, list[float]]]:
    """CPU seconds of each call, by kind."""
    some = titles[len(titles) // 100 :: len(titles) // (N_WARM + N_WARM_UP)][: N_WARM + N_WARM_UP]
    kinds: dict[str, Callable[[str], object]] = {
        "neighborhood, 2 hops out": lambda name: index.neighborhood(name).render(),
        "neighborhood, 2 hops both": lambda name: index.neighborhood(name, direction="both").render(),
        "impact and survivors": lambda name: index.impact(name, reasons=False).render(cite=True),
        "impact and all survivors with reasons": lambda name: index.impact(name).to_json(),
        "chains": lambda name: index.chains(name).render(),
        "neighborhood of the largest hub, 1 hop": lambda _: index.neighborhood(titles[0], hops=1, direction="both"),
    }
    for kind, ask in kinds.items():
        seconds = []
        for name in some:
            started = time.process_time()
            ask(name)
            seconds.append(time.process_time() - started)
        yield kind, seconds[N_WARM_UP:]


def measure(root: Path) -> None:
    titles = (root / "titles.txt").read_text(encoding="utf-8").split("\n")
    with Index(Settings(), root) as index:
        (n_edges, degree), *_ = index.sql(
            "select (select count(*) from relationships), max(degree) from entities"
        ).rows()
        print(
            f"{len(titles):,} entities, {n_edges:,} relationships; the largest hub has {degree:,} neighbours",
            flush=True,
        )
        for kind, seconds in walk_warm(index, titles):
            print(
                f"| {kind}, warm | {1000 * statistics.median(seconds):.0f} ms | {1000 * max(seconds):.0f} ms |",
                flush=True,
            )
    name = titles[len(titles) // 100]
    for command in (("neighborhood", name), ("impact", name), ("impact", "--all", "--top", "5")):
        cpu = statistics.median(time_command((*command, "--root", str(root)))[0] for _ in range(N_COLD))
        print(f"| {' '.join(command[:1] + command[2:])}, cold | {cpu:.2f} s | |", flush=True)


def main() -> None:
    asked = sys.argv[1] if len(sys.argv) > 1 else str(N_ENTITIES)
    if not asked.isdecimal():
        measure(Path(asked))
        return
    with tempfile.TemporaryDirectory() as folder:
        make_index(Path(folder), int(asked))
        measure(Path(folder))


if __name__ == "__main__":
    main()
