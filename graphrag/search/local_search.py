"""Local search: what the graph says around the things that a question names or means.

seeds (names in the question, passages and relationships that match it) -> where the best passages lead in two or three
hops (next_hops.py) -> facts with their evidence around what is named and led over, passages, reports of the communities
involved -> context within a budget -> answer. Passages stand in the order of their likeness to the question; behind the
first come those of the next hops, which share few words with it, and those that relationships which are the answer rest
on. Where a walk answers (walks/leading.py), its passages come first of all.

Reads entities, relationships, evidence, text_units, documents, communities, community_reports, the inverted index and
vectors. Does not: ask a model, or answer with paths (impact, path).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphrag.context import TokenCounter, pack
from graphrag.search.answer import NOTHING, Answer, Usage, compose_answer, with_context
from graphrag.search.cues import is_yes_no
from graphrag.search.entries.folded_entries import Fold, tell_refused
from graphrag.search.entries.folded_passages import FoldedPassages, fold_passages
from graphrag.search.extract import Quote, choose_quotes, render_fact
from graphrag.search.facts import MAX_FACTS, choose_facts, choose_outright, rank_facts, sort_facts
from graphrag.search.lookups import one_of
from graphrag.search.neighborhood import expand_neighborhood
from graphrag.search.next_hops import NextHops, rank_next_hops
from graphrag.search.overviews.broad_answer import answer_broadly
from graphrag.search.ranking import (
    RRF_CONSTANT,
    Question,
    is_relevant,
    measure_likeness,
    measure_rows,
    prepare_question,
    rank_by_words,
    rank_rows,
)
from graphrag.search.rows import (
    Fact,
    Passage,
    Report,
    list_text_units,
    load_claims,
    load_passages,
    load_reports,
    prove_first,
)
from graphrag.search.sections import (
    check_budget,
    entity_section,
    fact_section,
    list_facts,
    list_reports,
    report_section,
    source_section,
)
from graphrag.search.seeds import (
    NamedEntity,
    explain_unknown_name,
    explain_unsettled,
    find_named_documents,
    find_named_entities,
    group_names,
    nearest_names,
)
from graphrag.search.walks.leading import Leading, find_leading
from graphrag.search.walks.walk_answer import pack_walk, render_walk
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_PASSAGES, MAX_ENTITIES, MAX_REPORTS = 20, 10, 3
MAX_QUOTED_PASSAGES, MAX_QUOTES = 10, 5
SHARES = {"Entities": 0.1, "Relationships": 0.3, "Sources": 0.5, "Reports": 0.1}


_MEMBERS_SQL = "select unnest(entity_ids) as entity_id, community from communities"


@dataclass(frozen=True)
class Found:
    """What the graph and the lists gave, best first; `likeness` is cosines of passages and facts by id, `leading` the
    walk that answers the question, where it asks for one; `in_named` the text units of the documents it names;
    `quotable` those that answer in their own words, not as the next hop of another."""

    named: list[NamedEntity]
    in_named: list[str]
    folded: FoldedPassages
    quotable: dict[str, float]
    facts: list[Fact]
    leading: Leading
    likeness: dict[str, float]
    entities: list[dict[str, Any]]
    reports: list[Report]


def search_local(
    index: Index,
    question: str,
    *,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    count: TokenCounter = count_tokens,
    fold: Fold | None = None,
) -> Answer:
    """The sentences and facts around what the question is about, cited; sources are passages, best first.

    model: `none` leaves vectors out, anything else means those of the index. fold: None leaves related documents apart.
    Raises UsageError for a budget below 1.
    """
    check_budget(budget_tokens)
    began = time.perf_counter()
    asked, notices = prepare_question(index, question, model=model)
    named, more = find_named_entities(index, asked.text)
    draft = Answer("local", question, NOTHING, False, notices=tuple(notices))
    if broad := answer_broadly(
        index, draft, asked, has_name=bool(named), narrowed=False, top=top, budget_tokens=budget_tokens, count=count
    ):
        return replace(broad, usage=replace(broad.usage, seconds=round(time.perf_counter() - began, 3)))
    if unknown := explain_unknown_name(index, asked.text, named):
        seconds = round(time.perf_counter() - began, 3)
        return Answer("local", question, NOTHING, False, usage=Usage(seconds=seconds), notices=(*notices, unknown))
    found = find_around(index, asked, named, top=top, fold=fold)
    facts = list(dict.fromkeys([*found.leading.facts, *found.facts]))
    answer = Answer(
        "local", question, NOTHING, False,
        sources=found.folded.list_sources(top=top), entities=tuple(found.entities),
        relationships=list_facts(facts), reports=list_reports(found.reports), notices=(*notices, *more),
    )  # fmt: skip
    relevant, facts = choose_relevant(asked, found)
    if relevant or facts:
        packed = (
            pack_walk(index, found.leading, budget_tokens=budget_tokens, count=count)
            if found.leading.facts
            else pack(_sections(found), budget=budget_tokens, count=count)
        )
        answer = with_context(answer, packed)
        shown = [p for p in relevant if p.human_readable_id in packed.ids.get("Sources", ())]
        limit = 0 if found.leading.facts else MAX_QUOTES
        facts = [f for f in facts if f.human_readable_id in packed.ids.get("Relationships", ())]
        stated = facts if choose_outright(asked, facts, named) else []
        names, inside = group_names(index, named), found.in_named
        quotes = choose_quotes(asked, shown, found.quotable, limit=limit, in_named=inside, names=names, stated=stated)
        citations = [*(quote.to_citation() for quote in quotes), *(fact.to_citation() for fact in facts)]
        if lines := _render(quotes, facts, found.leading):
            answer = compose_answer(answer, lines, citations, packed=packed)
        elif is_yes_no(asked.text):
            answer = replace(answer, notices=(*answer.notices, explain_unsettled(named)))
    elif near := nearest_names(index, asked.text):
        answer = replace(answer, notices=(*answer.notices, near))
    answer = tell_refused(answer, found.folded.marks, found.folded.titles)
    seconds = round(time.perf_counter() - began, 3)
    return replace(answer, usage=Usage(context_tokens=answer.usage.context_tokens, seconds=seconds))


def find_around(index: Index, asked: Question, named: Sequence[NamedEntity], *, top: int, fold: Fold | None) -> Found:
    n_passages = max(top, MAX_PASSAGES)
    like_passages = measure_likeness(index, asked, "text_units")
    in_named = list_text_units(index, find_named_documents(index, asked.text))
    ranked = rank_rows(index, asked, "text_units", top=n_passages, likeness=like_passages, first=in_named)
    direct = {hit.owner_id: hit.score for hit in ranked}
    names = [entity.entity_id for entity in named]
    leading = find_leading(index, asked.text, named)
    next_hops = NextHops([], []) if leading.facts else rank_next_hops(index, asked, list(direct), like_passages, names)
    seeds = list(dict.fromkeys([*names, *next_hops.entities]))
    facts, like = _find_facts(index, asked, names, seeds)
    outright = choose_outright(asked, choose_facts(asked, facts, named, like), named)
    order = [*list(direct)[:1], *next_hops.text_units, *_list_units_of(outright), *direct]
    scores = _score_ranks([*_list_units_of(leading.facts), *order], top=n_passages)
    ends = dict.fromkeys(end for fact in facts for end in (fact.source_id, fact.target_id))
    entities = _list_entities(index, (seeds or list(ends))[:MAX_ENTITIES])
    reports = _find_reports(index, [entity["id"] for entity in entities])
    likeness = like_passages.of(scores) | like

    def rank_more(n: int) -> list[Passage]:
        more = rank_rows(index, asked, "text_units", top=n, likeness=like_passages, first=in_named)
        return load_passages(index, [hit.owner_id for hit in more])

    folded = fold_passages(index, load_passages(index, list(scores)), scores, fold=fold, rank_more=rank_more)
    quotable = _choose_quotable(folded, dict(list(direct.items())[:MAX_QUOTED_PASSAGES]))
    return Found(list(named), in_named, folded, quotable, facts, leading, likeness, entities, reports)


def _choose_quotable(folded: FoldedPassages, direct: Mapping[str, float]) -> dict[str, float]:
    """Scores of the passages that answer in their own words; what stands for one of them answers in its place."""
    scores = {p.id: max(direct.get(p.id, 0.0), direct.get(folded.lifted.get(p.id, ""), 0.0)) for p in folded.quotable}
    return {passage: score for passage, score in scores.items() if score}


def _score_ranks(order: Sequence[str], *, top: int) -> dict[str, float]:
    """Scores that fall with the rank, of the first `top` text units."""
    units = list(dict.fromkeys(order))[:top]
    return {unit: round(1 / (RRF_CONSTANT + rank), 9) for rank, unit in enumerate(units, start=1)}


def _find_facts(
    index: Index, asked: Question, names: Sequence[str], seeds: Sequence[str]
) -> tuple[list[Fact], dict[str, float]]:
    """The best relationships that hold the question's words or touch the seeds, with their cosines. Those that are only
    near in meaning are not looked for: they added nothing (docs/evaluation.md)."""
    like = load_claims(index, rank_by_words(index, asked, "relationships", top=MAX_FACTS))
    candidates = rank_facts(expand_neighborhood(index, seeds), seeds, like)
    near = measure_rows(index, asked, "relationships", candidates)
    claims = sort_facts(asked, load_claims(index, candidates), names, seeds, near)
    return prove_first(index, claims, top=MAX_FACTS), near


def _list_units_of(facts: Sequence[Fact]) -> list[str]:
    """The text units that relationships rest on, in their order."""
    return [fact.text_unit_id for fact in facts if fact.text_unit_id]


def _list_entities(index: Index, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of entities, in the order of the ids."""
    is_wanted, wanted = one_of("id", ids)
    columns = "id, human_readable_id, title, type, description"
    found = {
        row["id"]: row for row in index.frame(f"select {columns} from entities where {is_wanted}", wanted).to_dicts()
    }
    return [found[entity] for entity in ids if entity in found]


