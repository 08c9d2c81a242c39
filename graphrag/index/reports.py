"""Extractive community reports: what the members of each community have to do with each other, in the documents' words.

Reads communities, entities, relationships, evidence, text_units, documents; writes community_reports. Bottom-up: a leaf
is told from the best sentences of its evidence, a parent from what connects its children and from their reports. Every
sentence is a verbatim quote followed by its citation, `[Data: Relationships (12); Sources (3)]`; the numbers are
human_readable_ids. Communities under `min_report_size`, and `Unconnected entities`, get a template that names and
counts. One report a community, always.

Does not: ask a model, or choose numbers for people (the frames carry them).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.digest import Sentence, is_near_duplicate, rate_readability, select_sentences
from graphrag.ids import row_id
from graphrag.index.report_corpus import (
    Corpus,
    is_stated,
    name_by_spread,
    order_members,
    order_relationships,
    quotes_inside,
    read_corpus,
    touches,
    weigh_members,
    worth_of,
)
from graphrag.index.report_wording import (
    cited_relationships,
    enumerate_names,
    join_names,
    say_fact,
    say_member,
    say_together,
    tell_facts,
    tell_quotes,
)
from graphrag.tables import UNCONNECTED
from graphrag.tokens import split_search_terms

READABLE = 0.25
"""Sentences that rate lower are quoted only where there is nothing better."""
MAX_NAMED, MAX_CHILDREN_NAMED, SENTENCES_A_FINDING, MAX_SUMMARY = 25, 5, 3, 4
MAX_UNSTATED = 1
"""Findings, and sentences of a summary, of a community whose members only stand in the same sentences."""


class Reports(NamedTuple):
    community_reports: pl.DataFrame
    failures: pl.DataFrame


class Finding(NamedTuple):
    summary: str
    explanation: str


@dataclass(frozen=True)
class Report:
    """A report before it is a row.

    `quotes` are all that its text cites, `digest` those a parent may repeat, `facts` relationships that it cites
    without a quote, because no document states them.
    """

    title: str
    summary: str
    findings: list[Finding]
    method: str
    quotes: list[Sentence]
    digest: list[Sentence]
    facts: list[str]


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
) -> Reports:
    """Write one report a community, deepest level first.

    rank = 10/3 * (size/(size + 10) + weight/(weight + 20) + documents/(documents + 5)), with the summed weight of its
    stated relationships and the number of distinct documents that state them: each part is one half at a typical
    community of the finest level, none depends on other communities, so an unchanged community keeps its report.
    """
    corpus = read_corpus(entities, relationships, evidence, text_units, documents)
    rows = communities.sort("community").to_dicts()
    by_number = {row["community"]: row for row in rows}
    reports: dict[int, Report] = {}
    for row in sorted(rows, key=lambda row: (-row["level"], row["community"])):
        children = [(by_number[child], reports[child]) for child in row["children"]]
        if row["size"] < max(min_report_size, 2) or row["title"] == UNCONNECTED:
            reports[row["community"]] = _write_template(row, corpus)
        elif children:
            reports[row["community"]] = _write_parent(row, children, corpus, max_findings)
        else:
            reports[row["community"]] = _write_leaf(row, corpus, max_findings)
    finished = [_finish_row(row, reports[row["community"]], corpus) for row in rows]
    return Reports(tables.COMMUNITY_REPORTS.from_rows(finished), tables.FAILURES.empty())


def _write_template(row: dict[str, Any], corpus: Corpus) -> Report:
    """Names and counts; a pair also gets the best sentence that joins it."""
    if row["title"] == UNCONNECTED:
        names = name_by_spread(row["entity_ids"], corpus)
        verb = "entity has" if row["size"] == 1 else "entities have"
        summary = f"{row['size']} {verb} no relationship to another: {enumerate_names(names, MAX_NAMED)}."
        return Report(UNCONNECTED, summary, [], "template", [], [], [])
    members = order_members(row, corpus)
    quotes = _choose_quotes(row, _readable_quotes(row, corpus), 2, corpus)
    title = join_names([corpus.entities[member]["title"] for member in members])
    facts = [say_fact(corpus.relationships[r]) for r in order_relationships(row["relationship_ids"], corpus)]
    counts = f"{_count(row['size'], 'entity', 'entities')}, {_count(len(facts), 'relationship')}"
    counts = f"{counts}: {enumerate_names(facts, 3)}." if facts else f"{counts}."
    bare = [] if quotes else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [counts, tell_quotes(quotes, row, corpus), tell_facts(bare, corpus)]))
    return Report(title, summary, [], "template", quotes, quotes, bare)


def _write_leaf(row: dict[str, Any], corpus: Corpus, max_findings: int) -> Report:
    members = order_members(row, corpus)
    quotes = _readable_quotes(row, corpus)
    title = join_names([corpus.entities[member]["title"] for member in members[:3]])
    is_known = any(is_stated(r, corpus) for r in row["relationship_ids"])
    most = min(MAX_SUMMARY, len(quotes) // 2) if is_known else MAX_UNSTATED
    best = _choose_quotes(row, quotes, max(1, most), corpus)
    lead = "" if is_known else say_together(members, quotes_inside(row, corpus), corpus)
    limit = max_findings if is_known else min(max_findings, MAX_UNSTATED)
    findings, used = _find_by_member(row, set(row["relationship_ids"]), quotes, limit, corpus)
    bare = [] if best else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [lead, tell_quotes(best, row, corpus), tell_facts(bare, corpus)]))
    return Report(title, summary, findings, "extractive", best + used, best, bare)


def _write_parent(
    row: dict[str, Any], children: Sequence[tuple[dict[str, Any], Report]], corpus: Corpus, max_findings: int
) -> Report:
    """What joins the children first, then what each of them says, largest first."""
    children = sorted(children, key=lambda child: (-child[0]["size"], child[0]["community"]))
    within = {relationship for child, _ in children for relationship in child["relationship_ids"]}
    across = [r for r in row["relationship_ids"] if r not in within]
    between = dict(row, relationship_ids=[r for r in across if is_stated(r, corpus)] or across)
    crossing = _readable_quotes(between, corpus)
    is_known = any(is_stated(r, corpus) for r in across)
    joints = _choose_quotes(between, crossing, 2 if is_known else 1, corpus)
    told = [quote for _, report in children for quote in report.digest[:2] if quote not in joints]
    best = joints + _choose_quotes(row, told, MAX_SUMMARY - len(joints), corpus)
    heads = [order_members(child, corpus)[0] for child, _ in children[:3]]
    title = join_names([corpus.entities[head]["title"] for head in heads])
    parts = [f"{report.title} ({_count(child['size'], 'entity', 'entities')})" for child, report in children]
    lead = f"{row['size']} entities in {len(parts)} groups: {enumerate_names(parts, MAX_CHILDREN_NAMED, '; ')}."
    n_joints = max(1, max_findings - min(len(children), max_findings // 2 + 1)) if max_findings > 1 else 0
    n_joints = n_joints if is_known else min(n_joints, MAX_UNSTATED)
    findings, used = _find_by_member(row, set(between["relationship_ids"]), crossing, n_joints, corpus)
    for _, report in children:
        shown = [quote for quote in report.digest if _is_readable(quote)][:SENTENCES_A_FINDING]
        if shown and len(findings) < max_findings:
            findings.append(Finding(report.title, tell_quotes(shown, row, corpus)))
            used = used + shown
    bare = [] if best else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [lead, tell_quotes(best, row, corpus), tell_facts(bare, corpus)]))
    return Report(title, summary, findings, "extractive", best + used, best, bare)


def _find_by_member(
    row: dict[str, Any], focus: set[str], quotes: Sequence[Sentence], limit: int, corpus: Corpus
) -> tuple[list[Finding], list[Sentence]]:
    """One finding a member, most important first, from the sentences about it that no earlier finding took.

    `focus` are the relationships to tell of, `quotes` the sentences that state them.
    """
    findings: list[Finding] = []
    used: list[Sentence] = []
    left = [(quote, set(split_search_terms(quote.text))) for quote in quotes]
    for member in order_members(dict(row, relationship_ids=sorted(focus)), corpus):
        if len(findings) == limit:
            break
        about = [quote for quote, _ in left if any(touches(r, member, corpus) for r in quote.ids if r in focus)]
        chosen = _choose_quotes(row, about, SENTENCES_A_FINDING, corpus)
        if chosen:
            told = {r for quote in chosen for r in quote.ids if r in focus and touches(r, member, corpus)}
            findings.append(Finding(say_member(member, told, corpus), tell_quotes(chosen, row, corpus)))
            used += chosen
            told_words = [(quote, set(split_search_terms(quote.text))) for quote in chosen]
            left = [(q, words) for q, words in left if not any(_says_same(q, words, *other) for other in told_words)]
    return findings, used


def _bare_facts(row: dict[str, Any], corpus: Corpus) -> list[str]:
    return order_relationships(row["relationship_ids"], corpus)[:SENTENCES_A_FINDING]


def _says_same(quote: Sentence, words: set[str], other: Sentence, other_words: set[str]) -> bool:
    is_overlap = quote.document_id == other.document_id and quote.start < other.end and other.start < quote.end
    return is_overlap or is_near_duplicate(words, other_words)


def _readable_quotes(row: dict[str, Any], corpus: Corpus) -> list[Sentence]:
    """The community's sentences that can be read by themselves, or all where none can."""
    quotes = quotes_inside(row, corpus)
    return [quote for quote in quotes if _is_readable(quote)] or quotes


