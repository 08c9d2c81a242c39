"""What a question asks for, and which sentences answer, deny, or turn it round."""

from __future__ import annotations

import pytest

from graphrag.search.cues import (
    answers_outright,
    asked_date,
    is_aside,
    is_definition,
    is_denied,
    is_reversed,
    points_elsewhere,
    rate_cue,
    rate_fact,
    read_cue,
    says_asked_verb,
    settles_question,
    states_negation,
)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Why did we choose Redis?", "cause"),
        ("What are the recurring causes of incidents?", "cause"),
        ("How many people are in the Platform Team?", "number"),
        ("When did the certificate expire?", "time"),
        ("Who leads the Identity Team?", "person"),
        ("Who owns Billing?", "owner"),
        ("Where is the depot?", "place"),
        ("What changed after INC-187?", ""),
        ("What has changed since March?", "change"),
        ("What are the biggest risks?", "risk"),
        ("How do I deploy an app?", "steps"),
        ("Which services use Kafka?", ""),
    ],
)
def test_a_question_says_what_kind_of_answer_it_wants(question: str, name: str) -> None:
    cue = read_cue(question)
    assert (cue.name if cue else "") == name or name == ""


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("Why did it fail?", "It failed because the certificate had expired.", "It failed on Monday."),
        ("Why?", "We chose it because we know it.", "Nothing else moves because of this."),
        ("Why?", "The job was\nkilled by the kernel.", "The job was owned by the kernel team."),
        ("When did it fail?", "It failed on 4 March 2024.", "It failed badly."),
        ("How many shops?", "There are 312 shops.", "There are shops."),
        ("Who runs it?", "It is run by Ana Kovač.", "it is run well."),
    ],
)
def test_sentences_with_the_kind_of_answer_rate_higher(question: str, better: str, worse: str) -> None:
    cue = read_cue(question)
    assert cue is not None and rate_cue(cue, better) > rate_cue(cue, worse)


@pytest.mark.parametrize(
    ("question", "text", "denied"),
    [
        ("What depends on Redis?", "The Tracking Service does not depend on Redis.", True),
        ("What uses Redis?", "The Tracking Service doesn't depend on Redis.", True),
        ("What depends on Redis?", "We would then depend on Redis at the edge.", True),
        ("What depends on Redis?", "The Checkout API no longer uses Redis.", True),
        ("What depends on Redis?", "Nothing else depends on Redis.", True),
        ("What depends on Redis?", "The token cache depends on Redis.", False),
        ("What fills the disk?", "At first we wrote that the planner fills the disk.", True),
        ("Which services do not depend on Redis?", "The Tracking Service does not depend on Redis.", False),
        ("Does the planner write to it?", "The planner never wrote to it.", False),
        ("What should I do about a crash?", "A crash means a sealed Vault, not a bad image.", False),
    ],
)
def test_what_is_denied_is_no_answer(question: str, text: str, denied: bool) -> None:
    assert is_denied(question, text) is denied


def test_a_negated_question_wants_what_is_denied_but_not_what_is_imagined() -> None:
    question = "Which services do not depend on Redis?"
    assert states_negation(question, "The Tracking Service does not depend on Redis.")
    assert not states_negation(question, "The gateway would depend on Redis.")
    assert not states_negation(question, "The token cache depends on Redis.")


@pytest.mark.parametrize(
    ("question", "text", "turned"),
    [
        ("What does the Auth Service depend on?", "The login flow depends on the Auth Service.", True),
        ("What does the Auth Service depend on?", "The Auth Service depends on the token cache.", False),
        ("What does the Auth Service own?", "Billing is owned by the Auth Service.", False),
        ("Who uses the Auth Service?", "The login flow uses the Auth Service.", False),
    ],
)
def test_sentences_the_wrong_way_round(question: str, text: str, turned: bool) -> None:
    assert is_reversed(question, text, ["auth service"]) is turned


@pytest.mark.parametrize(
    ("question", "predicate", "ends", "rate"),
    [
        ("What does X own?", "owns", ("x", "y"), 2),
        ("What does X own?", "owned_by", ("y", "x"), 2),
        ("What does X own?", "owned_by", ("x", "y"), 1),
        ("What does X own?", "uses", ("x", "y"), 0),
        ("Who owns X?", "owned_by", ("x", "y"), 2),
        ("Which services use X?", "charges_through", ("y", "x"), 2),
    ],
)
def test_relationships_that_a_question_asks_for(
    question: str, predicate: str, ends: tuple[str, str], rate: int
) -> None:
    need = predicate == "charges_through"
    assert rate_fact(question, predicate, need=need, named={"x"}, source_id=ends[0], target_id=ends[1]) == rate


@pytest.mark.parametrize(
    ("question", "text", "outright"),
    [
        ("What is the Ledger?", "The Ledger is the book of all bookings.", True),
        ("What does Router do?", "[Router] is a reverse proxy app.", True),
        ("What is the Ledger?", "Billing writes to the Ledger.", False),
        ("How many people work there?", "Six people in Ljubljana.", True),
        ("How many people work there?", "It has existed since 2023.", False),
    ],
)
def test_definitions_and_counts(question: str, text: str, outright: bool) -> None:
    assert answers_outright(question, text) is outright


def test_what_a_thing_is_comes_before_what_it_does() -> None:
    assert is_definition("What is Mercury?", "Mercury is our message broker.")
    assert not is_definition("What is Mercury?", "Mercury serves Styria.")
    assert not is_definition("What does Mercury do?", "Mercury is our message broker.")


def test_bylines_remarks_and_pointers_are_known() -> None:
    assert is_aside("Written by Tomasz Wójcik, read by Priya Raman.") and is_aside("Author: Ana Kovač.")
    assert is_aside("I am not going to name him.") and not is_aside("The certificate expired.")
    assert points_elsewhere("Read [more about the sync](/sync.html).") and not points_elsewhere(
        "The sync runs nightly."
    )


def test_dates_of_a_question() -> None:
    assert asked_date("What broke on 4 March 2024?") == {"4", "march", "2024"}
    assert asked_date("Why did INC-104 happen on Postgres 16?") == frozenset()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The Auth Service is owned by the Identity Team.", True),
        ("The Platform Team keeps the Auth Service, for now.", True),
        ("The Auth Service deserves a line of its own.", False),
        ("Ana wrote most of the Auth Service.", False),
    ],
)
def test_words_of_the_asked_verb(text: str, says: bool) -> None:
    assert says_asked_verb("Who owns the Auth Service?", text, ["auth service"]) is says


def test_what_is_imagined_settles_no_question() -> None:
    question, names = "Is Redis used by the Tracking Service?", ["redis", "tracking service"]
    assert settles_question(question, "The Tracking Service does not depend on Redis.", names)
    assert not settles_question(question, "If the Tracking Service used Redis it would share its nodes.", names)
    assert not settles_question(question, "The Tracking Service and Redis are named here.", names)
