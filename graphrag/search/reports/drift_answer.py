"""Drift search by a model: a primer over the best reports asks follow-ups, local searches answer them, a last question
makes one answer of all.

Each step says what it found, how much that helps, and what to ask next; the questions of a round go out at once, those
of the most helpful steps first. Nothing is asked twice, and a follow-up for which nothing is found costs no call. A
reply that cannot be read is asked for once more, then counted and said; where that is the primer's, the follow-ups are
derived from its reports (drift_search.py). Where nothing is to be followed up, the primer's answer stands.

Reads what drift_search.py reads. Does not: check the last answer (model_answer.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrag.citations import Cited, check_citations, drop_citations
from graphrag.context import Packed, Section, TokenCounter, escape_cell, pack
from graphrag.llm.chat import ChatReply, ChatRequest, show_nothing
from graphrag.llm.door import chat_many
from graphrag.llm.ledger import collect_calls
from graphrag.prompts import Prompt
from graphrag.replies.objects import StepReply, parse_step_reply
from graphrag.search.answer import NOTHING, Answer, Usage
from graphrag.search.local_search import search_local
from graphrag.search.model_answer import (
    SearchModel,
    answer_with_model,
    ask_all,
    check_answer,
    count_usage,
    tell_unusable,
    write_request,
)
from graphrag.search.ranking import prepare_question, question_terms
from graphrag.search.reports.drift_search import (
    EMPTY,
    DriftBounds,
    Led,
    derive_follow_ups,
    fuse_sources,
    join_contexts,
    lead_question,
)
from graphrag.search.reports.global_search import answer_beyond_reports
from graphrag.search.sections import check_budget, list_reports, report_section
from graphrag.search.support import cite_supported, drop_unsupported
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.search.entries.folded_entries import Fold
    from graphrag.store import Index

PRIMER_STAGE, STEP_STAGE, REDUCE_STAGE = "search_drift_primer", "search_drift_step", "search_drift_reduce"
NO_REPORT = "No community report has to do with the question: answered as local search does."


class Step(NamedTuple):
    """What was asked and found, with the rows it cites."""

    question: str
    answer: str
    score: float
    cited: tuple[Cited, ...]

    def render(self) -> str:
        return "|".join([f"{self.score:g}", escape_cell(self.question), escape_cell(self.answer)])


class Lead(NamedTuple):
    """A follow-up that waits, with the score of the step that asks it."""

    question: str
    score: float


@dataclass
class Trail:
    """What has been asked so far, what it found, and what waits to be asked."""

    steps: list[Step] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    drafts: list[Answer] = field(default_factory=list)
    asked: set[Collection[str]] = field(default_factory=set)
    n_tokens: int = 0
    n_replies: int = 0
    n_unread: int = 0

    def add(self, question: str, reply: StepReply, packed_ids: Mapping[str, Sequence[int]], context: str) -> None:
        """A step, if it found something, and its follow-ups."""
        given = check_citations(reply.answer, packed_ids).text
        answer = drop_unsupported(cite_supported(given, context), context)
        if answer and reply.score > 0:
            self.steps.append(Step(question, answer, reply.score, check_citations(answer, packed_ids).cited))
        self.leads += [Lead(follow_up, reply.score) for follow_up in reply.follow_ups]

    def take(self, n: int) -> list[str]:
        """Up to `n` questions that were not asked yet, those of the most helpful steps first."""
        taken: list[str] = []
        waiting = sorted(self.leads, key=lambda lead: -lead.score)
        while waiting and len(taken) < n:
            question = waiting.pop(0).question
            if (key := frozenset(question_terms(question)) or frozenset([question.casefold()])) not in self.asked:
                self.asked.add(key)
                taken.append(question)
        self.leads = waiting
        return taken


@dataclass(frozen=True)
class _Search:
    """What every step of one question needs."""

    index: Index
    question: str
    llm: SearchModel
    bounds: DriftBounds
    budget_tokens: int
    top: int
    model: str
    fold: Fold | None
    count: TokenCounter


def search_drift_with_model(
    index: Index,
    question: str,
    *,
    llm: SearchModel,
    bounds: DriftBounds,
    level: int = 1,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    fold: Fold | None = None,
    on_text: Callable[[str], None] | None = None,
    count: TokenCounter = count_tokens,
) -> Answer:
    """The model's answer, every sentence citing what a step found; sources are those of all steps, fused by rank.

    budget_tokens: of context in each question to the model; usage.context_tokens are those of all. on_text sees the
    words of the last reply as they come, before they are checked. Raises UsageError for a budget below 1 or a negative
    level, SearchError when the index has no reports, and what the model's door raises.
    """
    check_budget(budget_tokens)
    began = time.perf_counter()
    led = lead_question(index, question, level=level, bounds=bounds, model=model)
    draft = Answer("drift", question, NOTHING, False, notices=(*led.notices, *led.missing))
    search = _Search(index, question, llm, bounds, budget_tokens, top, model, fold, count)
    if not led.asked.terms:  # stop words alone: about nothing
        answer = draft
    elif led.unknown:
        answer = replace(draft, notices=(*draft.notices, led.unknown))
    elif not led.reports:
        answer = answer_with_model(index, _search_locally(search, question, budget_tokens), llm, on_text=on_text)
        answer = replace(answer, mode="drift", notices=(*led.missing, NO_REPORT, *answer.notices))
    else:

        def derive() -> list[str]:
            return [each.text for each in derive_follow_ups(index, led.asked, led.reports, led.named)]

        with collect_calls() as calls:
            answer = _follow_reports(search, draft, led, derive, on_text)
        answer = count_usage(answer, calls)
    return replace(answer, usage=replace(answer.usage, seconds=round(time.perf_counter() - began, 3)))


def _follow_reports(
    search: _Search,
    draft: Answer,
    led: Led,
    derive: Callable[[], list[str]],
    on_text: Callable[[str], None] | None,
) -> Answer:
    primed = _pack_primer(search, led)
    trail = Trail(asked={frozenset(question_terms(search.question))}, n_tokens=primed.n_tokens)
    notices = _prime(search, primed, derive, trail)
    n_primed, n_skipped = len(trail.steps), 0
    for _ in range(search.bounds.rounds):
        n_skipped += _ask_round(search, trail)
    notices += _tell(trail, n_skipped)
    shown = set(primed.ids.get("Reports", ()))
    answer = replace(
        draft,
        reports=list_reports([report for report in led.reports if report.human_readable_id in shown]),
        sources=fuse_sources([each.sources for each in trail.drafts], top=search.top),
        entities=_merge(each.entities for each in trail.drafts),
        relationships=_merge(each.relationships for each in trail.drafts),
        notices=(*draft.notices, *notices),
        usage=Usage(context_tokens=trail.n_tokens),
    )
    if n_primed == len(trail.steps) == 1:
        answer = replace(answer, context=primed.text, context_ids=primed.ids)
        return check_answer(search.index, answer, trail.steps[0].answer)
    return _reduce(search, answer, trail.steps, on_text)


def _pack_primer(search: _Search, led: Led) -> Packed:
    """The reports; before them, within half of the budget, what the documents say where a question is about many of
    them at once, or a walk along relationships answers it: reports tell neither."""
    asked, _ = prepare_question(search.index, search.question, model="none")
    half = max(1, search.budget_tokens // 2)
    draft = Answer("drift", search.question, NOTHING, False)
    excerpts = (
        answer_beyond_reports(search.index, draft, asked, led.named, top=1, budget_tokens=half, count=search.count)
        or draft
    )
    left = search.budget_tokens - excerpts.usage.context_tokens
    uncited = [report._replace(full_content=drop_citations(report.full_content)) for report in led.reports]
    packed = pack([report_section(uncited, full=True)], budget=left, count=search.count) if left > 0 else EMPTY
    return join_contexts(excerpts, packed, count=search.count)


def _prime(search: _Search, primed: Packed, derive: Callable[[], list[str]], trail: Trail) -> list[str]:
    """The primer's step and its follow-ups onto the trail; notices."""
    values = {"community_reports": primed.text, "query": search.question}
    (reply,) = ask_all(search.llm.llm, [_write_request(search, "drift_primer", PRIMER_STAGE, values)])
    if not reply.is_good:
        trail.leads += [Lead(question, 0.0) for question in derive()]
        return ["The primer's reply could not be read: follow-ups were derived from its reports."]
    found = parse_step_reply(reply.text)
    trail.add(search.question, found, primed.ids, primed.text)
    if not trail.steps and not trail.leads:  # the reports say nothing: perhaps the passages do
        trail.asked.clear()
        trail.leads.append(Lead(search.question, 0.0))
    return []


