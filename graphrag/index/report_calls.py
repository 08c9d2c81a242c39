"""One community put to a model: the question, and its reply as a report whose citations are checked.

A prompt numbers its rows 1..n; in the report the numbers are human_readable_ids. A cited number that the prompt does
not hold is removed and counted. Sources become the text unit that the quote stands in, or, where it stands in none, the
relationship that it states.

A neighbour of reports.py. Does not: choose what is shown (report_context.py, community_rows.py), or call the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from graphrag.citations import DATASETS, Cited, drop_citations, renumber_citations
from graphrag.context import escape_cell
from graphrag.errors import PromptError
from graphrag.index.community_rows import Place, RowCorpus, list_groups
from graphrag.index.report_context import (
    CLAIMS,
    ENTITIES,
    HEADERS,
    NAMED,
    RELATIONSHIPS,
    REPORTS,
    SOURCES,
    Child,
    ReportContext,
    Row,
    pack_report_context,
    render_tables,
)
from graphrag.index.report_rows import LLM, NOWHERE, TEMPLATE, Finding, Report, name_row
from graphrag.llm.chat import ChatReply, ChatRequest, Message
from graphrag.prompts import Prompt
from graphrag.replies.objects import ReportReply, parse_report_reply
from graphrag.tables import failure_row
from graphrag.tokens import TokenCounter

STAGE = "reports"
TOKENS_PER_WORD = 3  # above what any language needs; bounds the reply
TOKENS_OF_JSON = 600  # keys, brackets and citations of a reply
FENCE_TOKENS = 24  # by which the two marks around the data, being hashes, may differ in tokens
LEAST_ROOM = 50  # tokens for rows behind the prompt's own
CUT, UNKNOWN_CITATION = "truncated", "unknown_citation"
"""Reasons of failures where the model's report stands all the same."""


@dataclass(frozen=True, slots=True)
class ReportPrompts:
    write: Prompt
    repair: Prompt


class Question(NamedTuple):
    request: ChatRequest
    context: ReportContext


