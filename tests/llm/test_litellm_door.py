"""The real litellm against a loopback server: every fault a provider may have, and none of them costs a neighbour."""

from __future__ import annotations

import base64
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from graphrag.errors import LlmError, Unauthorized, Unavailable
from graphrag.llm.budget import Budget
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.llm.door import chat_many
from graphrag.llm.ledger import CallLedger
from graphrag.llm.litellm_door import LiteLlm, default_key_name, open_llm
from graphrag.llm.recording import Recording
from graphrag.llm.retries import Retries
from graphrag.memo import Memo
from graphrag.settings_file import load_settings

from ..conftest import ROOT
from .fake_server import FakeServer, Reply, Script, Vector, serve

KEY = "sk-test-0123456789abcdef"


def ask(text: str, **options: Any) -> ChatRequest:
    return ChatRequest("extraction", "extract", (Message("system", "You extract."), Message("user", text)), **options)


def open_door(server: FakeServer, **options: Any) -> LiteLlm:
    options.setdefault("retries", Retries(max_retries=4, backoff_seconds=0.01, outage_seconds=0.0))
    return LiteLlm("openai/fake", api_base=server.url, **options)


def reply_to(script: Script, *texts: str, **options: Any) -> tuple[list[ChatReply], FakeServer]:
    with serve(script) as server:
        llm = open_door(server, **options)
        return llm.run(chat_many(llm, [ask(text) for text in texts])), server


def test_replies_stand_in_the_order_of_their_questions_in_one_event_loop_after_another() -> None:
    def slow_first(question: str, attempt: int) -> Reply:
        return Reply(question.upper(), delay=0.2 if question == "a" else 0.0)

    with serve(slow_first) as server:
        llm = open_door(server)
        for _ in range(2):
            replies = llm.run(chat_many(llm, [ask("a"), ask("b"), ask("c")]))
            assert [reply.text for reply in replies] == ["A", "B", "C"]
    assert server.bodies[0]["messages"][0] == {"role": "system", "content": "You extract."}
    assert server.bodies[0]["temperature"] == 0


def test_places_are_kept_full_and_never_more_than_allowed() -> None:
    replies, server = reply_to(lambda q, n: Reply(delay=0.1), *map(str, range(30)), max_concurrency=6)
    assert server.peak == 6
    assert {reply.status for reply in replies} == {"ok"}


@pytest.mark.parametrize(
    ("headers", "least_wait"),
    [
        ({"Retry-After": "0.3"}, 0.3),
        ({}, 0.0),
        ({"Retry-After": "-1"}, 0.0),
        ({"Retry-After": "soon"}, 0.0),
        ({"Retry-After": format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)}, 0.0),
    ],
)
def test_429_waits_as_told_and_the_reply_comes(headers: dict[str, str], least_wait: float) -> None:
    def once(question: str, attempt: int) -> Reply:
        return Reply(status=429, headers=headers) if attempt == 1 else Reply("done")

    (reply,), server = reply_to(once, "q")
    assert (reply.text, reply.attempts) == ("done", 2)
    assert server.times[1] - server.times[0] >= least_wait


def test_429_with_a_wait_over_the_cap_ends_the_run_with_one_line() -> None:
    with pytest.raises(Unavailable, match=r"^429 from openai/fake: told to wait 86400 s\. Run again later"):
        reply_to(lambda q, n: Reply(status=429, headers={"Retry-After": "86400"}), "q")


def test_a_storm_of_429_is_survived_without_losing_a_question() -> None:
    def storm(question: str, attempt: int) -> Reply:
        return Reply(status=429, headers={"Retry-After": "0.05"}) if attempt <= 2 else Reply(question)

    questions = [str(number) for number in range(40)]
    replies, _ = reply_to(storm, *questions, max_concurrency=10)
    assert [reply.text for reply in replies] == questions