def _is_readable(quote: Sentence) -> bool:
    return rate_readability(quote.text) >= READABLE


def _choose_quotes(row: dict[str, Any], quotes: Sequence[Sentence], limit: int, corpus: Corpus) -> list[Sentence]:
    """The best quotes, best first: about important members, readable by themselves, not twice the same."""
    inside = set(row["relationship_ids"])
    members = weigh_members(row, corpus)
    most = max(members.values(), default=0.0) or 1.0
    weighed = []
    for quote in quotes:
        told = [corpus.relationships[r] for r in quote.ids if r in inside]
        reach = max(
            ((members[r["source_id"]] + members[r["target_id"]]) * min(worth_of(r), 1.0) for r in told), default=0
        )
        weighed.append(quote._replace(weight=(0.2 + reach / most) * rate_readability(quote.text)))
    selected = select_sentences(weighed, limit=limit)
    return [pick.sentence._replace(weight=1.0) for pick in selected]


def _rate(row: dict[str, Any], corpus: Corpus) -> tuple[float, str]:
    stated = [r for r in row["relationship_ids"] if is_stated(r, corpus)]
    weight = sum(corpus.relationships[r]["weight"] for r in stated)
    contents = {corpus.documents[q.document_id]["content_sha256"] for r in stated for q in corpus.quotes_of.get(r, [])}
    size, n_documents = row["size"], len(contents)
    if row["title"] == UNCONNECTED:
        return 0.0, f"Rank 0 of 10: {_count(size, 'entity', 'entities')}, none related to another."
    parts = size / (size + 10) + weight / (weight + 20) + n_documents / (n_documents + 5)
    rank = round(10 / 3 * parts, 1)
    entities, facts = _count(size, "entity", "entities"), _count(len(stated), "stated relationship")
    figures = f"{entities}, {facts} of total weight {weight:.0f}"
    return rank, f"Rank {rank:g} of 10: {figures}, from {_count(n_documents, 'document')}."


