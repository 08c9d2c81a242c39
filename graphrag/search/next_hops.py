"""Passages that the best ones lead to: the second and third hop of a question.

"On which machine does the service run that answers the DNS-01 challenge of the Certificate Issuer?" The passage most
like it states that the Internal Resolver answers the challenge. Where that runs stands in another passage, which names
the Internal Resolver and a machine, and nothing else of the question.

A chain goes passage -> statement -> entity -> passage that names the entity or is about it, up to MAX_HOPS passages. A
statement is the sentence that a relationship rests on, with both its ends (so that "it" is what it stands for), or a
sentence with the names in it. A chain is worth the share of the question that its statements and its last passage hold
together, and the likeness of the last passage; less for each hop, and for an entity that many passages name: it leads
everywhere (HippoRAG 2 divides by their number). Documents about an entity meet it in the table entity_documents.

Reads text_units, documents, entities, entity_documents, relationships, evidence, entity_mentions. Does not: find the
first passages (ranking.py), or names in the question (seeds.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.search.lookups import one_of
from graphrag.search.ranking import Likeness, Question
from graphrag.sentences import sentence_spans

if TYPE_CHECKING:
    from graphrag.store import Index

# The bounds hold the time down; the weights were chosen on HotpotQA and the questions of the sample together, in the
# middle of a range in which either changes little (docs/evaluation.md).
MAX_HOPS, N_STARTS, N_BRIDGES, N_EXPANDED, N_NEXT = 3, 5, 10, 20, 3
MAX_UNITS_PER_ENTITY, N_NEAREST_UNITS = 200, 20
NEARNESS, OWN_DOCUMENT = 0.3, 0.05
HOP_COST, START_COST, UNITS_COST = 0.1, 0.05, 0.04  # a hop; a rank of the first passage; a passage, as its logarithm


class _Unit(NamedTuple):
    document: str
    text: str
    start: int


class _Chain(NamedTuple):
    """Text units from the first on, the stems of the question that they hold, and what the chain is worth; `start_cost`
    is what it lost for its first passage's rank, `entity_cost` for the passages that name its last entity, `entities`
    where its statements lead, the last one's last."""

    score: float
    path: tuple[str, ...]
    held: frozenset[str]
    start_cost: float
    entities: tuple[str, ...]
    is_own: bool = False
    entity_cost: float = 0.0

    @property
    def entity(self) -> str:
        return self.entities[-1] if self.entities else ""


class NextHops(NamedTuple):
    """Text units of the best chains and the entities that they lead over, each in the order of the chains."""

    text_units: list[str]
    entities: list[str]


class _Statement(NamedTuple):
    entities: frozenset[str]
    text: str


def rank_next_hops(
    index: Index, asked: Question, ranked: Sequence[str], likeness: Likeness, names: Collection[str]
) -> NextHops:
    """The best chains from the first of `ranked`, with N_NEXT more documents at most; empty where nothing leads on.

    names: entities that the question names; they lead back to it. A document of the first passage needs no hop.
    """
    units = _load_units(index, ranked[:N_STARTS])
    starts = [
        _Chain(0.0, (unit,), frozenset(), START_COST * rank, (), True)
        for rank, unit in enumerate(ranked[:N_STARTS])
        if unit in units
    ]
    best: dict[str, _Chain] = {}
    ends = starts
    for hop in range(2, MAX_HOPS + 1):
        bridges = _find_bridges(index, asked, ends, units, names)
        chains = _follow_bridges(index, asked, bridges, units, likeness)
        for chain in chains:
            unit = chain.path[-1]
            if unit not in best or chain.score > best[unit].score:
                best[unit] = chain
        ends = chains[:N_EXPANDED] if hop < MAX_HOPS else []
    return _choose_units(sorted(best.values(), key=_order), units, first=ranked[:1])


def _find_bridges(
    index: Index, asked: Question, ends: Sequence[_Chain], units: Mapping[str, _Unit], names: Collection[str]
) -> list[_Chain]:
    """The entities that statements in the last passages lead to, each by its best chain; the best N_BRIDGES."""
    statements = _load_statements(index, {chain.path[-1] for chain in ends}, units)
    found: dict[str, _Chain] = {}
    for chain in ends:
        for statement in statements[chain.path[-1]]:
            if not chain.is_own and chain.entity not in statement.entities:
                continue
            held = chain.held | asked.held_in(statement.text)
            if held == chain.held:
                continue
            score = asked.share(held) - HOP_COST * (len(chain.path) - 1) - chain.start_cost
            for entity in statement.entities - set(names) - {chain.entity}:
                if entity not in found or score > found[entity].score:
                    found[entity] = _Chain(score, chain.path, held, chain.start_cost, (*chain.entities, entity))
    n_units = _count_units(index, list(found))
    costs = {entity: _cost_of(n_units.get(entity, 1)) for entity in found}
    weighed = [c._replace(score=c.score - costs[c.entity], entity_cost=costs[c.entity]) for c in found.values()]
    return sorted(weighed, key=_order)[:N_BRIDGES]


