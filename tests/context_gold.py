"""What a context holds of what a question of data/sample takes: its gold entities, the gold relationships between them
and where the first of these stands, and its answers.

Gold entities are the key `entities` of the questions in gold.json and of the rows of multihop.jsonl. The gold
relationships of a question are the pairs of its gold entities that an edge of gold.json joins and that the index
relates too, whichever way round and in which words.

Does not: search, or find gold documents (graphrag/search/evaluation/measures.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from graphrag.search.answer import Answer
from graphrag.search.evaluation.measures import measure_held
from graphrag.store import Index
from tests.gold import Gold, match_entities

Pair = frozenset[str]
MEASURES = ("answers", "relationships", "place", "entities")


class ContextGold(NamedTuple):
    """entities: gold names by question id; meant: by dataset and human_readable_id, the gold entities that an entity
    may be and those that the two ends of a relationship may be; joined: the pairs that gold edges join and the index
    relates."""

    entities: Mapping[str, Sequence[str]]
    meant: Mapping[tuple[str, int], tuple[frozenset[str], ...]]
    joined: frozenset[Pair]


def read_chains(gold: Gold, multihop: Path) -> dict[str, list[str]]:
    """Gold entities by question id."""
    rows = [json.loads(line) for line in multihop.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row["entities"] for row in [*gold["questions"], *rows]}


def match_index(index: Index, gold: Gold, entities: Mapping[str, Sequence[str]]) -> ContextGold:
    known = index.frame("select human_readable_id, title, aliases from entities order by title")
    matched = {title: frozenset(names) for title, names in match_entities(known, gold).items()}
    none = frozenset[str]()
    meant: dict[tuple[str, int], tuple[frozenset[str], ...]] = {
        ("Entities", number): (matched.get(title, none),) for number, title, _ in known.rows()
    }
    related = index.frame(
        "select human_readable_id, source, target from relationships where origin <> 'cooccurrence' order by all"
    )
    for number, source, target in related.rows():
        meant["Relationships", number] = matched.get(source, none), matched.get(target, none)
    wanted = {frozenset((edge["source"], edge["target"])) for edge in gold["edges"]}
    held = {pair for ends in meant.values() for pair in _list_pairs(ends)}
    return ContextGold(entities, meant, frozenset(wanted & held))


def measure_context(
    answer: Answer, question_id: str, answers: Sequence[Sequence[str]], gold: ContextGold | None
) -> dict[str, float | None]:
    """`answers`: share of the answers that the context says; `relationships`: share of the gold relationships among its
    relationships; `place`: 1 / the place of the first of these, 0 for none; `entities`: share of the gold entities
    among its entities and the ends of its relationships. None without gold."""
    measured = dict.fromkeys(MEASURES, None) | {"answers": measure_held(answer.context, answers)}
    if gold is None or not (wanted := set(gold.entities.get(question_id, ()))):
        return measured
    facts, rows = (
        [gold.meant.get((dataset, number), ()) for number in answer.context_ids.get(dataset, ())]
        for dataset in ("Relationships", "Entities")
    )
    if pairs := {frozenset(pair) for pair in combinations(sorted(wanted), 2)} & gold.joined:
        shown = [_list_pairs(ends) & pairs for ends in facts]
        measured["relationships"] = len(set().union(*shown)) / len(pairs)
        measured["place"] = next((1 / place for place, found in enumerate(shown, start=1) if found), 0.0)
    names = {name for row in [*facts, *rows] for means in row for name in means}
    measured["entities"] = len(names & wanted) / len(wanted)
    return measured


def _list_pairs(ends: Sequence[frozenset[str]]) -> set[Pair]:
    """The pairs that two ends may be; none for one end."""
    return {frozenset((a, b)) for a in ends[0] for b in ends[1] if a != b} if len(ends) == 2 else set()
