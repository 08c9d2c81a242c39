"""Index 1 MB of text in embedded mode, twice: seconds and CPU seconds by stage, peak memory over all processes.

    python -m tests.bench.bench_index [DOCUMENTS_FOLDER]

Without a folder, corpus M (1.06 MB, 36 documents) is built by ../shared/bench/build_corpus.py into a temporary folder.
The second run is forced (`full=True`), so that it shows what the memo saves and not that nothing has changed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from graphrag.progress import QuietProgress

ROOT = Path(__file__).resolve().parents[2]


def cpu_seconds() -> float:
    """User and system seconds of this process and of the children it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class StageClock(QuietProgress):
    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float]] = []
        self._cpu = cpu_seconds()

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        now = cpu_seconds()
        self.rows.append((stage, seconds, now - self._cpu))
        self._cpu = now


class PeakMemory:
    """Highest sum of resident memory of this process and its descendants, looked at ten times a second."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self.peak_mb = max(self.peak_mb, resident_mb(os.getpid()))


def resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # the process has ended meanwhile
        return 0.0
    return pages * resource.getpagesize() / 2**20 + sum(resident_mb(int(child)) for child in children)


def bench_once(documents: Path, work: Path, *, full: bool) -> None:
    from graphrag.pipeline import run_pipeline
    from graphrag.settings_file import load_settings

    overrides = [f"input.dir={documents}", f"output.dir={work / 'output'}", f"cache.dir={work / 'cache'}"]
    settings, _ = load_settings(ROOT, overrides=overrides, environ={})
    clock, wall, cpu = StageClock(), time.monotonic(), cpu_seconds()
    with PeakMemory() as memory:
        summary = run_pipeline(settings, ROOT, full=full, progress=clock)
    print(f"| {'stage':<15} | wall s | CPU s |\n|{'-' * 17}|-------:|------:|")
    for stage, seconds, used in clock.rows:
        print(f"| {stage:<15} | {seconds:6.1f} | {used:5.1f} |")
    print(f"| {'all':<15} | {time.monotonic() - wall:6.1f} | {cpu_seconds() - cpu:5.1f} |")
    print(f"peak memory {memory.peak_mb:,.0f} MB over all processes; {summary.counts}\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if len(sys.argv) > 1:
            documents = Path(sys.argv[1]).resolve()
        else:
            builder = ROOT.parent / "shared" / "bench" / "build_corpus.py"
            subprocess.run([sys.executable, str(builder), str(work)], check=True, stdout=subprocess.DEVNULL)
            documents = work / "M" / "docs"
        for full in (False, True):
            bench_once(documents, work / "index", full=full)


if __name__ == "__main__":
    main()
