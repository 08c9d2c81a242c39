"""Global search on the sample: the full map reads the exact roll-up, and dynamic selection a part of it, none too few.

The model is a script that goes by one word, for ratings and for points. Questions are about one theme each.
Prints the table of docs/search.md with -s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag import store
from graphrag.citations import drop_citations
from graphrag.context import cut_text, escape_cell
from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.prompts import load_prompt
from graphrag.search import answer_question
from graphrag.search.answer import Answer
from graphrag.search.model_answer import SearchModel
from graphrag.search_model import PROMPTS_OF_MODE
from graphrag.tables import UNCONNECTED
from graphrag.tokens import count_tokens

BUDGET = 4000
THEMES = [
    ("What do the reports say about the certificate?", "certificate"),
    ("What is said about Kafka?", "kafka"),
    ("What is said about the depot?", "depot"),
    ("What is said about failover?", "failover"),
    ("What is said about card payments?", "card"),
    ("What is said about DNS?", "resolver"),
    ("What is said about labels and fonts?", "label"),
    ("What do we know about the warehouse?", "warehouse"),
]


@pytest.fixture(scope="module")
def index(sample_index: Path) -> Iterator[store.Index]:
    with store.open_index(sample_index) as opened:
        yield opened


class Reader:
    """A model that finds a word: what it was shown, and which reports it found something in."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[int] = []
        self.scored: list[int] = []
        self.asked: list[str] = []  # of the map
        self.llm = ScriptedLlm(self.reply)

    def reply(self, request: ChatRequest) -> str:
        asked = request.messages[-1].content
        if request.stage == "search_rate":
            rows = re.findall(r"^(\d+)\|(.*)$", asked.partition("\nQuestion:")[0], re.M)
            return json.dumps({number: 4 if self.word in line.casefold() else 0 for number, line in rows})
        if request.stage == "search_reduce":
            return "The points say so."
        self.asked.append(asked)
        table = asked.partition("id|title|content\n")[2].partition("\n\n")[0]
        rows = re.findall(r"^(\d+)\|(.*)$", table, re.M)
        self.read += [int(number) for number, _ in rows]
        found = [int(number) for number, text in rows if self.word in text.casefold()]
        self.scored += found
        points = ", ".join(f'{{"description": "It is said [Data: Reports ({n})]", "score": 80}}' for n in found)
        return f'{{"points": [{points}]}}'


def ask(index: store.Index, question: str, word: str, *, level: int, dynamic: bool) -> tuple[Answer, Reader]:
    reader = Reader(word)
    model = SearchModel(lambda: reader.llm, {name: load_prompt(name) for name in PROMPTS_OF_MODE["global"]})
    answer = answer_question(
        index, question, mode="global", level=level, top=10, budget_tokens=BUDGET, dynamic=dynamic, llm=model
    )
    return answer, reader


def roll_up(index: store.Index, level: int) -> dict[int, str]:
    """human_readable_id -> line of each report of a level: those of the level and of leaves above it (written here
    once more, from the tables alone)."""
    rows = index.frame(
        "select r.human_readable_id, r.title, r.full_content from communities c join community_reports r "
        "on r.community = c.community where c.title <> ? and (c.level = ? or (c.level < ? and len(c.children) = 0))",
        (UNCONNECTED, level, level),
    ).rows()
    return {n: f"{n}|{escape_cell(title)}|{escape_cell(drop_citations(text))}\n" for n, title, text in rows}


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_full_map_reads_the_exact_roll_up(index: store.Index, level: int) -> None:
    answer, reader = ask(index, "What is said about Kafka?", "kafka", level=level, dynamic=False)
    lines = roll_up(index, level)
    entities = index.frame(
        "select e from (select unnest(c.entity_ids) as e from communities c join community_reports r "
        "on r.community = c.community where r.human_readable_id in (select unnest(?::bigint[])))",
        (list(lines),),
    )["e"].to_list()
    (n_connected,) = index.frame(
        "select count(*) from entities where id not in (select unnest(entity_ids) from communities where title = ?)",
        (UNCONNECTED,),
    ).row(0)
    assert sorted(reader.read) == sorted(lines), "each report once, none of another level"
    assert len(entities) == len(set(entities)) == n_connected, "each entity that is connected is covered once"
    expected = sum(count_tokens(cut_text(line, budget=BUDGET, count=count_tokens)) for line in lines.values())
    assert answer.usage.context_tokens == pytest.approx(expected, abs=len(lines))


@pytest.mark.parametrize("question", ["What themes recur across the incident reviews?", "What depends on Redis?"])
def test_excerpts_come_beside_the_exact_roll_up(index: store.Index, question: str) -> None:
    """What many documents say, or a walk finds, is a table of its own; the reports read are the same as without."""
    answer, reader = ask(index, question, "vault", level=2, dynamic=False)
    lines = roll_up(index, 2)
    assert sorted(reader.read) == sorted(lines)
    n_reports = sum(count_tokens(cut_text(line, budget=BUDGET, count=count_tokens)) for line in lines.values())
    last = re.split(r"\n(?:<<<)?DATA-\w+(?:>>>)?\n", reader.asked[-1])[1]
    shown = last.partition("\n\n")[2] if "-----Reports-----" in last else last
    table = "Sources" if "themes" in question else "Relationships"
    assert f"-----{table}-----\n" in shown and all(count_tokens(each) < BUDGET + 600 for each in reader.asked)
    assert answer.usage.context_tokens == pytest.approx(n_reports + count_tokens(shown), abs=len(lines) + 5)


def count_tokens_of_calls(answer: Answer) -> int:
    """Sent and received, ratings included."""
    return answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_dynamic_selection_saves_half_and_keeps_what_the_full_map_finds(index: store.Index) -> None:
    """Half of all tokens, those of the ratings included."""
    print("| theme | calls | tokens | with dynamic selection: calls | tokens | share | reports read | of those found |")
    for question, word in THEMES:
        full, whole = ask(index, question, word, level=2, dynamic=False)
        some, part = ask(index, question, word, level=2, dynamic=True)
        n_full, n_some = count_tokens_of_calls(full), count_tokens_of_calls(some)
        kept = set(whole.scored) & set(part.read)
        print(
            f"| {word} | {full.usage.calls} | {n_full:,} | {some.usage.calls} | {n_some:,} | {n_some / n_full:.2f} | "
            f"{len(part.read)} of {len(whole.read)} | {len(kept)} of {len(whole.scored)} | {some.notices[0]}"
        )
        assert whole.scored and kept == set(whole.scored), word
        assert n_some <= 0.5 * n_full, word
        assert some.usage.context_tokens <= 0.5 * full.usage.context_tokens, word


def test_without_a_model_dynamic_selection_reads_less_too_and_keeps_what_bears_on_the_question(
    index: store.Index,
) -> None:
    for question, word in THEMES:
        full, some = (
            answer_question(index, question, mode="global", level=2, top=10, budget_tokens=BUDGET, dynamic=dynamic)
            for dynamic in (False, True)
        )
        assert full.answered and some.answered, question
        assert {c.quote for c in full.citations} == {c.quote for c in some.citations}, question
        assert word in some.text.casefold() or question.endswith("DNS?"), some.text
