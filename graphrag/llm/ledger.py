"""The ledger of calls: one row for each question put to a model, or answered from the memo.

Reads nothing; writes llm_calls. Rows that cost money can be appended to a JSONL file as they come, so that the cost of
a run that was killed is known too.

Does not: decide anything; budget.py stops, prices.py knows prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from graphrag import tables
from graphrag.errors import StoreError
from graphrag.llm.chat import GOOD

Row = dict[str, Any]
_COLLECTED: ContextVar[tuple[list[Row], ...]] = ContextVar("collected", default=())


@contextmanager
def collect_calls() -> Iterator[list[Row]]:
    """The rows of the calls that are made while the block lasts, and in its context alone: those of one question, where
    several are under way in threads."""
    rows: list[Row] = []
    token = _COLLECTED.set((*_COLLECTED.get(), rows))
    try:
        yield rows
    finally:
        _COLLECTED.reset(token)


class CallLedger:
    """The calls of one run, in the order in which they ended."""

    def __init__(self, run_id: str = "", *, path: Path | None = None) -> None:
        """path: JSONL file to which each paid call is appended at once."""
        self.run_id, self._path = run_id, path
        self._rows: list[Row] = []
        self.cost_usd: float | None = 0.0  # of all calls so far; None from the first one whose price is unknown

    def record(
        self,
        *,
        stage: str,
        model: str,
        key: str,
        status: str,
        cached: bool = False,
        prompt_tokens: int = 0,
        completion_tokens: int = 0,
        cached_tokens: int = 0,
        cost_usd: float | None = 0.0,
        latency_ms: int = 0,
        attempts: int = 0,
        is_estimated: bool = False,
    ) -> None:
        row = {
            "run_id": self.run_id, "stage": stage, "model": model, "key": key, "cached": cached,
            "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "cached_tokens": cached_tokens,
            "cost_usd": cost_usd, "latency_ms": latency_ms, "attempts": attempts,
            "status": status, "is_estimated": is_estimated,
        }  # fmt: skip
        self._rows.append(row)
        for collected in _COLLECTED.get():
            collected.append(row)
        self.cost_usd = None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd
        if self._path is not None and not cached:
            _append_line(self._path, row)

    def frame(self) -> pl.DataFrame:
        return tables.LLM_CALLS.from_rows(self._rows)

    def totals(self) -> pl.DataFrame:
        """Per stage and model, sorted: calls, from_memo, failed, prompt_tokens, completion_tokens, cost_usd (null where
        a price is unknown)."""
        return (
            self.frame()
            .group_by("stage", "model")
            .agg(
                (~pl.col("cached")).sum().cast(pl.Int64).alias("calls"),
                pl.col("cached").sum().cast(pl.Int64).alias("from_memo"),
                (~pl.col("status").is_in(GOOD)).sum().cast(pl.Int64).alias("failed"),
                pl.col("prompt_tokens", "completion_tokens").sum(),
                pl.when(pl.col("cost_usd").is_null().any())
                .then(None)
                .otherwise(pl.col("cost_usd").sum())
                .alias("cost_usd"),
            )
            .sort("stage", "model")
        )


def _append_line(path: Path, row: Mapping[str, Any]) -> None:
    try:
        with path.open("ab") as handle:
            handle.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise StoreError(f"Cannot write the ledger of calls {path}: {error.strerror}.") from error
