"""Community reports: what the members of each community have to do with each other. One report a community, always.

Reads communities, entities, relationships, evidence, text_units, documents, covariates; writes community_reports.
Without a model every report is extractive; with one, communities of `min_report_size` and more are put to it, all at
once but for those in whose question the reports of children may stand in: they wait for their children. Where its reply
is of no use, the extractive report stands in its place. Smaller communities, and `Unconnected entities`, get a template
that names and counts.

The rooms beside it: community_rows.py and report_context.py choose and pack what a model is shown, report_calls.py asks
and reads, extractive_reports.py writes without a model, report_rows.py makes the row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.index.community_rows import read_row_corpus
from graphrag.index.extractive_reports import write_extractive_report, write_template_report
from graphrag.index.kept_reports import decode_report, encode_report, keep_reports, key_reports, recall_reports
from graphrag.index.report_calls import ReportPrompts, ReportQuestions, read_numbers, read_report
from graphrag.index.report_corpus import Corpus, read_corpus
from graphrag.index.report_rows import Report, finish_row
from graphrag.llm import Llm
from graphrag.llm.chat import ChatRequest
from graphrag.llm.concurrency import map_concurrently
from graphrag.memo import Memo, memo_key
from graphrag.tables import UNCONNECTED
from graphrag.tokens import TokenCounter, count_tokens


class Reports(NamedTuple):
    community_reports: pl.DataFrame
    failures: pl.DataFrame


def build_extractive_reports(
    communities: pl.DataFrame,
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    min_report_size: int = 3,
    max_findings: int = 5,
    memo: Memo | None = None,
    rules: str = "",
) -> Reports:
    """One report a community, in the documents' words.

    memo: holds the reports of last night, where `rules` says which version of our rules this is.
    """
    corpus = read_corpus(entities, relationships, evidence, text_units, documents)
    writer = _Extractive(communities, corpus, min_report_size, max_findings)
    memo, key = memo if rules else None, memo_key(rules, str(min_report_size), str(max_findings))
    if memo is not None:
        writer.recall(recall_reports(memo, key))
    finished = [finish_row(row, writer.write(number), corpus) for number, row in writer.rows.items()]
    keep_reports(memo, key, writer.kept)
    return Reports(tables.COMMUNITY_REPORTS.from_rows(finished), tables.FAILURES.empty())


class _Extractive:
    """Extractive and template reports by number, written when first asked for; a parent's from its children's."""

    def __init__(self, communities: pl.DataFrame, corpus: Corpus, min_report_size: int, max_findings: int) -> None:
        self.rows = {row["community"]: row for row in communities.sort("community").to_dicts()}
        self._corpus, self._min_size, self._max_findings = corpus, min_report_size, max_findings
        self._written: dict[int, Report] = {}
        self._keys: dict[int, str] = {}
        self.kept: dict[str, bytes] = {}

    def recall(self, kept: Mapping[str, bytes]) -> None:
        """Take the reports whose communities are as they were; from now on `kept` has all that are written."""
        self._keys = key_reports(self.rows, self._corpus)
        for number, key in self._keys.items():
            if key in kept:
                self._written[number] = decode_report(kept[key])
                self.kept[key] = kept[key]

    def is_template(self, number: int) -> bool:
        return _is_template(self.rows[number], self._min_size)

    def write(self, number: int) -> Report:
        if number not in self._written:
            row = self.rows[number]
            if self.is_template(number):
                report = write_template_report(row, self._corpus)
            else:
                children = [(self.rows[child], self.write(child)) for child in row["children"]]
                report = write_extractive_report(row, children, self._corpus, max_findings=self._max_findings)
            self._written[number] = report
            if number in self._keys:
                self.kept[self._keys[number]] = encode_report(report)
        return self._written[number]


def _is_template(row: Mapping[str, Any], min_report_size: int) -> bool:
    return bool(row["size"] < max(min_report_size, 2) or row["title"] == UNCONNECTED)


async def write_reports(
    communities: pl.DataFrame,
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    covariates: pl.DataFrame,
    *,
    llm: Llm,
    prompts: ReportPrompts,
    context_tokens: int,
    max_length: int,
    min_report_size: int = 3,
    max_findings: int = 5,
    count: TokenCounter = count_tokens,
    advance: Callable[[int], None] = lambda _: None,
) -> Reports:
    """One report a community, by the model where the community is large enough.

    `context_tokens` bounds a question with its prompt, `max_length` is words of a report. Failures: reports that the
    model did not give (the extractive one stands), replies that were cut, cited numbers that the prompt did not hold.
    `advance` gets reports as they are done. Raises PromptError where the prompt leaves no room for rows, and what
    `Llm.chat` raises; what was answered by then is in the memo.
    """
    count = lru_cache(maxsize=1 << 17)(count)  # a row is shown on every level
    corpus = read_corpus(entities, relationships, evidence, text_units, documents)
    row_corpus = read_row_corpus(entities, relationships, evidence, documents, covariates, count=count)
    questions = ReportQuestions(
        row_corpus, prompts, context_tokens=context_tokens, max_length=max_length, max_findings=max_findings,
        count=count,
    )  # fmt: skip
    writer = _Extractive(communities, corpus, min_report_size, max_findings)
    numbers = read_numbers(entities, relationships, text_units, covariates)
    by_level = sorted(writer.rows, key=lambda number: -writer.rows[number]["level"])  # children before their parents
    asked = [number for number in by_level if not writer.is_template(number)]
    templates = [number for number in by_level if writer.is_template(number)]
    finished: dict[int, dict[str, Any]] = {}
    under_way = {number: asyncio.get_running_loop().create_future() for number in asked}

    def finish(number: int, report: Report) -> None:
        row = finished[number] = finish_row(writer.rows[number], report, corpus)
        numbers.reports[str(number)] = (row["human_readable_id"], row["id"])

    async def ask(number: int) -> list[dict[str, str | None]]:
        if number not in under_way:
            finish(number, writer.write(number))
            return []
        try:
            row = writer.rows[number]
            question = questions.render(row, ())
            asked_children = [child for child in row["children"] if child in under_way]  # templates never stand in
            if asked_children and not question.context.is_whole:
                await asyncio.gather(*(under_way[child] for child in asked_children))
                question = questions.render(row, [(writer.rows[child], finished[child]) for child in asked_children])
            reply = await llm.chat(question.request)
            report, failures = read_report(
                reply, question.context, row_corpus, community=number, max_findings=max_findings, numbers=numbers
            )
            finish(number, report or writer.write(number))
            under_way[number].set_result(None)
            return failures
        finally:
            under_way[number].cancel()  # where it failed, so that nobody waits for it; else without effect

    # Templates last: they are written while the model is at work.
    items = [*asked, *templates]
    failed = await map_concurrently(ask, items, in_flight=llm.in_flight, on_result=lambda _, __: advance(1))
    rows = [finished[number] for number in writer.rows]
    failures = [failure for of_one in failed for failure in of_one]
    return Reports(tables.COMMUNITY_REPORTS.from_rows(rows), tables.FAILURES.from_rows(failures))


def plan_reports(
    communities: pl.DataFrame,
    community_reports: pl.DataFrame,
    entities: pl.DataFrame,
    relationships: pl.DataFrame,
    evidence: pl.DataFrame,
    documents: pl.DataFrame,
    covariates: pl.DataFrame,
    *,
    prompts: ReportPrompts,
    context_tokens: int,
    max_length: int,
    min_report_size: int = 3,
    max_findings: int = 5,
    count: TokenCounter = count_tokens,
) -> Iterator[ChatRequest]:
    """What a run that makes these tables again would ask; parents with the reports that their children have now."""
    questions = ReportQuestions(
        read_row_corpus(entities, relationships, evidence, documents, covariates, count=count),
        prompts, context_tokens=context_tokens, max_length=max_length, max_findings=max_findings, count=count,
    )  # fmt: skip
    rows = {row["community"]: row for row in communities.sort("community").to_dicts()}
    written = {row["community"]: row for row in community_reports.to_dicts()}
    for row in rows.values():
        if not _is_template(row, min_report_size):
            yield questions.render(row, [(rows[child], written[child]) for child in row["children"]]).request
