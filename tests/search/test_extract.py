"""Sentences that answer: verbatim, the asked-for first, none twice."""

from __future__ import annotations

import pytest

from graphrag.search.extract import choose_quotes
from graphrag.search.ranking import Question
from graphrag.search.rows import Passage

TEXT = """# Token cache

The token cache is backed by Redis. It holds sessions of all merchants.

* The eviction policy is `volatile-ttl`; it was `allkeys-lru` before.
* The token cache is backed by Redis, as said.

```sh
redis-cli config get maxmemory-policy
```

| setting | value |
|---|---|
| eviction policy | volatile-ttl |
"""
PASSAGE = Passage("u1", 7, TEXT, 100, "d1", "Token cache", "services/cache.md", ["Token cache"])


def _question(*terms: str) -> Question:
    return Question(" ".join(terms), terms, dict.fromkeys(terms, 1.0))


def _quotes(*terms: str, limit: int = 5) -> list[str]:
    return [quote.text for quote in choose_quotes(_question(*terms), [PASSAGE], {"u1": 1.0}, limit=limit)]


def test_the_sentence_that_says_it_comes_first_code_marks_or_not() -> None:
    assert _quotes("eviction", "policy")[0] == "The eviction policy is `volatile-ttl`; it was `allkeys-lru` before."


def test_quotes_are_verbatim_with_offsets_in_the_document() -> None:
    for quote in choose_quotes(_question("redi"), [PASSAGE], {"u1": 1.0}, limit=5):
        assert TEXT[quote.start - 100 : quote.end - 100] == quote.text
        assert quote.to_citation().ref == "Sources (7)"


def test_headings_and_code_are_not_quoted_and_nothing_is_said_twice() -> None:
    quotes = _quotes("token", "cach", "redi")
    assert not any(quote.startswith(("#", "```")) or "redis-cli" in quote for quote in quotes)
    assert sum("backed by Redis" in quote for quote in quotes) == 1


def test_a_lone_quote_goes_on_to_the_next_sentence_of_its_paragraph() -> None:
    assert _quotes("redi", limit=1) == ["The token cache is backed by Redis. It holds sessions of all merchants."]


@pytest.mark.parametrize("terms", [(), ("absent",)])
def test_without_a_match_there_is_still_no_crash(terms: tuple[str, ...]) -> None:
    assert isinstance(_quotes(*terms), list)


def test_no_passages_no_quotes() -> None:
    assert choose_quotes(_question("redi"), [], {}, limit=5) == []
