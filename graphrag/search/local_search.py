"""Local search: what the graph says around the things that a question names or means.

seeds (names in the question, facts and passages that match it) -> neighbourhood -> personalised PageRank -> facts with
their evidence, passages, reports of the communities involved -> context within a budget -> answer.
A passage's rank fuses its PageRank with its likeness to the question, so that a passage two hops away can come up and
one that says it outright stays up.

Reads entities, relationships, evidence, text_units, documents, communities, community_reports, the inverted index and
vectors. Does not: ask a model, or answer with paths (impact, path).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphrag.context import TokenCounter, pack
from graphrag.search.answer import NOTHING, Answer, Usage, compose_answer
from graphrag.search.dependents import asks_for_dependents, find_dependents
from graphrag.search.extract import Quote, choose_quotes, render_fact, say_fact
from graphrag.search.neighborhood import Neighborhood, Ranks, expand_neighborhood, rank_neighborhood
from graphrag.search.ranking import (
    RRF_CONSTANT,
    Hit,
    Question,
    is_relevant,
    measure_likeness,
    prepare_question,
    rank_rows,
)
from graphrag.search.rows import Fact, Passage, Report, list_text_units, load_facts, load_passages, load_reports
from graphrag.search.sections import (
    check_budget,
    entity_section,
    fact_section,
    list_facts,
    list_reports,
    list_sources,
    report_section,
    source_section,
)
from graphrag.search.seeds import NamedEntity, find_named_documents, find_named_entities, nearest_names
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_PASSAGES, MAX_FACTS, MAX_ENTITIES, MAX_REPORTS = 20, 30, 10, 3
N_FACT_SEEDS, N_PASSAGE_SEEDS = 5, 20
MAX_QUOTED_PASSAGES, MAX_QUOTES, MAX_FACT_LINES, MAX_LEADING_LINES, MAX_UNASKED_LINES = 8, 5, 6, 20, 2
LEAST_SAID = 0.3
# A name in the question says more than a fact that is like it: HippoRAG 2 has facts only.
NAME_WEIGHT, FACT_WEIGHT = 2.0, 1.0
# "What does X depend on?" is about relationships that start at X.
_ASKS_OF_SUBJECT = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)
SHARES = {"Entities": 0.1, "Relationships": 0.3, "Sources": 0.5, "Reports": 0.1}


@dataclass(frozen=True)
class Found:
    """What the graph and the lists gave, best first; `likeness` is cosines of passages and facts by id, `leading` are
    the facts that lead to the named entities, when the question asks what needs them; `in_named` the text units of
    the documents it names."""

    named: list[NamedEntity]
    in_named: list[str]
    passages: list[Passage]
    scores: dict[str, float]
    facts: list[Fact]
    leading: list[Fact]
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
) -> Answer:
    """The sentences and facts around what the question is about, cited; sources are passages, best first.

    model: `none` leaves vectors out, anything else means those of the index. Raises UsageError for a budget below 1.
    """
    check_budget(budget_tokens)
    began = time.perf_counter()
    asked, notices = prepare_question(index, question, model=model)
    named, more = find_named_entities(index, asked.text)
    found = _find(index, asked, named, top=top)
    facts = list(dict.fromkeys([*found.leading, *found.facts]))
    answer = Answer(
        "local", question, NOTHING, False,
        sources=list_sources(found.passages, found.scores, top=top), entities=tuple(found.entities),
        relationships=list_facts(facts), reports=list_reports(found.reports), notices=(*notices, *more),
    )  # fmt: skip
    relevant, facts = _choose_relevant(asked, found)
    if relevant or facts:
        packed = pack(_sections(found), budget=budget_tokens, count=count)
        shown = [p for p in relevant if p.human_readable_id in packed.ids.get("Sources", ())]
        limit = 0 if found.leading else MAX_QUOTES
        quotes = choose_quotes(asked, shown, found.scores, limit=limit, in_named=found.in_named) if limit else []
        facts = [f for f in facts if f.human_readable_id in packed.ids.get("Relationships", ())]
        citations = [*(quote.to_citation() for quote in quotes), *(fact.to_citation() for fact in facts)]
        answer = compose_answer(answer, _render(quotes, facts, leads=bool(found.leading)), citations, packed=packed)
    elif near := nearest_names(index, asked.text):
        answer = replace(answer, notices=(*answer.notices, near))
    seconds = round(time.perf_counter() - began, 3)
    return replace(answer, usage=Usage(context_tokens=answer.usage.context_tokens, seconds=seconds))


def _find(index: Index, asked: Question, named: Sequence[NamedEntity], *, top: int) -> Found:
    n_passages = max(top, MAX_PASSAGES)
    like_passages = measure_likeness(index, asked, "text_units")
    like_facts = measure_likeness(index, asked, "relationships")
    in_named = list_text_units(index, find_named_documents(index, asked.text))
    ranked = rank_rows(index, asked, "text_units", top=n_passages, likeness=like_passages, first=in_named)
    hits = {hit.owner_id: hit for hit in ranked}
    fact_hits = {h.owner_id: h for h in rank_rows(index, asked, "relationships", top=MAX_FACTS, likeness=like_facts)}
    seed_facts = [fact for fact in load_facts(index, list(fact_hits)) if fact.origin != "cooccurrence"]
    names = [entity.entity_id for entity in named]
    entity_seeds = _weigh_seeds(named, seed_facts, fact_hits)
    around = expand_neighborhood(index, list(entity_seeds), named=names)
    passage_seeds = {owner_id: hit.score for owner_id, hit in list(hits.items())[:N_PASSAGE_SEEDS]}
    ranks = rank_neighborhood(around, entity_seeds, passage_seeds)
    scores = _fuse_passages(hits, ranks, top=n_passages)
    candidates = _rank_facts(around, ranks, names, fact_hits, seed_facts)
    likeness = like_passages.of(scores) | like_facts.of(candidates)
    facts = _sort_facts(asked, load_facts(index, candidates), names, likeness)[:MAX_FACTS]
    leading = load_facts(index, find_dependents(index, names)) if names and asks_for_dependents(asked.text) else []
    entities = _list_entities(index, named, ranks)
    reports = _find_reports(index, [entity["id"] for entity in entities], ranks)
    passages = load_passages(index, list(scores))
    return Found(list(named), in_named, passages, scores, facts, leading, likeness, entities, reports)


def _weigh_seeds(named: Sequence[NamedEntity], facts: Sequence[Fact], fact_hits: Mapping[str, Hit]) -> dict[str, float]:
    """Entities that the question names, and both ends of the facts most like it."""
    seeds = {entity.entity_id: NAME_WEIGHT for entity in named}
    for fact in facts[:N_FACT_SEEDS]:
        share = FACT_WEIGHT * fact_hits[fact.id].score * (RRF_CONSTANT + 1) / 2
        for end in (fact.source_id, fact.target_id):
            seeds[end] = seeds.get(end, 0.0) + share
    return seeds


def _fuse_passages(hits: Mapping[str, Hit], ranks: Ranks, *, top: int) -> dict[str, float]:
    """Reciprocal ranks of PageRank and likeness, best first."""
    by_walk = sorted(ranks.text_units, key=lambda unit: (-ranks.text_units[unit], unit))[: 2 * top]
    scores: dict[str, float] = {}
    for ranked in (list(hits), by_walk):
        for rank, unit in enumerate(ranked, start=1):
            scores[unit] = scores.get(unit, 0.0) + 1 / (RRF_CONSTANT + rank)
    order = sorted(scores, key=lambda unit: (-round(scores[unit], 9), unit))[:top]
    return {unit: round(scores[unit], 9) for unit in order}


def _rank_facts(
    around: Neighborhood,
    ranks: Ranks,
    names: Sequence[str],
    fact_hits: Mapping[str, Hit],
    seed_facts: Sequence[Fact],
) -> list[str]:
    """Ids of candidate facts, by fused rank, how many of their ends are named, and the PageRank of their ends."""
    ends = {edge[0]: edge[1:3] for edge in around.edges}
    ends |= {fact.id: (fact.source_id, fact.target_id) for fact in seed_facts}
    best = max(ranks.entities.values(), default=0.0) or 1.0

    def score(fact_id: str) -> float:
        like = fact_hits[fact_id].score * (RRF_CONSTANT + 1) / 2 if fact_id in fact_hits else 0.0
        n_named = len(set(names) & set(ends[fact_id]))
        near = sum(ranks.entities.get(end, 0.0) for end in ends[fact_id]) / (2 * best)
        return round(like + 0.5 * n_named + 0.5 * near, 6)

    return sorted(ends, key=lambda fact_id: (-score(fact_id), fact_id))[: 4 * MAX_FACTS]


def _sort_facts(
    asked: Question, facts: Sequence[Fact], names: Sequence[str], likeness: Mapping[str, float]
) -> list[Fact]:
    """Facts by what they say: terms of the question they hold, nearness to it, ends it names; ties by weight, names."""

    is_about_subject = bool(_ASKS_OF_SUBJECT.search(asked.text))

    def weight(fact: Fact) -> float:
        said = asked.coverage(say_fact(fact)) + 0.4 * asked.nearness(likeness.get(fact.id, 0.0))
        said += 0.3 * (is_about_subject and fact.source_id in names)
        return round(said + 0.3 * len(set(names) & {fact.source_id, fact.target_id}), 6)

    return sorted(facts, key=lambda f: (-weight(f), -f.weight, f.source, f.predicate, f.target))


def _list_entities(index: Index, named: Sequence[NamedEntity], ranks: Ranks) -> list[dict[str, Any]]:
    """Named entities first, then the best by PageRank."""
    walked = sorted(ranks.entities, key=lambda entity: (-ranks.entities[entity], entity))
    ids = list(dict.fromkeys([*(entity.entity_id for entity in named), *walked]))[:MAX_ENTITIES]
    rows = index.frame(
        "select id, human_readable_id, title, type, description from entities "
        "where id in (select unnest(?::varchar[]))",
        (ids,),
    ).to_dicts()
    found = {row["id"]: {**row, "score": ranks.entities.get(row["id"], 0.0)} for row in rows}
    return [found[entity] for entity in ids if entity in found]


def _find_reports(index: Index, entity_ids: Sequence[str], ranks: Ranks) -> list[Report]:
    """Reports of the communities that hold most of the found entities' rank for their size; the finest first."""
    rows = index.frame(
        "select r.id, c.entity_ids, c.level, c.size from communities c join community_reports r "
        "on r.community = c.community where r.method <> 'template' "
        "and list_has_any(c.entity_ids, ?::varchar[]) order by r.id",
        (list(entity_ids),),
    ).rows()
    shown = set(entity_ids)

    def worth(row: tuple[str, list[str], int, int]) -> float:
        held = sum(ranks.entities.get(entity, 0.0) for entity in row[1] if entity in shown)
        return round(held / math.sqrt(row[3]), 9)

    order = sorted(rows, key=lambda row: (-worth(row), -row[2], row[0]))
    return load_reports(index, [row[0] for row in order[:MAX_REPORTS]])


