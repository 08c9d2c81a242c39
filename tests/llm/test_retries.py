"""Which fault is tried again, how often and after how long; and when a service counts as down."""

from __future__ import annotations

from collections import Counter

import pytest

from graphrag.llm.faults import Fault, Kind
from graphrag.llm.retries import OUTAGE_CALLS, Retries, Retry


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def waits(retries: Retries, fault: Fault, key: str = "k") -> list[float]:
    """The waits of one call that always has the same fault."""
    past: Counter[Kind] = Counter()
    found: list[float] = []
    while len(found) < 100:
        past[fault.kind] += 1
        retry = retries.next_try(fault, key, past)
        if retry is None:
            return found
        found.append(retry.seconds)
    raise AssertionError("no end")


def test_server_errors_back_off_doubling_with_jitter_up_to_the_setting() -> None:
    found = waits(Retries(max_retries=4), Fault("unavailable", 500, ""))
    assert len(found) == 4
    for seconds, middle in zip(found, [0.5, 1.0, 2.0, 4.0], strict=True):
        assert middle * 0.5 <= seconds <= middle * 1.5
    assert waits(Retries(max_retries=0), Fault("unavailable", 500, "")) == []


def test_time_outs_are_tried_twice_more() -> None:
    assert len(waits(Retries(max_retries=10), Fault("timeout", 0, ""))) == 2
    assert len(waits(Retries(max_retries=1), Fault("timeout", 0, ""))) == 1


@pytest.mark.parametrize("kind", ["too_long", "refusal", "unauthorized", "rejected", "exhausted"])
def test_what_another_try_would_not_cure_is_not_tried(kind: Kind) -> None:
    assert waits(Retries(max_retries=4), Fault(kind, 400, "")) == []


def test_refusals_wait_as_told_never_less() -> None:
    found = waits(Retries(max_retries=0), Fault("limited", 429, "", retry_after=20.0))
    assert len(found) == 12
    assert all(20.0 <= seconds <= 23.0 for seconds in found)
    assert waits(Retries(max_retries=4, max_wait_seconds=300), Fault("limited", 429, "", retry_after=301.0)) == []
    assert all(seconds <= 90 for seconds in waits(Retries(max_retries=0), Fault("limited", 429, "")))


def test_a_service_that_is_down_is_waited_for_and_then_given_up() -> None:
    clock = Clock()
    retries = Retries(max_retries=1, outage_seconds=300.0, clock=clock)
    fault = Fault("unavailable", 502, "")
    for number in range(OUTAGE_CALLS - 1):
        retries.next_try(fault, f"call {number}", Counter({"unavailable": 1}))
    holds: list[float] = []
    past: Counter[Kind] = Counter()
    while True:
        past["unavailable"] += 1
        retry = retries.next_try(fault, "the last", past)
        if retry is None:
            break
        assert retry.hold
        assert past["unavailable"] == 0, "the outage does not count against the call"
        holds.append(retry.seconds)
        clock.now += retry.seconds
    assert holds[:4] == [5.0, 10.0, 20.0, 40.0]
    assert 300 <= sum(holds) < 370
    assert retries.is_down
    retries.report_success()
    assert not retries.is_down


def test_others_join_the_wait_of_the_first() -> None:
    clock = Clock()
    retries = Retries(max_retries=1, clock=clock)
    fault = Fault("timeout", 0, "")
    answers = [retries.next_try(fault, f"call {n}", Counter({"timeout": 1})) for n in range(OUTAGE_CALLS + 1)]
    assert answers[-2] == Retry(5.0, hold=True)
    assert answers[-1] == Retry(5.0)


def test_one_call_that_is_ill_is_no_outage() -> None:
    retries = Retries(max_retries=20)
    waits(retries, Fault("unavailable", 500, ""))
    assert not retries.is_down
    assert len(waits(retries, Fault("unavailable", 500, ""), key="another")) == 20