def _ask_round(search: _Search, trail: Trail) -> int:
    """One round of follow-ups onto the trail; the number of those for which no tokens were left."""
    questions = trail.take(search.bounds.follow_ups)
    drafts: list[Answer] = []
    n_skipped = 0
    for question in questions:
        left = min(search.budget_tokens, search.bounds.max_tokens - trail.n_tokens)
        if left < 1:
            n_skipped += 1
            continue
        draft = _search_locally(search, question, left)
        if draft.context:
            trail.n_tokens += draft.usage.context_tokens
            drafts.append(draft)
    replies = _ask(search, [_write_step(search, draft) for draft in drafts]) if drafts else []
    for draft, reply in zip(drafts, replies, strict=True):
        trail.n_replies += 1
        trail.drafts.append(draft)
        if reply.is_good:
            trail.add(draft.question, parse_step_reply(reply.text), draft.context_ids, draft.context)
        else:
            trail.n_unread += 1
    return n_skipped


def _search_locally(search: _Search, question: str, budget_tokens: int) -> Answer:
    return search_local(
        search.index, question, budget_tokens=budget_tokens, top=search.top, model=search.model, fold=search.fold,
        count=search.count,
    )  # fmt: skip


def _ask(search: _Search, requests: Sequence[ChatRequest]) -> list[ChatReply]:
    """Unlike ask_all, no reply at all is no error here: something was found before."""
    return search.llm.llm.run(chat_many(search.llm.llm, requests))


