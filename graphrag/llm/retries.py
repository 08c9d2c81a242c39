"""When a call is tried again, and after how long.

Told to slow down (429, 503, 529): as the provider says, else 1, 2, 4 ... 60 seconds; up to `max_refusals` times, and
never longer than `max_wait_seconds` at once. Server errors and lost connections: 0.5, 1, 2, 4 ... 30 seconds,
`max_retries` times. Time-outs: soon, twice. All with jitter, so that calls that failed together do not come back
together.

A service that is down is told from a call that is ill: when 8 different calls in a row failed, everybody waits (5, 10,
20 ... 60 seconds), and their failures do not count against them until `outage_seconds` have passed without any success.
From then on calls are given up unasked: a run over 10,000 units ends soon, and the next one asks them.

Does not: sleep, call, or limit (attempts.py, limiter.py).
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from graphrag.llm.faults import Fault, Kind

MAX_LIMITED, MAX_TIMEOUTS = 12, 2
LONGEST_LIMITED, LONGEST_UNAVAILABLE, LONGEST_OUTAGE_WAIT = 60.0, 30.0, 60.0
FIRST_OUTAGE_WAIT = 5.0
OUTAGE_CALLS = 8
COUNTED: tuple[Kind, ...] = ("timeout", "unavailable")


class Retry(NamedTuple):
    """Wait that long before the next try; hold: all calls wait that long too."""

    seconds: float
    hold: bool = False


class Retries:
    """The memory of a door: since when the service gives no answer."""

    def __init__(
        self,
        *,
        max_retries: int,
        max_refusals: int = MAX_LIMITED,
        max_wait_seconds: float = 300.0,
        outage_seconds: float = 300.0,
        backoff_seconds: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_retries, self._max_refusals = max_retries, max_refusals
        self.max_wait_seconds = max_wait_seconds
        self._outage_seconds, self._backoff, self._clock = outage_seconds, backoff_seconds, clock
        self._failing: set[str] = set()  # keys of the calls that failed since the last success
        self._failing_since: float | None = None
        self._n_holds, self._held_until = 0, float("-inf")

    def report_success(self) -> None:
        self._failing.clear()
        self._failing_since, self._n_holds = None, 0

    @property
    def is_down(self) -> bool:
        """Many calls in a row failed, over a time that is no hiccup: asking more is pointless."""
        return self._is_outage and self._clock() - (self._failing_since or 0.0) >= self._outage_seconds

    @property
    def _is_outage(self) -> bool:
        return len(self._failing) >= OUTAGE_CALLS

    def next_try(self, fault: Fault, key: str, past: Counter[Kind]) -> Retry | None:
        """When to try again after `fault`, or None to give up. `past` holds the faults of this call, this one included;
        a fault that the outage of the service explains is taken out of it."""
        if fault.kind == "limited":
            return self._after_refusal(fault, past["limited"])
        if fault.kind not in COUNTED:
            return None
        self._failing.add(key)
        now = self._clock()
        self._failing_since = self._failing_since or now
        if self._is_outage:
            return self._after_outage(fault, now, past)
        if fault.kind == "timeout":
            return Retry(_jitter(self._backoff)) if past["timeout"] <= min(MAX_TIMEOUTS, self.max_retries) else None
        if past["unavailable"] > self.max_retries:
            return None
        seconds = fault.retry_after if fault.retry_after is not None else self._backoff * 2 ** (past["unavailable"] - 1)
        return Retry(_jitter(min(seconds, LONGEST_UNAVAILABLE)))

    def _after_refusal(self, fault: Fault, n_refusals: int) -> Retry | None:
        wait = fault.retry_after
        if n_refusals > self._max_refusals or (wait is not None and wait > self.max_wait_seconds):
            return None
        if wait is None:
            return Retry(_jitter(min(LONGEST_LIMITED, self._backoff * 2**n_refusals)))
        return Retry(wait + random.uniform(0.0, 0.05 + wait / 10))  # never earlier than told

    def _after_outage(self, fault: Fault, now: float, past: Counter[Kind]) -> Retry | None:
        if self.is_down or self._outage_seconds <= 0:
            return None
        past[fault.kind] -= 1
        if now < self._held_until:  # another call has just begun this wait
            return Retry(self._held_until - now)
        seconds = min(LONGEST_OUTAGE_WAIT, FIRST_OUTAGE_WAIT * 2**self._n_holds, self._outage_seconds)
        self._n_holds += 1
        self._held_until = now + seconds
        return Retry(seconds, hold=True)


def _jitter(seconds: float) -> float:
    return seconds * random.uniform(0.5, 1.5)
