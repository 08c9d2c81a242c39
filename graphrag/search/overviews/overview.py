"""An answer about many documents: one sentence a document, what recurs first.

"What are the recurring causes of incidents?" is not answered by the three best sentences but by all incidents, each
with the sentence that says most (picked_sentences.py), grouped by the thing that most of them speak of
(recurring_topics.py). Among about equally good sentences one that a community report quotes comes first. A report is
cited for the part of a sentence that it quotes, and for nothing else.

Reads documents, text_units, entities, entity_mentions. Does not: find the documents (documents_of_kind.py), or rank
reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.citations import cite
from graphrag.context import TokenCounter, pack
from graphrag.digest import show_quote
from graphrag.search.answer import EXTRACTIVE_LABEL, Answer, Citation, compose_answer
from graphrag.search.cues import CAUSE, read_cue
from graphrag.search.overviews.documents_of_kind import (
    find_documents_of_kind,
    list_documents,
    list_other_terms,
    narrow_documents,
)
from graphrag.search.overviews.picked_sentences import Pick, pick_sentences
from graphrag.search.overviews.recurring_topics import Group, group_by_topic
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Passage, Report
from graphrag.search.sections import list_reports, list_sources, report_section, source_section
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_DOCUMENTS, MAX_ON_TOPIC = 20, 8
TOPICS = ("cause", "change", "risk")  # kinds of answers that a question can be about without naming anything else
SOURCES_SHARE = 0.5
# Of documents of such a kind what went wrong and why is what they are about.
_OF_TROUBLE = "incident outage postmortem accident failure"
TROUBLE_STEMS = frozenset(map(stem_term, split_search_terms(_OF_TROUBLE)))


class Overview(NamedTuple):
    """What is shown, best first; of how many documents; what they are, for people: `of kind incident`; and whether the
    question asks for one kind of answer, such as causes."""

    picks: list[Pick]
    n_all: int
    scope: str
    is_asked: bool


class Quoted(NamedTuple):
    """The part of a picked sentence that a report quotes; start and end count in the document."""

    report: Report
    start: int
    end: int


def find_overview(
    index: Index, question: Question, *, narrowed: bool = True, reports: Sequence[Report] = ()
) -> Overview | None:
    """The overview that a question asks for: of documents of a kind, or of all that hold the asked kind of answer
    ("the biggest risks"); none for any other question, or when no document of the kind speaks of what it names.

    narrowed: also for a question that names more than the kind. reports: those that can be cited.
    """
    cue = read_cue(question.text)
    if not narrowed and cue and cue.name == "steps":
        return None
    kind = find_documents_of_kind(index, question)
    terms = list_other_terms(question, kind, cue)
    quoted = _list_quoted_spans(reports)
    if kind.documents and (narrowed or not terms):
        told = cue or (CAUSE if not terms and kind.stems & TROUBLE_STEMS else None)
        documents = narrow_documents(index, kind.documents, terms)
        picks = pick_sentences(index, question, documents, cue=told, must_hold=False, terms=set(terms), quoted=quoted)
        limit, scope = MAX_DOCUMENTS, f"of kind {kind.name}" + (" that name it" if terms else "")
    elif cue and cue.name in TOPICS and question.terms and not terms:
        documents = list_documents(index)
        picks = pick_sentences(index, question, documents, cue=cue, must_hold=True, terms=set(), quoted=quoted)
        limit, scope = MAX_ON_TOPIC, f"with words of {cue.name}"
    else:
        return None
    return Overview(picks[:limit], len(picks), scope, cue is not None) if picks else None


def _count(n_shown: int, n_all: int) -> str:
    return f"{n_shown} of {n_all} documents" if n_shown < n_all else f"{n_all} document{'s' if n_all != 1 else ''}"


def _list_quoted_spans(reports: Sequence[Report]) -> dict[str, list[tuple[int, int]]]:
    """Spans that reports quote, by document."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for report in reports:
        for row in report.citations:
            if row["document_id"] is not None:
                spans.setdefault(row["document_id"], []).append((row["start"], row["end"]))
    return spans


def choose_reports(reports: Sequence[Report], picks: Sequence[Pick]) -> dict[str, Quoted]:
    """The report that quotes each picked sentence or a part of it, by document; as few reports as will do."""
    parts: dict[tuple[str, str], Quoted] = {}  # by report and document
    for report in reports:
        spans = _list_quoted_spans([report])
        for pick in picks:
            held = spans.get(pick.passage.document, [])
            shared = [(max(pick.start, start), min(pick.end, end)) for start, end in held]
            start, end = max(shared, key=lambda part: part[1] - part[0], default=(0, 0))
            if start < end:
                parts[report.id, pick.passage.document] = Quoted(report, start, end)
    chosen: dict[str, Quoted] = {}
    left = [pick.passage.document for pick in picks]
    while left:
        covers = {report.id: sum((report.id, document) in parts for document in left) for report in reports}
        best = max(covers, key=lambda report_id: covers[report_id], default="")
        if not covers.get(best):
            break
        chosen |= {document: parts[best, document] for document in left if (best, document) in parts}
        left = [document for document in left if document not in chosen]
    return chosen


