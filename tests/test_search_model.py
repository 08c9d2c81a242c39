"""`graphrag search` with a model behind the real litellm: its words, its faults, and what it does not cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.cli.main import main
from graphrag.errors import LlmError
from graphrag.search_model import open_search_model
from graphrag.settings_file import load_settings

from .conftest import ROOT
from .llm.fake_server import FakeServer, Reply, serve

QUESTION = "What does the token cache depend on?"


def options(output: Path, cache: Path, server: FakeServer, *more: str) -> list[str]:
    pairs = [
        f"output.dir={output}", f"cache.dir={cache}", "llm.model=openai/fake", f"llm.api_base={server.url}",
        "llm.search_model=openai/fake-search", "llm.price=[1.0, 2.0]", "llm.max_retries=0", *more,
    ]  # fmt: skip
    return ["--root", str(ROOT), *(word for pair in pairs for word in ("--set", pair))]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def answer(question: str, _attempt: int) -> Reply:
    """The first source cited; for global, one point of the first report and then an answer from it."""
    if question.startswith("Reports:"):
        number = re.search(r"^(\d+)\|", question.partition("id|title|content")[2], re.MULTILINE)
        if number is None:  # not to be read, but to be rated
            return Reply(json.dumps(dict.fromkeys(re.findall(r"^(\d+)\|", question, re.MULTILINE), 3)))
        return Reply(json.dumps({"points": [{"description": f"A point [Data: Reports ({number[1]})]", "score": 80}]}))
    if cited := re.search(r"\[Data: Reports \(\d+\)\]", question):
        return Reply(f"The point is made {cited[0]}.")
    source = re.search(r"^(\d+)\|", question.partition("-----Sources-----")[2], re.MULTILINE)
    assert source
    return Reply(f"It depends on Redis [Data: Sources ({source[1]})].")


def test_a_model_answers_over_http_and_the_memo_answers_again(
    sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(answer) as server:
        here = options(sample_index, tmp_path, server)
        assert run("search", QUESTION, "--json", *here) == 0
        first = json.loads(capsys.readouterr().out)
        assert first["answer"].startswith("It depends on Redis [Data: Sources (")
        assert [citation["kind"] for citation in first["citations"]] == ["text_units"]
        assert first["usage"]["calls"] == 1 and first["usage"]["cost_usd"] > 0
        assert [body["model"] for body in server.bodies] == ["fake-search"]
        assert run("search", QUESTION, "--json", *here) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["answer"] == first["answer"] and again["usage"]["calls"] == 0 and len(server.bodies) == 1
        assert run("search", "--global", QUESTION, *here) == 0
        out = capsys.readouterr().out
        assert out.startswith("The point is made [Data: Reports (") and " calls; " in out
        assert run("search", "--global", "--dynamic", "--level", "0", QUESTION, *here) == 0
        assert re.search(r"^(\d+) reports rated, \1 read\.$", capsys.readouterr().out, re.MULTILINE)
        n_asked = len(server.bodies)
        assert run("search", QUESTION, "--no-llm", *here) == 0
        assert "Extractive answer (no model)" in capsys.readouterr().out
        assert run("search", QUESTION, "--context-only", *here) == 0
        assert "-----Sources-----" in capsys.readouterr().out
        assert len(server.bodies) == n_asked


def test_drift_asks_in_rounds_over_http(sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def follow(question: str, attempt: int) -> Reply:
        if question.startswith("Reports:"):
            asked = ["Where does the token cache keep its data?", "What does Redis Sentinel depend on?"]
            return Reply(json.dumps({"intermediate_answer": "", "score": 10, "follow_up_queries": asked}))
        if "The larger question:" in question:
            return Reply(json.dumps({"response": answer(question, attempt).text, "score": 70, "follow_up_queries": []}))
        cited = re.search(r"\[Data: Sources \(\d+\)\]", question)
        assert cited
        return Reply(f"It depends on Redis {cited[0]}.")

    with serve(follow) as server:
        here = options(sample_index, tmp_path, server)
        assert run("search", "--drift", QUESTION, "--json", *here) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["mode"], found["usage"]["calls"], len(server.bodies)) == ("drift", 4, 4)
        assert found["answer"].startswith("It depends on Redis [Data: Sources (")
        assert found["citations"] and found["usage"]["cost_usd"] > 0
        poor = [*here, "--budget", "0.004"]
        assert run("search", "--drift", QUESTION.replace("token", "big token"), *poor) == 5
        assert capsys.readouterr().err.startswith("The budget of $0.0040 is spent")


@pytest.mark.parametrize(
    ("reply", "more", "code"),
    [
        (Reply(status=401, message="bad key"), (), 1),
        (Reply("x"), ("llm.budget_usd=0.0000001",), 5),
        (Reply("x"), ("llm.api_key_env=NO_SUCH_KEY_HERE",), 1),
    ],
)
def test_a_model_that_cannot_be_asked_is_one_line(
    reply: Reply, more: tuple[str, ...], code: int, sample_index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with serve(lambda _question, _attempt: reply) as server:
        assert run("search", QUESTION, *options(sample_index, tmp_path, server, *more)) == code
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and captured.out == ""


def test_what_opening_a_model_raises_comes_when_it_is_needed(tmp_path: Path) -> None:
    settings = load_settings(ROOT, overrides=["llm.model=openai/x", f"cache.dir={tmp_path}"], environ={})[0]

    def fail(*_args: object, **_kwargs: object) -> None:
        raise LlmError("no such thing")

    with open_search_model(settings, ROOT, open_model=fail) as wait:
        assert wait is not None
        with pytest.raises(LlmError, match="no such thing"):
            wait()


def test_without_a_model_litellm_is_not_loaded(sample_index: Path) -> None:
    code = (
        "import sys\n"
        "from graphrag.cli.main import main\n"
        f"asked = ['search', 'What depends on Redis?', '--root', {str(ROOT)!r}, '--set', 'output.dir={sample_index}']\n"
        "try: main(asked)\n"
        "except SystemExit: pass\n"
        "loaded = {'litellm', 'graphrag.llm'} & set(sys.modules)\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "[Data: " in done.stdout


def test_auto_says_which_mode_and_why(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = ["--root", str(ROOT), "--set", f"output.dir={sample_index}", "--json"]
    for question, mode, said in (
        ("What breaks if Redis goes down?", "local", "Mode local: the question asks what depends on Redis."),
        ("What themes recur?", "global", 'Mode global: the question is about the whole ("theme").'),
    ):
        assert run("search", question, *here) == 0
        answer = json.loads(capsys.readouterr().out)
        assert (answer["mode"], answer["notices"][0]) == (mode, said)
    assert run("search", "--mode", "local", "What breaks if Redis goes down?", *here) == 0
    assert "Mode local" not in capsys.readouterr().out


def test_dynamic_is_for_global(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("search", "--local", "--dynamic", "x", "--root", str(ROOT)) == 2
    assert capsys.readouterr().err == "--dynamic is for --global.\n"


def test_words_stream_to_a_terminal_and_are_checked_after(
    sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def invent(question: str, attempt: int) -> Reply:
        return Reply(f"{answer(question, attempt).text} Cats own seven palaces [Data: Sources (99999)].")

    for script, mode in ((answer, "--local"), (answer, "--basic"), (answer, "--global"), (invent, "--local")):
        with serve(script) as server:
            here = options(sample_index, tmp_path / f"{mode}{script.__name__}", server)
            monkeypatch.setattr("sys.stdout.isatty", lambda: True)
            assert run("search", mode, QUESTION, *here) == 0
            streamed = capsys.readouterr().out
            assert server.bodies[-1]["stream"] is True
            assert run("search", mode, QUESTION, *here) == 0
            again = capsys.readouterr().out
            monkeypatch.setattr("sys.stdout.isatty", lambda: False)
            assert run("search", mode, QUESTION, *here) == 0
            plain = capsys.readouterr().out
            assert run("search", mode, QUESTION, "--json", *here) == 0
            capsys.readouterr()
        if script is answer:
            assert again == plain and streamed.partition("\n\n")[0] == plain.partition("\n\n")[0]
        else:
            assert "[Data: Sources (99999)].\n\nChecked:\n" in streamed and "[unsupported]" in streamed
        assert "1 call" in streamed or "calls" in streamed