@pytest.mark.parametrize(
    ("status", "message", "code", "error", "words"),
    [
        (
            401,
            f"Incorrect API key provided: {KEY}",
            None,
            Unauthorized,
            "401 from openai/fake at URL. Check the key in",
        ),
        (403, "forbidden", None, Unauthorized, "403 from openai/fake at URL. Check the key in OPENAI_API_KEY."),
        (
            404,
            "The model `fake` does not exist",
            "model_not_found",
            Unauthorized,
            "does not exist. Check llm.model and",
        ),
        (400, "Unknown parameter: foo", None, LlmError, "400 from openai/fake at URL: Unknown parameter: foo."),
        (422, "bad body", None, LlmError, "422 from openai/fake at URL: bad body."),
        (429, "You exceeded your current quota", "insufficient_quota", Unavailable, "Check plan and billing"),
    ],
)
def test_what_no_call_can_survive_ends_the_run_at_once_with_one_line_without_the_key(
    monkeypatch: pytest.MonkeyPatch, status: int, message: str, code: str | None, error: type[LlmError], words: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve(lambda q, n: Reply(status=status, message=message, code=code, delay=0.02)) as server:
        llm = open_door(server, max_concurrency=4)
        with pytest.raises(error) as caught:
            llm.run(chat_many(llm, [ask(str(number)) for number in range(100)]))
        assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    line = str(caught.value)
    assert words.replace("URL", server.url) in line
    assert "\n" not in line and KEY not in line
    assert len(server.questions) <= 8
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (Reply(status=400, message="The maximum context length is 8192 tokens.", code="context_length_exceeded"),
         "too_long"),
        (Reply(status=413, message="body too large"), "too_long"),
        (Reply(status=400, message="rejected by our safety system", code="content_policy_violation"), "refusal"),
        (Reply(finish_reason="content_filter", text="par"), "refusal"),
        (Reply(text=None), "empty_reply"),
        (Reply(text="  \n"), "empty_reply"),
        (Reply(tool_call=True, finish_reason="tool_calls"), "empty_reply"),
        (Reply(body=b'{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[]}'), "empty_reply"),
        (Reply(status=500), "unavailable"),
        (Reply(status=502), "unavailable"),
        (Reply(close=True), "unavailable"),
        (Reply(body=b"<html>proxy</html>"), "unavailable"),
        (Reply(hang=True), "timeout"),
        (Reply(drip=True), "timeout"),
        (Reply(status=504), "timeout"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_question_is_told_and_no_neighbour_is_lost(
    tmp_path: Path, bad: Reply, status: str
) -> None:
    with Memo(tmp_path / "memo") as memo:
        replies, _ = reply_to(
            lambda q, n: bad if q == "bad" else Reply(q), "a", "bad", "b", memo=memo, timeout_seconds=0.4
        )
        assert [reply.status for reply in replies] == ["ok", status, "ok"]
        assert [reply.text for reply in replies if reply.is_good] == ["a", "b"]
        assert "\n" not in replies[1].detail
        again, second = reply_to(lambda q, n: Reply("now good"), "a", "bad", "b", memo=memo)
    assert second.questions == ["bad"], "the next run repeats just the one that failed"
    assert [reply.text for reply in again] == ["a", "now good", "b"]


def test_a_reply_cut_at_the_limit_is_kept_and_says_so() -> None:
    (reply,), _ = reply_to(lambda q, n: Reply("half a li", finish_reason="length"), "q")
    assert (reply.status, reply.is_good, reply.text) == ("truncated", True, "half a li")


def test_five_server_errors_give_one_up_and_four_do_not() -> None:
    def ill(question: str, attempt: int) -> Reply:
        return Reply(status=500) if attempt <= int(question) else Reply("well")

    replies, server = reply_to(ill, "4", "5", "0")
    assert [(reply.status, reply.attempts) for reply in replies] == [("ok", 5), ("unavailable", 5), ("ok", 1)]
    assert Counter(server.questions) == {"4": 5, "5": 5, "0": 1}


@pytest.mark.parametrize(
    ("usage", "is_estimated"),
    [
        ({"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}, False),
        (None, True),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, True),
        ({"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6}, True),
    ],
)
def test_usage_that_is_missing_or_absurd_is_counted_by_us_and_marked(
    usage: dict[str, int] | None, is_estimated: bool
) -> None:
    ledger = CallLedger()
    (reply,), _ = reply_to(lambda q, n: Reply("two words", usage=usage), "q", ledger=ledger, price=[1.0, 2.0])
    assert reply.is_estimated is is_estimated
    assert (reply.prompt_tokens, reply.completion_tokens) == ((4, 2) if is_estimated else (11, 3))
    assert reply.cost_usd == pytest.approx((reply.prompt_tokens + 2 * reply.completion_tokens) / 1e6)
    assert ledger.frame().select("status", "is_estimated").rows() == [("ok", is_estimated)]


def test_a_bad_night_of_all_faults_at_once_loses_nothing(tmp_path: Path) -> None:
    """30 % malformed, 10 % truncated, 10 % 429, 5 % 500, 2 % silence, each drawn anew at every attempt."""
    faults = [
        *[Reply("not digits")] * 30,
        *[Reply("12", finish_reason="length")] * 10,
        *[Reply(status=429, headers={"Retry-After": "0.05"})] * 10,
        *[Reply(status=500)] * 5,
        *[Reply(hang=True)] * 2,
    ]
    rng = random.Random(7)

    def night(question: str, attempt: int) -> Reply:
        draw = rng.randrange(100)
        return faults[draw] if draw < len(faults) else Reply(question[-3:])

    requests = [ask(f"number {n:03}", accept=str.isdigit, repair=f"Digits, please: {n:03}") for n in range(150)]
    with serve(night) as server, Memo(tmp_path / "memo") as memo:
        llm = open_door(server, memo=memo, timeout_seconds=3.0, max_concurrency=16)
        replies = llm.run(chat_many(llm, requests))
        n_bad = sum(not reply.is_good for reply in replies)
        assert {reply.status for reply in replies} <= {"ok", "truncated", "unreadable_reply"}
        assert all(reply.text in ("12", f"{n:03}") for n, reply in enumerate(replies) if reply.is_good)
        assert n_bad < 40, "0.3 * 0.3 of 150 on average"
        n_before = len(server.questions)
        llm.run(chat_many(llm, [q for q, reply in zip(requests, replies, strict=True) if reply.is_good]))
        assert len(server.questions) == n_before, "what was good is in the memo"
        assert llm.ledger.frame().filter(~pl.col("cached"))["attempts"].sum() == n_before


@pytest.mark.shared
@pytest.mark.slow
def test_server_of_the_benchmark_with_faults(shared: Path, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--latency-ms", "20", "--fail-rate", "0.1", "--stall-s", "5", "--truncate-rate", "0.1"]
    command = [sys.executable, str(shared / "bench" / "fakellm.py"), "--port", str(port), *options]
    with subprocess.Popen(command) as process:
        try:
            llm = LiteLlm("openai/fake-chat", api_base=f"http://127.0.0.1:{port}/v1", timeout_seconds=1.0)
            requests = [ask(f"question {n}: Alice met Bob in London.") for n in range(200)]
            replies = llm.run(chat_many(llm, requests))
        finally:
            process.terminate()
    assert Counter(reply.is_good for reply in replies) == {True: 200}
    assert {reply.status for reply in replies} == {"ok", "truncated"}


def test_a_usd_budget_without_a_price_is_refused_before_any_call() -> None:
    with pytest.raises(LlmError, match=r'^No price for "openai/fake"\. Set llm\.price or use --max-tokens\.$'):
        LiteLlm("openai/fake", budget=Budget(limit_usd=1.0))


def test_the_key_of_a_named_variable_is_sent_and_stands_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_MODEL_KEY", KEY)
    ledger = CallLedger("run", path=tmp_path / "calls.jsonl")
    recording = Recording(tmp_path / "recording.jsonl")

    def echoes_key(question: str, attempt: int) -> Reply:
        return Reply(status=500, message=f"bad key {KEY}") if question == "bad" else Reply("good")

    with serve(echoes_key) as server, Memo(tmp_path / "memo") as memo:
        llm = open_door(server, api_key_env="MY_MODEL_KEY", memo=memo, ledger=ledger)
        llm.record_in(recording)
        replies = llm.run(chat_many(llm, [ask("bad"), ask("fine")]))
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert replies[0].detail == "bad key [key]"
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in written
    captured = capsys.readouterr()
    assert KEY not in captured.out + captured.err
    with pytest.raises(Unauthorized, match=r"^The variable that llm\.api_key_env names is not set\.") as caught:
        LiteLlm("openai/fake", api_key_env="NOT_SET_9f3a")
    assert "9f3a" not in str(caught.value)


def test_roles_may_have_their_own_models() -> None:
    with serve(lambda q, n: Reply()) as server:
        llm = open_door(server, role_models={"judge": "openai/wise"})
        requests = [ask("a"), ChatRequest("disambiguation", "judge", (Message("user", "b"),))]
        llm.run(chat_many(llm, requests))
    assert {body["messages"][-1]["content"]: body["model"] for body in server.bodies} == {"a": "fake", "b": "wise"}


def test_the_key_of_a_named_variable_goes_to_its_own_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_MODEL_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serve(lambda q, n: Reply()) as ours, serve(lambda q, n: Reply()) as other:
        llm = open_door(ours, api_key_env="MY_MODEL_KEY", embedding_model="openai/vec", embedding_api_base=other.url)
        llm.run(chat_many(llm, [ask("q")]))
        llm.run(llm.embed(["t"]))
    assert ours.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(other.headers)


def test_settings_open_the_door(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("")
    assert open_llm(load_settings(tmp_path, environ={})[0]) is None
    with serve(lambda q, n: Reply("yes")) as server:
        overrides = ["llm.model=openai/fake", f"llm.api_base={server.url}", "llm.price=[1, 2]", "llm.budget_usd=0.5"]
        settings, _ = load_settings(tmp_path, overrides=overrides, environ={})
        llm = open_llm(settings)
        assert llm is not None and llm.budget.limit_usd == 0.5
        assert llm.run(llm.chat(ask("q"))).text == "yes"
    assert default_key_name("azure/x") == "AZURE_API_KEY"
    assert default_key_name("gpt-4o") == "OPENAI_API_KEY"


def embed(script: Any, texts: list[str], **options: Any) -> tuple[Any, FakeServer, LiteLlm]:
    with serve(lambda q, n: Reply(usage={"prompt_tokens": 3, "total_tokens": 3}), embed=script) as server:
        llm = open_door(server, embedding_model="openai/vec", embedding_api_base=server.url, **options)
        return llm.run(llm.embed(texts)), server, llm


def by_letter(texts: list[str]) -> Sequence[tuple[int, Vector]]:
    return [(index, [float(ord(text[0]) - 96), 1.0, 2.0]) for index, text in enumerate(texts)][::-1]


def test_vectors_come_by_index_of_length_one_and_once_for_equal_texts(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo") as memo:
        vectors, server, _ = embed(by_letter, ["a", "c", "a"], memo=memo)
        expected = np.array([[1, 1, 2], [3, 1, 2], [1, 1, 2]], dtype=np.float32)
        np.testing.assert_allclose(
            vectors.matrix, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6
        )
        assert vectors.failures == {}
        assert server.questions == ["a|c"]
        again, second, _ = embed(by_letter, ["c", "b"], memo=memo)
        assert second.questions == ["b"]
    np.testing.assert_array_equal(again.matrix[0], vectors.matrix[1])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([float("nan"), 1.0, 0.0], "NaN"),
        ([0.0, 0.0, 0.0], "zeros"),
        ([], "empty"),
        ([1.0, 2.0], "2 dimensions, the others have 3"),
    ],
)
def test_a_bad_vector_is_named_and_the_others_stay(tmp_path: Path, bad: Vector, words: str) -> None:
    def script(texts: list[str]) -> list[tuple[int, Vector]]:
        return [(index, bad if text == "x" else [1.0, 2.0, 2.0]) for index, text in enumerate(texts)]

    with Memo(tmp_path / "memo") as memo:
        vectors, _, _ = embed(script, ["a", "x", "b"], memo=memo)
        assert vectors.failures[1][0] == "bad_vector" and words in vectors.failures[1][1]
        assert list(vectors.failures) == [1]
        np.testing.assert_allclose(np.linalg.norm(vectors.matrix, axis=1), [1, 0, 1], rtol=1e-6)
        _, server, _ = embed(by_letter, ["a", "x", "b"], memo=memo)
        assert server.questions == ["x"], "what was bad is asked again"


def as_base64(values: list[float]) -> str:
    return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()


def test_vectors_are_asked_for_as_base64_and_a_damaged_one_is_named() -> None:
    sent = [as_base64([3.0, 4.0]), "AAA=", "no*base64"]
    vectors, server, _ = embed(lambda _: list(enumerate(sent)), ["a", "b", "c"])
    assert server.bodies[0]["encoding_format"] == "base64"
    np.testing.assert_allclose(vectors.matrix[0], [0.6, 0.8], rtol=1e-6)
    assert {index: reason for index, (reason, _) in vectors.failures.items()} == {1: "bad_vector", 2: "bad_vector"}


def test_a_server_that_refuses_base64_is_asked_without_it_from_then_on() -> None:
    refusal = "Unsupported parameter: encoding_format"

    def script(question: str, attempt: int) -> Reply:
        return Reply(status=400, message=refusal) if (question, attempt) == ("a", 1) else Reply()

    with serve(script, embed=by_letter) as server:
        llm = open_door(server, embedding_model="openai/vec", embedding_api_base=server.url)
        assert llm.run(llm.embed(["a"])).failures == {}
        assert llm.run(llm.embed(["b"])).failures == {}
    assert ["encoding_format" in body for body in server.bodies] == [True, False, False]
    assert llm.ledger.frame().height == 2


def test_too_few_vectors_are_never_given_to_the_wrong_texts() -> None:
    def drops_one(texts: list[str]) -> list[tuple[int, Vector]]:
        kept = [text for text in texts if text != "b"]
        return [(index, [float(ord(text)), 1.0]) for index, text in enumerate(kept)]

    vectors, _, _ = embed(drops_one, ["a", "b", "c", "d"])
    assert list(vectors.failures) == [1]
    ratios = vectors.matrix[[0, 2, 3], 0] / vectors.matrix[[0, 2, 3], 1]
    np.testing.assert_allclose(ratios, [97, 99, 100], rtol=1e-5)


def test_another_dimension_than_before_makes_all_vectors_again_with_a_notice(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo") as memo:
        embed(by_letter, ["a", "b"], memo=memo)
        vectors, server, llm = embed(
            lambda texts: [(i, [1.0, 0.0]) for i in range(len(texts))], ["a", "b", "c"], memo=memo
        )
    assert vectors.matrix.shape == (3, 2) and vectors.failures == {}
    assert server.questions == ["c", "a|b"]
    assert llm.notices == ["openai/vec gives 2 dimensions now: 2 vectors made again."]


WORKER = """
import sys
from pathlib import Path
from graphrag.llm.chat import ChatRequest, Message
from graphrag.llm import LiteLlm, chat_many
from graphrag.memo import Memo

with Memo(Path(sys.argv[2])) as memo:
    llm = LiteLlm("openai/fake", api_base=sys.argv[1], max_concurrency=4, memo=memo)
    requests = [ChatRequest("extraction", "extract", (Message("user", str(n)),)) for n in range(40)]
    try:
        llm.run(chat_many(llm, requests, on_reply=lambda q, r: print(r.text, flush=True)))
    except KeyboardInterrupt:
        print("stopped", flush=True)
        raise SystemExit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-c", WORKER]
    with serve(lambda q, n: Reply(q, delay=0.1)) as server:
        arguments = [server.url, str(tmp_path / "memo")]
        first = subprocess.Popen([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while len(server.questions) < 15 and time.monotonic() < deadline:
            time.sleep(0.01)
        first.send_signal(how)
        _, stderr = first.communicate(timeout=30)
        asked = len(server.questions)
        assert 15 <= asked < 40
        second = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, timeout=60, check=True)
        assert sorted(map(int, second.stdout.split())) == list(range(40))
        assert len(server.questions) - 40 <= 4, "only those in flight at the kill are asked twice"
    if how == signal.SIGINT:
        assert first.returncode == 130 and b"Traceback" not in stderr
