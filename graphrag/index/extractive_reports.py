"""Reports without a model, in the documents' words.

A leaf is told from the best sentences of its evidence, a parent from what connects its children and from their reports.
Every sentence is a verbatim quote followed by its citation, `[Data: Relationships (12); Sources (3)]`; the numbers are
human_readable_ids. Communities that are too small, and `Unconnected entities`, get a template that names and counts.

A neighbour of reports.py. Does not: ask a model, or choose numbers for people (the frames carry them).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any

from graphrag.digest import Sentence, is_near_duplicate, rate_readability, select_sentences
from graphrag.index.report_corpus import (
    Corpus,
    is_stated,
    name_by_spread,
    order_members,
    order_relationships,
    quotes_inside,
    touches,
    weigh_members,
    worth_of,
)
from graphrag.index.report_rows import EXTRACTIVE, TEMPLATE, Finding, Report, say_count
from graphrag.index.report_wording import (
    enumerate_names,
    join_names,
    say_fact,
    say_member,
    say_together,
    tell_facts,
    tell_quotes,
    title_of,
)
from graphrag.tables import UNCONNECTED
from graphrag.tokens import split_search_terms

READABLE = 0.25
"""Sentences that rate lower are quoted only where there is nothing better."""
MAX_NAMED, MAX_CHILDREN_NAMED, SENTENCES_A_FINDING, MAX_SUMMARY = 25, 5, 3, 4
MAX_UNSTATED = 1
"""Findings, and sentences of a summary, of a community whose members only stand in the same sentences."""


def write_extractive_report(
    row: dict[str, Any], children: Sequence[tuple[dict[str, Any], Report]], corpus: Corpus, *, max_findings: int
) -> Report:
    """The report of one row of `communities`; `children` are those below it with their extractive reports."""
    if children:
        return _write_parent(row, children, corpus, max_findings)
    return _write_leaf(row, corpus, max_findings)


def write_template_report(row: dict[str, Any], corpus: Corpus) -> Report:
    """Names and counts; a pair also gets the best sentence that joins it."""
    if row["title"] == UNCONNECTED:
        names = name_by_spread(row["entity_ids"], corpus)
        verb = "entity has" if row["size"] == 1 else "entities have"
        summary = f"{row['size']} {verb} no relationship to another: {enumerate_names(names, MAX_NAMED)}."
        return Report(UNCONNECTED, summary, [], TEMPLATE, [], [], [])
    quotes = _choose_quotes(row, _readable_quotes(row, corpus), 2, corpus)
    title = title_of(row, corpus)
    facts = [say_fact(corpus.relationships[r]) for r in order_relationships(row["relationship_ids"], corpus)]
    counts = f"{say_count(row['size'], 'entity', 'entities')}, {say_count(len(facts), 'relationship')}"
    counts = f"{counts}: {enumerate_names(facts, 3)}." if facts else f"{counts}."
    bare = [] if quotes else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [counts, tell_quotes(quotes, row, corpus), tell_facts(bare, corpus)]))
    return Report(title, summary, [], TEMPLATE, quotes, quotes, bare)


def _write_leaf(row: dict[str, Any], corpus: Corpus, max_findings: int) -> Report:
    members = order_members(row, corpus)
    quotes = _readable_quotes(row, corpus)
    is_known = any(is_stated(r, corpus) for r in row["relationship_ids"])
    most = min(MAX_SUMMARY, len(quotes) // 2) if is_known else MAX_UNSTATED
    best = _choose_quotes(row, quotes, max(1, most), corpus)
    lead = "" if is_known else say_together(members, quotes_inside(row, corpus), corpus)
    limit = max_findings if is_known else min(max_findings, MAX_UNSTATED)
    findings, used = _find_by_member(row, set(row["relationship_ids"]), _not_said(quotes, best), limit, corpus)
    bare = [] if best else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [lead, tell_quotes(best, row, corpus), tell_facts(bare, corpus)]))
    return Report(title_of(row, corpus), summary, findings, EXTRACTIVE, best + used, best, bare)


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
    told = [quote for _, report in children for quote in report.digest[:2] if _is_readable(quote)]
    told = _not_said(told, joints)
    best = joints + _choose_quotes(row, told, MAX_SUMMARY - len(joints), corpus)
    heads = [order_members(child, corpus)[0] for child, _ in children[:3]]
    title = join_names([corpus.entities[head]["title"] for head in heads])
    parts = [f"{report.title} ({say_count(child['size'], 'entity', 'entities')})" for child, report in children]
    lead = f"{row['size']} entities in {len(parts)} groups: {enumerate_names(parts, MAX_CHILDREN_NAMED, '; ')}."
    n_joints = max(1, max_findings - min(len(children), max_findings // 2 + 1)) if max_findings > 1 else 0
    n_joints = n_joints if is_known else min(n_joints, MAX_UNSTATED)
    findings, used = _find_by_member(row, set(between["relationship_ids"]), _not_said(crossing, best), n_joints, corpus)
    for _, report in children:
        shown = _not_said([quote for quote in report.digest if _is_readable(quote)], best)[:SENTENCES_A_FINDING]
        if shown and len(findings) < max_findings:
            findings.append(Finding(report.title, tell_quotes(shown, row, corpus)))
            used = used + shown
    bare = [] if best else _bare_facts(row, corpus)
    summary = " ".join(filter(None, [lead, tell_quotes(best, row, corpus), tell_facts(bare, corpus)]))
    return Report(title, summary, findings, EXTRACTIVE, best + used, best, bare)


def _find_by_member(
    row: dict[str, Any], focus: set[str], quotes: Sequence[Sentence], limit: int, corpus: Corpus
) -> tuple[list[Finding], list[Sentence]]:
    """One finding a member, most important first, from the sentences about it that no earlier finding took.

    `focus` are the relationships to tell of, `quotes` the sentences that state them.
    """
    findings: list[Finding] = []
    used: list[Sentence] = []
    left = list(quotes)
    for member in order_members(dict(row, relationship_ids=sorted(focus)), corpus):
        if len(findings) == limit or not left:
            break
        about = [quote for quote in left if any(touches(r, member, corpus) for r in quote.ids if r in focus)]
        chosen = _choose_quotes(row, about, SENTENCES_A_FINDING, corpus)
        if chosen:
            told = {r for quote in chosen for r in quote.ids if r in focus and touches(r, member, corpus)}
            findings.append(Finding(say_member(member, told, corpus), tell_quotes(chosen, row, corpus)))
            used += chosen
            left = _not_said(left, chosen)
    return findings, used


def _not_said(quotes: Sequence[Sentence], said: Sequence[Sentence]) -> list[Sentence]:
    """The quotes that say something else than those that are told already."""
    words = [(quote, _distinct_terms(quote.text)) for quote in said]
    return [
        quote
        for quote in quotes
        if not words or not any(_says_same(quote, _distinct_terms(quote.text), *other) for other in words)
    ]


@lru_cache(maxsize=1 << 12)
def _distinct_terms(text: str) -> frozenset[str]:
    return frozenset(split_search_terms(text))


def _bare_facts(row: dict[str, Any], corpus: Corpus) -> list[str]:
    return order_relationships(row["relationship_ids"], corpus)[:SENTENCES_A_FINDING]


def _says_same(quote: Sentence, words: Set[str], other: Sentence, other_words: Set[str]) -> bool:
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
    if not quotes:
        return []
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
