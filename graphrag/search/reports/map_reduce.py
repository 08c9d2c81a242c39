"""Global search by a model: batches of reports, and excerpts of the documents, are read for points that help (map), the
points become the answer (reduce).

Reports go, those about most text first, into next-fit batches; the excerpts, where a question has any, into the last of
them where they fit, else into one of their own. All batches are asked at once. A point carries a score of 0 to 100 and
the rows it cites. A reply that cannot be read is asked for once more, then the batch is counted as
unread and the answer says so. Without a point that helps there is no answer and no second question.

Does not: choose the reports (global_search.py, select_communities.py), find excerpts (global_answer.py), or check an
answer (model_answer.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.citations import KINDS, Cited, check_citations, drop_citations
from graphrag.context import TokenCounter, cut_text, escape_cell
from graphrag.llm.chat import ChatRequest, Message, show_nothing
from graphrag.llm.door import chat_many
from graphrag.prompts import Prompt
from graphrag.replies.objects import parse_points_reply
from graphrag.search.answer import Answer, Source
from graphrag.search.model_answer import (
    MAX_WORDS,
    TOKENS_OF_CITATIONS,
    TOKENS_PER_WORD,
    SearchModel,
    ask_all,
    check_answer,
    tell_unusable,
    write_request,
)
from graphrag.search.rows import Report, load_passages
from graphrag.search.sections import list_reports, list_sources

if TYPE_CHECKING:
    from graphrag.store import Index

MAP_STAGE, REDUCE_STAGE = "search_map", "search_reduce"
HEADING = "-----Reports-----\nid|title|content\n"
POINTS_HEADING = "score|point\n"


class Batch(NamedTuple):
    """Tables put to the model together; `ids` are the human_readable_ids of their rows, by dataset."""

    text: str
    ids: Mapping[str, Sequence[int]]


NO_EXCERPTS = Batch("", {})


class Point(NamedTuple):
    """What a batch says about the question, with the rows it cites."""

    description: str
    score: float
    cited: tuple[Cited, ...]

    @property
    def first_report(self) -> float:
        """Its number; infinite where no report is cited."""
        return next((number for dataset, number in self.cited if dataset == "Reports"), math.inf)

    def render(self) -> str:
        return f"{self.score:g}|{escape_cell(self.description)}\n"


class Mapped(NamedTuple):
    """Points in order of their batches, batches that could not be read, and citations of rows not in the batch."""

    points: list[Point]
    n_unread: int
    n_removed: int


class PackedPoints(NamedTuple):
    points: list[Point]
    text: str
    left_out: int


def fit_next(costs: Sequence[int], *, budget: int) -> list[list[int]]:
    """Positions of the costs in batches: each goes into the last batch where it fits, else into a new one.

    Costs 900, 500, 400, 300, 250 and a budget of 1,000 give {900}, {500, 400}, {300, 250}. One over the budget stands
    alone. No batch is empty.
    """
    batches: list[list[int]] = []
    left = 0
    for position, cost in enumerate(costs):
        if not batches or cost > left:
            batches.append([])
            left = budget
        batches[-1].append(position)
        left -= cost
    return batches


def batch_reports(
    reports: Sequence[Report], n_text_units: Mapping[int, int], *, budget: int, count: TokenCounter
) -> list[Batch]:
    """Reports by number of the community's text units, rank, number; a line over the budget is cut with a mark.

    n_text_units: by community. The budget (tokens) is for the lines; the heading and the prompt come on top.
    """
    ordered = sorted(reports, key=lambda r: (-n_text_units.get(r.community, 0), -r.rank, r.community))
    lines = [_render_report(report, budget=budget, count=count) for report in ordered]
    batches = fit_next([count(line) for line in lines], budget=budget)
    return [
        Batch(
            HEADING + "".join(lines[at] for at in batch), {"Reports": [ordered[at].human_readable_id for at in batch]}
        )
        for batch in batches
    ]


def add_excerpts(batches: Sequence[Batch], excerpts: Batch, *, budget: int, count: TokenCounter) -> list[Batch]:
    """The batches with the excerpts in the last one, where they fit its budget, else in one more."""
    if not excerpts.text:
        return list(batches)
    if not batches or count(batches[-1].text.removeprefix(HEADING)) + count(excerpts.text) > budget:
        return [*batches, excerpts]
    last = batches[-1]
    return [*batches[:-1], Batch(f"{last.text}\n{excerpts.text}", {**last.ids, **excerpts.ids})]


def takes_excerpts(prompt: Prompt) -> bool:
    """Whether a prompt asks for citations of other rows than reports; those of microsoft/graphrag do not."""
    return "Sources (" in prompt.system + prompt.user


def _render_report(report: Report, *, budget: int, count: TokenCounter) -> str:
    """`id|title|content`. The content's own citations are left out: an answer from reports cites reports."""
    cells = (report.human_readable_id, escape_cell(report.title), escape_cell(drop_citations(report.full_content)))
    return cut_text("|".join(map(str, cells)) + "\n", budget=budget, count=count).rstrip("\n") + "\n"


