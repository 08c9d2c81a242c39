"""Errors of providers, told apart without importing litellm; test_litellm_door.py does the same with the real ones."""

from __future__ import annotations

from typing import ClassVar

import pytest

from graphrag.llm.faults import Kind, classify_fault, clean_detail, fatal_error


class ProviderError(Exception):
    def __init__(self, message: str, status_code: object = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status_code, self.code = status_code, code


class ContextWindowExceededError(ProviderError):
    pass


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError("slow down", 429), "limited"),
        (ProviderError("You exceeded your current quota, please check your plan", 429), "exhausted"),
        (ProviderError("Your credit balance is too low to access the API", 400), "exhausted"),
        (ProviderError("pay", 402), "exhausted"),
        (ProviderError("overloaded", 529), "limited"),
        (ProviderError("busy", 503), "limited"),
        (ProviderError("oops", 500), "unavailable"),
        (ProviderError("conflict", 409), "unavailable"),
        (ProviderError("no", 401), "unauthorized"),
        (ProviderError("no", 403), "unauthorized"),
        (ProviderError("no such model", 404), "unauthorized"),
        (ProviderError("temperature must be below 2", 400), "rejected"),
        (ContextWindowExceededError("too much", 400), "too_long"),
        (ProviderError("prompt is too long: 210000 tokens > 200000 maximum", 400), "too_long"),
        (ProviderError("no", 400, "content_policy_violation"), "refusal"),
        (ProviderError("The response was filtered due to the prompt triggering Azure's content management policy", 400),
         "refusal"),
        (ProviderError("Missing credentials. Please pass an `api_key`", 500), "unauthorized"),
        (TimeoutError(), "timeout"),
        (ConnectionResetError("reset"), "unavailable"),
    ],
)  # fmt: skip
def test_kinds(error: Exception, kind: Kind) -> None:
    fault = classify_fault(error)
    assert fault is not None and fault.kind == kind


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("y"), ProviderError("no status")])
def test_mistakes_in_programs_are_no_faults(error: Exception) -> None:
    assert classify_fault(error) is None


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - no", "no"),
        ("litellm.BadRequestError: OpenAIException - bad\n  thing", "bad thing"),
        ("Incorrect API key provided: sk-proj-abcdef0123456789.", "Incorrect API key provided: [key]"),
        ("header Authorization: Bearer abc.def", "header Authorization: [key]"),
        ("the secret hunter22 is here", "the secret [key] is here"),
        ("a sk-y clear day", "a sk-y clear day"),
        ('AnthropicException - {"type": "error", "error": {"type": "x", "message": "slow down"}}.', "slow down"),
        ('OllamaError - {"error": "model \'x\' not found"}', "model 'x' not found"),
        (
            "Cannot connect to host a:9 ssl:<ssl.SSLContext object at 0x7f> [refused]",
            "Cannot connect to host a:9 [refused]",
        ),
        ("AzureException NotFoundError - no deployment", "no deployment"),
        ("oom. Handle with `litellm.InternalServerError`.", "oom"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_details_are_one_line_without_keys(text: str, clean: str) -> None:
    assert clean_detail(text, secrets=["hunter22", ""]) == clean


@pytest.mark.parametrize("place", ["response", "headers", "litellm_response_headers", "behind"])
def test_the_wait_is_found_wherever_litellm_keeps_the_headers(place: str) -> None:
    class Response:
        headers: ClassVar = {"Retry-After": "7"}

    error = ProviderError("overloaded", 500)
    origin = ProviderError("overloaded", 529)
    error.__cause__ = origin
    if place == "response":
        error.response = Response()  # type: ignore[attr-defined]  # as httpx hangs it on
    else:
        setattr(origin if place == "behind" else error, place.replace("behind", "headers"), Response.headers)
    fault = classify_fault(error)
    assert fault is not None
    assert (fault.kind, fault.status, fault.retry_after) == ("limited", 529, 7.0)


def test_a_model_without_a_provider_is_told_how_to_name_it() -> None:
    fault = classify_fault(ProviderError("LLM Provider NOT provided. Pass in the LLM provider", 400))
    assert fault is not None
    error = fatal_error(fault, model="my-model", key_name="K", api_base="")
    assert str(error) == 'No provider known for the model "my-model". Write provider/model, such as openai/my-model.'