def _choose_relevant(asked: Question, found: Found) -> tuple[list[Passage], list[Fact]]:
    """Passages that have to do with the question, and the facts to show: those that lead to what it names; else those
    about what it names that say what it asks, and two about each name of which nothing is said; else those that say
    what it asks. Both may be empty."""
    names = {entity.entity_id for entity in found.named}
    passages = [
        passage
        for passage in found.passages[:MAX_QUOTED_PASSAGES]
        if passage.id in found.in_named or is_relevant(asked, found.likeness.get(passage.id, 0.0), passage.text)
    ]
    if found.leading:
        return passages, found.leading[:MAX_LEADING_LINES]
    about = [fact for fact in found.facts if names & {fact.source_id, fact.target_id}]
    said = [fact for fact in found.facts if _says_it(asked, fact, found.likeness.get(fact.id, 0.0))]
    both = [fact for fact in about if fact in said][:MAX_FACT_LINES]
    untold = names - {end for fact in both for end in (fact.source_id, fact.target_id)}
    for name in sorted(untold):
        both += [f for f in about if name in (f.source_id, f.target_id) and f not in both][:MAX_UNASKED_LINES]
    return passages, both or said[:MAX_FACT_LINES]


def _says_it(asked: Question, fact: Fact, cosine: float) -> bool:
    """A fact is a few words: alike, and hardly one of them shared, is chance ("Who won ...?", "X leads Y")."""
    said = say_fact(fact)
    return asked.coverage(said) >= LEAST_SAID and is_relevant(asked, cosine, said)


def _sections(found: Found) -> list[Any]:
    return [
        fact_section(list(dict.fromkeys([*found.leading, *found.facts])), share=SHARES["Relationships"]),
        source_section(found.passages, share=SHARES["Sources"]),
        report_section(found.reports, share=SHARES["Reports"]),
        entity_section(found.entities, share=SHARES["Entities"]),
    ]


def _render(quotes: Sequence[Quote], facts: Sequence[Fact], *, leads: bool) -> list[str]:
    """Sentences, then relationships; or nothing but what leads to the named entity (specs/context-graph.md, 28)."""
    lines = [render_fact(fact) for fact in facts]
    if leads:
        return ["What leads to it, nearest first:", *lines]
    return [*(quote.render() for quote in quotes), *(["Relationships:"] if lines else []), *lines]