def write_map_request(prompt: Prompt, repair: Prompt, batch: Batch, question: str) -> ChatRequest:
    messages = prompt.render({"context_data": batch.text, "question": question, "max_length": str(MAX_WORDS)})
    return ChatRequest(
        stage=MAP_STAGE,
        role="search",
        messages=tuple(Message(message.role, message.content) for message in messages),
        prompt_version=prompt.sha256,
        max_tokens=MAX_WORDS * TOKENS_PER_WORD + TOKENS_OF_CITATIONS,
        expected_tokens=MAX_WORDS,
        accept=lambda text: not parse_points_reply(text).problem,
        repair=repair.render({})[0].content,
    )


def map_batches(model: SearchModel, batches: Sequence[Batch], question: str) -> Mapped:
    """The points of all batches, asked at once. Raises what the model's door raises when no call can succeed."""
    prompt, repair = model.prompts["global_search_map"], model.prompts["repair_reply"]
    requests = [write_map_request(prompt, repair, batch, question) for batch in batches]
    replies = ask_all(model.llm, requests)
    points: list[Point] = []
    n_unread = n_removed = 0
    for batch, reply in zip(batches, replies, strict=True):
        if not reply.is_good:
            n_unread += 1
            continue
        for found in parse_points_reply(reply.text).points:
            checked = check_citations(found.description, batch.ids)
            points.append(Point(checked.text, found.score, checked.cited))
            n_removed += checked.n_removed
    return Mapped(points, n_unread, n_removed)


def pack_points(points: Sequence[Point], *, budget: int, count: TokenCounter) -> PackedPoints:
    """The best points that fit the budget: by score, then by their first report; one that does not fit is left out and
    the next is tried. Where not even one fits, the best is cut with a mark."""
    ordered = sorted(points, key=lambda point: (-point.score, point.first_report))
    kept: list[Point] = []
    left = budget
    for point in ordered:
        if (cost := count(point.render())) <= left:
            kept.append(point)
            left -= cost
    text = "".join(point.render() for point in kept)
    if ordered and not kept:
        kept, text = ordered[:1], cut_text(ordered[0].render(), budget=budget, count=count)
    return PackedPoints(kept, text, len(ordered) - len(kept))


def answer_from_reports(
    index: Index,
    draft: Answer,
    reports: Sequence[Report],
    n_text_units: Mapping[int, int],
    *,
    model: SearchModel,
    budget_tokens: int,
    top: int,
    excerpts: Batch = NO_EXCERPTS,
    on_text: Callable[[str], None] | None = None,
    count: TokenCounter,
) -> Answer:
    """The draft (of an unanswered question) with the model's answer from these reports and excerpts.
    usage.context_tokens are those of all that is read; the context is the table of points that the answer rests on."""
    batches = batch_reports(reports, n_text_units, budget=budget_tokens, count=count)
    batches = add_excerpts(batches, excerpts, budget=budget_tokens, count=count)
    n_tokens = sum(count(batch.text.removeprefix(HEADING)) for batch in batches)
    draft = replace(draft, usage=replace(draft.usage, context_tokens=n_tokens))
    mapped = map_batches(model, batches, draft.question) if batches else Mapped([], 0, 0)
    notices = [f"{mapped.n_unread} of {len(batches)} batches could not be read."] if mapped.n_unread else []
    packed = pack_points(mapped.points, budget=budget_tokens, count=count)
    if not packed.points:
        return replace(draft, notices=(*draft.notices, *notices))
    if packed.left_out:
        notices.append(f"{packed.left_out} of {len(mapped.points)} points did not fit into --budget-tokens.")
    ids: dict[str, list[int]] = {}
    for dataset, number in dict.fromkeys(row for point in packed.points for row in point.cited):
        ids.setdefault(dataset, []).append(number)
    used = {report.human_readable_id: report for report in reports}
    draft = replace(
        draft,
        context=POINTS_HEADING + packed.text,
        context_ids=ids,
        reports=list_reports([used[number] for number in ids.get("Reports", ())]),
        notices=(*draft.notices, *notices),
    )
    answer = _reduce(index, draft, packed, model, on_text)
    return replace(answer, sources=_list_sources(index, answer, used, top=top))


def _reduce(
    index: Index, draft: Answer, packed: PackedPoints, model: SearchModel, on_text: Callable[[str], None] | None
) -> Answer:
    """The model's answer from the points; the points themselves where its reply is of no use."""
    values = {"report_data": POINTS_HEADING + packed.text, "question": draft.question}
    request = write_request(model.prompts["global_search_reduce"], values)
    request = replace(request, stage=REDUCE_STAGE, on_text=on_text or show_nothing)
    (reply,) = model.llm.run(chat_many(model.llm, [request]))
    if reply.is_good:
        return check_answer(index, draft, reply.text)
    points = "\n".join(f"- {point.description}" for point in packed.points)
    draft = replace(draft, notices=(*draft.notices, tell_unusable(reply.status, reply.detail)))
    return check_answer(index, draft, points)


def _list_sources(index: Index, answer: Answer, reports: Mapping[int, Report], *, top: int) -> tuple[Source, ...]:
    """Passages that are cited or that the cited reports quote, in the order of the citations."""
    units: dict[str, None] = {}
    for citation in answer.citations:
        if citation.kind == KINDS["Sources"]:
            units[citation.id] = None
        elif citation.kind == KINDS["Reports"]:
            quoted = reports[citation.human_readable_id].citations
            units |= dict.fromkeys(row["id"] for row in quoted if row["kind"] == KINDS["Sources"])
    passages = load_passages(index, list(units)[:top])
    return list_sources(passages, {p.id: 1 / rank for rank, p in enumerate(passages, start=1)}, top=top)
