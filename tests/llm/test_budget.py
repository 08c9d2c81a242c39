"""Money that is set aside: calls side by side never pass the limit together."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import BudgetSpent
from graphrag.llm.budget import Budget


@given(
    limit=st.integers(0, 200),
    calls=st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1)), max_size=30),
)
def test_side_by_side_never_passes_the_limit_and_stops_only_when_the_next_does_not_fit(
    limit: int, calls: list[tuple[int, float]]
) -> None:
    budget = Budget(limit_usd=float(limit))

    async def call(most: int, share: float) -> str:
        try:
            async with budget.reserve(float(most), most) as reservation:
                await asyncio.sleep(0)
                reservation.pay(most * share, most)
                await asyncio.sleep(0)
                return "paid"
        except BudgetSpent:
            assert budget.spent_usd + sum(r.usd for r in budget._set_aside) + most > limit
            return "refused"

    async def run() -> list[str]:
        return list(await asyncio.gather(*(call(*item) for item in calls)))

    outcomes = asyncio.run(run())
    assert budget.spent_usd <= limit + 1e-9
    assert budget._set_aside == []
    paid = sum(most * share for (most, share), outcome in zip(calls, outcomes, strict=True) if outcome == "paid")
    assert budget.spent_usd == pytest.approx(paid)


def test_a_call_waits_for_money_that_others_may_give_back() -> None:
    budget = Budget(limit_usd=10.0)
    order: list[str] = []

    async def call(name: str) -> None:
        async with budget.reserve(8.0, 0) as reservation:
            order.append(name)
            await asyncio.sleep(0.001)
            reservation.pay(1.0, 0)

    async def run() -> None:
        await asyncio.gather(call("a"), call("b"), call("c"))

    asyncio.run(run())
    assert order == ["a", "b", "c"]
    assert budget.spent_usd == 3.0


def test_a_cancelled_call_gives_everything_back() -> None:
    budget = Budget(limit_tokens=10)

    async def run() -> None:
        async def hold() -> None:
            async with budget.reserve(0.0, 10):
                await asyncio.sleep(3600)

        async def wait() -> str:
            async with budget.reserve(0.0, random.randint(1, 10)):
                return "through"

        holder = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiter = asyncio.create_task(wait())
        await asyncio.sleep(0)
        holder.cancel()
        assert await waiter == "through"

    asyncio.run(run())
    assert budget.spent_tokens == 0


def test_no_limit_is_no_limit() -> None:
    async def run() -> None:
        async with Budget().reserve(1e9, 10**12):
            pass

    asyncio.run(run())
