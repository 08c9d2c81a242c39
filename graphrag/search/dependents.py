"""What leads to an entity: the stated dependencies that end at it, walked backwards; and to which entity most leads.

For a question such as "What breaks if Redis goes down?" the sentences that name Redis are not the answer; the things
that need it, and the things that need those, are. Only predicates of need are followed: a team that owns a service
does not break with it. "Which dependency is our highest systemic risk?" names nothing: the answer is the entity that
most others need.

The walks and their ranking are those of the impact command (impact.py, systemic_risk.py). What carries is not: a
setting lists predicates, a question is answered from whatever words the documents use.

Reads relationships, entities, entity_components. Does not: say why something survives (the impact command does).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.edges import Direction, Edge, FetchEdges, open_edges
from graphrag.search.impact import Carrying, list_component, list_predicates, trace_impact
from graphrag.search.lookups import one_of
from graphrag.search.ranking import stem_term
from graphrag.search.systemic_risk import Risk, rank_risks_of
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_DEPENDENTS = 25

# "What breaks if X goes down?", "Which services are affected when X fails?", "What depends on X?", "impact of losing
# X"; not "How long was the outage of X?" or "What does X depend on?".
_ASKS = re.compile(
    r"\b(?:what|which|who)\b.{0,80}\b(?:breaks?|fails?|stops?|dies?|goes down|affected|impacted|at risk|lost)\b.{0,80}"
    r"\b(?:if|when|without|by|of)\b"
    r"|\b(?:what|which|who)\b.{0,80}\b(?:depends?|rel(?:y|ies)|builds?) on\b"
    r"|\b(?:effects?|consequences?) of\b.{0,40}\b(?:losing|loss|failure|outage)\b|\b(?:impact|blast radius) of\b",
    re.IGNORECASE,
)
_ASKS_FORWARD = re.compile(r"\b(?:do(?:es)?|did|can)\b.{1,80}\b(?:depend|rely|build|break|fail)\b", re.IGNORECASE)
# "Which single dependency is our highest systemic risk?", "What are our single points of failure?", "Which component do
# most services depend on?". Which of another sort ("Which vendor ...") is another question: all entities are ranked.
_ASKS_MOST_NEEDED = re.compile(
    r"\bsystemic risks?\b|\bsingle points? of failure\b"
    r"|\b(?:single|critical|important|riskiest|biggest|highest|greatest|largest|weakest)\b.{0,20}\bdependenc(?:y|ies)\b"
    r"|\b(?:most|everything|everyone|nearly all)\b.{0,40}\b(?:depends?|rel(?:y|ies)) on\W*$",
    re.IGNORECASE,
)
_SORT_ASKED = re.compile(r"\b(?:which|what)\s+(?:single |one |of (?:our|the|these) )?(\w+)", re.IGNORECASE)
_ANY_SORT_WORDS = (
    "is are s re do does dependency dependencies component components thing things system systems part parts"
)
_ANY_SORT = frozenset(_ANY_SORT_WORDS.split())

# First words of predicates that say: without the object, the subject does not work. By stem; the second list only with
# a preposition, as "Ana writes the Auth Service" is no need, "Billing writes to the Ledger" is.
_NEED_WORDS_OF_ANYONE = "depend rely need require"
_NEED_WORDS = "use call query consume"
_NEED_WORDS_WITH_PREPOSITION = """
    run host back build base store keep read write fetch connect authorise authenticate validate resolve subscribe
    charge send power serve post publish
"""
_NEEDS_OF_ANYONE = frozenset(map(stem_term, _NEED_WORDS_OF_ANYONE.split()))
_NEEDS = frozenset(map(stem_term, _NEED_WORDS.split()))
_NEEDS_WITH_PREPOSITION = frozenset(map(stem_term, _NEED_WORDS_WITH_PREPOSITION.split()))
# What people do with a thing is not what it is needed for; but a type may be a guess, and who depends on it says so.
_ACTORS = ("person", "team", "organization", "company")


def asks_for_dependents(question: str) -> bool:
    """Whether a question asks what needs a thing: what breaks, is affected, depends on it."""
    return bool(_ASKS.search(question)) and not _ASKS_FORWARD.search(question)


def asks_for_most_needed(question: str) -> bool:
    """Whether a question asks which one thing most others need."""
    sort = _SORT_ASKED.search(question)
    return bool(_ASKS_MOST_NEEDED.search(question)) and (sort is None or sort[1].casefold() in _ANY_SORT)


class Dependents(NamedTuple):
    """relationships: ids, one for each entity that needs what failed: the last hop of its best chain, ranked as the
    impact command ranks. survivors: titles of the same component that do not, by title."""

    relationships: list[str]
    survivors: list[str]


def find_dependents(index: Index, entity_ids: Sequence[str]) -> Dependents:
    """What needs the entities, and what does not though it is connected with them."""
    is_one, ids = one_of("id", entity_ids)
    titles = index.frame(f"select title from entities where {is_one} order by lower(title), title", ids)[
        "title"
    ].to_list()
    carrying = Carrying(frozenset(list_predicates(index)), frozenset())
    found: dict[str, int] = {}
    broken = set(titles)
    for title in titles:
        for entity in trace_impact(_open_needs(index), title, carrying):
            found.setdefault(entity.edges[0].id, entity.hops)
            broken.add(entity.title)
    survivors = [title for title in list_component(index, titles) if title not in broken]
    return Dependents(sorted(found, key=lambda relationship: found[relationship])[:MAX_DEPENDENTS], survivors)


def find_most_needed(index: Index, *, top: int) -> list[Risk]:
    """The entities that most others need, directly or through others, most first."""
    rows = index.frame(
        "select r.id, r.source, r.predicate, r.target, r.weight, coalesce(e.type, '') from relationships r "
        "left join entities e on e.id = r.source_id where r.source <> r.target and r.origin <> 'cooccurrence' "
        "order by r.id"
    ).rows()
    edges = [Edge(*row[:5]) for row in rows if is_need(row[2], row[5])]
    carrying = Carrying(frozenset(edge.predicate for edge in edges), frozenset())
    return rank_risks_of(index, edges, carrying, top=top).shown


def _open_needs(index: Index) -> FetchEdges:
    """The edges of the index that say: without the target, the source does not work."""
    fetch_all = open_edges(index)

    def fetch(titles: Sequence[str], direction: Direction, predicates: Collection[str] | None) -> list[Edge]:
        edges = fetch_all(titles, direction, predicates)
        is_one, sources = one_of("title", sorted({edge.source for edge in edges}))
        types = dict(index.frame(f"select title, type from entities where {is_one}", sources).rows())
        return [edge for edge in edges if is_need(edge.predicate, types.get(edge.source, ""))]

    return fetch


def is_need(predicate: str, source_type: str) -> bool:
    """Whether a predicate says that its subject, of this type, does not work without its object."""
    first, *rest = predicate.split("_")
    stem = stem_term(next(iter(split_search_terms(first)), ""))
    if stem in _NEEDS_OF_ANYONE:
        return True
    return source_type not in _ACTORS and (stem in _NEEDS or (bool(rest) and stem in _NEEDS_WITH_PREPOSITION))
