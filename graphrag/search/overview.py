"""An answer about many documents: one sentence a document, what recurs first.

"What are the recurring causes of incidents?" is not answered by the three best sentences but by all incidents. Of each
document the sentence is chosen that holds the kind of answer (cues.py), speaks of what the title says, and stands near
the beginning; bylines and sentences that only make sense with their neighbours are left out, or are shown with the
sentence that they lean on. Among about equally good ones, one that a community report quotes comes first. Documents are
grouped by the thing that most of them speak of. A report is cited for the part of a sentence that it quotes, and for
nothing else.

Reads documents, text_units, entities, entity_mentions. Does not: find the documents (documents_of_kind.py), or rank
reports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.citations import cite
from graphrag.context import TokenCounter, pack
from graphrag.digest import leans_on_others, rate_readability, show_quote, trim_span
from graphrag.search.answer import EXTRACTIVE_LABEL, Answer, Citation, compose_answer
from graphrag.search.cues import Cue, holds_cue, is_aside, is_denied, points_elsewhere, rate_cue, read_cue
from graphrag.search.documents_of_kind import (
    find_documents_of_kind,
    list_documents,
    list_other_terms,
    narrow_documents,
)
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Passage, Report, list_text_units, load_passages
from graphrag.search.sections import list_reports, list_sources, report_section, source_section
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_DOCUMENTS, MAX_ON_TOPIC, MAX_TEXT_UNITS = 20, 8, 2_000
TOPICS = ("cause", "change", "risk")  # kinds of answers that a question can be about without naming anything else
LEAD_DECAY = 0.5
LEAST_READABLE = 0.35
SOURCES_SHARE = 0.5
# What a sentence is worth: it holds the kind of answer, speaks of the title, of what else was asked, comes first.
CUE_WORTH, TITLE_WORTH, TERMS_WORTH, LEAD_WORTH = 0.8, 0.6, 0.8, 0.3
LEAD_WORTH_WITHOUT_CUE = 0.5  # what a document is about stands at its beginning
QUOTED_WORTH = 0.15  # decides among about equally good sentences: one that a report quotes can be cited twice
# A thing that the title or the chosen sentence names says more about a document than one named somewhere in it.
NAMED_ELSEWHERE = 0.3
MAX_SHARE = 0.3  # of all documents: what is named everywhere does not recur
# A group of documents needs a thing that recurs, not who wrote them or where.
_NO_TOPIC = ("person", "team", "organization", "location", "place", "date", "event", "customer", "company")


class Pick(NamedTuple):
    """The sentence of a document that is shown: text is documents.text[start:end]."""

    passage: Passage
    text: str
    start: int
    end: int
    weight: float


class Overview(NamedTuple):
    """What is shown, best first; of how many documents; and what they are, for people: `of kind incident`."""

    picks: list[Pick]
    n_all: int
    scope: str


class Quoted(NamedTuple):
    """The part of a picked sentence that a report quotes; start and end count in the document."""

    report: Report
    start: int
    end: int


class Group(NamedTuple):
    """Documents that share a thing, by its title (empty for those that share none)."""

    topic: str
    picks: list[Pick]


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
        documents = narrow_documents(index, kind.documents, terms)
        picks = pick_sentences(index, question, documents, cue=cue, must_hold=False, terms=set(terms), quoted=quoted)
        limit, scope = MAX_DOCUMENTS, f"of kind {kind.name}" + (" that name it" if terms else "")
    elif cue and cue.name in TOPICS and question.terms and not terms:
        documents = list_documents(index)
        picks = pick_sentences(index, question, documents, cue=cue, must_hold=True, terms=set(), quoted=quoted)
        limit, scope = MAX_ON_TOPIC, f"with words of {cue.name}"
    else:
        return None
    return Overview(picks[:limit], len(picks), scope) if picks else None


def _count(n_shown: int, n_all: int) -> str:
    return f"{n_shown} of {n_all} documents" if n_shown < n_all else f"{n_all} document{'s' if n_all != 1 else ''}"


def pick_sentences(
    index: Index,
    question: Question,
    documents: Sequence[str],
    *,
    cue: Cue | None,
    must_hold: bool,
    terms: set[str],
    quoted: Mapping[str, Sequence[tuple[int, int]]],
) -> list[Pick]:
    """The best sentence of each document, in order of worth. must_hold: leave documents without a cued sentence out;
    quoted: spans that reports quote, by document."""
    best: dict[str, Pick] = {}
    units = list_text_units(index, documents, limit=MAX_TEXT_UNITS)
    position: dict[str, int] = {}
    for passage in load_passages(index, units):
        if must_hold and cue is not None and not holds_cue(cue, passage.text):
            continue
        title = {stem_term(term) for term in split_search_terms(passage.title.partition(":")[2] or passage.title)}
        for start, end, heading in list_candidates(passage):
            text = passage.text[start:end]
            nth = position[passage.document] = position.get(passage.document, -1) + 1
            cued = rate_cue(cue, text, heading)
            if is_denied(question.text, text) or (must_hold and cue is not None and not holds_cue(cue, text)):
                continue
            held = {stem_term(term) for term in split_search_terms(text)}
            lead = LEAD_WORTH / (1 + nth) if cue else LEAD_WORTH_WITHOUT_CUE / (1 + LEAD_DECAY * nth)
            worth = CUE_WORTH * cued + lead + 0.05
            worth += TITLE_WORTH * len(title & held) / max(len(title), 1)
            worth += TERMS_WORTH * len(terms & held) / max(len(terms), 1)
            span = (passage.start + start, passage.start + end)
            spans = quoted.get(passage.document, ())
            worth += QUOTED_WORTH * any(span[0] < other[1] and other[0] < span[1] for other in spans)
            weight = round(worth * rate_readability(re.sub(r"[`*]|\[\[|\]\]", "", text)), 6)
            if passage.document not in best or weight > best[passage.document].weight:
                best[passage.document] = Pick(passage, text, *span, weight)
    return sorted(best.values(), key=lambda pick: (-pick.weight, pick.passage.path))


def list_candidates(passage: Passage) -> list[tuple[int, int, str]]:
    """Spans of sentences that read alone, in order, with the heading they stand under; a sentence that leans on the
    one before it is joined to it, where the two stand in one paragraph."""
    text = passage.text
    found: list[tuple[int, int, str]] = []
    heading = " > ".join(passage.heading_path)
    last = -1  # end of the span before, whether it was taken or not
    for span in sentence_spans(text):
        start, end = trim_span(text, *span)
        if text.startswith("#", span[0]):
            heading = text[start:end]
            continue
        if start == end or text.startswith(("```", "~~~", "|", "---"), span[0]):
            continue
        if leans_on_others(text[start:end]):
            gap = text[last:start] if last >= 0 else "\n\n"
            if found and found[-1][1] == last and not gap.strip() and gap.count("\n") < 2:
                found.append((found[-1][0], end, heading))
            continue
        last = end
        words = text[start:end]
        if is_aside(words) or points_elsewhere(words) or rate_readability(words) < LEAST_READABLE:
            continue
        found.append((start, end, heading))
    return found


def group_by_topic(index: Index, picks: Sequence[Pick]) -> list[Group]:
    """Documents by the thing that most of them name, most first; each document once; the rest at the end.

    A topic joins two documents or more, one of which names it in its title or its sentence.
    """
    rows = index.frame(
        "select distinct e.title, m.document_id, m.surface "
        "from entity_mentions m join entities e on e.id = m.entity_id "
        "where m.document_id in (select unnest(?::varchar[])) and e.type not in (select unnest(?::varchar[])) "
        f"and e.n_documents <= {MAX_SHARE} * (select count(*) from documents) "
        "and e.title not in (select unnest(?::varchar[])) order by all",
        ([p.passage.document for p in picks], list(_NO_TOPIC), [p.passage.title for p in picks]),
    ).rows()
    by_document = {pick.passage.document: pick for pick in picks}
    worth: dict[str, dict[str, float]] = {}
    for title, document, surface in rows:
        pick = by_document[document]
        said = surface in pick.text or surface in pick.passage.title
        value = 1.0 if said else NAMED_ELSEWHERE
        worth.setdefault(title, {})[document] = max(value, worth.get(title, {}).get(document, 0.0))
    left = list(picks)
    groups: list[Group] = []
    while left:
        scored = {}
        for title, by in worth.items():
            held = [by[pick.passage.document] for pick in left if pick.passage.document in by]
            if len(held) > 1 and max(held) == 1.0:
                scored[title] = sum(held)
        if not scored:
            break
        topic = min(scored, key=lambda title: (-round(scored[title], 6), title))
        inside = [pick for pick in left if pick.passage.document in worth[topic]]
        inside.sort(key=lambda pick: (-worth[topic][pick.passage.document], pick.passage.path))
        groups.append(Group(topic, inside))
        left = [pick for pick in left if pick.passage.document not in worth[topic]]
    return [*groups, *([Group("", sorted(left, key=lambda pick: pick.passage.path))] if left else [])]


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
    lines = []
    for group in groups:
        if len(groups) > 1:
            lines.append(f"{group.topic}, named in {len(group.picks)} of {n}:" if group.topic else "Each on its own:")
        for pick in group.picks:
            part = quoted.get(pick.passage.document)
            numbers = {"Reports": [part.report.human_readable_id] if part else []}
            refs = cite(**numbers, Sources=[pick.passage.human_readable_id])
            lines.append(f"- {pick.passage.title} — {show_quote(pick.text)} {refs}")
    return lines


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
    excerpts = [pick.passage._replace(text=pick.text) for pick in overview.picks]
    sections = [source_section(excerpts, share=SOURCES_SHARE), report_section(used, full=True, share=1 - SOURCES_SHARE)]
    packed = pack(sections, budget=budget_tokens, count=count)
    shown = set(packed.ids.get("Sources", ()))
    picks = [pick for pick in overview.picks if pick.passage.human_readable_id in shown] or overview.picks[:1]
    in_context = set(packed.ids.get("Reports", ()))
    chosen = {document: part for document, part in chosen.items() if part.report.human_readable_id in in_context}
    scores = {pick.passage.id: pick.weight for pick in picks}
    sources = list_sources(list({p.passage.id: p.passage for p in picks}.values()), scores, top=max(top, len(picks)))
    n = len({chosen[p.passage.document].report.id for p in picks if p.passage.document in chosen})
    origin = f", from {n} community report{'s' if n != 1 else ''} at level {level}" if n else ""
    draft = replace(draft, sources=sources, reports=list_reports(used) or draft.reports)
    groups = group_by_topic(index, picks)
    picks = [pick for group in groups for pick in group.picks]
    lines = render_overview(groups, chosen)
    label = f"{EXTRACTIVE_LABEL.rstrip(':')}; {_count(len(picks), overview.n_all)} {overview.scope}{origin}:"
    return compose_answer(draft, lines, resolve_overview(picks, chosen), packed=packed, label=label)


def resolve_overview(picks: Sequence[Pick], quoted: Mapping[str, Quoted]) -> list[Citation]:
    """A citation for each id of each line; a report's resolves to the part that the report quotes."""
    citations = []
    for pick in picks:
        passage = pick.passage
        place = (passage.document, passage.path, pick.start, pick.end, pick.text)
        if part := quoted.get(passage.document):
            number = part.report.human_readable_id
            text = pick.text[part.start - pick.start : part.end - pick.start]
            where = (passage.document, passage.path, part.start, part.end, text)
            citations.append(Citation(f"Reports ({number})", "community_reports", part.report.id, number, *where))
        number = passage.human_readable_id
        citations.append(Citation(f"Sources ({number})", "text_units", passage.id, number, *place))
    return citations
