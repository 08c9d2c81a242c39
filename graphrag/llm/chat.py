"""A question to a language model and its reply, as values: what is asked, what came back, and when it counts as good.

The key of a request is the sha256 of all that determines the reply: model, messages, parameters, prompt version. Stage,
role and the caller's check are not in it: the same question asked by two stages is paid for once.

Does not: call anything (door.py), or know prompts and their replies' formats (prompts.py, replies/).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import orjson

from graphrag.memo import memo_key

Role = Literal["extract", "summarize", "report", "judge", "search"]
ROLES: tuple[Role, ...] = get_args(Role)

# What became of a request. The first two are good; the others are the reasons of failures rows.
Status = Literal["ok", "truncated", "unreadable_reply", "empty_reply", "refusal", "too_long", "timeout", "unavailable"]
GOOD: tuple[Status, ...] = ("ok", "truncated")

MEMO_KIND = "llm"
UNKNOWN_MAX_REPLY = 4096  # tokens that a reply is taken to have at most when nobody bounded it


def models_of_roles(model: str, overrides: Mapping[str, str]) -> dict[Role, str]:
    """The model of each role: its own where one is named, else the common one."""
    return {role: overrides.get(role) or model for role in ROLES}


def accept_any(_text: str) -> bool:
    return True


def show_nothing(_text: str) -> None:
    pass


class Message(NamedTuple):
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question.

    stage names the asker in llm_calls; role picks the model. max_tokens bounds the reply (and what the budget sets
    aside for it); expected_tokens is the caller's guess of its length, for `graphrag plan`.
    accept says whether the text of a reply is usable; one that is not is never kept in the memo. repair is what the
    user says to the model after an unusable reply, once; empty: no second try. on_text, where it is given, has the
    reply streamed: it sees the whole text so far whenever there is more, afresh where another attempt is made.
    """

    stage: str
    role: Role
    messages: tuple[Message, ...]
    prompt_version: str = ""
    max_tokens: int | None = None
    expected_tokens: int = 0
    temperature: float | None = 0.0
    is_json: bool = False
    accept: Callable[[str], bool] = accept_any
    repair: str = ""
    on_text: Callable[[str], None] = show_nothing

    @property
    def is_streamed(self) -> bool:
        return self.on_text is not show_nothing

    @property
    def text(self) -> str:
        return "\n".join(message.content for message in self.messages)

    def params(self) -> dict[str, object]:
        """The parameters in OpenAI's words; those not set are absent."""
        params: dict[str, object] = {}
        if self.temperature is not None:
            params["temperature"] = self.temperature
        if self.max_tokens is not None:
            params["max_tokens"] = self.max_tokens
        if self.is_json:
            params["response_format"] = {"type": "json_object"}
        return params

    def followed_by(self, said: str, then: str) -> ChatRequest:
        """The next turn: what the model said, and what the user says then (continue, look again, repair)."""
        quoted = (Message("assistant", said),) if said.strip() else ()  # providers refuse an empty turn
        return replace(self, messages=(*self.messages, *quoted, Message("user", then)))


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back. `text` is empty unless the model said something; `detail` says in words what went wrong.

    Token counts are those of the call that gave this reply, 0 when it came from the memo; is_estimated: the provider
    did not say, our tokenizer counted. cost_usd is None where no price is known. unrepaired: the words of the first,
    unusable reply that this one was to mend, for what may be in them alone.
    """

    text: str
    status: Status
    detail: str = ""
    model: str = ""
    key: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    attempts: int = 0
    is_cached: bool = False
    is_estimated: bool = False
    unrepaired: str = ""

    @property
    def is_good(self) -> bool:
        return self.status in GOOD


class Completion(NamedTuple):
    """What a provider answered, before it is judged. Token counts of 0 or less mean that it did not say."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    detail: str = ""


def chat_key(request: ChatRequest, model: str) -> str:
    messages = orjson.dumps([list(message) for message in request.messages], option=orjson.OPT_PASSTHROUGH_SUBCLASS)
    params = orjson.dumps(request.params(), option=orjson.OPT_SORT_KEYS)
    return memo_key("chat", model, messages.decode(), params.decode(), request.prompt_version)


def judge_completion(request: ChatRequest, completion: Completion) -> tuple[Status, str]:
    """The status of a provider's answer and, where it is no good, what is wrong with it."""
    if completion.finish_reason == "content_filter":
        return "refusal", "the provider's content filter cut the reply"
    if not completion.text.strip():
        return "empty_reply", completion.detail or f"no text (finish_reason {completion.finish_reason})"
    is_cut = completion.finish_reason == "length"
    if not request.accept(completion.text):
        return "unreadable_reply", "cut at the token limit" if is_cut else "not in the format that was asked for"
    return ("truncated", "cut at the token limit") if is_cut else ("ok", "")


def encode_reply(reply: ChatReply) -> bytes:
    """For the memo: the words and whether they were cut. What they cost belongs to the run that paid."""
    unrepaired = {"unrepaired": reply.unrepaired} if reply.unrepaired else {}
    return orjson.dumps({"text": reply.text, "status": reply.status, **unrepaired})


def decode_reply(value: bytes, *, model: str, key: str) -> ChatReply | None:
    """A reply from the memo, or None if the record is not one (written by another release)."""
    try:
        record = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(record, Mapping) or record.get("status") not in GOOD or not isinstance(record.get("text"), str):
        return None
    unrepaired = record.get("unrepaired")
    return ChatReply(
        record["text"],
        record["status"],
        model=model,
        key=key,
        is_cached=True,
        unrepaired=unrepaired if isinstance(unrepaired, str) else "",
    )
