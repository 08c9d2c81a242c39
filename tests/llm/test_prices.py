"""Prices from the list in the litellm package, and from the settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphrag.llm.prices import Price, find_price, price_models

from ..conftest import ROOT


@pytest.mark.parametrize(
    "model", ["openai/gpt-4.1-mini", "gpt-4.1-mini", "azure/gpt-4.1-mini", "gemini/gemini-2.5-flash"]
)
def test_known_models_have_a_price(model: str) -> None:
    price = find_price(model)
    assert price is not None and 0 < price.cached < price.prompt < price.completion < 1e-4


def test_names_of_other_providers_are_not_taken_for_those_of_openai() -> None:
    assert find_price("hosted_vllm/gpt-4.1-mini") is None
    assert find_price("openai/no-such-model") is None
    local = find_price("ollama/llama3")
    assert local is not None and local.cost(10**6, 10**6) == 0.0


def test_the_users_price_is_that_of_the_main_model_and_of_unknown_ones() -> None:
    found = price_models(
        ["openai/gpt-4.1-mini", "openai/mine", "openai/gpt-4.1"], main="openai/gpt-4.1-mini", per_million=[1.0, 2.0]
    )
    own = Price(1e-6, 2e-6, 1e-6)
    assert found["openai/gpt-4.1-mini"] == own
    assert found["openai/mine"] == own
    assert found["openai/gpt-4.1"] == find_price("openai/gpt-4.1") != own
    assert price_models(["openai/mine"], main="openai/mine") == {"openai/mine": None}


def test_cached_tokens_cost_less_and_are_never_more_than_all() -> None:
    price = Price(10.0, 1.0, 2.0)
    assert price.cost(5, 3, 4) == 10 + 8 + 3
    assert price.cost(5, 0, 99) == 10


def test_prices_need_no_litellm() -> None:
    program = (
        "import sys; from graphrag.llm.prices import find_price; find_price('gpt-4o'); print('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
