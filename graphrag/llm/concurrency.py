"""Many awaited things at once, a bounded number in flight, in one event loop.

What is done is handed over at once (`on_result`), so that a crash or Ctrl-C later loses nothing of it. When one fails,
nothing new starts; those in flight have been paid for and get time to end, then the first failure is raised.

Does not: limit rates, retry, or know language models (limiter.py, attempts.py, door.py do).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from graphrag.errors import BudgetSpent

Item = TypeVar("Item")
Result = TypeVar("Result")
MapMany = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""map(function, items), perhaps in threads, results in order."""

GRACE_SECONDS = 5.0  # for calls in flight when the run must end; without a limit when only the budget is spent


def ignore(_item: object, _result: object) -> None:
    pass


async def map_concurrently(
    function: Callable[[Item], Awaitable[Result]],
    items: Iterable[Item],
    *,
    in_flight: int,
    on_result: Callable[[Item, Result], None] = ignore,
) -> list[Result]:
    """The results in the order of `items`, which are drawn one by one as places fall free.

    Raises what the function or `on_result` raises first. Cancelling it cancels all in flight.
    """
    results: dict[int, Result] = {}
    numbered = enumerate(items)
    failures: list[BaseException] = []

    async def work() -> None:
        for number, item in numbered:
            try:
                result = await function(item)
                on_result(item, result)
            except BaseException as error:
                failures.append(error)  # the others see it before they draw another item
                raise
            results[number] = result
            await asyncio.sleep(0)  # results without waiting (memo hits) must not starve the loop
            if failures:
                return

    workers = [asyncio.create_task(work()) for _ in range(max(1, in_flight))]
    try:
        _, unfinished = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        if unfinished:
            is_budget = isinstance(failures[0], BudgetSpent)
            await asyncio.wait(unfinished, timeout=None if is_budget else GRACE_SECONDS)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(results))]
