"""What a context holds of what a question takes."""

from __future__ import annotations

import json

from graphrag.search.answer import Answer
from tests.context_gold import MEASURES, ContextGold, measure_context, read_chains
from tests.gold import load_gold
from tests.scripted_sample import GOLD, ROOT

MULTIHOP = ROOT / "data" / "sample" / "multihop.jsonl"
A, B, C = (frozenset({name}) for name in "ABC")
CHAIN = ContextGold(
    {"q": ["A", "B", "C", "D"]},
    {
        ("Relationships", 1): (A, B),
        ("Relationships", 2): (C, B),
        ("Relationships", 3): (A, frozenset()),
        ("Entities", 9): (C,),
    },
    frozenset({A | B, B | C}),
)


def _answer(context: str = "", **ids: list[int]) -> Answer:
    return Answer("local", "q", "", True, context=context, context_ids=ids)


def test_relationships_count_either_way_round_and_by_the_place_of_the_first() -> None:
    found = measure_context(_answer("Of C it is said.", Relationships=[3, 2]), "q", [["c"], ["d"]], CHAIN)
    assert found == {"answers": 0.5, "relationships": 0.5, "place": 0.5, "entities": 0.75}


def test_entities_count_by_their_rows_too() -> None:
    assert measure_context(_answer(Entities=[9]), "q", [], CHAIN) == {
        "answers": None, "relationships": 0.0, "place": 0.0, "entities": 0.25
    }  # fmt: skip


def test_without_gold_nothing_is_measured() -> None:
    assert measure_context(_answer(), "another", [], CHAIN) == dict.fromkeys(MEASURES)
    assert measure_context(_answer(), "q", [], None) == dict.fromkeys(MEASURES)


def test_every_chain_is_of_gold_entities() -> None:
    gold = load_gold(GOLD)
    names = {entity["name"] for entity in gold["entities"]}
    chains = read_chains(gold, MULTIHOP)
    assert {name for chain in chains.values() for name in chain} <= names
    assert all(json.loads(row)["id"] in chains for row in MULTIHOP.read_text(encoding="utf-8").splitlines())
