"""The budget of a run: a limit in USD, in tokens, or both, that calls made side by side cannot pass together.

A call sets aside the most it may cost before it starts and gives back the rest when it is done. If it does not fit only
because others have money set aside, it waits for them; if it does not fit in what is left at all, the budget is spent.

Does not: know models or prices (prices.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphrag.errors import BudgetSpent


class Reservation:
    """What one call has set aside, and what it has really cost so far."""

    def __init__(self, usd: float, tokens: int) -> None:
        self.usd, self.tokens = usd, tokens
        self.paid_usd, self.paid_tokens = 0.0, 0

    def pay(self, usd: float, tokens: int) -> None:
        self.paid_usd += usd
        self.paid_tokens += tokens


class Budget:
    """What may be spent, what has been spent, and what is set aside. A limit of None is none."""

    def __init__(self, *, limit_usd: float | None = None, limit_tokens: int | None = None) -> None:
        self.limit_usd, self.limit_tokens = limit_usd, limit_tokens
        self.spent_usd, self.spent_tokens = 0.0, 0
        self._set_aside: list[Reservation] = []
        self._waiting: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def reserve(self, usd: float, tokens: int) -> AsyncIterator[Reservation]:
        """Set that much aside while a call is made. Raises BudgetSpent when it does not fit in what is left."""
        while not self._fits(usd, tokens, with_reserved=True):
            if not self._fits(usd, tokens, with_reserved=False):
                raise BudgetSpent(self._explain(usd, tokens))
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        reservation = Reservation(usd, tokens)
        self._set_aside.append(reservation)
        try:
            yield reservation
        finally:
            self._set_aside.remove(reservation)
            self.spent_usd += reservation.paid_usd
            self.spent_tokens += reservation.paid_tokens
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)

    def _fits(self, usd: float, tokens: int, *, with_reserved: bool) -> bool:
        """Others' real payments count always; what they merely set aside, only where asked."""
        usd += self.spent_usd + sum(r.usd if with_reserved else r.paid_usd for r in self._set_aside)
        tokens += self.spent_tokens + sum(r.tokens if with_reserved else r.paid_tokens for r in self._set_aside)
        return (self.limit_usd is None or usd <= self.limit_usd) and (
            self.limit_tokens is None or tokens <= self.limit_tokens
        )

    def _explain(self, usd: float, tokens: int) -> str:
        if self.limit_usd is not None and self.spent_usd + usd > self.limit_usd:
            state = f"${self.limit_usd:.4f} is spent: ${self.spent_usd:.4f} paid, the next call may cost ${usd:.4f}"
        else:
            state = f"{self.limit_tokens} tokens is spent: {self.spent_tokens} used, the next call may take {tokens}"
        return f"The budget of {state}. What was done is kept: run again with a larger budget to go on."
