"""Names and sentences found in a text of any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.index.passages import HEADER_MARK, Passage, surface_of


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Redis backs the cache.", "Redis", ["Redis"]),
        ("The REDIS cache, redis.", "Redis", ["REDIS", "redis"]),
        ("Redisson is no Redis.", "Redis", ["Redis"]),
        ("The auth-service and auth_service.", "Auth Service", ["auth-service", "auth_service"]),
        ("Auth\nService is down.", "Auth Service", ["Auth\nService"]),
        ("Mr. Bennet spoke.", "Mr Bennet", ["Mr. Bennet"]),
        ("O’Reilly wrote it.", "O'Reilly", ["O’Reilly"]),
        ("Cafe\u0301 Nord opened.", "Café Nord", ["Cafe\u0301 Nord"]),
        ("Die STRASSE.", "Straße", ["STRASSE"]),
        ("C and C++ and C#.", "C++", ["C++"]),
        ("用户在北京使用东京。", "北京", ["北京"]),
        ("Version 3.12 of 42.", "3.12", ["3.12"]),
        ("Deploy 🚀 now.", "🚀", ["🚀"]),
        ("Nothing here.", "Redis", []),
        ("Nothing here.", "", []),
        ("a - b", "-", ["-"]),
    ],
)
def test_a_name_is_found_as_it_is_written_else_alike(text: str, name: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Passage(text).find(name)] == found


@given(st.text(max_size=60), st.text(max_size=12))
def test_any_name_is_looked_for_in_any_text(text: str, name: str) -> None:
    passage = Passage(text)
    for start, end in passage.find(name):
        assert 0 <= start < end <= len(text)
        assert surface_of(text, (start, end)) == " ".join(text[start:end].split())


TEXT = "Redis is a cache. It backs Billing. Billing calls Redis. Kafka is slow. Ledger is new. Redis and Kafka stay."


@pytest.mark.parametrize(
    ("numbers", "subject", "object_", "quotes"),
    [
        ((3,), "Billing", "Redis", ["Billing calls Redis."]),
        ((1, 2), "Redis", "Billing", ["Redis is a cache. It backs Billing."]),
        ((1, 3), "Redis", "Billing", ["Redis is a cache.", "Billing calls Redis."]),
        ((1, 2, 3, 4), "Redis", "Billing", ["Billing calls Redis."]),
        ((), "Redis", "Billing", ["Billing calls Redis."]),
        ((99,), "Kafka", "Redis", ["Redis and Kafka stay."]),
        ((), "Ledger", "Nobody", ["Ledger is new."]),
        ((), "Nobody", "Nothing", ["Redis is a cache."]),
    ],
)
def test_sentence_numbers_become_quotes(
    numbers: tuple[int, ...], subject: str, object_: str, quotes: list[str]
) -> None:
    assert [TEXT[start:end] for start, end in Passage(TEXT).quotes(numbers, subject, object_)] == quotes


def test_halves_cover_the_text_and_a_single_sentence_has_none() -> None:
    first, second = Passage(TEXT, 7).halves()
    assert first.text + second.text == TEXT
    assert (first.start, second.start) == (7, 7 + len(first.text))
    assert Passage("One sentence only.").halves() == []


HEADER = "| service | owner |"
ROWS = [f"| Service{i} | Team{i} |" for i in range(6)]


def test_the_header_of_a_table_that_goes_on_is_shown_and_is_no_sentence() -> None:
    """hostile-inputs A12."""
    passage = Passage("\n".join(ROWS), header=HEADER)
    assert passage.numbered.splitlines()[:2] == [f"{HEADER_MARK} {HEADER}", f"[1] {ROWS[0]}"]
    assert [passage.text[slice(*span)] for span in passage.sentences] == ROWS
    assert passage.find("owner") == []
    assert [passage.text[slice(*span)] for span in passage.quotes((2,), "Service1", "Team1")] == [ROWS[1]]


def test_both_halves_of_a_table_have_its_header() -> None:
    later = Passage("\n".join(ROWS), header=HEADER)
    assert [half.header for half in later.halves()] == [HEADER, HEADER]
    whole = Passage("\n".join([HEADER, "|---|---|", *ROWS]))
    assert [half.header for half in whole.halves()] == ["", HEADER]
    prose = Passage("\n".join([*ROWS[:2], "", "Words follow. Some more of them. And still more."]), header=HEADER)
    assert [half.header for half in prose.halves()] == [HEADER, ""]