def _write_step(search: _Search, draft: Answer) -> ChatRequest:
    values = {"context_data": draft.context, "question": draft.question, "global_query": search.question}
    return _write_request(search, "drift_search", STEP_STAGE, values)


def _write_request(search: _Search, name: str, stage: str, values: Mapping[str, str]) -> ChatRequest:
    prompts: Mapping[str, Prompt] = search.llm.prompts
    request = write_request(prompts[name], {"followups": str(search.bounds.follow_ups), **values})
    return replace(
        request,
        stage=stage,
        accept=lambda text: not parse_step_reply(text).problem,
        repair=prompts["repair_reply"].render({})[0].content,
    )


def _tell(trail: Trail, n_skipped: int) -> list[str]:
    """Notices on what was not read and not asked."""
    told = []
    if trail.n_unread:
        told.append(f"{trail.n_unread} of {trail.n_replies} replies to follow-ups could not be read.")
    if n_skipped:
        told.append(f"{n_skipped} follow-ups were not asked: drift.max_tokens was reached.")
    return told


def _reduce(search: _Search, draft: Answer, steps: Sequence[Step], on_text: Callable[[str], None] | None) -> Answer:
    """The model's answer from the steps; the steps themselves where its reply is of no use; none without a step."""
    if not steps:
        return draft
    ordered = sorted(steps, key=lambda step: -step.score)
    lines = tuple(step.render() for step in ordered)
    table = Section("Steps", "score|question|answer", lines, tuple(range(len(lines))))
    packed = pack([table], budget=search.budget_tokens, count=search.count)
    text = packed.text.partition("\n")[2]  # without the heading of a table whose rows could be cited
    kept = [ordered[number] for number in packed.ids["Steps"]]
    ids: dict[str, list[int]] = {}
    for dataset, number in dict.fromkeys(row for step in kept for row in step.cited):
        ids.setdefault(dataset, []).append(number)
    left_out = len(ordered) - len(kept)
    notices = [f"{left_out} of {len(ordered)} steps did not fit into --budget-tokens."] if left_out else []
    draft = replace(draft, context=text, context_ids=ids, notices=(*draft.notices, *notices))
    values = {"context_data": text, "question": search.question}
    request = write_request(search.llm.prompts["drift_reduce"], values)
    request = replace(request, stage=REDUCE_STAGE, on_text=on_text or show_nothing)
    (reply,) = _ask(search, [request])
    if reply.is_good:
        return check_answer(search.index, draft, reply.text)
    draft = replace(draft, notices=(*draft.notices, tell_unusable(reply.status, reply.detail)))
    return check_answer(search.index, draft, "\n".join(f"- {step.answer}" for step in kept))


def _merge(lists: Iterable[Sequence[dict[str, Any]]]) -> tuple[dict[str, Any], ...]:
    """Rows of several searches, each once, in order."""
    found: dict[str, dict[str, Any]] = {}
    for row in chain.from_iterable(lists):
        found.setdefault(row["id"], row)
    return tuple(found.values())
