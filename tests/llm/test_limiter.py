"""Places in flight, rates of a minute, and what refusals do to them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from graphrag.llm.limiter import Limiter, parse_retry_after


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def try_places(limiter: Limiter, tokens: list[int]) -> list[int]:
    """Which of the calls get a place at once; all give it back."""
    got: list[int] = []

    async def take(number: int) -> None:
        async with limiter.place(tokens[number]):
            got.append(number)
            await asyncio.sleep(3600)

    tasks = [asyncio.create_task(take(number)) for number in range(len(tokens))]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return got


def test_places_are_given_in_the_order_of_asking() -> None:
    limiter = Limiter(3)
    assert asyncio.run(try_places(limiter, [1] * 5)) == [0, 1, 2]
    assert limiter.in_flight == 0
    assert asyncio.run(try_places(limiter, [1] * 2)) == [0, 1], "in another event loop too"


def test_rpm_counts_the_last_minute() -> None:
    clock = Clock()
    limiter = Limiter(10, rpm=3, clock=clock)
    assert asyncio.run(try_places(limiter, [1] * 5)) == [0, 1, 2]
    clock.now += 59
    assert asyncio.run(try_places(limiter, [1])) == []
    clock.now += 2
    assert asyncio.run(try_places(limiter, [1] * 5)) == [0, 1, 2]


def test_tpm_counts_tokens_and_lets_a_giant_go_alone() -> None:
    clock = Clock()
    limiter = Limiter(10, tpm=100, clock=clock)
    assert asyncio.run(try_places(limiter, [60, 50])) == [0]
    clock.now += 61
    assert asyncio.run(try_places(limiter, [500, 1])) == [0]
    clock.now += 61
    assert asyncio.run(try_places(limiter, [1])) == [0]


def test_a_wait_for_the_rate_ends_by_itself() -> None:
    clock = Clock()
    limiter = Limiter(10, rpm=1, clock=clock)

    async def run() -> None:
        async with limiter.place(1):
            pass
        clock.now += 59.95
        async with asyncio.timeout(2), limiter.place(1):
            pass

    async def advance() -> None:
        for _ in range(20):
            await asyncio.sleep(0.01)
            clock.now += 0.01

    async def both() -> None:
        await asyncio.gather(run(), advance())

    asyncio.run(both())


def test_refusals_shrink_once_a_second_and_successes_grow_again() -> None:
    clock = Clock()
    limiter = Limiter(20, clock=clock)
    for _ in range(20):
        limiter.report_refusal(None)
    assert limiter.capacity == 14
    for _ in range(40):
        clock.now += 1.5
        limiter.report_refusal(None)
    assert limiter.capacity == 1
    for _ in range(200):
        limiter.report_success()
    assert limiter.capacity == 20


def test_growth_is_slow_near_what_was_too_much_and_forgets_it() -> None:
    limiter = Limiter(20, clock=Clock())
    limiter.report_refusal(None)
    assert limiter.capacity == 14
    for _ in range(20):
        limiter.report_success()
    assert limiter.capacity == 19, "quickly up to the ceiling"
    for _ in range(30):
        limiter.report_success()
    assert limiter.capacity == pytest.approx(19.6)
    for _ in range(60):
        limiter.report_success()
    assert limiter.capacity == 20


def test_nobody_starts_when_nearly_all_are_refused() -> None:
    clock = Clock()
    limiter = Limiter(20, clock=clock)
    for _ in range(8):
        limiter.report_refusal(5.0)
    assert asyncio.run(try_places(limiter, [1])) == []
    clock.now += 5.1
    assert asyncio.run(try_places(limiter, [1])) == [0]


def test_one_refusal_among_successes_holds_nobody_else() -> None:
    limiter = Limiter(20, clock=Clock())
    for _ in range(7):
        limiter.report_success()
    limiter.report_refusal(5.0)
    assert asyncio.run(try_places(limiter, [1])) == [0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("", None), ("2", 2.0), ("0", 0.0), ("1.5", 1.5), ("-1", None), ("soon", None), ("nan", None),
        ("inf", None), ("86400", 86400.0), ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after_in_all_its_forms(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, now=datetime(2026, 11, 29, 12, tzinfo=UTC)) == seconds
