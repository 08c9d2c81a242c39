"""What went wrong with a call: which of its failures concern the call, the service, or the whole run.

litellm raises its own errors for some faults and plain ones for others; what counts here is the HTTP status, the class
name and the words of the message, so that this room works without importing litellm.

Does not: retry (retries.py), or let a key into a message (every detail goes through `clean_detail`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from graphrag.errors import LlmError, Unauthorized, Unavailable
from graphrag.llm.limiter import parse_retry_after

# limited: told to slow down. timeout, unavailable: worth another try. too_long, refusal: this request only.
# unauthorized, rejected, exhausted: no call will succeed, the run ends.
Kind = Literal["limited", "timeout", "unavailable", "too_long", "refusal", "unauthorized", "rejected", "exhausted"]

RUN_GOES_ON: tuple[Literal["timeout", "unavailable", "too_long", "refusal"], ...] = (
    "timeout", "unavailable", "too_long", "refusal",
)  # fmt: skip
MAX_DETAIL, MAX_CHAIN = 300, 5
TOO_LONG_WORDS = (
    "maximum context length", "context_length_exceeded", "context window", "prompt is too long", "input is too long",
    "exceeds the maximum number of tokens", "exceed_context_size", "reduce the length",
)  # fmt: skip
REFUSAL_WORDS = (
    "content_policy", "content policy", "content_filter", "content filter", "safety system",
    "content management policy", "responsibleaipolicyviolation",
)  # fmt: skip
EXHAUSTED_WORDS = ("insufficient_quota", "exceeded your current quota", "billing", "credit balance is too low")
NO_KEY_WORDS = ("missing credentials", "api_key client option must be set", "missing api key")
UNKNOWN_PROVIDER_WORDS = "llm provider not provided"
OVERLOADED = (429, 503, 529)
_LITELLM_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\w*:\s*|litellm\.\w+:\s*)+")
_PROVIDER_PREFIX = re.compile(r"^\w+(?:Exception|Error)(?: \w+Error)?\s*-\s*")
_JSON_MESSAGE = re.compile(r'"(?:message|error)":\s*"((?:[^"\\]|\\.)+)"')
_NOISE = re.compile(r"\.?\s*Handle with `litellm\.\w+`|\sssl:<[^>]*>")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai|hf)[-_][\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}", re.IGNORECASE)


class Fault(NamedTuple):
    kind: Kind
    status: int  # HTTP; 0 where there was none
    detail: str
    retry_after: float | None = None


def classify_fault(error: Exception, *, secrets: Iterable[str] = ()) -> Fault | None:
    """The fault behind an error of a provider, or None if it is no such error (a mistake in a program)."""
    names = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    detail = clean_detail(str(error), secrets=secrets)
    if isinstance(error, TimeoutError) or names & {"Timeout", "APITimeoutError"}:
        return Fault("timeout", 0, detail or "no answer in time")
    if not isinstance(status, int):
        is_transport = isinstance(error, OSError) or "APIConnectionError" in names
        return Fault("unavailable", 0, detail or type(error).__name__) if is_transport else None
    words = f"{detail} {getattr(error, 'code', '')}".casefold()
    if status >= 500:  # litellm makes a 500 of what it has no class for, and of a key that is missing here
        behind = [getattr(link, "status_code", None) for link in _chain(error)]
        status = next((code for code in OVERLOADED if code in behind), status)
        status = 401 if any(word in words for word in NO_KEY_WORDS) else status
    return Fault(_kind(status, names, words), status, detail, _retry_after(error))


def _kind(status: int, names: set[str], words: str) -> Kind:
    if status == 402 or any(word in words for word in EXHAUSTED_WORDS):
        return "exhausted"
    if status in OVERLOADED:
        return "limited"
    if status in (408, 504):
        return "timeout"
    if status in (401, 403, 404):
        return "unauthorized"
    if "ContextWindowExceededError" in names or status == 413 or any(word in words for word in TOO_LONG_WORDS):
        return "too_long" if status < 500 else "unavailable"
    if "ContentPolicyViolationError" in names or any(word in words for word in REFUSAL_WORDS):
        return "refusal" if status < 500 else "unavailable"
    return "rejected" if 400 <= status < 500 and status not in (409, 425) else "unavailable"


def _retry_after(error: Exception) -> float | None:
    """litellm keeps a provider's headers in one of three places of its own error, or only in the error behind it."""
    for link in _chain(error):
        places = (getattr(getattr(link, "response", None), "headers", None), getattr(link, "headers", None))
        for headers in (*places, getattr(link, "litellm_response_headers", None)):
            if isinstance(headers, Mapping):
                found = {str(name).casefold(): str(value) for name, value in headers.items()}
                if "retry-after" in found:
                    return parse_retry_after(found["retry-after"])
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(MAX_CHAIN):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def clean_detail(text: str, *, secrets: Iterable[str] = ()) -> str:
    """One line without keys, litellm's own prefixes and the final full stop, at most 300 characters."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    text = " ".join(_KEY_LIKE.sub("[key]", text).split())
    text = _PROVIDER_PREFIX.sub("", _LITELLM_PREFIX.sub("", text))
    if message := _JSON_MESSAGE.search(text):
        text = message[1]
    text = _NOISE.sub("", text).rstrip(". ")
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"


def fatal_error(fault: Fault, *, model: str, key_name: str, api_base: str) -> LlmError:
    """The error that ends the run because of an unauthorized, rejected or exhausted call, in one line that says what to
    do."""
    where = f"{fault.status} from {model}" + (f" at {api_base}" if api_base else "")
    if fault.kind == "unauthorized" and fault.status == 404:
        return Unauthorized(f"{where}: {fault.detail}. Check llm.model and llm.api_base.")
    if fault.kind == "unauthorized":
        return Unauthorized(f"{where}. Check the key in {key_name}.")
    if fault.kind == "exhausted":
        return Unavailable(f"{where}: {fault.detail}. Check plan and billing of the account behind {key_name}.")
    if fault.kind == "rejected" and UNKNOWN_PROVIDER_WORDS in fault.detail.casefold():
        return LlmError(f'No provider known for the model "{model}". Write provider/model, such as openai/{model}.')
    return LlmError(f"{where}: {fault.detail}. Check llm.model and its settings.")