def _find_reports(index: Index, entity_ids: Sequence[str]) -> list[Report]:
    """Reports of the communities that hold most of some entities, the first counting most, for their size; the finest
    first."""
    worth_of = {entity: 1 / rank for rank, entity in enumerate(entity_ids, start=1)}
    members = index.frame_once(_MEMBERS_SQL)
    held: dict[int, float] = {}
    for entity, community in members.filter(members["entity_id"].is_in(list(worth_of))).iter_rows():
        held[community] = held.get(community, 0.0) + worth_of[entity]
    rows = index.rows(
        "select c.community, c.size, c.level, r.id from communities c join community_reports r "
        "on r.community = c.community where r.method <> 'template' and c.community in (select unnest(?::bigint[]))",
        (list(held),),
    )
    order = sorted((-round(held[row[0]] / math.sqrt(row[1]), 9), -row[2], row[3]) for row in rows)
    return load_reports(index, [report for _, _, report in order[:MAX_REPORTS]])


def choose_relevant(asked: Question, found: Found) -> tuple[list[Passage], list[Fact]]:
    """Passages that have to do with the question, and the relationships to show: those that lead to what it names,
    else those of choose_facts. Both may be empty."""
    passages = [
        passage
        for passage in found.folded.passages
        if passage.id in found.quotable
        if passage.id in found.in_named or is_relevant(asked, found.likeness.get(passage.id, 0.0), passage.text)
    ]
    if found.leading.facts:
        return passages, list(found.leading.facts)
    return passages, choose_facts(asked, found.facts, found.named, found.likeness)


def _sections(found: Found) -> list[Any]:
    return [
        fact_section(found.facts, share=SHARES["Relationships"]),
        source_section(found.folded.passages, share=SHARES["Sources"], marks=found.folded.marks),
        report_section(found.reports, share=SHARES["Reports"]),
        entity_section(found.entities, share=SHARES["Entities"]),
    ]


def _render(quotes: Sequence[Quote], facts: Sequence[Fact], walk: Leading) -> list[str]:
    """Sentences, then relationships; or nothing but the walk that answers."""
    if walk.facts:
        return render_walk(walk, facts)
    lines = [render_fact(fact) for fact in facts]
    return [*(quote.render() for quote in quotes), *(["Relationships:"] if lines else []), *lines]
