"""An OpenAI-compatible server on loopback for tests of the door with the real litellm: it answers as a function says,
with latency, refusals, silence, half answers and wrong usage, and counts what it was asked.

    with serve(lambda question, attempt: Reply("hello")) as server:
        LiteLlm("openai/fake", api_base=server.url)
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

Vector = list[float] | str  # numbers, or base64
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request. `body` replaces the whole JSON; drip sends it byte by byte, a second
    each; hang never answers; close drops the connection. A stream goes word by word; cut drops it after so many."""

    text: str | None = "ok"
    status: int = 200
    message: str = "fake"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    usage: dict[str, Any] | None = field(default_factory=lambda: dict(USAGE))
    delay: float = 0.0
    body: bytes | None = None
    tool_call: bool = False
    drip: bool = False
    hang: bool = False
    close: bool = False
    cut: int | None = None


Script = Callable[[str, int], Reply]  # last message (or texts to embed, joined by "|"), attempt from 1
EmbedScript = Callable[[list[str]], Sequence[tuple[int, Vector]]]


class FakeServer:
    """`questions` holds what was asked, in order, `bodies` and `headers` the whole requests; `peak`: most at once."""

    def __init__(self, script: Script, embed: EmbedScript | None) -> None:
        self.url = ""
        self.questions: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.in_flight = self.peak = 0
        self._script, self._embed = script, embed
        self._attempts: Counter[str] = Counter()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        question = body["messages"][-1]["content"]
        reply = self._note(question, body, request)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            if body.get("stream") and reply.status == 200 and not (reply.hang or reply.close):
                return await self._stream(request, reply)
            return await self._answer(request, reply, _completion(reply))
        finally:
            self.in_flight -= 1

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        reply = self._note("|".join(body["input"]), body, request)
        vectors = self._embed(body["input"]) if self._embed else [(i, [1.0, 0.0]) for i in range(len(body["input"]))]
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in vectors]
        value = {"object": "list", "model": "fake", "data": data, "usage": reply.usage}
        return await self._answer(request, reply, _json_with_nan(value))

    async def _stream(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        await asyncio.sleep(reply.delay)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number, chunk in enumerate(_chunks(reply)):
            if number == reply.cut:
                assert request.transport is not None
                request.transport.close()
                return response
            await response.write(b"data: " + orjson.dumps(chunk) + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    def _note(self, question: str, body: dict[str, Any], request: web.Request) -> Reply:
        self.questions.append(question)
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.times.append(time.monotonic())
        self._attempts[question] += 1
        return self._script(question, self._attempts[question])

    async def _answer(self, request: web.Request, reply: Reply, body: bytes) -> web.StreamResponse:
        await asyncio.sleep(3600 if reply.hang else reply.delay)
        if reply.close and request.transport is not None:
            request.transport.close()
        if reply.status != 200:
            error = {"error": {"message": reply.message, "type": "fake", "code": reply.code}}
            return web.json_response(error, status=reply.status, headers=reply.headers)
        content = body if reply.body is None else reply.body
        if not reply.drip:
            return web.Response(body=content, content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for byte in content:
            await response.write(bytes([byte]))
            await asyncio.sleep(0.1)
        return response


def _completion(reply: Reply) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_call:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    value: dict[str, Any] = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    if reply.usage is not None:
        value["usage"] = reply.usage
    return orjson.dumps(value)


def _chunks(reply: Reply) -> Iterator[dict[str, Any]]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    for word in re.findall(r"\S+\s*", reply.text or ""):
        yield {**head, "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]}
    if reply.usage is not None:
        yield {**head, "choices": [], "usage": reply.usage}


def _json_with_nan(value: dict[str, Any]) -> bytes:
    import json  # orjson writes null for NaN; a broken service writes NaN

    return json.dumps(value).encode()


@contextmanager
def serve(script: Script, *, embed: EmbedScript | None = None) -> Iterator[FakeServer]:
    """A running server in a thread of its own."""
    server = FakeServer(script, embed)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.chat)
        app.router.add_post("/v1/embeddings", server.embeddings)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)

    async def stop(runner: web.AppRunner) -> None:
        await runner.cleanup()
        handlers = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in handlers:  # those that hang on purpose
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)

    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(stop(runner), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
