"""A recording of replies: JSONL, one line a reply, for ReplayLlm (replay.py) to answer from.

The question's key leaves the model's name out, so that what one model said can stand for another. Does not: record keys
of providers or addresses.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from graphrag.errors import StoreError
from graphrag.llm.chat import ChatReply, ChatRequest, chat_key


class Recording:
    """Appends each reply to a JSONL file, which is made afresh."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.write_bytes(b"")
        except OSError as error:
            raise StoreError(f"Cannot write the recording {path}: {error.strerror}.") from error

    def add(self, request: ChatRequest, reply: ChatReply) -> None:
        line = {
            "key": chat_key(request, ""),
            "stage": request.stage,
            "text": reply.text,
            "status": reply.status,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
        }
        try:
            with self._path.open("ab") as handle:
                handle.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise StoreError(f"Cannot write the recording {self._path}: {error.strerror}.") from error
