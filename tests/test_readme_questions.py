"""The questions of the README, asked of the sample: without a model in every mode, and of a model behind the real
litellm. Each citation must lead to a quote that says what the line says.

The model is a script that writes what a careful one would: a sentence a row of the context, each with its citation.
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
from graphrag.search import answer_question
from graphrag.search.support import stem_words

from .conftest import ROOT
from .llm.fake_server import FakeServer, Reply, serve

REDIS = "What breaks if Redis goes down?"
RISK = "Which single dependency is our highest systemic risk?"
THEMES = "What themes recur across the incident reviews?"
CAUSES = "What are the recurring causes of incidents?"
DEPENDS = "What depends on Redis?"
# What every reader of the documents would name, and what none would.
EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    REDIS: (["token cache", "Auth Service", "login flow", "Notification Service"], ["Billing -", "Checkout API -"]),
    DEPENDS: (["token cache", "Auth Service", "login flow", "Notification Service"], ["Billing -", "Checkout API -"]),
    RISK: (["vm-lju-07", "Internal Resolver", "Vault", "Certificate Issuer", "API Gateway"], []),
    THEMES: (["Vault, named in 2 of 8", "no second provider", "certificate", "ran out of disk"], ["Christmas"]),
    CAUSES: (["Vault, named in 2 of 8", "no second provider", "certificate", "ran out of disk"], ["Christmas"]),
}
MODES = ("local", "basic", "global")
WENT_WRONG = re.compile(r"\bINC-\d|expired|ran out|down\b|no second|sealed|throttled|outage|incident|single", re.I)
NO_SENTENCE = re.compile(r";|\[\[|links to|mentioned together|entities")  # headings of an extractive report
LEAST_SHARED = 0.5  # of a statement's words, in the quotes that it cites


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Iterator[store.Index]:
    with store.open_index(sample_index) as opened:
        yield opened


def check_support(text: str, citations: list[dict[str, object]], index: store.Index) -> int:
    """The number of citations in lines ("- ..."), each of which supports the words before it, from its document.

    The title of a document counts with its quotes: "It reads from the parcel database" is said of what it is about.
    """
    texts = dict(index.frame("select path, text from documents").iter_rows())
    for c in citations:
        assert texts[str(c["path"])][int(str(c["start"])) : int(str(c["end"]))] == c["quote"]
    title_of = dict(index.frame("select path, title from documents").iter_rows())
    held_by: dict[str, str] = {}
    for c in citations:
        held_by[str(c["ref"])] = f"{held_by.get(str(c['ref']), '')} {c['quote']} {title_of[c['path']]}"
    n = 0
    for line in text.splitlines():
        at = 0
        for match in CITATION.finditer(line) if line.startswith("- ") else ():
            pairs = re.findall(r"(\w+) \(([\d, ]+)\)", match[0])
            refs = [f"{name} ({number})" for name, numbers in pairs for number in numbers.split(", ")]
            assert all(ref in held_by for ref in refs), (refs, line)
            said = stem_words(re.sub(r"-\w+->|\((?:service|place)\)", " ", line[at : match.start()]))
            held = stem_words(" ".join(held_by[ref] for ref in refs))
            assert len(said & held) >= LEAST_SHARED * len(said), (line, [held_by[ref] for ref in refs])
            n, at = n + 1, match.end()
    return n


@pytest.mark.parametrize("question", EXPECTED)
@pytest.mark.parametrize("mode", MODES)
def test_without_a_model_each_citation_leads_to_a_quote_that_says_it(
    index: store.Index, mode: str, question: str
) -> None:
    answer = answer_question(index, question, mode=mode, level=1, top=10, budget_tokens=4000)
    n = check_support(answer.text, answer.to_json()["citations"], index)
    assert n > 0 or not answer.answered


def run(capsys: pytest.CaptureFixture[str], question: str, *options: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as caught:
        main(["search", question, "--json", "--root", str(ROOT), *options])
    assert not caught.value.code
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("question", EXPECTED)
def test_a_reader_of_the_documents_agrees(
    sample_index: Path, capsys: pytest.CaptureFixture[str], question: str
) -> None:
    answer = run(capsys, question, "--set", f"output.dir={sample_index}")
    named, never = EXPECTED[question]
    text = str(answer["answer"])
    assert [word for word in named if word not in text] == [] and not [word for word in never if word in text]
    assert answer["mode"] == ("global" if question in (THEMES, CAUSES) else "local")


def write_answer(question: str, _attempt: int) -> Reply:
    """A sentence a row, as its table says; of reports a point for each sentence about something that went wrong."""
    if question.startswith("Reports:"):
        table = question.partition("id|title|content\n")[2].partition("\nDATA-")[0]
        points = [
            {"description": f"{sentence} [Data: Reports ({number})]", "score": 60}
            for number, text in re.findall(r"^(\d+)\|[^|]*\|(.*)$", table, re.MULTILINE)
            for sentence in _split_sentences(text)
            if WENT_WRONG.search(sentence) and not NO_SENTENCE.search(sentence)
        ]
        return Reply(json.dumps({"points": points}))
    if question.startswith("Points:"):
        rows = re.findall(r"^\d+\|(.*?) (\[Data: Reports \(\d+\)\])$", question, re.MULTILINE)
        return Reply("\n".join(f"- {text.rstrip('.')} {cited}." for text, cited in dict.fromkeys(rows)))
    table = question.partition("-----Relationships-----")[2].partition("\n-----")[0]
    rows = re.findall(r"^(\d+)\|([^|]*)\|([^|]*)\|([^|]*)\|", table, re.MULTILINE)
    lines = [f"- {a} {p.replace('_', ' ')} {b} [Data: Relationships ({n})]." for n, a, p, b in rows[:20]]
    if not lines:
        table = question.partition("-----Sources-----")[2].partition("\n-----")[0]
        rows = re.findall(r"^(\d+)\|[^|]*\|[^|]*\|(.*)$", table, re.MULTILINE)
        first = [(n, next(iter(_split_sentences(text)), text[:80])) for n, text in rows[:8]]
        lines = [f"- {sentence.rstrip('.')} [Data: Sources ({n})]." for n, sentence in first]
    return Reply("\n".join(lines))


def _split_sentences(text: str) -> list[str]:
    return re.findall(r"[A-Z][^.#|]{30,250}\.(?= |$)", text)


def with_model(server: FakeServer, output: Path, cache: Path) -> list[str]:
    pairs = [
        f"output.dir={output}", f"cache.dir={cache}", "llm.model=openai/fake", f"llm.api_base={server.url}",
        "llm.price=[1.0, 2.0]", "llm.max_retries=0",
    ]  # fmt: skip
    return [word for pair in pairs for word in ("--set", pair)]


@pytest.mark.parametrize("question", EXPECTED)
def test_a_model_answers_with_citations_that_say_it(
    index: store.Index, sample_index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], question: str
) -> None:
    with serve(write_answer) as server:
        answer = run(capsys, question, *with_model(server, sample_index, tmp_path))
    citations = answer["citations"]
    assert isinstance(citations, list) and isinstance(answer["usage"], dict)
    print(answer["answer"])
    n = check_support(str(answer["answer"]), citations, index)
    assert n >= 4 and n == answer["usage"]["sentences"] and answer["usage"]["unsupported_sentences"] == 0
    assert not any("removed" in str(notice) for notice in answer.get("notices", []))  # type: ignore[attr-defined]
    if question not in (THEMES, CAUSES):
        assert [word for word in EXPECTED[question][0] if word not in str(answer["answer"])] == []
