"""One question to a provider, over as many attempts as it takes: limiter, time limit, faults, waits.

Does not: know what is asked, what it costs, or whether the answer is any good (door.py).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from graphrag.errors import LlmError, Unavailable
from graphrag.llm.faults import RUN_GOES_ON, Fault, Kind, classify_fault, fatal_error
from graphrag.llm.limiter import Limiter
from graphrag.llm.retries import Retries

Answer = TypeVar("Answer")


class Call(NamedTuple, Generic[Answer]):
    """What became of a question; latency is that of the last attempt."""

    outcome: Answer | Fault
    attempts: int
    latency_ms: int


class Attempts:
    """Makes calls. After a fault that no call can survive, every further one ends the same way, unasked."""

    def __init__(
        self,
        limiter: Limiter,
        retries: Retries,
        *,
        timeout_seconds: float,
        key_name: str = "the environment",
        api_base: str = "",
        secrets: Sequence[str] = (),
    ) -> None:
        """timeout_seconds: of one attempt, from sending to the last byte. secrets: cut out of every message."""
        self.limiter, self.retries = limiter, retries
        self._timeout_seconds, self._secrets = timeout_seconds, secrets
        self._key_name, self._api_base = key_name, api_base
        self._ended: LlmError | None = None

    async def call(self, send: Callable[[], Awaitable[Answer]], *, key: str, tokens: int) -> Call[Answer]:
        """Ask until there is an answer, or a fault that another attempt would not cure. Who waits holds no place."""
        past: Counter[Kind] = Counter()
        for attempt in count(1):
            async with self.limiter.place(tokens):
                if self._ended is not None:
                    raise type(self._ended)(str(self._ended))
                if self.retries.is_down:
                    return Call(Fault("unavailable", 0, "not asked: no answer to many calls before"), attempt - 1, 0)
                started = time.perf_counter()
                outcome = await self._try(send)
                latency_ms = round((time.perf_counter() - started) * 1000)
                if not isinstance(outcome, Fault):
                    self.limiter.report_success()
                    self.retries.report_success()
                    return Call(outcome, attempt, latency_ms)
                if outcome.kind in ("limited", "timeout"):  # a server that cannot keep up says so, or says nothing
                    self.limiter.report_refusal(outcome.retry_after)
            past[outcome.kind] += 1
            retry = self.retries.next_try(outcome, key, past)
            if retry is None:
                return Call(outcome, attempt, latency_ms)
            if retry.hold:
                self.limiter.hold(retry.seconds)
            await asyncio.sleep(retry.seconds)
        raise AssertionError("count() has no end")

    async def _try(self, send: Callable[[], Awaitable[Answer]]) -> Answer | Fault:
        try:
            async with asyncio.timeout(self._timeout_seconds):  # a library's own one does not end an answer that drips
                return await send()
        except Exception as error:  # every provider's library raises its own; what is no fault of a call goes on up
            fault = classify_fault(error, secrets=self._secrets)
            if fault is None:
                raise
            return fault

    def end_if_fatal(self, fault: Fault | None, model: str) -> None:
        """Raises Unauthorized, Unavailable or LlmError when after this fault no call can succeed."""
        if fault is None or fault.kind in RUN_GOES_ON:
            return
        if fault.kind == "limited":
            wait, longest = fault.retry_after, self.retries.max_wait_seconds
            told = f"told to wait {wait:.0f} s" if wait and wait > longest else "told to slow down again and again"
            self._ended = Unavailable(f"{fault.status} from {model}: {told}. Run again later: what was done is kept.")
        else:
            self._ended = fatal_error(fault, model=model, key_name=self._key_name, api_base=self._api_base)
        raise self._ended
