"""Which relationships an answer shows: those that a question asks for, the right way round; few that it does not.

Candidates are ranked by likeness to the question, by the ends that it names and by those that the next hops lead over,
which it does not name: a relationship of the second hop holds few of its words. "What does X own?" is about
relationships in which X owns, "Who owns X?" about those in which X is owned. A relationship is a few words: one that
only touches what the question names says little, and to "Why ...?" or "How many ...?" nothing.

Does not: load relationships (rows.py) or walk to what depends on a thing (dependents.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from graphrag.search.cues import is_negated, is_yes_no, rate_fact, read_cue
from graphrag.search.extract import say_fact
from graphrag.search.ranking import COVERAGE_ALONE, RRF_CONSTANT, Question, is_relevant, stem_term
from graphrag.search.rows import Fact
from graphrag.search.seeds import NamedEntity
from graphrag.search.walks.dependents import is_need
from graphrag.tokens import split_search_terms

MAX_FACTS, MAX_FACT_LINES, MAX_UNASKED_LINES = 30, 6, 2
LEAST_SAID = 0.3
LIKE_WORTH = 0.5  # of the relationship most like the question, among the candidates
END_WORTH = 0.15  # of an end that the question names or that the next hops lead over (docs/evaluation.md)
RIGHT_WAY_ROUND = 2  # of cues.rate_fact
FACTLESS = ("number", "time", "steps", "cause", "change")  # kinds of answers that relationships seldom hold
# "What does X depend on?" is about relationships that start at X.
_ASKS_OF_SUBJECT = re.compile(r"\b(?:do|does|did)\b", re.IGNORECASE)


def rank_facts(
    around: Mapping[str, tuple[str, str]],
    seeds: Collection[str],
    like: Sequence[Fact],
) -> list[str]:
    """Ids of candidate facts, by their rank in `like` (best first) and how many of their ends are seeds. around: ends
    of relationships, by id; seeds: the entities that the question names and those that the next hops lead over."""
    ends = {**around, **{fact.id: (fact.source_id, fact.target_id) for fact in like}}
    said = {fact.id: LIKE_WORTH * (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank) for rank, fact in enumerate(like, start=1)}

    def score(fact_id: str) -> float:
        return round(said.get(fact_id, 0.0) + END_WORTH * len({*ends[fact_id]} & set(seeds)), 6)

    return sorted(ends, key=lambda fact_id: (-score(fact_id), fact_id))[: 4 * MAX_FACTS]


def sort_facts(
    asked: Question,
    facts: Sequence[Fact],
    names: Collection[str],
    seeds: Collection[str],
    likeness: Mapping[str, float],
) -> list[Fact]:
    """Facts by what they say: terms of the question they hold, nearness to it, ends that are seeds; ties by weight,
    names. names: those of the seeds that the question names."""
    is_about_subject = bool(_ASKS_OF_SUBJECT.search(asked.text))

    def weight(fact: Fact) -> float:
        said = asked.coverage(say_fact(fact)) + 0.4 * asked.nearness(likeness.get(fact.id, 0.0))
        said += 0.3 * (is_about_subject and fact.source_id in names)
        return round(said + END_WORTH * len({fact.source_id, fact.target_id} & set(seeds)), 6)

    return sorted(facts, key=lambda f: (-weight(f), -f.weight, f.source, f.predicate, f.target))


def choose_facts(
    asked: Question, facts: Sequence[Fact], named: Sequence[NamedEntity], likeness: Mapping[str, float]
) -> list[Fact]:
    """Of relationships in order: those about what the question names that say what it asks; else two about each name
    of which nothing is said; else, where it names nothing, those that say all it asks. May be empty."""
    if is_negated(asked.text):
        return []  # relationships say what is so
    names = {entity.entity_id for entity in named}
    about = [fact for fact in facts if names & {fact.source_id, fact.target_id}]
    said = [fact for fact in facts if _says_it(asked, fact, likeness.get(fact.id, 0.0))]
    cue = read_cue(asked.text)
    asked_for = _sort_asked(asked, about, names)
    if is_yes_no(asked.text) and len({entity.position for entity in named}) > 1:  # is it so between the two or not
        return [fact for fact in about if names >= {fact.source_id, fact.target_id}][:MAX_UNASKED_LINES]
    if names and cue and cue.name in FACTLESS:
        return [fact for fact in asked_for if names >= {fact.source_id, fact.target_id}][:MAX_UNASKED_LINES]
    if asked_for:
        return asked_for[:MAX_FACT_LINES]
    surfaces = {stem_term(term) for entity in named for term in split_search_terms(entity.surface)}
    says_more = bool(names and set(asked.idf) - surfaces) or "happen" in asked.text
    most = MAX_UNASKED_LINES if says_more else MAX_FACT_LINES
    if not names:
        return [fact for fact in said if asked.coverage(say_fact(fact)) >= COVERAGE_ALONE][:most]
    both = [fact for fact in about if fact in said][:most]
    untold = names - {end for fact in both for end in (fact.source_id, fact.target_id)}
    for name in sorted(untold):
        both += [f for f in about if name in (f.source_id, f.target_id) and f not in both][:MAX_UNASKED_LINES]
    n_surfaces = len({entity.position for entity in named})  # a name may mean several
    return (both or said)[: max(most, MAX_UNASKED_LINES * n_surfaces)]


def choose_outright(asked: Question, facts: Sequence[Fact], named: Sequence[NamedEntity]) -> list[Fact]:
    """Of chosen relationships those that are the answer: what the question asks of what it names, the right way
    round."""
    cue = read_cue(asked.text)
    if cue and cue.name in FACTLESS:
        return []
    names = {entity.entity_id for entity in named}
    return [fact for fact in facts if _rate(asked, fact, names) == RIGHT_WAY_ROUND]


def _rate(asked: Question, fact: Fact, names: Collection[str]) -> int:
    need = is_need(fact.predicate, "")
    return rate_fact(
        asked.text, fact.predicate, need=need, named=names, source_id=fact.source_id, target_id=fact.target_id
    )


def _sort_asked(asked: Question, about: Sequence[Fact], names: Collection[str]) -> list[Fact]:
    """Relationships whose predicate the question asks for, the right way round first; one a pair of ends."""
    rated = {fact.id: _rate(asked, fact, names) for fact in about}
    best = max(rated.values(), default=0)
    pairs: dict[tuple[str, ...], Fact] = {}
    for fact in sorted(about, key=lambda f: -rated[f.id]):
        if rated[fact.id] == best > 0:
            pairs.setdefault(tuple(sorted((fact.source_id, fact.target_id))), fact)
    return list(pairs.values())


def _says_it(asked: Question, fact: Fact, cosine: float) -> bool:
    """A fact is a few words: alike, and hardly one of them shared, is chance ("Who won ...?", "X leads Y")."""
    said = say_fact(fact)
    return asked.coverage(said) >= LEAST_SAID and is_relevant(asked, cosine, said)