def _follow_bridges(
    index: Index, asked: Question, bridges: Sequence[_Chain], units: dict[str, _Unit], likeness: Likeness
) -> list[_Chain]:
    """Each chain with each passage that names its last entity or is about it, best first; loads those into `units`."""
    named = _list_units(index, [bridge.entity for bridge in bridges])
    own = _list_own_units(index, [bridge.entity for bridge in bridges])
    near = likeness.of({unit for ids in [*named.values(), *own.values()] for unit in ids})
    wanted: list[tuple[_Chain, str]] = []
    for bridge in bridges:
        about = own.get(bridge.entity, [])
        nearest = sorted(named.get(bridge.entity, []), key=lambda unit: -near.get(unit, 0.0))[:N_NEAREST_UNITS]
        wanted += [(bridge, unit) for unit in dict.fromkeys([*about, *nearest]) if unit not in bridge.path]
    units |= _load_units(index, sorted({unit for _, unit in wanted} - set(units)))
    holds = {unit: asked.held_in(units[unit].text) for unit in {unit for _, unit in wanted} if unit in units}
    chains = []
    for bridge, unit in wanted:
        if unit not in holds:
            continue
        is_own = unit in own.get(bridge.entity, [])
        score = asked.share(bridge.held | holds[unit]) + NEARNESS * near.get(unit, 0.0) + OWN_DOCUMENT * is_own
        score -= HOP_COST * (len(bridge.path) - 1) + bridge.start_cost + bridge.entity_cost
        chains.append(bridge._replace(score=round(score, 9), path=(*bridge.path, unit), is_own=is_own))
    return sorted(chains, key=_order)


def _choose_units(chains: Sequence[_Chain], units: Mapping[str, _Unit], *, first: Sequence[str]) -> NextHops:
    """The passages of the best chains, whole chains, one a document; not the first passage's document."""
    documents = {units[unit].document for unit in first if unit in units}
    n_known, chosen, entities = len(documents), list[str](), dict[str, None]()
    for chain in chains:
        if len(documents) - n_known >= N_NEXT:
            break
        entities |= dict.fromkeys(chain.entities)
        for unit in chain.path:
            if units[unit].document not in documents:
                documents.add(units[unit].document)
                chosen.append(unit)
    return NextHops(chosen, list(entities))


def _order(chain: _Chain) -> tuple[float, tuple[str, ...], tuple[str, ...]]:
    return -round(chain.score, 9), chain.entities, chain.path


def _cost_of(n_units: int) -> float:
    return UNITS_COST * math.log(max(1, n_units))


def _load_units(index: Index, ids: Sequence[str]) -> dict[str, _Unit]:
    is_one, wanted = one_of("id", ids)
    rows = index.rows(f"select id, document_id, text, start_char from text_units where {is_one}", wanted)
    return {row[0]: _Unit(*row[1:]) for row in rows}


def _load_statements(
    index: Index, unit_ids: Collection[str], units: Mapping[str, _Unit]
) -> dict[str, list[_Statement]]:
    """By text unit: the relationships that it states, then its sentences with the entities that they name."""
    is_one, wanted = one_of("text_unit_id", sorted(unit_ids))
    quotes = index.rows(
        f"select text_unit_id, relationship_id, quote from evidence where {is_one} order by all", wanted
    )
    is_stated, stated = one_of("id", sorted({row[1] for row in quotes}))
    facts = {
        row[0]: row[1:]
        for row in index.rows(
            "select id, source_id, target_id, replace(predicate, '_', ' ') from relationships "
            f"where {is_stated} and origin <> 'cooccurrence'",
            stated,
        )
    }
    found: dict[str, list[_Statement]] = defaultdict(list)
    for unit, relationship, quote in quotes:
        if relationship in facts:
            source, target, said = facts[relationship]
            found[unit].append(_Statement(frozenset((source, target)), f"{quote} {said}"))
    mentions = index.rows(
        "select text_unit_id, start_char, end_char, entity_id from entity_mentions "
        f"where {is_one} and entity_id is not null order by all",
        wanted,
    )
    by_unit: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for unit, start, end, entity in mentions:
        by_unit[unit].append((start, end, entity))
    for unit, places in by_unit.items():
        found[unit] += _split_statements(units[unit], places)
    return found


def _split_statements(unit: _Unit, places: Sequence[tuple[int, int, str]]) -> Iterator[_Statement]:
    for start, end in sentence_spans(unit.text):
        first, last = unit.start + start, unit.start + end
        named = frozenset(entity for a, b, entity in places if first <= a and b <= last)
        if named:
            yield _Statement(named, unit.text[start:end])


def _count_units(index: Index, entities: Sequence[str]) -> dict[str, int]:
    is_one, wanted = one_of("id", entities)
    return dict(index.rows(f"select id, len(text_unit_ids) from entities where {is_one}", wanted))


def _list_units(index: Index, entities: Sequence[str]) -> dict[str, list[str]]:
    """Text units that name an entity, cut to a bound."""
    is_one, wanted = one_of("id", entities)
    sql = f"select id, text_unit_ids[1:{MAX_UNITS_PER_ENTITY}] from entities where {is_one}"
    return dict(index.rows(sql, wanted))


def _list_own_units(index: Index, entities: Sequence[str]) -> dict[str, list[str]]:
    """Text units of the documents about an entity, by entity, cut to a bound."""
    is_one, wanted = one_of("o.entity_id", entities)
    rows = index.rows(
        f"select o.entity_id, d.text_unit_ids[1:{N_NEAREST_UNITS}] from entity_documents o "
        f"join documents d on d.id = o.document_id where {is_one} order by all",
        wanted,
    )
    found: dict[str, list[str]] = defaultdict(list)
    for entity, ids in rows:
        found[entity] += ids
    return found
