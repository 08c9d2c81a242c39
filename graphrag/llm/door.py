"""The way of every question: key -> memo -> budget -> limiter -> model -> usage -> ledger -> memo, in `Llm.chat`.
Texts go the same way to vectors in `Llm.embed`.

Behind the door stands a provider: litellm (litellm_door.py), a script or a recording (replay.py). What is answered is
in the memo before the caller sees it: a run that is killed or cancelled pays for nothing twice. A reply that the caller
cannot use is never kept.

Reads and writes the memo (kinds "llm" and "vector"); writes rows of llm_calls through the ledger.

Does not: retry or wait (attempts.py), write prompts, read records out of replies, or print.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from graphrag.errors import LlmError
from graphrag.llm.attempts import Attempts, Call
from graphrag.llm.budget import Budget
from graphrag.llm.chat import (
    MEMO_KIND,
    UNKNOWN_MAX_REPLY,
    ChatReply,
    ChatRequest,
    Completion,
    Role,
    Status,
    chat_key,
    decode_reply,
    encode_reply,
    judge_completion,
)
from graphrag.llm.concurrency import ignore, map_concurrently
from graphrag.llm.embeddings import (
    RawVectors,
    Vectors,
    cut_batches,
    has_dim,
    is_complete,
    most_common_dim,
    read_vectors,
    stack_vectors,
)
from graphrag.llm.faults import RUN_GOES_ON, Fault
from graphrag.llm.ledger import CallLedger
from graphrag.llm.limiter import Limiter
from graphrag.llm.prices import Price
from graphrag.llm.retries import Retries
from graphrag.memo import Memo, memo_key
from graphrag.tokens import TokenCounter, count_tokens

if TYPE_CHECKING:
    from graphrag.llm.embeddings import Embedded
    from graphrag.llm.recording import Recording

VECTOR_KIND = "vector"
MAX_QUOTED = 4000  # characters of a bad reply that the model is shown again
REPAIRABLE: tuple[Status, ...] = ("unreadable_reply", "empty_reply")
SEEN_MARGIN, SEEN_ENOUGH = 1.5, 3  # after so many replies of a stage, that much more than its longest is set aside
BYTES_PER_TOKEN = 3  # fewer than any tokenizer needs for prose, so that a prompt is rather over- than underestimated

Result = TypeVar("Result")


class Provider(Protocol):
    """What stands behind the door. Its questions raise what its library raises."""

    def load(self) -> None:
        """Import what questions need, which may take seconds; called before the first of them, from any thread. Most
        need nothing."""
        return

    async def complete(self, model: str, request: ChatRequest) -> Completion: ...

    async def embed(self, model: str, texts: Sequence[str]) -> RawVectors: ...

    async def close(self) -> None:
        """Let go of the connections of this event loop."""


class Llm:
    """The door, in front of any provider. It works in one event loop at a time: threads wait for each other, or share a
    loop (`shared_loop`).

    `models` names the model of each role. `notices` holds what a user should read once.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        models: Mapping[Role, str],
        embedding_model: str = "",
        prices: Mapping[str, Price | None] | None = None,
        memo: Memo | None = None,
        budget: Budget | None = None,
        attempts: Attempts | None = None,
        ledger: CallLedger | None = None,
        count: TokenCounter = count_tokens,
    ) -> None:
        """Raises LlmError if the budget is in USD and a model has no price."""
        self.models, self.embedding_model = dict(models), embedding_model
        self.budget, self.ledger = budget or Budget(), ledger or CallLedger()
        self.notices: list[str] = []
        self._provider, self._memo, self._is_loaded = provider, memo, False
        self._recording: Recording | None = None
        self._attempts = attempts or Attempts(Limiter(25), Retries(max_retries=4), timeout_seconds=120.0)
        self._prices, self._count = prices or {}, count
        self._asking: dict[str, asyncio.Future[ChatReply]] = {}
        self._one_loop = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Task[None] | None = None
        self._longest: dict[str, tuple[int, int]] = {}  # stage -> (replies seen, completion tokens of the longest)
        self._refuse_unknown_prices()

    def record_in(self, recording: Recording) -> None:
        """From now on every reply is recorded, those of the memo too."""
        self._recording = recording

    def load(self) -> None:
        """Make the first question quick, where one is sure to come: else the provider is loaded when it does."""
        self._provider.load()
        self._is_loaded = True

    @property
    def in_flight(self) -> int:
        """How many questions to have under way, so that places stay taken while some calls wait for a retry."""
        return 2 * self._attempts.limiter.max_concurrency

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """All that a stage asks, in one event loop: `llm.run(chat_many(llm, requests))`. Closes the connections.

        Ctrl-C cancels the work and raises KeyboardInterrupt: what was answered before is in the memo. Inside a
        `shared_loop` the work runs in that loop.
        """
        if self._loop is not None:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        with self._one_loop:
            return self._run_alone(work)

    def _run_alone(self, work: Coroutine[Any, Any, Result]) -> Result:
        async def close_after() -> Result:
            try:
                return await work
            finally:
                await self._provider.close()

        return asyncio.run(close_after())

    @contextmanager
    def shared_loop(self) -> Iterator[None]:
        """One event loop, in a thread of its own, for all that several threads `run` while the block lasts: limits and
        budget hold for all of them together. At its end what is still under way is cancelled."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True, name="calls")
        thread.start()
        self._loop = loop

        async def end() -> None:
            under_way = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            await self._provider.close()

        try:
            yield
        finally:
            self._loop = None
            asyncio.run_coroutine_threadsafe(end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The reply to a request; one that failed, by its status. Equal requests under way at once are asked once.
        Its on_text sees the words as they come, those of the memo at once.

        Raises Unauthorized, Unavailable or LlmError when no further call can succeed, BudgetSpent before a call that
        might pass the budget.
        """
        model = self.models[request.role]
        key = chat_key(request, model)
        if known := self._recall(request, model, key):
            request.on_text(known.text)
            return known
        if key in self._asking:
            shared = await self._share(request, self._asking[key])
            request.on_text(shared.text)
            return shared
        pending = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._ask(request, model, key)
            if request.repair and reply.status in REPAIRABLE:
                second = await self._ask(request.followed_by(reply.text[:MAX_QUOTED], request.repair), model, key)
                reply = replace(second, unrepaired=reply.text)
            if reply.is_good and self._memo is not None:
                self._memo.put_many(MEMO_KIND, {key: encode_reply(reply)})
            request.on_text(reply.text)
            pending.set_result(reply)
            return reply
        finally:
            del self._asking[key]
            pending.cancel()  # without effect once there is a result

    def _recall(self, request: ChatRequest, model: str, key: str) -> ChatReply | None:
        """The reply that was paid for before, unless today's reader does not accept it any more."""
        value = self._memo.get_many(MEMO_KIND, [key]).get(key) if self._memo is not None else None
        reply = decode_reply(value, model=model, key=key) if value is not None else None
        if reply is None or not request.accept(reply.text):
            return None
        self.ledger.record(stage=request.stage, model=model, key=key, status=reply.status, cached=True)
        if self._recording is not None:
            self._recording.add(request, reply)
        return reply

    async def _share(self, request: ChatRequest, pending: asyncio.Future[ChatReply]) -> ChatReply:
        reply = await asyncio.shield(pending)
        self.ledger.record(stage=request.stage, model=reply.model, key=reply.key, status=reply.status, cached=True)
        return reply

    async def _ask(self, request: ChatRequest, model: str, key: str) -> ChatReply:
        """Budget, limiter, model, usage, ledger."""
        await self._load_in_thread()
        price = self._prices.get(model)
        n_prompt = _estimate_tokens(request.text)
        n_reply = self._longest_reply(request, model)
        usd = price.cost(n_prompt, n_reply) if price else 0.0
        async with self.budget.reserve(usd, n_prompt + n_reply) as reservation:
            call = await self._attempts.call(
                lambda: self._provider.complete(model, request), key=key, tokens=n_prompt + n_reply
            )
            reply = self._read_outcome(request, call, model=model, key=key)
            reservation.pay(reply.cost_usd or 0.0, reply.prompt_tokens + reply.completion_tokens)
        fault = call.outcome if isinstance(call.outcome, Fault) else None
        self.ledger.record(
            stage=request.stage,
            model=model,
            key=key,
            status=fault.kind if fault else reply.status,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cached_tokens=reply.cached_tokens,
            cost_usd=reply.cost_usd,
            latency_ms=call.latency_ms,
            attempts=call.attempts,
            is_estimated=reply.is_estimated,
        )
        if self._recording is not None:
            self._recording.add(request, reply)
        self._attempts.end_if_fatal(fault, model)
        return reply

    async def _load_in_thread(self) -> None:
        """What the memo knows is read meanwhile, and those who wait go on in their order; the time is no part of a
        call's."""
        if self._is_loaded:
            return
        if self._loading is None or self._loading.get_loop() is not asyncio.get_running_loop():
            self._loading = asyncio.create_task(asyncio.to_thread(self.load))
        await asyncio.shield(self._loading)

    def _read_outcome(self, request: ChatRequest, call: Call[Completion], *, model: str, key: str) -> ChatReply:
        if isinstance(call.outcome, Fault):
            status: Status = next((kind for kind in RUN_GOES_ON if kind == call.outcome.kind), "unavailable")
            return ChatReply("", status, call.outcome.detail, model=model, key=key, attempts=call.attempts)
        answer = call.outcome
        n_prompt, n_reply = answer.prompt_tokens, answer.completion_tokens
        is_estimated = n_prompt <= 0 or n_reply < 0 or (n_reply == 0 and bool(answer.text))
        if is_estimated:
            n_prompt, n_reply = self._count(request.text), self._count(answer.text)
        n_cached = max(0, min(answer.cached_tokens, n_prompt))
        price = self._prices.get(model)
        n_seen, longest = self._longest.get(request.stage, (0, 0))
        self._longest[request.stage] = (n_seen + 1, max(longest, n_reply))
        status, detail = judge_completion(request, answer)
        return ChatReply(
            answer.text,
            status,
            detail,
            model=model,
            key=key,
            prompt_tokens=n_prompt,
            completion_tokens=n_reply,
            cached_tokens=n_cached,
            cost_usd=price.cost(n_prompt, n_reply, n_cached) if price else None,
            attempts=call.attempts,
            is_estimated=is_estimated,
        )

    def _longest_reply(self, request: ChatRequest, model: str) -> int:
        """Tokens to set aside for a reply: its bound, or less once the stage has shown how long its replies are."""
        bound = request.max_tokens or UNKNOWN_MAX_REPLY
        n_seen, longest = self._longest.get(request.stage, (0, 0))
        return min(bound, int(longest * SEEN_MARGIN)) if n_seen >= SEEN_ENOUGH else bound

    def _refuse_unknown_prices(self) -> None:
        if self.budget.limit_usd is None:
            return
        for model in [*self.models.values(), *([self.embedding_model] if self.embedding_model else [])]:
            if self._prices.get(model) is None:
                raise LlmError(f'No price for "{model}". Set llm.price or use --max-tokens.')

    async def embed(self, texts: Sequence[str], *, stage: str = "embeddings") -> Vectors:
        """One vector a text; known ones come from the memo, equal texts count once. The dimension is the service's.

        Raises what `chat` raises.
        """
        import numpy as np

        keys = {text: memo_key("litellm", self.embedding_model, text) for text in texts}
        held = self._memo.get_many(VECTOR_KIND, list(keys.values())) if self._memo is not None else {}
        known: dict[str, Embedded] = {
            text: np.frombuffer(held[key], dtype=np.float32) for text, key in keys.items() if key in held
        }
        fresh = await self._embed_missing([text for text in keys if text not in known], keys, stage)
        dim = most_common_dim(fresh.values()) or most_common_dim(known.values())
        stale = [text for text, vector in known.items() if not has_dim(vector, dim)]
        if stale:
            self.notices.append(f"{self.embedding_model} gives {dim} dimensions now: {len(stale)} vectors made again.")
            fresh |= await self._embed_missing(stale, keys, stage)
        found = known | fresh
        return stack_vectors(texts, found, most_common_dim(found.values()))

    async def _embed_missing(self, texts: Sequence[str], keys: Mapping[str, str], stage: str) -> dict[str, Embedded]:
        found: dict[str, Embedded] = {}

        async def embed_batch(batch: list[str]) -> None:
            answers = await self._embed_batch(batch, stage)
            if self._memo is not None:
                dim = most_common_dim(answers.values())
                good = {keys[text]: v.tobytes() for text, v in answers.items() if has_dim(v, dim)}
                self._memo.put_many(VECTOR_KIND, good)
            found.update(answers)

        await map_concurrently(embed_batch, cut_batches(texts), in_flight=self.in_flight)
        return found

    async def _embed_batch(self, texts: list[str], stage: str) -> dict[str, Embedded]:
        """Vectors of a batch. It is halved and asked again where a text is too long, or where the number of vectors is
        not that of the texts: then nobody knows whose they are."""
        await self._load_in_thread()
        model, key = self.embedding_model, memo_key("litellm", self.embedding_model, *texts)
        price = self._prices.get(model)
        n_tokens = sum(map(_estimate_tokens, texts))
        async with self.budget.reserve(price.cost(n_tokens, 0) if price else 0.0, n_tokens) as reservation:
            call = await self._attempts.call(lambda: self._provider.embed(model, texts), key=key, tokens=n_tokens)
            fault = call.outcome if isinstance(call.outcome, Fault) else None
            raw = call.outcome if isinstance(call.outcome, RawVectors) else RawVectors(())
            is_estimated = fault is None and raw.prompt_tokens <= 0
            n_paid = sum(map(self._count, texts)) if is_estimated else raw.prompt_tokens
            cost = 0.0 if fault else (price.cost(n_paid, 0) if price else None)
            reservation.pay(cost or 0.0, n_paid)
        self.ledger.record(
            stage=stage,
            model=model,
            key=key,
            status=fault.kind if fault else "ok",
            prompt_tokens=n_paid,
            cost_usd=cost,
            latency_ms=call.latency_ms,
            attempts=call.attempts,
            is_estimated=is_estimated,
        )
        self._attempts.end_if_fatal(fault, model)
        is_doubtful = fault.kind == "too_long" if fault else not is_complete(raw, len(texts))
        if is_doubtful and len(texts) > 1:
            half = len(texts) // 2
            return await self._embed_batch(texts[:half], stage) | await self._embed_batch(texts[half:], stage)
        if fault:
            return dict.fromkeys(texts, (fault.kind, fault.detail))
        return dict(zip(texts, read_vectors(raw, len(texts)), strict=True))


async def chat_many(
    llm: Llm,
    requests: Iterable[ChatRequest],
    *,
    on_reply: Callable[[ChatRequest, ChatReply], None] = ignore,
) -> list[ChatReply]:
    """The replies in the order of the requests; `on_reply` sees each as it comes. Raises what `Llm.chat` raises, after
    those in flight have ended; everything that was answered is in the memo by then."""
    return await map_concurrently(llm.chat, requests, in_flight=llm.in_flight, on_result=on_reply)


def _estimate_tokens(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN + 8
