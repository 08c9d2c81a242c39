"""Every option in every mode: it does something there, or one line says where it works; budgets too small for a row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphrag.api import Index
from graphrag.cli.main import main
from graphrag.errors import UsageError
from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.search import answer_question
from graphrag.search.answer import NOTHING, Answer
from graphrag.search.arguments import MODES
from graphrag.search.model_answer import SearchModel
from graphrag.search.reports.drift_search import DriftBounds
from graphrag.search_model import load_search_prompts

from .conftest import ODD_DOCUMENTS

QUESTION = "What does the Auth Service depend on?"
PLAIN = tuple(mode for mode in MODES if mode != "auto")
LEVELS, FOLDS = "--level is for --global and --drift.", "--fold is for --local, --drift, --basic and --documents."
NOTES = {option: f"{option} is for --documents." for option in ("--routing", "--note")}
WORKS = {
    "--json": MODES, "--context-only": MODES, "--show-sources": MODES, "--where": MODES, "--top": MODES,
    "--budget-tokens": MODES, "--no-llm": MODES,
    "--level": ("auto", "global", "drift"), "--dynamic": ("auto", "global"),
    "--no-fold": ("auto", "local", "drift", "basic", "documents"),
    "--fold": ("auto", "local", "drift", "basic", "documents"),
    "--routing": ("auto", "documents"), "--note": ("auto", "documents"),
}  # fmt: skip
VALUES = {
    "--where": "path <> 'c8.md'", "--top": "2", "--budget-tokens": "300", "--level": "0", "--routing": "depth",
    "--note": "c2",
}  # fmt: skip
REFUSALS = {"--level": LEVELS, "--dynamic": "--dynamic is for --global.", "--no-fold": FOLDS, "--fold": FOLDS, **NOTES}
TABLE = [(mode, option) for option in WORKS for mode in MODES]


@pytest.fixture(scope="module")
def index(odd_project: Path) -> Iterator[Index]:
    with Index.open(odd_project) as opened:
        yield opened


def run(capsys: pytest.CaptureFixture[str], root: Path, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["search", QUESTION, "--root", str(root), *arguments])
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize(("mode", "option"), TABLE, ids=[f"{mode} {option}" for mode, option in TABLE])
def test_an_option_works_or_says_where_it_does(
    mode: str, option: str, odd_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [option, *([VALUES[option]] if option in VALUES else [])]
    code, out, err = run(capsys, odd_project, "--mode", mode, *given)
    if mode not in WORKS[option]:
        assert (code, out, err) == (2, "", f"{REFUSALS[option]}\n")
        return
    assert (code, err) == (0, "")
    if option == "--json":
        assert json.loads(out)["answered"]
    elif option == "--context-only":
        assert not out.startswith("Extractive") and "Auth Service" in out
    elif option == "--show-sources":
        assert re.search(r"^  Sources \(\d+\)|^  Relationships \(\d+\)|^  \S.*\.md \[\d+:\d+\]", out, re.MULTILINE)
    elif option == "--where":
        assert "10 of 10 documents match" not in out and "9 of 10 documents match --where." in out
    else:
        assert "Auth Service" in out


def tokens_of_tags(answer: Answer) -> int:
    """What the names around whole notes add to the tokens of the notes."""
    return 16 * answer.context.count("<!-- SOURCE")


@pytest.mark.parametrize("mode", PLAIN)
def test_top_and_budget_bound_what_is_listed_and_gathered(mode: str, index: Index) -> None:
    answer = index.search(QUESTION, mode=mode, top=2, budget_tokens=120, llm=False)
    assert 0 < len(answer.sources) <= 2 and 0 < answer.usage.context_tokens <= 120 + tokens_of_tags(answer)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("knobs", "said"), [({"budget_tokens": 0}, "--budget-tokens must be 1 or more, got 0."),
                                             ({"top": 0}, "--top must be 1 or more, got 0.")])  # fmt: skip
def test_bounds_below_one_are_refused(mode: str, knobs: dict[str, Any], said: str, index: Index) -> None:
    with pytest.raises(UsageError) as caught:
        index.search(QUESTION, mode=mode, **knobs)
    assert str(caught.value) == said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("budget", [1, 2, 7, 20])
def test_a_budget_too_small_for_a_row_is_an_answer_with_a_mark(budget: int, mode: str, index: Index) -> None:
    answer = index.search(QUESTION, mode=mode, budget_tokens=budget, llm=False)
    assert answer.context and answer.usage.context_tokens <= max(budget, 2) + tokens_of_tags(answer)
    assert "…" in answer.context or (answer.mode == "documents" and budget == 20)  # holds two notes
    assert answer.answered == (answer.text != NOTHING)
    for citation in answer.citations:
        assert ODD_DOCUMENTS[citation.path][citation.start : citation.end] == citation.quote


def reply(request: ChatRequest) -> str:
    """Something readable to every question."""
    if request.stage == "search_map":
        return '{"points": [{"description": "The Auth Service depends on the token cache.", "score": 50}]}'
    if request.stage == "search_rate":
        return json.dumps(dict.fromkeys(range(1, 100), 3))
    if request.stage.startswith("search_drift_") and "reduce" not in request.stage:
        return json.dumps(
            {"response": "The Auth Service", "score": 9, "follow_up_queries": ["Who is Redis?", QUESTION]}
        )
    return "The Auth Service depends on the token cache."


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("mode", PLAIN)
@pytest.mark.parametrize("budget", [1, 7])
def test_a_model_is_asked_about_something_however_small_the_budget(
    budget: int, mode: str, dynamic: bool, index: Index
) -> None:
    if dynamic and mode != "global":
        return
    llm = ScriptedLlm(reply)
    prompts = load_search_prompts(mode, Path())
    answer = answer_question(
        index.published, QUESTION, mode=mode, level=1, top=3, budget_tokens=budget, dynamic=dynamic,
        llm=SearchModel(lambda: llm, prompts), drift=DriftBounds(),
        routing=index._choose_routing("", "", max_tokens=budget),
    )  # fmt: skip
    assert 1 <= len(llm.requests) <= 12
    assert all(re.search(r"<<<DATA-\w+\n.+?\nDATA-", request.text, re.DOTALL) for request in llm.requests)
    if mode != "drift":
        assert any("…" in request.text for request in llm.requests)
    assert answer.mode == mode


@pytest.mark.parametrize("mode", PLAIN)
def test_a_models_words_stream_in_every_mode(mode: str, index: Index) -> None:
    seen: list[str] = []
    answer_question(
        index.published, QUESTION, mode=mode, level=1, top=3, budget_tokens=2000, on_text=seen.append,
        llm=SearchModel(lambda: ScriptedLlm(reply), load_search_prompts(mode, Path())),
    )  # fmt: skip
    assert seen and seen[-1] == "The Auth Service depends on the token cache."
