"""The one door to litellm, which knows the models of all providers: `LiteLlm`.

litellm is imported before the first question that the memo does not answer (3 CPU s), after it has been told to fetch
nothing on its own: no price list, no catalogues. Its retries, its cache, its callbacks and its talk on stderr are off;
ours are in door.py and around it.

Keys are read from the environment: by litellm (OPENAI_API_KEY, AZURE_API_KEY, ...), or here from the variable that
llm.api_key_env names. No key stands in a message, a log, the memo or the ledger.

Does not: decide what is asked, kept or paid (door.py).
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import warnings
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from graphrag.errors import Unauthorized
from graphrag.llm.attempts import Attempts
from graphrag.llm.budget import Budget
from graphrag.llm.chat import ChatRequest, Completion, models_of_roles
from graphrag.llm.door import Llm, Provider
from graphrag.llm.embeddings import RawVectors, decode_vector
from graphrag.llm.ledger import CallLedger
from graphrag.llm.limiter import Limiter
from graphrag.llm.prices import price_models
from graphrag.llm.retries import Retries
from graphrag.memo import Memo
from graphrag.settings import EMBEDDED, Settings

Result = TypeVar("Result")

OFFLINE = {
    "LITELLM_OFFLINE_MODE": "true",  # nothing that litellm fetches for itself: 25 s of retries without a network
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
NO_KEY = "unused"  # servers of one's own ask for none, but the OpenAI client insists on one
SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
SHORTEST_SECRET = 8
# Providers with OpenAI's own parameter for it: float32 as base64 costs a tenth of the CPU of numbers in JSON. Who does
# not know it answers numbers, or refuses and is asked without it.
ASKED_FOR_BASE64 = ("openai", "azure")


class LiteLlm(Llm):
    """Any model by its litellm name: openai/gpt-4.1-mini, azure/NAME, anthropic/..., ollama/..., hosted_vllm/..."""

    def __init__(
        self,
        model: str,
        *,
        role_models: Mapping[str, str] | None = None,
        api_base: str = "",
        api_key_env: str = "",
        embedding_model: str = "",
        embedding_api_base: str = "",
        max_concurrency: int = 25,
        rpm: int = 0,
        tpm: int = 0,
        timeout_seconds: float = 120.0,
        max_retries: int = 4,
        price: Sequence[float] = (),
        budget: Budget | None = None,
        memo: Memo | None = None,
        ledger: CallLedger | None = None,
        retries: Retries | None = None,
    ) -> None:
        """price: USD a million tokens sent and received, where litellm's list does not know the model.

        Raises Unauthorized if `api_key_env` names a variable that is not set, LlmError if the budget is in USD and a
        model has no price.
        """
        if api_key_env and not os.environ.get(api_key_env):
            raise Unauthorized("The variable that llm.api_key_env names is not set. Export it with the key.")
        models = models_of_roles(model, role_models or {})
        named = sorted({*models.values(), *([embedding_model] if embedding_model else [])})
        super().__init__(
            _LiteLlmProvider(
                model,
                api_base=api_base,
                api_key_env=api_key_env,
                embedding_api_base=embedding_api_base,
                timeout_seconds=timeout_seconds,
            ),
            models=models,
            embedding_model=embedding_model,
            prices=price_models(named, main=model, per_million=price),
            memo=memo,
            budget=budget,
            ledger=ledger,
            attempts=Attempts(
                Limiter(max_concurrency, rpm=rpm, tpm=tpm),
                retries or Retries(max_retries=max_retries),
                timeout_seconds=timeout_seconds,
                key_name=api_key_env or default_key_name(model),
                api_base=api_base,
                secrets=_secrets(os.environ),
            ),
        )

    def _run_alone(self, work: Coroutine[Any, Any, Result]) -> Result:
        with _without_noise():
            try:
                return super()._run_alone(work)
            except BaseException:
                gc.collect()
                raise

    @contextmanager
    def shared_loop(self) -> Iterator[None]:
        with _without_noise():
            try:
                with super().shared_loop():
                    yield
            except BaseException:
                gc.collect()
                raise


@contextmanager
def _without_noise() -> Iterator[None]:
    with warnings.catch_warnings():
        # The OpenAI library declares vectors as numbers, whatever was asked for.
        warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
        # litellm looks at a streamed chunk in a way that pydantic has deprecated.
        warnings.filterwarnings("ignore", "Accessing the 'model_", DeprecationWarning)
        # A run that ends early cancels calls, one perhaps between litellm's thread that makes its coroutine and
        # the await of it. What is left of them is dropped here, where nobody is told of it.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield


def open_llm(
    settings: Settings,
    *,
    memo: Memo | None = None,
    ledger: CallLedger | None = None,
    max_tokens: int | None = None,
    retries: Retries | None = None,
) -> LiteLlm | None:
    """The model that the settings name, or None in embedded mode. max_tokens: a limit for the whole run; retries: other
    than those of a run."""
    llm, embedding = settings.llm, settings.embeddings.model
    if llm.model == EMBEDDED:
        return None
    return LiteLlm(
        llm.model,
        role_models=llm.role_models(),
        api_base=llm.api_base,
        api_key_env=llm.api_key_env,
        embedding_model=embedding if "/" in embedding and not embedding.startswith("onnx:") else "",
        embedding_api_base=settings.embeddings.api_base,
        max_concurrency=llm.max_concurrency,
        rpm=llm.rpm,
        tpm=llm.tpm,
        timeout_seconds=llm.timeout_seconds,
        max_retries=llm.max_retries,
        price=llm.price,
        budget=Budget(limit_usd=llm.budget_usd or None, limit_tokens=max_tokens),
        memo=memo,
        ledger=ledger,
        retries=retries,
    )


def default_key_name(model: str) -> str:
    """The variable in which litellm looks for the key of a model's provider."""
    return f"{_provider_name(model).upper().replace('-', '_')}_API_KEY"


