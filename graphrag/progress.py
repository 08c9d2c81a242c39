"""Progress of long work on stderr: a bar on a terminal, plain lines elsewhere, nothing when asked to be quiet.

A stage is started with the number of items it will go through (None when nobody knows), advanced, and finished with a
line that stays: what came out and how long it took. A stage that asks a model also tells what the run has cost so far.
"""

from __future__ import annotations

import sys
import time
from typing import Protocol, TextIO

PLAIN_LINE_SECONDS = 10.0


class Progress(Protocol):
    def start(self, stage: str, total: int | None) -> None: ...
    def advance(self, n: int, *, cost_usd: float | None = None) -> None: ...
    def finish(self, stage: str, outcome: str, seconds: float) -> None: ...
    def say(self, line: str) -> None: ...
    def close(self) -> None: ...


class QuietProgress:
    """Says nothing."""

    def start(self, stage: str, total: int | None) -> None:
        pass

    def advance(self, n: int, *, cost_usd: float | None = None) -> None:
        pass

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        pass

    def say(self, line: str) -> None:
        pass

    def close(self) -> None:
        pass


class PlainProgress:
    """A line when a stage ends, and one every ten seconds while it runs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage, self._total, self._done = "", 0, 0
        self._started = self._last_line = time.monotonic()

    def start(self, stage: str, total: int | None) -> None:
        self._stage, self._total, self._done = stage, total or 0, 0
        self._started = self._last_line = time.monotonic()

    def advance(self, n: int, *, cost_usd: float | None = None) -> None:
        self._done += n
        now = time.monotonic()
        if now - self._last_line >= PLAIN_LINE_SECONDS:
            self._last_line = now
            rate = self._done / (now - self._started)
            left = f" of {self._total}, {(self._total - self._done) / rate:.0f} s left" if self._total else ""
            self.say(f"  {self._stage}: {self._done}{left} ({rate:.1f}/s{_told_cost(cost_usd)})")

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        self.say(f"{stage:<15} {outcome:<58} {seconds:6.1f} s")

    def say(self, line: str) -> None:
        self._stream.write(line.rstrip() + "\n")
        self._stream.flush()

    def close(self) -> None:
        pass


class TerminalProgress:
    """A live bar with count, rate and time left under the lines of the stages that are done."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._console = Console(file=stream, highlight=False)
        self._bars = RichProgress(
            TextColumn("{task.description:<15}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), console=self._console, transient=True,
        )  # fmt: skip
        self._bars.start()
        self._bar = self._bars.add_task("", rate="", visible=False)
        self._started = time.monotonic()

    def start(self, stage: str, total: int | None) -> None:
        self._started = time.monotonic()
        self._bars.reset(self._bar, description=stage, total=total, visible=True, rate="")

    def advance(self, n: int, *, cost_usd: float | None = None) -> None:
        done = self._bars.tasks[0].completed + n
        rate = done / max(time.monotonic() - self._started, 1e-3)
        self._bars.update(self._bar, advance=n, rate=f"{rate:.0f}/s{_told_cost(cost_usd)}")

    def finish(self, stage: str, outcome: str, seconds: float) -> None:
        self._console.print(f"{stage:<15} {outcome:<58} {seconds:6.1f} s", markup=False)

    def say(self, line: str) -> None:
        self._console.print(line, markup=False)

    def close(self) -> None:
        self._bars.stop()


def _told_cost(cost_usd: float | None) -> str:
    return "" if cost_usd is None else f", ${cost_usd:.4f}"


def choose_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Progress:
    stream = stream or sys.stderr
    if quiet:
        return QuietProgress()
    return TerminalProgress(stream) if stream.isatty() else PlainProgress(stream)
