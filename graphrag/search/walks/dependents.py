"""What leads to an entity: the stated dependencies that end at it, walked backwards; and to which entity most leads.

For a question such as "What breaks if Redis goes down?" the sentences that name Redis are not the answer; the things
that need it, and the things that need those, are. Only predicates of need are followed: a team that owns a service
does not break with it. "Which dependency is our highest systemic risk?" names nothing: the answer is the entity that
most others need.

The walks and their ranking are those of the impact command (impact.py, systemic_risk.py). What carries is not: a
setting lists predicates, a question is answered from whatever words the documents use.

Reads relationships, entities, entity_components, impact_bystanders. Does not: say why something survives (the impact
command does).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphrag.search.lookups import one_of
from graphrag.search.ranking import stem_term
from graphrag.search.walks.failure_walk import Reached, walk_failure
from graphrag.search.walks.impact import (
    is_of_type,
    list_impacted,
    load_titles,
    number_titles,
    open_ids,
    select_predicates,
)
from graphrag.search.walks.systemic_risk import Risk, rank_index
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index
    from graphrag.store.numbered_graph import NumberedGraph, Steps

MAX_DEPENDENTS = 25
MAX_SURVIVORS_TOLD = 8  # the best connected; `graphrag impact` lists more

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
# Of a thing, that something else needs it.
_NEEDED = frozenset(["depended", "relied", "needed", "required", "used", "called", "queried", "consumed"])
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
    impact command ranks; n_dependents: how many need it, shown or not. survivors: titles of the same component that do
    not, the best connected, by title; n_survivors: of all."""

    relationships: list[str]
    n_dependents: int
    survivors: list[str]
    n_survivors: int


def find_dependents(index: Index, entity_ids: Sequence[str]) -> Dependents:
    """What needs the entities, and what does not though it is connected with them."""
    is_one, ids = one_of("id", entity_ids)
    titles = index.frame(f"select title from entities where {is_one} order by lower(title), title", ids)[
        "title"
    ].to_list()
    graph = index.graph()
    steps = _choose_needs(graph)
    numbers = number_titles(index, titles)
    reached: dict[int, Reached] = {}
    is_broken = np.zeros(graph.n_entities, dtype=np.bool_)
    for title in titles:
        walked = walk_failure(steps, numbers[title])
        is_broken |= walked.hops >= 0
        for entity in walked.rank(top=MAX_DEPENDENTS):
            reached.setdefault(entity.path[0], entity)
    nearest = sorted(reached.values(), key=lambda entity: entity.hops)[:MAX_DEPENDENTS]
    names = load_titles(index, [number for entity in nearest for number in entity.path])
    found = list_impacted(graph, steps, nearest, names, open_ids(index))
    parts = np.unique(graph.component[list(numbers.values())])
    survivors = np.isin(graph.component, parts) & ~is_broken & ~is_of_type(graph, load_bystanders(index))
    by_rank = index.frame(  # that a team survives tells little: actors come last
        "select c.number from entity_components c join entities e on e.id = c.entity_id "
        "order by e.type in (select unnest(?::varchar[])), e.pagerank desc, c.number",
        (list(_ACTORS),),
    )["number"].to_numpy()
    best = sorted(by_rank[survivors[by_rank]][:MAX_SURVIVORS_TOLD].tolist())
    told = load_titles(index, best)
    relationships = [entity.hops_down[0][1][0].id for entity in found]
    n_dependents = int(is_broken.sum()) - len(set(numbers.values()))
    return Dependents(relationships, n_dependents, [told[number] for number in best], int(survivors.sum()))


def find_most_needed(index: Index, *, top: int) -> list[Risk]:
    """The entities that most others need, directly or through others, most first."""
    return rank_index(index, _choose_needs(index.graph()), top=top).shown


def load_bystanders(index: Index) -> list[str]:
    """Types that are no survivors, as the settings had them when the run was made."""
    types: list[str] = index.frame("select type from impact_bystanders order by type")["type"].to_list()
    return types


def _choose_needs(graph: NumberedGraph) -> Steps:
    """The steps that say: without the target, the source does not work."""
    of_actors, of_things = (
        select_predicates(graph, {predicate for predicate in graph.predicates if is_need(predicate, type_)})
        for type_ in (_ACTORS[0], "")
    )
    is_actor = is_of_type(graph, _ACTORS)
    needs = np.where(is_actor[graph.source], of_actors, of_things) & graph.is_stated
    serves = select_predicates(graph, set(filter(is_needed_by, graph.predicates))) & graph.is_stated
    return graph.turn("needs", needs, serves & ~is_actor[graph.target])


def is_need(predicate: str, source_type: str) -> bool:
    """Whether a predicate says that its subject, of this type, does not work without its object."""
    first, *rest = predicate.split("_")
    if first in _NEEDED:  # used_on, required_by
        return False
    stem = stem_term(next(iter(split_search_terms(first)), ""))
    if stem in _NEEDS_OF_ANYONE:
        return True
    return source_type not in _ACTORS and (stem in _NEEDS or (bool(rest) and stem in _NEEDS_WITH_PREPOSITION))


def is_needed_by(predicate: str) -> bool:
    """Whether a predicate says that its object does not work without its subject: used_by, relied_on_by."""
    first, *rest = predicate.split("_")
    return first in _NEEDED and rest[-1:] == ["by"]
