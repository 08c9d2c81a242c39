"""Global search by a model, as specified in specs/indexing.md, section 8: batches, points, their order, no answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.llm import ChatRequest, ScriptedLlm
from graphrag.memo import Memo
from graphrag.prompts import check_prompt, load_prompt
from graphrag.search import answer_question
from graphrag.search.answer import NOTHING, Answer
from graphrag.search.model_answer import SearchModel
from graphrag.search.reports.levels import load_hierarchy, select_reports
from graphrag.search.reports.map_reduce import (
    HEADING,
    NO_EXCERPTS,
    Batch,
    Point,
    add_excerpts,
    batch_reports,
    fit_next,
    pack_points,
)
from graphrag.search.rows import Report, load_reports
from graphrag.store import Index

NAMES = ("global_search_map", "global_search_reduce", "rate_reports", "repair_reply")
PROMPTS = {name: load_prompt(name) for name in NAMES}
QUESTION = "What do our services depend on?"


@pytest.mark.parametrize(
    ("costs", "batches"),
    [
        ([900, 500, 400, 300, 250], [[0], [1, 2], [3, 4]]),
        ([1500], [[0]]),
        ([200, 1500, 200], [[0], [1], [2]]),
        ([], []),
    ],
)
def test_batches_are_next_fit(costs: list[int], batches: list[list[int]]) -> None:
    assert fit_next(costs, budget=1000) == batches


@given(st.lists(st.integers(1, 3000)), st.integers(1, 2000))
def test_every_report_is_in_one_batch_and_none_is_empty(costs: list[int], budget: int) -> None:
    batches = fit_next(costs, budget=budget)
    assert [position for batch in batches for position in batch] == list(range(len(costs)))
    assert all(batches)
    assert all(len(batch) == 1 or sum(costs[position] for position in batch) <= budget for batch in batches)


def report(number: int, words: int, rank: float = 1.0) -> Report:
    return Report(str(number), number, number, 0, f"R{number}", "", "word " * words, rank, [], 1, "llm")


def count_words(text: str) -> int:
    return len(text.split())


def test_reports_about_most_text_come_first_and_one_too_long_is_cut_with_a_mark() -> None:
    reports = [report(1, 5), report(2, 5, rank=9.0), report(3, 5), report(4, 50)]
    batches = batch_reports(reports, {1: 2, 2: 2, 3: 7, 4: 1}, budget=12, count=count_words)
    assert [batch.ids for batch in batches] == [{"Reports": [3, 2]}, {"Reports": [1]}, {"Reports": [4]}]
    assert "[cut]" in batches[-1].text and count_words(batches[-1].text) < 20
    assert "[cut]" not in batches[0].text + batches[1].text


def point(description: str, score: float, *reports: int) -> Point:
    return Point(description, score, tuple(("Reports", number) for number in reports))


def test_points_go_by_score_then_first_report_and_what_does_not_fit_is_counted() -> None:
    p1, p3, p4 = point("P1", 80, 5), point("P3", 95, 9), point("P4", 40, 1)
    tokens = {p1.render(): 50, p3.render(): 30, p4.render(): 40}
    packed = pack_points([p1, p3, p4], budget=100, count=tokens.__getitem__)
    assert ([point.description for point in packed.points], packed.left_out) == (["P3", "P1"], 1)
    same = [point("a", 50, 7), Point("b", 50, (("Sources", 1),)), point("c", 50, 2, 9)]
    assert [p.description for p in pack_points(same, budget=100, count=count_words).points] == ["c", "a", "b"]


def test_a_budget_too_small_for_one_point_cuts_it() -> None:
    packed = pack_points([Point("a long point of many words", 50, ())], budget=3, count=count_words)
    assert len(packed.points) == 1 and packed.text and len(packed.text) < 20
    assert pack_points([], budget=3, count=count_words) == ([], "", 0)


def count_rows(text: str) -> int:
    return len(re.findall(r"^\d+\|", text, re.M))


@given(st.lists(st.integers(1, 4)), st.integers(0, 4))
def test_excerpts_go_into_the_last_batch_where_they_fit_else_into_one_of_their_own(
    sizes: list[int], n_excerpts: int
) -> None:
    numbers = iter(range(1000))
    batches = [make_batch("Reports", [next(numbers) for _ in range(size)]) for size in sizes]
    excerpts = make_batch("Sources", list(range(n_excerpts))) if n_excerpts else NO_EXCERPTS
    found = add_excerpts(batches, excerpts, budget=5, count=count_rows)
    assert [n for batch in found for n in batch.ids.get("Reports", ())] == [
        n for b in batches for n in b.ids["Reports"]
    ]
    assert [n for batch in found for n in batch.ids.get("Sources", ())] == list(range(n_excerpts))
    assert all(count_rows(batch.text) == sum(map(len, batch.ids.values())) <= 5 for batch in found)
    fits = bool(sizes) and sizes[-1] + n_excerpts <= 5
    assert len(found) == len(batches) + (n_excerpts > 0 and not fits)


def make_batch(dataset: str, numbers: list[int]) -> Batch:
    heading = HEADING if dataset == "Reports" else "-----Sources-----\nid|document|heading|text\n"
    return Batch(heading + "".join(f"{number}|a|b\n" for number in numbers), {dataset: numbers})


def test_a_point_may_rest_on_an_excerpt(r8: Index, r8_texts: dict[str, str]) -> None:
    def reply(request: ChatRequest) -> str:
        asked = request.messages[-1].content
        if request.stage == "search_reduce":
            return "\n".join(re.findall(r"^\d+\|(.*)$", asked, re.M))
        (number,) = re.findall(r"^(\d+)\|token cache\|backed_by\|Redis\|", asked, re.M)
        return write_points(
            (f"The token cache is backed by Redis [Data: Relationships ({number}, 77); Reports (0)]", 90)
        )

    llm = ScriptedLlm(reply)
    answer = ask(r8, llm, "What breaks if Redis goes down?", budget_tokens=4000)
    assert [request.stage for request in llm.requests] == ["search_map", "search_reduce"]
    assert answer.answered and [c.kind for c in answer.citations] == ["relationships", "community_reports"]
    assert answer.citations[0].quote == r8_texts["c3.md"] and answer.sources


def test_a_prompt_that_knows_reports_only_is_shown_reports_only(r8: Index) -> None:
    reports_only = "Data: {context_data}. Cite [Data: Reports (1, 2)]. Answer with points as JSON."
    prompts = {**PROMPTS, "global_search_map": check_prompt("global_search_map", reports_only, path="map.txt")}
    llm = ScriptedLlm(lambda _: '{"points": []}')
    answer_question(
        r8, "What breaks if Redis goes down?", mode="global", level=1, top=10, budget_tokens=4000,
        llm=SearchModel(lambda: llm, prompts),
    )  # fmt: skip
    assert llm.requests and not any("-----Relationships-----" in request.text for request in llm.requests)


# Three reports at level 1 of the index r8, one batch each with this budget.
BUDGET = 60


def ask(index: Index, llm: ScriptedLlm, question: str = QUESTION, **knobs: Any) -> Answer:
    given = {"level": 1, "budget_tokens": BUDGET, **knobs}
    return answer_question(index, question, mode="global", top=10, llm=SearchModel(lambda: llm, PROMPTS), **given)


def ids_in(request: ChatRequest) -> list[int]:
    table = request.text.partition("id|title|content\n")[2].partition("\nDATA-")[0]
    return [int(number) for number in re.findall(r"^(\d+)\|", table, re.MULTILINE)]


def write_points(*points: tuple[str, int]) -> str:
    rows = ", ".join(f'{{"description": "{text}", "score": {score}}}' for text, score in points)
    return f'{{"points": [{rows}]}}'


def test_three_batches_and_a_reduce_are_four_calls(r8: Index, r8_texts: dict[str, str]) -> None:
    said: list[str] = []

    def reply(request: ChatRequest) -> str:
        if request.stage == "search_reduce":
            said.append(request.text)
            cited = re.findall(r"\[Data: Reports \(\d+\)\]", request.messages[-1].content)
            return f"Services depend on one another {cited[0]}. So do others {cited[1]}."
        (number,) = ids_in(request)
        script = [
            write_points((f"P1 [Data: Reports ({number}, 888)]", 80), ("P2", 0)),
            '{"points": []}',
            write_points((f"P3 [Data: Reports ({number})]", 95), (f"P4 [Data: Reports ({number})]", 40)),
        ]
        return script[len(llm.requests) - 1]

    llm = ScriptedLlm(reply, max_concurrency=1)
    answer = ask(r8, llm)
    assert answer.usage.calls == 4 == len(llm.requests) and answer.answered
    lines = [line for line in said[0].splitlines() if re.match(r"\d+\|P", line)]
    assert [line.partition(" ")[0] for line in lines] == ["95|P3", "80|P1", "40|P4"]
    assert answer.usage.context_tokens > 0 and answer.sources and len(answer.reports) == 2
    assert [citation.kind for citation in answer.citations] == ["community_reports"] * 2
    for citation in answer.citations:
        assert r8_texts[citation.path][citation.start : citation.end] == citation.quote


def test_an_unreadable_batch_is_asked_once_more_and_said(r8: Index) -> None:
    def reply(request: ChatRequest) -> str:
        if request.stage == "search_reduce":
            return "Services depend on databases [Data: Reports (1, 2, 3, 0)]."
        numbers = ids_in(request)
        return "no json here" if numbers == [first] else write_points((f"P [Data: Reports ({numbers[0]})]", 50))

    first = min(r.human_readable_id for r in load_reports(r8, select_reports(load_hierarchy(r8), level=1)[0]))
    llm = ScriptedLlm(reply)
    answer = ask(r8, llm)
    assert "1 of 3 batches could not be read." in answer.notices
    assert answer.answered and answer.usage.calls == 5  # three batches, one of them twice, and the reduce


@pytest.mark.parametrize("said", ['{"points": []}', write_points(("nothing", 0)), "[]"])
def test_without_a_point_there_is_no_answer_and_no_reduce(r8: Index, said: str) -> None:
    llm = ScriptedLlm(lambda _: said)
    answer = ask(r8, llm)
    assert not answer.answered and answer.text == NOTHING and answer.citations == ()
    assert {request.stage for request in llm.requests} == {"search_map"} and answer.usage.calls == 3


def test_scores_in_words_and_out_of_range_are_read(r8: Index) -> None:
    def reply(request: ChatRequest) -> str:
        if request.stage == "search_reduce":
            return "Services depend on databases."
        points = '{"description": "much", "score": "900"}, {"description": "less", "score": 7.5},'
        return f'```json\n{{"points": [{points}]}}\n```'

    llm = ScriptedLlm(reply)
    ask(r8, llm)
    assert "100|much" in llm.requests[-1].text and "7.5|less" in llm.requests[-1].text


def test_the_same_question_again_asks_nothing(r8: Index, tmp_path: Path) -> None:
    replies = {
        "search_rate": '{"1": 3, "2": 3, "3": 3}',
        "search_map": write_points(("a point", 50)),
        "search_reduce": "They depend on databases.",
    }

    def reply(request: ChatRequest) -> str:
        return replies[request.stage]

    with Memo(tmp_path / "memo.sqlite") as memo:
        first = ask(r8, ScriptedLlm(reply, memo=memo), dynamic=True, level=0)
        llm = ScriptedLlm(reply, memo=memo)
        again = ask(r8, llm, dynamic=True, level=0)
    assert llm.requests == [] and again.usage.calls == 0 and again.usage.from_memo == first.usage.calls > 0
    assert (first.text, first.citations) == (again.text, again.citations)


def test_a_reduce_of_no_use_leaves_the_points(r8: Index) -> None:
    def reply(request: ChatRequest) -> str:
        if request.stage == "search_reduce":
            return " "
        return write_points((f"Services depend on databases [Data: Reports ({ids_in(request)[0]})]", 50))

    answer = ask(r8, ScriptedLlm(reply))
    assert answer.text.count("- Services depend on databases [Data: Reports (") == 3 and len(answer.citations) == 3
    assert "The model's reply is of no use (empty_reply: " in answer.notices[-1]


def test_context_tokens_are_those_of_the_exact_roll_up(r8: Index) -> None:
    """Each report of the level is read once, whole, whatever the batches."""
    read: list[int] = []

    def reply(request: ChatRequest) -> str:
        read.extend(ids_in(request))
        return '{"points": []}'

    answers = [ask(r8, ScriptedLlm(reply), budget_tokens=budget) for budget in (4000, 400)]
    reports = load_reports(r8, select_reports(load_hierarchy(r8), level=1)[0])
    assert sorted(read) == sorted(2 * [r.human_readable_id for r in reports])
    assert answers[0].usage.context_tokens == answers[1].usage.context_tokens


def test_an_unknown_name_asks_nothing(r8: Index) -> None:
    llm = ScriptedLlm(lambda _: "never")
    answer = ask(r8, llm, "What depends on Zyxwquf Gateway?")
    assert not answer.answered and llm.requests == []