def _count(n: int, noun: str, plural: str = "") -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {plural or noun + 's'}"


def _list_citations(report: Report, row: dict[str, Any], corpus: Corpus) -> str:
    """JSON list of every cited row with the place of its quote; null and "" for a fact that no document states."""
    listed = []
    for quote in dict.fromkeys(report.quotes):
        place = {"document_id": quote.document_id, "start": quote.start, "end": quote.end, "quote": quote.text}
        listed += [_cite_relationship(r, corpus) | place for r in cited_relationships(quote, row, corpus)]
        if unit := corpus.unit_of.get((quote.document_id, quote.start, quote.end)):
            number = corpus.unit_numbers[unit]
            cited = {"ref": f"Sources ({number})", "kind": "text_units", "id": unit, "human_readable_id": number}
            listed.append(cited | place)
    nowhere = {"document_id": None, "start": None, "end": None, "quote": ""}
    listed += [_cite_relationship(fact, corpus) | nowhere for fact in report.facts]
    return json.dumps(listed, ensure_ascii=False)


def _cite_relationship(relationship_id: str, corpus: Corpus) -> dict[str, Any]:
    number = corpus.relationships[relationship_id]["human_readable_id"]
    ref = f"Relationships ({number})"
    return {"ref": ref, "kind": "relationships", "id": relationship_id, "human_readable_id": number}


def _finish_row(row: dict[str, Any], report: Report, corpus: Corpus) -> dict[str, Any]:
    rank, explanation = _rate(row, corpus)
    findings = [finding._asdict() for finding in report.findings]
    sections = [f"## {finding.summary}\n\n{finding.explanation}" for finding in report.findings]
    full_content = "\n\n".join([f"# {report.title}", report.summary, *sections])
    as_json = {
        "title": report.title, "summary": report.summary, "findings": findings, "rating": rank,
        "rating_explanation": explanation,
    }  # fmt: skip
    copied = ("human_readable_id", "community", "level", "parent", "children", "period", "size")
    return {
        "id": row_id("community_report", row["id"], full_content),
        **{name: row[name] for name in copied},
        "title": report.title, "summary": report.summary, "full_content": full_content, "rank": rank,
        "rating_explanation": explanation, "findings": findings, "method": report.method,
        "full_content_json": json.dumps(as_json, ensure_ascii=False, indent=4),
        "citations": _list_citations(report, row, corpus),
    }  # fmt: skip
