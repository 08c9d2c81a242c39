"""An index whose vectors come from a service: its questions are embedded there too, once, and words do without it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphrag.api import Index
from graphrag.cli.main import main
from graphrag.pipeline import run_pipeline
from graphrag.settings_file import load_settings

from .llm.fake_server import FakeServer, Reply, Vector, serve

TEXTS = {
    "cars.md": "# Cars\n\nThe automobile is kept in the garage behind the house.",
    "boats.md": "# Boats\n\nThe dinghy is moored at the pier below the house.",
    "lunch.md": "# Lunch\n\nSoup is served at noon.",
}
QUESTION = "Where stands our vehicle?"  # shares no word with any text
MODES = ("local", "basic", "drift", "global", "documents")


def place(texts: list[str]) -> Sequence[tuple[int, Vector]]:
    """Cars and vehicles one way, the rest another."""
    is_car = [any(word in text.lower() for word in ("automobile", "vehicle", "cars")) for text in texts]
    return [(n, [1.0, 0.0] if car else [0.0, 1.0]) for n, car in enumerate(is_car)]


def answer(question: str, _attempt: int) -> Reply:
    """One relation, where the text states it; texts to embed go to `place`."""
    stated = re.search(r"\[(\d+)\] [^\n]*automobile", question)
    if not stated:
        return Reply("[]")
    rows = [["E", "automobile", "thing", ""], ["E", "garage", "place", ""],
            ["R", "automobile", "is kept in", "garage", "", 5, [int(stated[1])]]]  # fmt: skip
    return Reply("\n".join(map(json.dumps, rows)))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose index was embedded by the service."""
    root = tmp_path_factory.mktemp("service")
    (root / "data" / "input").mkdir(parents=True)
    for name, text in TEXTS.items():
        (root / "data" / "input" / name).write_text(text, encoding="utf-8")
    (root / "settings.toml").write_text("[search]\ncount_usage = false\n", encoding="utf-8")
    with serve(answer, embed=place) as server:
        settings, _ = load_settings(root, overrides=[*overrides(server), "gates.failed_unit_share=1"], environ={})
        run_pipeline(settings, root)
    return root


def overrides(server: FakeServer) -> list[str]:
    return [
        "llm.model=openai/fake", f"llm.api_base={server.url}", "llm.price=[1.0, 2.0]", "llm.max_retries=0",
        "embeddings.model=openai/fake-embedding", f"embeddings.api_base={server.url}",
    ]  # fmt: skip


def embedded(server: FakeServer) -> list[str]:
    return [text for body in server.bodies for text in body.get("input", ())]


def search(root: Path, server: FakeServer, tmp_path: Path, *, mode: str, **knobs: Any) -> Any:
    with Index.open(root, overrides=[*overrides(server), f"cache.dir={tmp_path}"]) as index:
        return index.search(QUESTION, mode=mode, llm=False, **knobs)


def test_a_question_is_near_to_what_shares_no_word_with_it(root: Path, tmp_path: Path) -> None:
    with serve(answer, embed=place) as server:
        found = search(root, server, tmp_path, mode="basic")
        assert found.sources[0].path == "cars.md"
        assert embedded(server) == [QUESTION]
        assert (found.usage.calls, found.usage.prompt_tokens) == (1, 10)
        assert not [notice for notice in found.notices if "words only" in notice]
        again = search(root, server, tmp_path, mode="basic")
        assert embedded(server) == [QUESTION] and again.sources == found.sources
    rows = (root / "data" / "output" / "llm_calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["stage"] for row in rows].count("search_embed") == 1


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_asks_for_it_once(mode: str, root: Path, tmp_path: Path) -> None:
    with serve(answer, embed=place) as server:
        found = search(root, server, tmp_path, mode=mode)
    assert embedded(server).count(QUESTION) == 1
    assert not [notice for notice in found.notices if "words only" in notice]


def bad_dimension(texts: list[str]) -> Sequence[tuple[int, Vector]]:
    return [(n, [1.0, 0.0, 0.0]) for n in range(len(texts))]


def no_vector(_texts: list[str]) -> Sequence[tuple[int, Vector]]:
    return []


@pytest.mark.parametrize(
    ("script", "embed", "said"),
    [
        (lambda _q, _a: Reply(status=401, message="bad key"), place, "401"),
        (lambda _q, _a: Reply(status=400, message="no such model"), place, "No vector of the question: "),
        (answer, no_vector, "bad_vector"),
        (answer, bad_dimension, "openai/fake-embedding gives 3 dimensions now, the index has others."),
    ],
)
@pytest.mark.parametrize("mode", ["local", "drift"])
def test_a_service_that_fails_leaves_the_words(
    script: Callable[[str, int], Reply], embed: Callable[[list[str]], Sequence[tuple[int, Vector]]], said: str,
    mode: str, root: Path, tmp_path: Path,
) -> None:  # fmt: skip
    with (
        serve(script, embed=embed) as server,
        Index.open(root, overrides=[*overrides(server), f"cache.dir={tmp_path}"]) as index,
    ):
        found = index.search("Where is soup served?", mode=mode, llm=False)
        n_asked = len(server.bodies)
        index.search("Where is the dinghy?", mode=mode, llm=False)
        if embed is place:
            assert len(server.bodies) == n_asked, "a service that refused is not asked again"
    assert found.answered and found.sources[0].path == "lunch.md"
    (notice,) = [notice for notice in found.notices if notice.endswith("Matched by words only.")]
    assert said in notice and "\n" not in notice


def test_another_model_than_the_index_has_is_not_compared(root: Path, tmp_path: Path) -> None:
    with serve(answer, embed=place) as server:
        here = [*overrides(server), f"cache.dir={tmp_path}", "embeddings.model=openai/another"]
        with Index.open(root, overrides=here) as index:
            found = index.search("Where is soup served?", mode="basic", llm=False)
    assert any("embedded by openai/fake-embedding, embeddings.model is openai/another" in n for n in found.notices)


def test_without_a_model_the_service_is_not_asked(root: Path) -> None:
    with Index.open(root) as index:
        found = index.search("Where is soup served?", mode="basic")
    assert found.answered and any("which cannot be asked here. Matched by words only." in n for n in found.notices)


def test_a_budget_holds_for_the_vector_too(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(answer, embed=place) as server:
        pairs = [*overrides(server), f"cache.dir={tmp_path}"]
        given = [word for pair in pairs for word in ("--set", pair)]
        with pytest.raises(SystemExit) as ended:
            main(["search", QUESTION, "--no-llm", "--budget", "0.00000001", "--root", str(root), *given])
    captured = capsys.readouterr()
    assert ended.value.code == 5 and captured.err.count("\n") == 1 and not embedded(server)


def test_the_vector_is_under_way_while_the_index_is_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, read = threading.Event(), threading.Event()

    def slow(_question: str, _attempt: int) -> Reply:
        asked.set()
        return Reply("[]")

    with (
        serve(slow, embed=place) as server,
        Index.open(root, overrides=[*overrides(server), f"cache.dir={tmp_path}"]) as index,
    ):
        load = index._load_new_notes

        def wait_then_load() -> Any:
            read.set()
            assert asked.wait(60), "the service was asked before the notes were read"
            return load()

        monkeypatch.setattr(index, "_load_new_notes", wait_then_load)
        index.search(QUESTION, mode="basic", llm=False)
    assert read.is_set()
