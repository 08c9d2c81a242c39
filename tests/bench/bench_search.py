"""Cold commands as a user starts them: CPU and wall seconds of whole processes, median of five after one warm-up.

    python -m tests.bench.bench_search

Asks the index of this repository (run `graphrag index` first).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = (
    ("--help",),
    ("search", "--local", "What depends on Redis?"),
    ("search", "--global", "What are the recurring causes of incidents?"),
    ("search", "--basic", "Who owns Billing?"),
    ("sql", "from top_entities limit 5"),
)
N_RUNS = 5


def time_command(arguments: tuple[str, ...]) -> tuple[float, float]:
    """(CPU seconds, wall seconds) of one run; user and system time of the process and what it started."""
    program = Path(sys.executable).with_name("graphrag")
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, started = os.times(), time.monotonic()
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, env=environ)
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return cpu, time.monotonic() - started


def main() -> None:
    print("| command | CPU s | wall s |\n|---|---:|---:|")
    for arguments in COMMANDS:
        time_command(arguments)
        runs = [time_command(arguments) for _ in range(N_RUNS)]
        cpu, wall = (statistics.median(figures) for figures in zip(*runs, strict=True))
        print(f"| `graphrag {' '.join(arguments)}` | {cpu:.2f} | {wall:.2f} |")


if __name__ == "__main__":
    main()
