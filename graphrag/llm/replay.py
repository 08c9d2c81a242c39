"""Doubles of a model: `ScriptedLlm` answers with a function, `ReplayLlm` with what was recorded.

Both are the whole door (memo, budget, retries, ledger) with another provider behind it, so that a test of a stage tests
the way of its questions too. A recording is JSONL, one line a reply, found again by the question without the model's
name; several replies to the same question come back in order, the last one for ever.

Does not: judge replies, or record keys and addresses.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import orjson

from graphrag.errors import InputError, ReplyMiss
from graphrag.llm.attempts import Attempts
from graphrag.llm.budget import Budget
from graphrag.llm.chat import ROLES, ChatRequest, Completion, chat_key
from graphrag.llm.door import Llm, Provider
from graphrag.llm.embeddings import RawVectors
from graphrag.llm.ledger import CallLedger
from graphrag.llm.limiter import Limiter
from graphrag.llm.prices import Price
from graphrag.llm.retries import Retries
from graphrag.memo import Memo

Script = Callable[[ChatRequest], str | Completion | Awaitable[str | Completion]]
EmbedScript = Callable[[Sequence[str]], RawVectors]
MAX_MISS_CHARACTERS = 60
REPLAY = "replay"  # the model's name in llm_calls


class ScriptedFault(Exception):
    """Raised in a script: the provider's answer is this HTTP status."""

    def __init__(self, status_code: int, message: str = "scripted", *, retry_after: str = "") -> None:
        super().__init__(message)
        self.status_code = status_code
        self.response = _ScriptedResponse({"retry-after": retry_after} if retry_after else {})


class _ScriptedResponse:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


class ScriptedLlm(Llm):
    """A model that is a function of the request: text, a Completion, or an awaitable of one; it may raise
    ScriptedFault, TimeoutError or OSError. `requests` holds what reached it, in order; waits between attempts last a
    millisecond."""

    def __init__(
        self,
        script: Script,
        *,
        embed: EmbedScript | None = None,
        model: str = "scripted",
        max_concurrency: int = 8,
        timeout_seconds: float = 5.0,
        max_retries: int = 4,
        price: Price | None = None,
        memo: Memo | None = None,
        budget: Budget | None = None,
        ledger: CallLedger | None = None,
    ) -> None:
        provider = _ScriptedProvider(script, embed)
        self.requests = provider.requests
        super().__init__(
            provider,
            models=dict.fromkeys(ROLES, model),
            embedding_model=f"{model}-embedding" if embed else "",
            prices={model: price, f"{model}-embedding": price},
            memo=memo,
            budget=budget,
            ledger=ledger,
            attempts=Attempts(
                Limiter(max_concurrency),
                Retries(max_retries=max_retries, outage_seconds=0.0, backoff_seconds=0.001),
                timeout_seconds=timeout_seconds,
            ),
        )


class _ScriptedProvider(Provider):
    def __init__(self, script: Script, embed: EmbedScript | None) -> None:
        self.requests: list[ChatRequest] = []
        self._script, self._embed = script, embed

    async def complete(self, model: str, request: ChatRequest) -> Completion:
        self.requests.append(request)
        answer = self._script(request)
        if inspect.isawaitable(answer):
            answer = await answer
        completion = answer if isinstance(answer, Completion) else Completion(answer)
        _show_words(request, completion.text)
        return completion

    async def embed(self, model: str, texts: Sequence[str]) -> RawVectors:
        if self._embed is None:
            raise ReplyMiss("This scripted model has no vectors. Give it embed=.")
        return self._embed(texts)

    async def close(self) -> None:
        pass


class ReplayLlm(Llm):
    """The replies of a recording, and no memo: nothing else answers in its place. A question that is not in it raises
    ReplyMiss."""

    def __init__(self, path: Path, *, ledger: CallLedger | None = None) -> None:
        """Raises InputError if the file is absent or is no recording."""
        prices = {REPLAY: Price(0.0, 0.0, 0.0)}
        super().__init__(_ReplayProvider(path), models=dict.fromkeys(ROLES, REPLAY), prices=prices, ledger=ledger)


class _ReplayProvider(Provider):
    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, list[Completion]] = defaultdict(list)
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InputError(f"Cannot read the recording {path}: {error.strerror}.") from error
        for number, line in enumerate(lines, start=1):
            try:
                record = orjson.loads(line)
                self._replies[record["key"]].append(_read_recorded(record))
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise InputError(f"{path} line {number} is no recorded reply: {error}.") from None

    async def complete(self, model: str, request: ChatRequest) -> Completion:
        replies = self._replies.get(chat_key(request, ""))
        if not replies:
            start = " ".join(request.messages[-1].content.split())[:MAX_MISS_CHARACTERS]
            raise ReplyMiss(f'{self._path} has no reply for {request.stage}: "{start}...". Record it again.')
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        _show_words(request, reply.text)
        return reply

    async def embed(self, model: str, texts: Sequence[str]) -> RawVectors:
        raise ReplyMiss("A recording holds no vectors. Use a local embedding model.")

    async def close(self) -> None:
        pass


def _show_words(request: ChatRequest, text: str) -> None:
    """To who asked for a stream, the text word by word, as a service would send it."""
    if request.is_streamed:
        for word in re.finditer(r"\S+\s*", text):
            request.on_text(text[: word.end()])


def _read_recorded(record: dict[str, object]) -> Completion:
    finish = {"truncated": "length", "refusal": "content_filter"}.get(str(record["status"]), "stop")
    n_prompt, n_reply = record.get("prompt_tokens"), record.get("completion_tokens")
    return Completion(
        str(record["text"]),
        finish,
        n_prompt if isinstance(n_prompt, int) else 0,
        n_reply if isinstance(n_reply, int) else 0,
    )