def render_overview(groups: Sequence[Group], quoted: Mapping[str, Quoted]) -> list[str]:
    """A line a group, under it a line a document: its title, the sentence, what it is cited by."""
    n = sum(len(group.picks) for group in groups)
    lines = [_tell_recurring(groups, n)] if len(groups) > 1 else []
    for group in groups:
        if len(groups) > 1:
            lines.append(_head(group, n) if group.topic else "Each on its own:")
        for pick in group.picks:
            part = quoted.get(pick.passage.document)
            numbers = {"Reports": [part.report.human_readable_id] if part else []}
            refs = cite(**numbers, Sources=[pick.passage.human_readable_id])
            line = f"- {pick.passage.title} — {show_quote(pick.text)} {refs}"
            if naming := group.naming.get(pick.passage.document):
                line += f" {show_quote(naming.text)} {cite(Sources=[naming.passage.human_readable_id])}"
            lines.append(line)
    return lines


def _tell_recurring(groups: Sequence[Group], n: int) -> str:
    """`What recurs: Vault in 2 of 8, Billing in 3.`"""
    (topic, times), *others = [(group.topic, _count_naming(group)) for group in groups if group.topic]
    told = [f"{topic} in {times} of {n}", *(f"{topic} in {times}" for topic, times in others)]
    return f"What recurs: {', '.join(told)}."


def _count_naming(group: Group) -> int:
    """Documents that name its topic."""
    return len(group.picks) + group.n_above


def _head(group: Group, n: int) -> str:
    above = f", {group.n_above} of them above" if group.n_above else ""
    return f"{group.topic}, named in {_count_naming(group)} of {n}{above}:"


def compose_overview(
    index: Index,
    draft: Answer,
    overview: Overview,
    reports: Sequence[Report],
    *,
    level: int,
    top: int,
    budget_tokens: int,
    count: TokenCounter,
) -> Answer:
    """The draft answered with what of the overview fits the budget; without reports it cites passages only."""
    chosen = choose_reports(reports, overview.picks)
    used = list({part.report.id: part.report for part in chosen.values()}.values())
    groups = group_by_topic(index, overview.picks, is_asked=overview.is_asked)
    excerpts = _list_excerpts(groups)
    sections = [
        source_section(excerpts, share=SOURCES_SHARE, marks=_mark_topics(groups)),
        report_section(used, full=True, share=1 - SOURCES_SHARE),
    ]
    packed = pack(sections, budget=budget_tokens, count=count)
    shown = set(packed.ids.get("Sources", ()))
    picks = [pick for pick in overview.picks if pick.passage.human_readable_id in shown] or overview.picks[:1]
    if len(picks) < len(overview.picks):
        groups = group_by_topic(index, picks, is_asked=overview.is_asked)
    groups = [
        group._replace(naming={d: n for d, n in group.naming.items() if n.passage.human_readable_id in shown})
        for group in groups
    ]
    in_context = set(packed.ids.get("Reports", ()))
    chosen = {document: part for document, part in chosen.items() if part.report.human_readable_id in in_context}
    scores = {pick.passage.id: pick.weight for pick in picks}
    sources = list_sources(list({p.passage.id: p.passage for p in picks}.values()), scores, top=max(top, len(picks)))
    n = len({chosen[p.passage.document].report.id for p in picks if p.passage.document in chosen})
    origin = f", from {n} community report{'s' if n != 1 else ''} at level {level}" if n else ""
    draft = replace(draft, sources=sources, reports=list_reports(used) or draft.reports)
    lines = render_overview(groups, chosen)
    label = f"{EXTRACTIVE_LABEL.rstrip(':')}; {_count(len(picks), overview.n_all)} {overview.scope}{origin}:"
    return compose_answer(draft, lines, resolve_overview(groups, chosen), packed=packed, label=label)


def _mark_topics(groups: Sequence[Group]) -> dict[str, str]:
    """By document, the topic that it is grouped by: `names Vault, as 2 of 8 do`. What recurs shows in the context."""
    n = sum(len(group.picks) for group in groups)
    return {
        pick.passage.document: f"names {group.topic}, as {_count_naming(group)} of {n} do"
        for group in groups
        if group.topic
        for pick in group.picks
    }


def _list_excerpts(groups: Sequence[Group]) -> list[Passage]:
    """What is quoted of each passage, in its order; what recurs first."""
    quoted: dict[str, list[Pick]] = {}
    picks = [pick for group in groups for pick in group.picks]
    for pick in [*picks, *(naming for group in groups for naming in group.naming.values())]:
        quoted.setdefault(pick.passage.id, []).append(pick)
    return [
        parts[0].passage._replace(text=" … ".join(p.text for p in sorted(parts, key=lambda p: p.start)))
        for parts in quoted.values()
    ]


def resolve_overview(groups: Sequence[Group], quoted: Mapping[str, Quoted]) -> list[Citation]:
    """A citation for each id of each line; a report's resolves to the part that the report quotes."""
    citations = []
    for pick in (pick for group in groups for pick in group.picks):
        if part := quoted.get(pick.passage.document):
            number = part.report.human_readable_id
            text = pick.text[part.start - pick.start : part.end - pick.start]
            where = (pick.passage.document, pick.passage.path, part.start, part.end, text)
            citations.append(Citation(f"Reports ({number})", "community_reports", part.report.id, number, *where))
        citations.append(_cite_passage(pick))
    return [*citations, *(_cite_passage(naming) for group in groups for naming in group.naming.values())]


def _cite_passage(pick: Pick) -> Citation:
    passage, number = pick.passage, pick.passage.human_readable_id
    place = (passage.document, passage.path, pick.start, pick.end, pick.text)
    return Citation(f"Sources ({number})", "text_units", passage.id, number, *place)
