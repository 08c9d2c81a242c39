"""Sentences that answer: verbatim, the asked-for first, none twice."""

from __future__ import annotations

import pytest

from graphrag.search.extract import choose_quotes, render_fact
from graphrag.search.ranking import Question, question_terms, stem_term
from graphrag.search.rows import Fact, Passage

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


OWNERS = """The ledger is owned by the Money Team.

The Platform Team kept the ledger until spring. The ledger deserves a page of its own. The ledger writes to Postgres.

The parser does not use the ledger. The parser would use the ledger then.
"""


def _ask(text: str, names: list[str], stated: list[Fact]) -> list[str]:
    terms = tuple(question_terms(text))
    question = Question(text, terms, {stem_term(term): 1.0 for term in terms})
    passage = PASSAGE._replace(text=OWNERS, start=0)
    return [
        q.text
        for q in choose_quotes(
            question, [passage], {"u1": 1.0}, limit=5, names=[[name] for name in names], stated=stated
        )
    ]


def test_beside_the_sentence_that_states_the_answer_come_few_and_about_the_same() -> None:
    quote = "The ledger is owned by the Money Team."
    fact = Fact("r", 1, "ledger", "owned_by", "Money Team", "", 1.0, "a", "b", "extracted", "u1", "d1",
                "services/cache.md", 0, len(quote), quote)  # fmt: skip
    quotes = _ask("Who owns the ledger?", ["ledger"], [fact])
    assert quotes[0].startswith(quote) and not any("page of its own" in q or "Postgres" in q for q in quotes)


def test_a_yes_no_question_is_settled_first() -> None:
    quotes = _ask("Is the ledger used by the parser?", ["ledger", "parser"], [])
    assert quotes[0].startswith("The parser does not use the ledger.")


def test_the_sentence_that_follows_is_not_said_again() -> None:
    text = "The cache uses Redis. Redis evicts sessions of the cache."
    question = Question("redis evicts", ("redi", "evict"), {"redi": 1.0, "evict": 1.0})
    quotes = choose_quotes(question, [PASSAGE._replace(text=text, start=0)], {"u1": 1.0}, limit=5)
    assert sum("evicts sessions" in quote.text for quote in quotes) == 1


def test_a_yes_no_question_about_two_things_that_never_meet_has_no_sentence() -> None:
    assert _ask("Does the ledger use Kafka?", ["ledger", "kafka"], []) == []


def test_a_count_is_all_that_is_said() -> None:
    text = "Six people are in the team. The team meets on Monday. The team drinks tea. The team likes people."
    question = Question("How many people are in the team?", ("peopl", "team"), {"peopl": 1.0, "team": 1.0})
    quotes = choose_quotes(question, [PASSAGE._replace(text=text, start=0)], {"u1": 1.0}, limit=5, names=[["team"]])
    assert quotes[0].text.startswith("Six people are in the team.") and len(quotes) <= 3


@pytest.mark.parametrize(
    ("predicate", "description", "line"),
    [
        ("owned_by", "The team owns it.", "- ledger -owned_by-> Money Team [Data: Relationships (1)]"),
        (
            "related_to",
            "The team\nowns it.",
            "- ledger -related_to-> Money Team: The team owns it. [Data: Relationships (1)]",
        ),
        ("related_to", "", "- ledger -related_to-> Money Team [Data: Relationships (1)]"),
        ("related_to", "long " * 200, "- ledger -related_to-> Money Team [Data: Relationships (1)]"),
    ],
)
def test_a_predicate_that_says_nothing_is_followed_by_the_description(
    predicate: str, description: str, line: str
) -> None:
    fact = Fact("r", 1, "ledger", predicate, "Money Team", description, 1.0, "a", "b", "extracted", "u1", "d1",
                "services/cache.md", 0, 3, "abc")  # fmt: skip
    assert render_fact(fact) == line
