"""Records at their places: verbatim mentions, quotes, what is verified, and what is told as a failure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.index.passage_calls import PassageReply
from graphrag.index.passages import Passage
from graphrag.index.placed_records import Parsed, parse_extraction
from graphrag.replies.fields import TextNames

TEXT = "Redis Sentinel watches Redis. The Auth-Service depends on Redis. It is owned by Team Blue."


def parse(*lines: str, text: str = TEXT, parts: tuple[tuple[int, int], ...] = (), **knobs: Any) -> Parsed:
    reply = PassageReply(Passage(text), ("\n".join(lines),), (False,), "", "")
    return parse_extraction([reply], **{"max_records": 1000, "parts": parts, **knobs})


def names(parsed: Parsed, text: str = TEXT) -> list[tuple[str, str, str]]:
    return [(row["surface"], text[row["start_char"] : row["end_char"]], row["method"]) for row in parsed.mentions]


def test_a_name_inside_a_longer_one_takes_its_own_place() -> None:
    parsed = parse('["E","Redis","database","A cache"]', '["E","Redis Sentinel","service",""]')
    assert [(row["surface"], row["start_char"]) for row in parsed.mentions] == [("Redis", 23), ("Redis Sentinel", 0)]
    assert parsed.failures == []


def test_relations_carry_the_surfaces_of_the_text_and_their_sentence() -> None:
    (row,) = parse(
        '["E","Auth Service","service","Signs in."]', '["R","Auth Service","depends_on","Redis","needs",7,[2]]'
    ).relations
    assert (row["subject"], row["predicate"], row["object"]) == ("Auth-Service", "depends_on", "Redis")
    assert (row["subject_surface"], row["predicate_surface"]) == ("Auth-Service", "depends on")
    assert TEXT[row["start_char"] : row["end_char"]] == "The Auth-Service depends on Redis."
    assert row["is_verified"] and row["strength"] == 7 and row["method"] == "llm"


def test_a_quote_without_the_name_is_not_verified() -> None:
    (row,) = parse('["R","Auth-Service","owned_by","Team Blue","",5,[3]]').relations
    assert TEXT[row["start_char"] : row["end_char"]] == "It is owned by Team Blue."
    assert not row["is_verified"]


def test_a_name_that_the_text_lacks_is_kept_for_a_relation_only() -> None:
    """indexing.md 2, 32 and 38: names in the model's own words."""
    parsed = parse(
        '["E","Identity Platform","service","x"]', '["E","Kafka","service","y"]',
        '["R","Identity Platform","uses","Redis","",5,[2]]',
    )  # fmt: skip
    assert ("Identity Platform", "The Auth-Service depends on Redis.", "llm_unverified") in names(parsed)
    assert [row["is_verified"] for row in parsed.relations] == [False]
    assert [row["reason"] for row in parsed.failures] == ["not_in_text", "not_in_text"]
    assert "left out" in parsed.failures[0]["detail"] and '"Kafka"' in parsed.failures[0]["detail"]
    assert "kept as unverified" in parsed.failures[1]["detail"]


def test_names_echoed_from_the_prompt_are_never_kept() -> None:
    parsed = parse('["R","Mira Okafor","leads","Redis","",5,[2]]', echoes=TextNames("Mira Okafor leads the team."))
    assert parsed.relations == []
    assert names(parsed) == [("Redis", "Redis", "llm")]
    assert [row["reason"] for row in parsed.failures] == ["not_in_text"]


def test_one_name_with_two_types_takes_two_places() -> None:
    text = "Mercury is hot. Mercury is a metal."
    parsed = parse('["E","Mercury","planet","Hot."]', '["E","Mercury","metal","A metal."]', text=text)
    assert [(row["type"], row["start_char"]) for row in parsed.mentions] == [("planet", 0), ("metal", 16)]
    merged = parse('["E","Redis Sentinel","service","a"]', '["E","Redis Sentinel","tool","b"]').mentions
    assert [(row["type"], row["description"]) for row in merged] == [("service", "a b")]


def test_a_name_is_mentioned_once_in_each_text_unit_of_the_passage() -> None:
    text = "Redis is fast. Redis is small. Kafka is slow. Redis stays."
    parts = ((0, 30), (31, 45), (46, 58))
    parsed = parse('["E","Redis","database","Fast."]', text=text, parts=parts)
    assert [(row["start_char"], row["description"]) for row in parsed.mentions] == [(0, "Fast."), (46, "")]


def test_what_cannot_be_kept_is_a_failure_each() -> None:
    parsed = parse(
        '["E","Redis","database","x"]', "- Kafka (service): a queue", '["R","redis","is","Redis","",3,[1]]',
        f'["E","{"x" * 300}","service","y"]', '["E","",""]',
    )  # fmt: skip
    reasons = sorted(row["reason"] for row in parsed.failures)
    assert reasons == ["name_too_long", "self_relationship", "unreadable_record", "unreadable_record"]
    over = parse(*(f'["E","Redis","kind{i}","d{i}"]' for i in range(9)), max_records=3)
    assert [row["reason"] for row in over.failures] == ["too_many_records"]


@pytest.mark.parametrize(
    ("turns", "cut", "problem", "reasons"),
    [
        ((), (), "timeout", ["timeout"]),
        (("I'm sorry, I cannot help.",), (False,), "unreadable_reply", ["refusal"]),
        (("Redis is a cache.",), (False,), "unreadable_reply", ["unreadable_reply"]),
        (("NONE",), (False,), "", []),
        (('["E","Redis","database","x"]\n["E","Ka',), (True,), "truncated", ["truncated", "truncated"]),
        (('["E","Redis","database","x"]\n["E","Ka', '["E","Team Blue","team",""]'), (True, False), "", []),
    ],
)
def test_what_became_of_a_reply(
    turns: tuple[str, ...], cut: tuple[bool, ...], problem: str, reasons: list[str]
) -> None:
    parsed = parse_extraction([PassageReply(Passage(TEXT), turns, cut, problem, "")], max_records=10)
    assert sorted(row["reason"] for row in parsed.failures) == reasons


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=120))
def test_any_reply_to_any_text_gives_rows_inside_the_text(turns: list[str], text: str) -> None:
    reply = PassageReply(Passage(text), tuple(turns), (False,) * len(turns), "" if turns else "empty_reply", "")
    parsed = parse_extraction([reply], max_records=50)
    for row in [*parsed.mentions, *parsed.relations]:
        assert 0 <= row["start_char"] <= row["end_char"] <= len(text)
    for row in parsed.mentions:
        if row["method"] == "llm":
            assert row["surface"] == " ".join(text[row["start_char"] : row["end_char"]].split())
