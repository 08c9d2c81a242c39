"""How many calls may be in flight and how many may start in a minute; adapts to what the provider bears.

Concurrency: additive increase, multiplicative decrease. A 429, 503 or time-out shrinks the number of places to 7 in 10,
at most once a second (a burst of refusals is one event); each success gives a quarter of a place back, and less near
the number that was too many, until 100 successes in a row have forgotten it. Places are handed out in the order of
asking. Calls that wait for a retry hold no place.
Rates: requests and tokens within the last 60 seconds, as providers count them. A call larger than the whole token limit
goes alone.
When most of the latest answers were refusals and the provider said how long to wait, nobody starts before.

Does not: retry, sleep for a call (retries.py, attempts.py), or know prices.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

WINDOW_SECONDS = 60.0
SHRINK, GROW, GROW_NEAR_CEILING = 0.7, 0.25, 0.02
CEILING, CEILING_SUCCESSES = 0.95, 100
SHRINK_PAUSE_SECONDS = 1.0
LATEST = 8  # answers looked at before everybody is held back


class Limiter:
    """Places for calls. `capacity` is the present number, `in_flight` how many are taken."""

    def __init__(
        self,
        max_concurrency: int,
        *,
        rpm: int = 0,
        tpm: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """rpm, tpm: requests and tokens a minute; 0 for no limit."""
        self.max_concurrency = max_concurrency
        self.capacity = float(max_concurrency)
        self.in_flight = 0
        self._clock = clock
        self._requests, self._tokens = _Window(rpm), _Window(tpm)
        self._waiters: deque[tuple[asyncio.Future[None], int]] = deque()
        self._latest: deque[bool] = deque(maxlen=LATEST)
        self._shrunk_at = self._held_until = float("-inf")
        self._ceiling, self._n_successes = float("inf"), 0
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def place(self, tokens: int) -> AsyncIterator[None]:
        """A place in flight for a call of about that many tokens."""
        await self._acquire(tokens)
        try:
            yield
        finally:
            self.in_flight -= 1
            self._wake()

    def report_success(self) -> None:
        self._latest.append(True)
        self._n_successes += 1
        is_near = self.capacity >= self._ceiling and self._n_successes <= CEILING_SUCCESSES
        growth = GROW_NEAR_CEILING if is_near else GROW
        self.capacity = min(float(self.max_concurrency), self.capacity + growth)

    def report_refusal(self, retry_after: float | None) -> None:
        """A 429, 503 or time-out: shrink, and hold everybody back if nearly all are refused with a time to wait."""
        now = self._clock()
        self._latest.append(False)
        self._n_successes = 0
        if now - self._shrunk_at >= SHRINK_PAUSE_SECONDS:
            self._shrunk_at = now
            self._ceiling = self.capacity * CEILING
            self.capacity = max(1.0, self.capacity * SHRINK)
        if retry_after and len(self._latest) == LATEST and sum(self._latest) <= LATEST // 4:
            self.hold(retry_after)

    def hold(self, seconds: float) -> None:
        """Nobody starts before that many seconds have passed."""
        self._held_until = max(self._held_until, self._clock() + seconds)

    async def _acquire(self, tokens: int) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append((waiter, tokens))
        self._wake()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # the place came together with the cancellation
                self.in_flight -= 1
            self._wake()
            raise

    def _wake(self) -> None:
        """Hand out the places that are free to those who wait, in order."""
        while self._waiters:
            waiter, tokens = self._waiters[0]
            if waiter.done():
                self._waiters.popleft()
                continue
            if self.in_flight >= max(1, int(self.capacity)):
                return  # the end of a call wakes us
            now = self._clock()
            delay = max(self._held_until - now, self._requests.delay(now, 1), self._tokens.delay(now, tokens))
            if delay > 0:
                self._wake_in(delay)
                return
            self._waiters.popleft()
            self._requests.add(now, 1)
            self._tokens.add(now, tokens)
            self.in_flight += 1
            waiter.set_result(None)

    def _wake_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds + 0.001, self._wake)


class _Window:
    """Amounts of the last 60 seconds against a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: deque[tuple[float, int]] = deque()
        self._sum = 0

    def add(self, now: float, amount: int) -> None:
        if self._limit:
            self._entries.append((now, amount))
            self._sum += amount

    def delay(self, now: float, amount: int) -> float:
        """Seconds until `amount` fits."""
        while self._entries and self._entries[0][0] <= now - WINDOW_SECONDS:
            self._sum -= self._entries.popleft()[1]
        excess = self._sum + amount - self._limit
        if not self._limit or excess <= 0 or not self._entries:
            return 0.0
        for at, gone in self._entries:
            excess -= gone
            if excess <= 0:
                return at + WINDOW_SECONDS - now
        return self._entries[-1][0] + WINDOW_SECONDS - now


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header, given as seconds or as an HTTP date (RFC 9110, 10.2.3); None if it says nothing
    usable: absent, unreadable, or negative."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            return None
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        seconds = (until - (now or datetime.now(UTC))).total_seconds()
        return max(0.0, seconds)
    return seconds if 0 <= seconds < float("inf") else None