class ReportQuestions:
    """How to ask about any community. Raises PromptError where the prompt leaves no room for rows."""

    def __init__(
        self,
        corpus: RowCorpus,
        prompts: ReportPrompts,
        *,
        context_tokens: int,
        max_length: int,
        max_findings: int,
        count: TokenCounter,
    ) -> None:
        """context_tokens bounds all messages of a question; max_length is words of a report."""
        self.corpus, self.max_findings = corpus, max_findings
        self._prompts, self._context_tokens, self._max_length, self._count = prompts, context_tokens, max_length, count
        self._overhead = measure_overhead(
            prompts.write, context_tokens=context_tokens, max_length=max_length, max_findings=max_findings, count=count
        )

    def render(
        self, row: Mapping[str, Any], children: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> Question:
        """The question about a row of communities; `children` are rows of communities and community_reports.

        The report of a child that no model was asked about says no more than its rows: it never stands in.
        """
        context = pack_report_context(
            list_groups(row, self.corpus),
            [show_child(*child, self.corpus) for child in children if child[1]["method"] != TEMPLATE],
            budget=self._context_tokens,
            overhead=self._overhead,
            count=self._count,
        )
        request = ChatRequest(
            stage=STAGE,
            role="report",
            messages=_render(context.text, self._prompts.write, self._max_length, self.max_findings),
            prompt_version=self._prompts.write.sha256,
            max_tokens=self._max_length * TOKENS_PER_WORD + TOKENS_OF_JSON,
            expected_tokens=self._max_length,
            accept=lambda text: not parse_report_reply(text, community=0).problem,
            repair=self._prompts.repair.render({})[0].content,
        )
        return Question(request, context)


def measure_overhead(
    prompt: Prompt, *, context_tokens: int, max_length: int, max_findings: int, count: TokenCounter
) -> int:
    """Tokens of a question that are not rows: the prompt's own text, the headings, the line about what is not shown.

    Raises PromptError where they leave no room for rows.
    """
    empty = render_tables(dict.fromkeys(HEADERS, ()), dict.fromkeys(NAMED, 999_999))
    messages = _render(empty, prompt, max_length, max_findings)
    overhead = sum(count(message.content) for message in messages) + FENCE_TOKENS
    if overhead + LEAST_ROOM > context_tokens:
        raise PromptError(
            f"{prompt.path}: the prompt has {overhead} tokens without any data, reports.context_tokens is "
            f"{context_tokens}. Shorten the prompt or raise the setting."
        )
    return overhead


def _render(text: str, prompt: Prompt, max_length: int, max_findings: int) -> tuple[Message, ...]:
    values = {"input_text": text, "max_report_length": str(max_length), "max_findings": str(max_findings)}
    return tuple(Message(message.role, message.content) for message in prompt.render(values))


def show_child(row: Mapping[str, Any], report: Mapping[str, Any], corpus: RowCorpus) -> Child:
    """A community with its report, as what may stand in for its rows in its parent's prompt: the title, the summary and
    the headings of the findings, without citations, whose numbers carry a history."""
    headings = [f"{finding['summary'].rstrip('.')}." for finding in report["findings"]]
    told = " ".join(drop_citations(text) for text in (report["summary"], *headings))
    text = "|".join(escape_cell(cell) for cell in (drop_citations(report["title"]), row["size"], told))
    places = [(ENTITIES, entity) for entity in row["entity_ids"]]
    places += [(RELATIONSHIPS, relationship) for relationship in row["relationship_ids"]]
    places += [(CLAIMS, claim.id) for entity in row["entity_ids"] for claim in corpus.claims_of.get(entity, ())]
    return Child(Row(REPORTS, str(row["community"]), text), frozenset(places))


class Numbers(NamedTuple):
    """human_readable_ids by id of the row; `reports`: number and id of a report's row by community, filled as they are
    written."""

    entities: dict[str, int]
    relationships: dict[str, int]
    text_units: dict[str, int]
    claims: dict[str, int]
    reports: dict[str, tuple[int, str]]


def read_numbers(
    entities: pl.DataFrame, relationships: pl.DataFrame, text_units: pl.DataFrame, covariates: pl.DataFrame
) -> Numbers:
    def of(frame: pl.DataFrame) -> dict[str, int]:
        return dict(frame.select("id", "human_readable_id").iter_rows())

    return Numbers(of(entities), of(relationships), of(text_units), of(covariates), {})


def read_report(
    reply: ChatReply, context: ReportContext, corpus: RowCorpus, *, community: int, max_findings: int, numbers: Numbers
) -> tuple[Report | None, list[dict[str, str | None]]]:
    """The report, or None where the reply is of no use, and rows for failures."""
    parsed = parse_report_reply(reply.text, community=community)
    if not reply.is_good or parsed.problem:
        reason = parsed.problem if reply.is_good or reply.status == "unreadable_reply" else reply.status
        detail = f"{reply.detail or 'no report in the reply'}; an extractive report stands in its place"
        return None, [failure_row(STAGE, str(community), reason or reply.status, detail, raw_reply=reply.text or None)]
    failures = []
    if reply.status == "truncated":
        detail = f"{reply.detail or 'the reply was cut'}; what could be read of it is kept"
        failures.append(failure_row(STAGE, str(community), CUT, detail, raw_reply=reply.text))
    report, n_removed = _check_report(parsed, context, max_findings, numbers, corpus)
    if n_removed:
        detail = f"{n_removed} cited {'row is' if n_removed == 1 else 'rows are'} not in the prompt; removed"
        failures.append(failure_row(STAGE, str(community), UNKNOWN_CITATION, detail))
    return report, failures


def _check_report(
    parsed: ReportReply, context: ReportContext, max_findings: int, numbers: Numbers, corpus: RowCorpus
) -> tuple[Report, int]:
    citations = _resolve(context, numbers, corpus)
    shown = {key: (dataset, number) for key, (dataset, number, _, _) in citations.items()}
    cited: dict[Cited, None] = {}
    n_removed = 0

    def check(text: str) -> str:
        nonlocal n_removed
        text = _BARE.sub("[Data: ", text)
        cited.update(dict.fromkeys(renumber_citations(text, {key: key for key in shown}).cited))
        checked = renumber_citations(text, shown)
        n_removed += checked.n_removed
        return checked.text.strip()

    findings = [Finding(drop_citations(f.summary), check(f.explanation)) for f in parsed.findings[:max_findings]]
    report = Report(
        title=drop_citations(parsed.title).strip(),
        summary=check(parsed.summary),
        findings=findings,
        method=LLM,
        rating=parsed.rating,
        rating_explanation=drop_citations(parsed.rating_explanation),
        left_out=context.left_out,
    )
    listed = [name_row((dataset, n), row) | place for dataset, n, row, place in (citations[key] for key in cited)]
    report.cited.extend(listed)
    return report, n_removed


_BARE = re.compile(rf"\[\s*(?=(?:{'|'.join(DATASETS.values())})\s*\()", re.IGNORECASE)
"""A citation whose "Data:" the model forgot."""


def _resolve(
    context: ReportContext, numbers: Numbers, corpus: RowCorpus
) -> dict[Cited, tuple[str, int, str, dict[str, Any]]]:
    """What each numbered row of a prompt is in the tables: dataset, human_readable_id, id, place of a quote."""
    found: dict[Cited, tuple[str, int, str, dict[str, Any]]] = {}
    stated_by: dict[str, str] = {}
    about: dict[str, str] = {}
    for row in context.rows.values():
        if row.table == RELATIONSHIPS:
            fact = corpus.relationships[row.id]
            for quote in row.refs[:1]:
                about.setdefault(fact["source_id"], quote)
                about.setdefault(fact["target_id"], quote)
            stated_by.update({quote: row.id for quote in row.refs if quote not in stated_by})
    for key, row in context.rows.items():
        if row.table == ENTITIES:
            place = _place(corpus.places.get(about.get(row.id, "")))
            found[key] = (ENTITIES, numbers.entities[row.id], row.id, place)
        elif row.table == RELATIONSHIPS:
            place = _place(corpus.places.get(row.refs[0]) if row.refs else None)
            found[key] = (RELATIONSHIPS, numbers.relationships[row.id], row.id, place)
        elif row.table == CLAIMS:
            found[key] = (CLAIMS, numbers.claims[row.id], row.id, NOWHERE)
        elif row.table == REPORTS:
            number, report_id = numbers.reports[row.id]
            found[key] = (REPORTS, number, report_id, NOWHERE)
        elif (unit := corpus.places[row.id].text_unit_id) is not None:
            found[key] = (SOURCES, numbers.text_units[unit], unit, _place(corpus.places[row.id]))
        elif (relationship := stated_by.get(row.id)) is not None:
            place = _place(corpus.places[row.id])
            found[key] = (RELATIONSHIPS, numbers.relationships[relationship], relationship, place)
    return found


def _place(place: Place | None) -> dict[str, Any]:
    if place is None or place.document_id is None:
        return NOWHERE
    return {"document_id": place.document_id, "start": place.start, "end": place.end, "quote": place.quote}
