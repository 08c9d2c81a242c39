"""An answer that lists relationships between things of two types: "Which teams own which services?", "Who owns what?".

The question has a question word at each end of its verb and names nothing. Shown are the stated relationships whose
predicate is that verb, either way round ("X owns Y", "Y is owned by X"), one a pair, together by who does it.

Reads entities, relationships, evidence, documents. Does not: guess types, or answer a question that names a thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graphrag.context import TokenCounter, pack
from graphrag.search.answer import EXTRACTIVE_LABEL, Answer, compose_answer
from graphrag.search.cues import is_negated
from graphrag.search.extract import render_fact
from graphrag.search.overviews.entities_of_type import list_types
from graphrag.search.ranking import stem_term
from graphrag.search.rows import Fact, load_facts, load_passages
from graphrag.search.sections import fact_section, list_facts, list_sources
from graphrag.search.walks.dependents import is_need
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_LISTED = 40
_TWO_SIDED = re.compile(
    r"^\s*(?P<word>which|what|who)\b(?P<left>[^?]*?)\b(?:which|what|whom?)\b(?P<right>[^?]*?)\s*\??\s*$", re.IGNORECASE
)
_FILLERS = frozenset(split_search_terms("of our the a an is are was were do does did we in"))
_PREPOSITIONS = frozenset(("on", "by", "to", "from", "in", "with", "at", "for"))
_ACTORS = ("person", "team", "organization", "company")
# What a wider word of a question means too: what is built and run goes by several names.
_WIDER = {
    "service": ("service", "component", "product", "application", "system"),
    "system": ("service", "component", "product", "application", "system"),
    "application": ("application", "product", "service"),
    "people": ("person",),
    "person": ("person",),
    "company": ("organization", "company", "vendor", "customer"),
}
_NEEDS = frozenset(map(stem_term, ("depend", "rely", "need", "require", "use")))


class Asked(NamedTuple):
    """Types at both ends (none: any), and the verb as it was asked and by stem; is_passive: "are owned by"."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    verb: str
    stem: str
    is_passive: bool


class Pairs(NamedTuple):
    """Facts by who does it, and what they are, for people."""

    facts: list[Fact]
    n_all: int
    scope: str


def find_relationships_of_types(index: Index, question: str) -> Pairs | None:
    """The relationships that a question with a question word at both ends asks for; None for any other question."""
    asked = None if is_negated(question) else _read_question(question, list_types(index))
    if asked is None:
        return None
    rows = index.rows(
        "select r.id, r.predicate, r.source_id, s.type, r.source, r.target_id, t.type, r.target from relationships r "
        "join entities s on s.id = r.source_id join entities t on t.id = r.target_id "
        "where r.origin <> 'cooccurrence' order by r.weight desc, r.source, r.predicate, r.target"
    )
    agents, patients = (asked.right, asked.left) if asked.is_passive else (asked.left, asked.right)
    pairs: dict[tuple[str, str], tuple[str, str, str]] = {}
    for relationship_id, predicate, *ends in rows:
        if _says(predicate, asked.stem, ends[1]):
            agent, patient = (ends[3:], ends[:3]) if predicate.endswith("_by") else (ends[:3], ends[3:])
            if (not agents or agent[1] in agents) and (not patients or patient[1] in patients):
                pairs.setdefault((agent[0], patient[0]), (relationship_id, agent[2], patient[2]))
    n_of: dict[str, int] = {}
    for _, agent_title, _ in pairs.values():
        n_of[agent_title] = n_of.get(agent_title, 0) + 1
    ordered = sorted(pairs.values(), key=lambda pair: (-n_of[pair[1]], pair[1], pair[2]))
    facts = load_facts(index, [relationship_id for relationship_id, *_ in ordered[:MAX_LISTED]])
    scope = f"{_name(asked.left)} -{asked.verb}-> {_name(asked.right)}"
    return Pairs(facts, len(ordered), scope) if facts else None


def _name(types: Collection[str]) -> str:
    return "any" if not types else "who" if tuple(types) == _ACTORS else next(iter(types))


def _read_question(question: str, known: Collection[str]) -> Asked | None:
    match = _TWO_SIDED.match(question)
    if match is None:
        return None
    left = [term for term in re.findall(r"[\w-]+", match["left"].lower()) if term not in _FILLERS]
    right = " ".join(term for term in re.findall(r"[\w-]+", match["right"].lower()) if term not in _FILLERS)
    is_passive = bool(left) and left[-1] == "by"
    tail = [left.pop()] if left and left[-1] in _PREPOSITIONS else []
    if not left:
        return None
    verb = left.pop()
    means = {kind: (kind,) for kind in known} | _WIDER
    ends = [_match_type(" ".join(left), means), _match_type(right, means)]
    if match["word"].lower() == "who":
        ends[0] = _ACTORS if not left else None
    if ends[0] is None or ends[1] is None:
        return None
    stem = stem_term(next(iter(split_search_terms(verb)), verb))
    return Asked(ends[0], ends[1], " ".join([*(["is"] if is_passive else []), verb, *tail]), stem, is_passive)


def _match_type(words: str, means: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """The types that words mean: any for none; None where the words are no type."""
    wanted = {stem_term(term) for term in split_search_terms(words)}
    if not wanted:
        return ()
    found = (kind for kind in means if wanted == {stem_term(term) for term in split_search_terms(kind)})
    return next((means[kind] for kind in found), None)


def _says(predicate: str, stem: str, source_type: str) -> bool:
    said = {stem_term(term) for part in predicate.split("_") for term in split_search_terms(part)}
    return stem in said or (stem in _NEEDS and is_need(predicate, source_type))


def compose_pairs(
    index: Index, draft: Answer, pairs: Pairs, *, top: int, budget_tokens: int, count: TokenCounter
) -> Answer:
    """The draft answered with what of the relationships fits the budget, and the passages that say it as sources."""
    packed = pack([fact_section(pairs.facts)], budget=budget_tokens, count=count)
    inside = set(packed.ids.get("Relationships", ()))
    facts = [fact for fact in pairs.facts if fact.human_readable_id in inside]
    passages = load_passages(index, list(dict.fromkeys(fact.text_unit_id for fact in facts)))
    ranked = {passage.id: 1 / rank for rank, passage in enumerate(passages, start=1)}
    sources = list_sources(passages, ranked, top=max(top, len(passages)))
    draft = replace(draft, sources=sources, relationships=list_facts(facts))
    n = f"{len(facts)} of {pairs.n_all}" if len(facts) < pairs.n_all else f"{pairs.n_all}"
    noun = "relationship" if pairs.n_all == 1 else "relationships"
    label = f"{EXTRACTIVE_LABEL.rstrip(':')}; {n} {noun} {pairs.scope}:"
    lines, citations = [render_fact(fact) for fact in facts], [fact.to_citation() for fact in facts]
    return compose_answer(draft, lines, citations, packed=packed, label=label)
