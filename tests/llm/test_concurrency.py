"""Many at once, in order, bounded, and what happens when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.llm.concurrency import map_concurrently


@given(items=st.lists(st.integers(), max_size=40), in_flight=st.integers(1, 10))
def test_results_stand_in_the_order_of_the_items(items: list[int], in_flight: int) -> None:
    n_running = n_most = 0

    async def double(item: int) -> int:
        nonlocal n_running, n_most
        n_running += 1
        n_most = max(n_most, n_running)
        for _ in range(item % 5):
            await asyncio.sleep(0)
        n_running -= 1
        return 2 * item

    assert asyncio.run(map_concurrently(double, items, in_flight=in_flight)) == [2 * item for item in items]
    assert n_most <= in_flight


def test_items_are_drawn_as_places_fall_free() -> None:
    drawn = 0

    def items() -> Iterator[int]:
        nonlocal drawn
        for item in range(100):
            drawn += 1
            yield item

    async def fail_at_ten(item: int) -> None:
        await asyncio.sleep(0)
        if item == 10:
            raise ValueError("ten")

    with pytest.raises(ValueError, match="ten"):
        asyncio.run(map_concurrently(fail_at_ten, items(), in_flight=3))
    assert drawn <= 14


def test_those_under_way_end_before_a_failure_is_raised() -> None:
    done: list[int] = []

    async def work(item: int) -> int:
        if item == 0:
            raise ValueError("first")
        await asyncio.sleep(0.05)
        return item

    with pytest.raises(ValueError, match="first"):
        asyncio.run(map_concurrently(work, range(10), in_flight=3, on_result=lambda _, result: done.append(result)))
    assert done == [1, 2]


def test_what_hands_results_over_may_fail_too() -> None:
    async def work(item: int) -> int:
        return item

    def full(_item: int, _result: int) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(map_concurrently(work, range(10), in_flight=3, on_result=full))