def _provider_name(model: str) -> str:
    return model.partition("/")[0] if "/" in model else "openai"


def _secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values that look like keys by the name of their variable, longest first."""
    values = {v for name, v in environ.items() if name.upper().endswith(SECRET_ENDINGS) and len(v) >= SHORTEST_SECRET}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


class _LiteLlmProvider(Provider):
    """litellm's two calls, in our words."""

    def __init__(
        self, main: str, *, api_base: str, api_key_env: str, embedding_api_base: str, timeout_seconds: float
    ) -> None:
        self._main = main
        self._api_base, self._embedding_api_base = api_base, embedding_api_base
        self._api_key_env, self._timeout_seconds = api_key_env, timeout_seconds
        self._refuse_base64: set[str] = set()
        self._litellm: Any = None
        self._loading = threading.Lock()

    def load(self) -> None:
        with self._loading:
            if self._litellm is None:
                self._litellm = _import_litellm()

    async def complete(self, model: str, request: ChatRequest) -> Completion:
        messages = [message._asdict() for message in request.messages]
        api_base = self._api_base if _provider_name(model) == _provider_name(self._main) else ""
        options = self._options(model, api_base)
        if request.is_streamed:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        response = await self._litellm.acompletion(model=model, messages=messages, **request.params(), **options)
        return await _read_stream(response, request) if request.is_streamed else _read_completion(response)

    async def embed(self, model: str, texts: Sequence[str]) -> RawVectors:
        options = self._options(model, self._embedding_api_base)
        if _provider_name(model) in ASKED_FOR_BASE64 and model not in self._refuse_base64:
            options["encoding_format"] = "base64"
        try:
            response = await self._litellm.aembedding(model=model, input=list(texts), **options)
        except self._litellm.BadRequestError as error:
            if options.pop("encoding_format", None) is None or "encoding_format" not in str(error):
                raise
            self._refuse_base64.add(model)
            response = await self._litellm.aembedding(model=model, input=list(texts), **options)
        vectors = [(int(item["index"]), decode_vector(item["embedding"])) for item in response.data or ()]
        return RawVectors(vectors, _tokens(response.usage, "prompt_tokens"))

    async def close(self) -> None:
        if self._litellm is None:
            return
        await self._litellm.close_litellm_async_clients()
        self._litellm.in_memory_llm_clients_cache.flush_cache()  # else a later loop may be given a closed client

    def _options(self, model: str, api_base: str) -> dict[str, Any]:
        """Address and key. That of llm.api_key_env goes to the main model's provider at its address, nowhere else."""
        is_main = _provider_name(model) == _provider_name(self._main) and api_base == self._api_base
        key_name = self._api_key_env if is_main and self._api_key_env else default_key_name(model)
        key = os.environ.get(key_name) or (NO_KEY if api_base and default_key_name(model) == "OPENAI_API_KEY" else None)
        return {
            "api_base": api_base or None,
            "api_key": key,
            "timeout": self._timeout_seconds,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,  # a parameter that this model does not know is left out
            "no-log": True,
        }


def _import_litellm() -> Any:
    """litellm, quiet and offline. An Any: its types are not those of its run time."""
    for name, value in OFFLINE.items():
        os.environ.setdefault(name, value)
    with _without_collection():
        import litellm

    litellm.suppress_debug_info = True
    litellm.num_retries = 0
    litellm.cache = None
    litellm.callbacks, litellm.success_callback, litellm.failure_callback = [], [], []
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # its errors come to us as errors, without keys
    return litellm


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection: half a million objects that all stay are looked through again and again otherwise, a
    quarter of the time of the import (0.8 CPU s). Nor are they looked at in later collections."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _read_completion(response: Any) -> Completion:
    """Defensively: a provider may leave out the choices, the content, or the usage."""
    choice = response.choices[0] if response.choices else None
    message = choice.message if choice is not None else None
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    if choice is None:
        detail = "no choices in the reply"
    elif message is not None and message.tool_calls:
        detail = "a tool call instead of text"
    else:
        detail = ""
    return Completion(
        text=(message.content or "") if message is not None else "",
        finish_reason=(choice.finish_reason or "stop") if choice is not None else "none",
        prompt_tokens=_tokens(usage, "prompt_tokens"),
        completion_tokens=_tokens(usage, "completion_tokens"),
        cached_tokens=_tokens(details, "cached_tokens"),
        detail=detail,
    )


async def _read_stream(chunks: Any, request: ChatRequest) -> Completion:
    """The pieces of a streamed reply, shown as they come, and what the last ones say about it."""
    text, finish_reason, usage, has_call = "", "none", None, False
    async for chunk in chunks:
        usage = getattr(chunk, "usage", None) or usage
        for choice in chunk.choices[:1]:
            finish_reason = choice.finish_reason or finish_reason
            has_call = has_call or bool(getattr(choice.delta, "tool_calls", None))
            if piece := choice.delta.content:
                text += piece
                request.on_text(text)
    return Completion(
        text=text,
        finish_reason="stop" if finish_reason == "none" and text else finish_reason,
        prompt_tokens=_tokens(usage, "prompt_tokens"),
        completion_tokens=_tokens(usage, "completion_tokens"),
        cached_tokens=_tokens(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        detail="a tool call instead of text" if has_call else "",
    )


def _tokens(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return int(value) if isinstance(value, int | float) else 0
