"""The questions of the README, asked of the sample in every mode: without a model, and of a model. A reader of the
documents agrees with each answer, its first lines say it, and each citation leads to a quote that says what the line
says.

The model (careful_model.py) writes a sentence a row of the context: what it says well, the context holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag import store
from graphrag.citations import CITATION
from graphrag.cli.main import main
from graphrag.llm import ScriptedLlm
from graphrag.prompts import load_prompt
from graphrag.search import answer_question
from graphrag.search.answer import NOTHING, Answer
from graphrag.search.basic_search import WALKED
from graphrag.search.model_answer import SearchModel
from graphrag.search.support import stem_words
from graphrag.search_model import PROMPTS_OF_MODE

from .careful_model import write_reply
from .conftest import ROOT
from .llm.fake_server import FakeServer, Reply, serve

REDIS = "What breaks if Redis goes down?"
RISK = "Which single dependency is our highest systemic risk?"
THEMES = "What themes recur across the incident reviews?"
CAUSES = "What are the recurring causes of incidents?"
DEPENDS = "What depends on Redis?"
QUESTIONS = (REDIS, RISK, THEMES, CAUSES, DEPENDS)
MODES = ("local", "basic", "global", "drift", "documents")
# What every reader of the documents would name (any spelling of a tuple), what none would, and what comes first.
NEEDS_REDIS: list[str | tuple[str, ...]] = [
    "token cache", ("Auth Service", "AuthService"), "login flow", "Notification Service",
]  # fmt: skip
RECURS: list[str | tuple[str, ...]] = [
    "Vault", "no second provider", "certificate of the API Gateway expired", "ran out of disk", "lost its fonts",
]  # fmt: skip
NAMED = {
    REDIS: NEEDS_REDIS,
    DEPENDS: NEEDS_REDIS,
    RISK: ["vm-lju-07", "Internal Resolver", "Vault", "Certificate Issuer", "Schema Registry"],
    THEMES: RECURS,
    CAUSES: RECURS,
}
NEVER = re.compile(
    r"-> Redis Cluster|\b(?:Billing|Checkout API|Tracking Service) -\w+-> Redis|Christmas|opens the incident"
)
FIRST = {
    REDIS: "Redis: 4 others need it, directly or through others, nearest first:",
    DEPENDS: "Redis: 4 others need it, directly or through others, nearest first:",
    RISK: "vm-lju-07: 22 others need it, directly or through others, nearest first:",
    THEMES: "What recurs: Vault in 2 of 8, Checkout API in 2, Billing in 3.",
    CAUSES: "What recurs: Vault in 2 of 8, Checkout API in 2.",
}
# Passages that are like the question need not hold all: basic search says so.
HELD_BY_PASSAGES: dict[str, list[str | tuple[str, ...]]] = {REDIS: ["token cache", "Notification Service"],
                                                            DEPENDS: ["token cache"], RISK: []}  # fmt: skip
LEAST_SHARED = 0.5  # of a statement's words, in the quotes that it cites
_NAME = re.compile(r"\[\[[^\]]+\]\]")


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Iterator[store.Index]:
    with store.open_index(sample_index) as opened:
        yield opened


def named_in(mode: str, question: str) -> list[str | tuple[str, ...]]:
    return HELD_BY_PASSAGES.get(question, NAMED[question]) if mode == "basic" else NAMED[question]


def list_missing(text: str, names: list[str | tuple[str, ...]]) -> list[str | tuple[str, ...]]:
    return [name for name in names if not any(each in text for each in (name if isinstance(name, tuple) else [name]))]


def check_support(text: str, citations: list[dict[str, object]], index: store.Index) -> int:
    """The number of statements in lines ("- ..."), each of which is supported by the quotes of its document that its
    citations lead to.

    The title of a document counts with its quotes: "It reads from the parcel database" is said of what it is about.
    """
    rows = index.frame("select path, text, title from documents").rows()
    texts, title_of = {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}
    held_by: dict[str, str] = {}
    for c in citations:
        assert texts[str(c["path"])][int(str(c["start"])) : int(str(c["end"]))] == c["quote"]
        held_by[str(c["ref"])] = f"{held_by.get(str(c['ref']), '')} {c['quote']} {title_of[c['path']]}"
    by_name = any(ref.startswith("[[") for ref in held_by)
    n = 0
    for line in text.splitlines():
        at = 0
        ends = (re.compile(rf"(?: {_NAME.pattern})+(?=\.?$)") if by_name else CITATION).finditer(line)
        for match in ends if line.startswith("- ") else ():
            refs = _NAME.findall(match[0]) if by_name else list_refs(match[0])
            assert refs and all(ref in held_by for ref in refs), (refs, line)
            said = stem_words(re.sub(r"-\w+->|\((?:service|place)\)", " ", line[at : match.start()]))
            held = stem_words(" ".join(held_by[ref] for ref in refs))
            assert len(said & held) >= LEAST_SHARED * len(said), (line, [held_by[ref] for ref in refs])
            n, at = n + 1, match.end()
        assert not line.startswith("- ") or at, f"a line without a citation: {line}"
    return n


def list_refs(citation: str) -> list[str]:
    pairs = re.findall(r"(\w+) \(([\d, ]+)\)", citation)
    return [f"{name} ({number})" for name, numbers in pairs for number in numbers.split(", ")]


def check_nothing_twice(text: str) -> None:
    said = [re.sub(r"\W+", " ", CITATION.sub("", _NAME.sub("", line))).casefold().strip() for line in text.splitlines()]
    assert len(said) == len(set(said)), text


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_without_a_model_a_reader_agrees(index: store.Index, mode: str, question: str) -> None:
    answer = answer_question(index, question, mode=mode, level=1, top=10, budget_tokens=4000)
    print(answer.text, *answer.notices, sep="\n")
    if (mode, question) == ("basic", RISK):
        assert (answer.text, answer.notices) == (NOTHING, (WALKED,)), (
            "no passage says so: a walk does, and that is said"
        )
        return
    assert answer.answered and answer.text.splitlines()[1] == FIRST[question]
    assert list_missing(answer.text, named_in(mode, question)) == [] and not NEVER.search(answer.text)
    assert check_support(answer.text, answer.to_json()["citations"], index) >= 2
    check_nothing_twice(answer.text)


def ask_model(index: store.Index, mode: str, question: str) -> Answer:
    llm = ScriptedLlm(lambda request: write_reply(request.stage, request.messages[-1].content))
    model = SearchModel(lambda: llm, {name: load_prompt(name) for name in PROMPTS_OF_MODE[mode]})
    return answer_question(index, question, mode=mode, level=1, top=10, budget_tokens=4000, llm=model)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("mode", MODES)
def test_of_a_model_a_reader_agrees(index: store.Index, mode: str, question: str) -> None:
    answer = ask_model(index, mode, question)
    print(answer.text, *answer.notices, sep="\n")
    if (mode, question) == ("basic", RISK):
        assert not answer.answered and answer.usage.calls == 0
        return
    assert list_missing(answer.text, named_in(mode, question)) == [] and not NEVER.search(answer.text)
    first = answer.text.splitlines()[0]
    assert list_missing(first, ["vm-lju-07", "Vault", "Redis"]) != ["vm-lju-07", "Vault", "Redis"], first
    if question in (THEMES, CAUSES):
        assert "as 2 of 8 do" in answer.text, "what recurs shows in the context"
    n = check_support(answer.text, answer.to_json()["citations"], index)
    assert n >= 4 and n == answer.usage.sentences and answer.usage.unsupported_sentences == 0
    assert not any("removed" in notice for notice in answer.notices)
    check_nothing_twice(answer.text)


def run(capsys: pytest.CaptureFixture[str], question: str, *options: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as caught:
        main(["search", question, "--json", "--root", str(ROOT), *options])
    assert not caught.value.code
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_question_decides_the_mode(sample_index: Path, capsys: pytest.CaptureFixture[str], question: str) -> None:
    answer = run(capsys, question, "--set", f"output.dir={sample_index}")
    assert answer["mode"] == ("global" if question in (THEMES, CAUSES) else "local")
    text = str(answer["answer"])
    assert list_missing(text, NAMED[question]) == [] and text.splitlines()[1] == FIRST[question]


def write_over_http(asked: str, _attempt: int) -> Reply:
    is_points, is_batch = asked.startswith("Points:"), asked.startswith("Reports:")
    return Reply(write_reply("search_reduce" if is_points else "search_map" if is_batch else "search", asked))


def with_model(server: FakeServer, output: Path, cache: Path) -> list[str]:
    pairs = [
        f"output.dir={output}", f"cache.dir={cache}", "llm.model=openai/fake", f"llm.api_base={server.url}",
        "llm.price=[1.0, 2.0]", "llm.max_retries=0",
    ]  # fmt: skip
    return [word for pair in pairs for word in ("--set", pair)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_model_behind_a_service_answers_with_citations_that_say_it(
    index: store.Index, sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], question: str
) -> None:
    with serve(write_over_http) as server:
        answer = run(capsys, question, *with_model(server, sample_index, tmp_path))
    citations, text = answer["citations"], str(answer["answer"])
    assert isinstance(citations, list) and isinstance(answer["usage"], dict)
    n = check_support(text, citations, index)
    assert n >= 4 and n == answer["usage"]["sentences"] and answer["usage"]["unsupported_sentences"] == 0
    assert not any("removed" in str(notice) for notice in answer.get("notices", []))  # type: ignore[attr-defined]
    assert list_missing(text, NAMED[question]) == []
