"""What a run would ask a model, and what that may cost, before a cent is spent: `graphrag plan`.

Nothing is called and litellm is not imported. A range, because nobody knows how long replies will be: from what the
stage expects to what it allows at most; retries and second tries are not in it.

Does not: know which requests a stage would make (the stage renders them), or print.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from graphrag.llm.chat import MEMO_KIND, UNKNOWN_MAX_REPLY, ChatRequest, Role, chat_key
from graphrag.llm.prices import Price
from graphrag.memo import Memo
from graphrag.tokens import TokenCounter, count_tokens

TOKENS_AROUND_MESSAGE = 4  # role and separators, in OpenAI's chat format
SCHEMA = pl.Schema(
    {
        "stage": pl.String(), "model": pl.String(), "calls": pl.Int64(), "from_memo": pl.Int64(),
        "prompt_tokens": pl.Int64(), "completion_tokens_low": pl.Int64(), "completion_tokens_high": pl.Int64(),
        "usd_low": pl.Float64(), "usd_high": pl.Float64(),
    }
)  # fmt: skip


def plan_calls(
    requests: Iterable[ChatRequest],
    *,
    models: Mapping[Role, str],
    prices: Mapping[str, Price | None],
    memo: Memo | None = None,
    count: TokenCounter = count_tokens,
) -> pl.DataFrame:
    """One row a stage and model, sorted: calls to make, replies that the memo holds, tokens, USD from low to high (null
    where no price is known). Equal requests count once."""
    waiting: dict[str, ChatRequest] = {}
    for request in requests:
        waiting.setdefault(chat_key(request, models[request.role]), request)
    held = memo.get_many(MEMO_KIND, list(waiting)) if memo is not None else {}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for key, request in waiting.items():
        model = models[request.role]
        row = rows.setdefault((request.stage, model), dict.fromkeys(SCHEMA.names()[2:7], 0))
        if key in held:
            row["from_memo"] += 1
            continue
        high = request.max_tokens or UNKNOWN_MAX_REPLY
        row["calls"] += 1
        row["prompt_tokens"] += sum(count(m.content) + TOKENS_AROUND_MESSAGE for m in request.messages)
        row["completion_tokens_low"] += min(request.expected_tokens, high)
        row["completion_tokens_high"] += high
    for (_, model), row in rows.items():
        price = prices.get(model)
        for end in ("low", "high"):
            row[f"usd_{end}"] = price.cost(row["prompt_tokens"], row[f"completion_tokens_{end}"]) if price else None
    named = [{"stage": stage, "model": model, **row} for (stage, model), row in sorted(rows.items())]
    return pl.DataFrame(named, schema=SCHEMA, orient="row")
