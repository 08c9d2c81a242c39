"""One question over all its attempts."""

from __future__ import annotations

import asyncio

import pytest

from graphrag.errors import Unauthorized
from graphrag.llm.attempts import Attempts
from graphrag.llm.faults import Fault
from graphrag.llm.limiter import Limiter
from graphrag.llm.replay import ScriptedFault
from graphrag.llm.retries import Retries


def attempts(n_places: int = 20, *, timeout_seconds: float = 5.0) -> Attempts:
    retries = Retries(max_retries=2, backoff_seconds=0.001)
    return Attempts(Limiter(n_places), retries, timeout_seconds=timeout_seconds)


def test_time_outs_are_tried_three_times_and_ask_the_server_less() -> None:
    door = attempts(timeout_seconds=0.01)

    async def hang() -> str:
        await asyncio.sleep(3600)
        return "never"

    call = asyncio.run(door.call(hang, key="k", tokens=1))
    assert isinstance(call.outcome, Fault) and call.outcome.kind == "timeout"
    assert call.attempts == 3
    assert door.limiter.capacity == 14
    assert door.limiter.in_flight == 0


def test_who_waits_for_a_retry_leaves_the_place_to_others() -> None:
    door = attempts(1)
    order: list[str] = []

    async def refused_once() -> str:
        order.append("first")
        if order.count("first") == 1:
            raise ScriptedFault(429, retry_after="0.05")
        return "late"

    async def quick() -> str:
        order.append("second")
        return "quick"

    async def both() -> None:
        await asyncio.gather(door.call(refused_once, key="a", tokens=1), door.call(quick, key="b", tokens=1))

    asyncio.run(both())
    assert order == ["first", "second", "first"]


def test_after_a_fatal_fault_nobody_asks_any_more() -> None:
    door = attempts()
    n_asked = 0

    async def ask() -> str:
        nonlocal n_asked
        n_asked += 1
        raise ScriptedFault(403)

    async def twice() -> None:
        call = await door.call(ask, key="a", tokens=1)
        assert isinstance(call.outcome, Fault)
        with pytest.raises(Unauthorized, match=r"^403 from m\. Check the key in the environment\.$"):
            door.end_if_fatal(call.outcome, "m")
        with pytest.raises(Unauthorized, match=r"^403 from m\."):
            await door.call(ask, key="b", tokens=1)

    asyncio.run(twice())
    assert n_asked == 1


def test_what_concerns_one_question_only_does_not_end_the_run() -> None:
    attempts().end_if_fatal(None, "m")
    attempts().end_if_fatal(Fault("too_long", 400, "x"), "m")
