"""What models cost: USD a token, from the price list that the litellm package carries, or from the settings.

The list is read as a file, without importing litellm (3 CPU s) and without a network.

Does not: know discounts, batch or priority prices, or prices that rise with the length of a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import orjson

PRICE_FILE = "model_prices_and_context_window_backup.json"
PER_MILLION = 1_000_000


class Price(NamedTuple):
    """USD a token: sent, received, and sent but cached by the provider."""

    prompt: float
    completion: float
    cached: float

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        cached = min(cached_tokens, prompt_tokens)
        return (prompt_tokens - cached) * self.prompt + cached * self.cached + completion_tokens * self.completion


def find_price(model: str) -> Price | None:
    """The list's price of a model as litellm names it (openai/gpt-4.1-mini, azure/..., ollama/...); None if unknown."""
    entry = _entry(model)
    if entry is None or "input_cost_per_token" not in entry:
        return None
    prompt = float(entry["input_cost_per_token"])
    cached = entry.get("cache_read_input_token_cost")
    return Price(prompt, float(entry.get("output_cost_per_token") or 0.0), prompt if cached is None else float(cached))


def settings_price(per_million: Sequence[float]) -> Price | None:
    """The price a user set: USD a million tokens sent and received; None for an empty list."""
    if not per_million:
        return None
    prompt, completion = (value / PER_MILLION for value in per_million)
    return Price(prompt, completion, prompt)


def price_models(models: Sequence[str], *, main: str, per_million: Sequence[float] = ()) -> dict[str, Price | None]:
    """The price of each model. A price that the user set is that of the main model, and of those no list knows."""
    own = settings_price(per_million)
    return {model: own if own and model == main else (find_price(model) or own) for model in models}


def _entry(model: str) -> Mapping[str, Any] | None:
    """The list names some models with their provider in front and some without."""
    entries = _price_list()
    if model in entries:
        return entries[model]
    provider, _, name = model.partition("/")
    entry = entries.get(name)
    return entry if entry and entry.get("litellm_provider") == provider else None


@lru_cache(maxsize=1)
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    spec = find_spec("litellm")
    for location in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        path = Path(location) / PRICE_FILE
        if path.is_file():
            entries: Mapping[str, Mapping[str, Any]] = orjson.loads(path.read_bytes())
            return entries
    return {}
