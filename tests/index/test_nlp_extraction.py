"""Names and relations found without a language model: sentence by sentence, then over small corpora."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import ids, tables
from graphrag.errors import ModelError
from graphrag.index import nlp_extraction
from graphrag.index.nlp_extraction import Extraction, extract_mentions

needs_spacy = pytest.mark.skipif(bool(nlp_extraction.missing_parts()), reason="spaCy or its model is not installed")

R8 = {
    "c1.txt": "The login flow depends on the Auth Service.",
    "c2.txt": "The Auth Service depends on the token cache.",
    "c3.txt": "The token cache is backed by Redis.",
    "c4.txt": "The auth service depends on the User DB.",
    "c5.txt": "The user database runs on Postgres.",
    "c6.txt": "Billing depends on the user database.",
    "c7.txt": "Billing is owned by the Platform Team.",
    "c8.txt": "AuthService depends on the token cache.",
}
R8_RELATIONS = [
    ("login flow", "depends_on", "Auth Service"),
    ("Auth Service", "depends_on", "token cache"),
    ("token cache", "backed_by", "Redis"),
    ("auth service", "depends_on", "User DB"),
    ("user database", "runs_on", "Postgres"),
    ("Billing", "depends_on", "user database"),
    ("Billing", "owned_by", "Platform Team"),
    ("AuthService", "depends_on", "token cache"),
]
R8_DECLARED = {"PostgreSQL": "unknown", "Postgres": "unknown", "user database": "unknown", "User DB": "unknown"}

# sentence -> relations. Every construction that the rules claim to read, and everything that must give none.
STATED = [
    # active, with and without a preposition
    ("Billing uses Redis.", "Billing uses Redis"),
    ("The Checkout API calls the Payment Gateway.", "Checkout API calls Payment Gateway"),
    ("Ledger writes to Kafka.", "Ledger writes_to Kafka"),
    ("The Auth Service reads from Vault.", "Auth Service reads_from Vault"),
    ("The billing pipeline runs on Kubernetes.", "billing pipeline runs_on Kubernetes"),
    ("The login page talks to the Auth Service.", "login page talks_to Auth Service"),
    ("The Auth Service connects to PostgreSQL.", "Auth Service connects_to PostgreSQL"),
    ("Redis backs the token cache.", "Redis backs token cache"),
    ("Host 7 hosts Ledger.", "Host 7 hosts Ledger"),
    ("The Platform Team owns Billing.", "Platform Team owns Billing"),
    ("CheckoutAPI dispatches to OrderProcessor.", "CheckoutAPI dispatches_to OrderProcessor"),
    ("OrderProcessor writes transactions to LegacyLedger.", "OrderProcessor writes_to LegacyLedger"),
    ("The Mail Gateway relays to Postfix.", "Mail Gateway relays_to Postfix"),
    ("Billing relies on Redis.", "Billing relies_on Redis"),
    ("Ledger stores its entries in PostgreSQL.", "Ledger stores_in PostgreSQL"),
    ("Kafka feeds the Search Indexer.", "Kafka feeds Search Indexer"),
    # past tense of an owner or maker is a fact
    ("The Data Team built the Warehouse.", "Data Team builds Warehouse"),
    # passive
    ("The token cache is backed by Redis.", "token cache backed_by Redis"),
    ("Billing is owned by the Platform Team.", "Billing owned_by Platform Team"),
    ("The Warehouse is built on ClickHouse.", "Warehouse built_on ClickHouse"),
    ("Ledger is hosted on AWS.", "Ledger hosted_on AWS"),
    ("Sessions of Billing are stored in Redis.", ""),
    ("LegacyLedger is exposed to CVE-2026-9011.", "LegacyLedger exposed_to CVE-2026-9011"),
    ("The Auth Service was replaced by Keycloak.", "Auth Service replaced_by Keycloak"),
    ("The Search API is used by the Checkout API.", "Search API used_by Checkout API"),
    # copula
    ("Billing is dependent on Redis.", "Billing depends_on Redis"),
    ("The Invoice Worker is part of Billing.", "Invoice Worker part_of Billing"),
    ("The Platform Team is the owner of Billing.", "Platform Team owns Billing"),
    ("The Platform Team is responsible for Kubernetes.", "Platform Team responsible_for Kubernetes"),
    ("The owner of Billing is the Platform Team.", "Billing owned_by Platform Team"),
    ("Ana Kovač is a member of the Platform Team.", "Ana Kovač member_of Platform Team"),
    # conjunctions on either side, shared subjects
    ("Payments depends on Redis and Kafka.", "Payments depends_on Redis; Payments depends_on Kafka"),
    (
        "Payments depends on Redis, Kafka, and PostgreSQL.",
        "Payments depends_on Redis; Payments depends_on Kafka; Payments depends_on PostgreSQL",
    ),
    ("Billing and Checkout depend on Redis.", "Billing depends_on Redis; Checkout depends_on Redis"),
    ("Ledger reads from Redis and writes to Kafka.", "Ledger reads_from Redis; Ledger writes_to Kafka"),
    (
        "Billing is owned by the Platform Team and depends on Redis.",
        "Billing owned_by Platform Team; Billing depends_on Redis",
    ),
    # relative clauses, full and reduced, and apposition
    ("Ledger, which depends on Redis, runs on Kubernetes.", "Ledger depends_on Redis; Ledger runs_on Kubernetes"),
    (
        "Ledger, owned by the Platform Team, runs on Kubernetes.",
        "Ledger owned_by Platform Team; Ledger runs_on Kubernetes",
    ),
    (
        "The token cache, backed by Redis, serves the Auth Service.",
        "token cache backed_by Redis; token cache serves Auth Service",
    ),
    (
        "Billing calls the Ledger API, which writes to PostgreSQL.",
        "Billing calls Ledger API; Ledger API writes_to PostgreSQL",
    ),
    ("Ledger is a service that depends on Redis.", "Ledger depends_on Redis"),
    ("Ledger, a service owned by the Platform Team, failed.", "Ledger owned_by Platform Team"),
    ("Backed by Redis, the token cache survives restarts.", "token cache backed_by Redis"),
    ("The database on which Billing depends is PostgreSQL.", ""),
    # infinitives of use, verbs that keep their subject
    ("Billing uses Redis to store sessions.", "Billing uses Redis"),
    ("Billing continues to depend on Redis.", "Billing depends_on Redis"),
    # adverbs and asides do not hide the verb
    ("Billing still depends on Redis.", "Billing depends_on Redis"),
    ("As of 2025, Billing depends heavily on Redis.", "Billing depends_on Redis"),
    ("Because Billing depends on Redis, it fails over slowly.", "Billing depends_on Redis"),
    # versions, names with inner words, code
    ("api v1.2 depends on redis 7.0", "api v1.2 depends_on redis 7.0"),
    ("The `token-cache` depends on `redis-main`.", "token-cache depends_on redis-main"),
    ("**Billing** depends on [Redis](redis.md).", "Billing depends_on Redis"),
    ("Billing depends on [[redis|Redis]].", "Billing depends_on Redis"),
    (
        "The inventory service, maintained by the Supply Team, publishes stock events to RabbitMQ.",
        "inventory service maintained_by Supply Team; inventory service publishes_to RabbitMQ",
    ),
    (
        "Order Gateway forwards requests to both the Pricing Engine and the Tax Service.",
        "Order Gateway forwards_to Pricing Engine; Order Gateway forwards_to Tax Service",
    ),
    ("user-service calls auth-service over gRPC.", "user-service calls auth-service"),
    ("Team Phoenix is on call for the Feature Store.", "Team Phoenix on_call_for Feature Store"),
    # contrast keeps the half that is stated
    ("Billing depends on Redis but not Kafka.", "Billing depends_on Redis"),
    ("Billing uses Redis instead of Kafka.", "Billing uses Redis"),
    ("Billing uses Redis rather than Kafka.", "Billing uses Redis"),
    ("Billing does not use Kafka but depends on Redis.", "Billing depends_on Redis"),
]
NOT_STATED = [
    "Billing no longer depends on Redis.",
    "Billing does not depend on Redis.",
    "Billing doesn't use Redis.",
    "Billing never calls Redis.",
    "Does Billing depend on Redis?",
    "Why does Billing depend on Redis?",
    "Billing depends on Redis?",
    "Billing should depend on Redis.",
    "Billing would call Redis.",
    "Billing could use Redis.",
    "Billing might depend on Redis.",
    "Billing may write to Redis.",
    "Billing must not call Redis.",
    "Billing cannot reach Redis.",
    "If Billing depended on Redis, we would know.",
    "We asked whether Billing depends on Redis.",
    "Unless Billing uses Redis, nothing breaks.",
    "Billing works without calling Redis.",
    "Billing used to depend on Redis.",
    "Billing stopped using Redis.",
    "Billing plans to use Redis.",
    "We considered moving Billing to Redis.",
    "Billing previously depended on Redis.",
    "Neither Billing nor Checkout depends on Redis.",
    "No part of Billing depends on Redis.",
    "Billing is not owned by the Platform Team.",
    "Billing is no longer backed by Redis.",
    "Billing depended on Redis until 2024.",
    "It is not true that Billing depends on Redis.",
    "We doubt that Billing depends on Redis.",
    "Billing will depend on Redis.",
    "We propose that Billing use Redis.",
    "Had Billing used Redis, it would have failed.",
    "Nobody at Acme uses Redis.",
    "Billing is independent of Redis.",
    "Before 2020 Billing depended on Redis.",
    "Billing once ran on Redis.",
    "Billing depends on Redis only if Kafka is down.",
    "Redis is not a dependency of Billing.",
    "Billing lacks access to Redis.",
    "Billing failed to reach Redis.",
    "Some people think Billing depends on Redis.",
    "In theory, Billing could talk to Redis.",
]


def build_frames(texts: dict[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(text_units, documents): one unit a document, after its front matter."""
    documents, units = [], []
    for number, (path, text) in enumerate(texts.items()):
        document = ids.document_id(path)
        front = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
        start = front.end() if front else 0
        documents.append(
            {
                "id": document,
                "human_readable_id": number,
                "title": PurePosixPath(path).stem,
                "text": text,
                "text_unit_ids": [],
                "creation_date": "",
                "raw_data": None,
                "path": path,
                "kind": "md",
                "content_sha256": ids.content_sha256(text),
                "n_tokens": 1,
                "metadata": "{}",
            }
        )
        if text[start:].strip():
            units.append(unit_row(document, text, start, len(text), number))
    return tables.TEXT_UNITS.from_rows(units), tables.DOCUMENTS.from_rows(documents)


def unit_row(document: str, text: str, start: int, end: int, number: int) -> dict[str, object]:
    return {
        "id": ids.text_unit_id(document, text[start:end], number), "human_readable_id": number, "text": text[start:end],
        "n_tokens": 1, "document_id": document, "entity_ids": [], "relationship_ids": [], "covariate_ids": [],
        "start_char": start, "end_char": end, "heading_path": [],
    }  # fmt: skip


def extract(
    texts: dict[str, str] | str, *, model: str = "auto", known: dict[str, str] | None = None, pairs: bool = False
) -> Extraction:
    text_units, documents = build_frames({"a.md": texts} if isinstance(texts, str) else texts)
    return extract_mentions(
        text_units, documents, model=model, known_names=known or {}, cooccurrence=pairs, processes=1, memo=None
    )


def triples(extraction: Extraction) -> list[tuple[str, str, str]]:
    return extraction.relationship_mentions.select("subject", "predicate", "object").rows()


def spelled(triple_rows: list[tuple[str, str, str]]) -> list[str]:
    return sorted(" ".join(row) for row in triple_rows)


@needs_spacy
@pytest.mark.parametrize(("sentence", "expected"), STATED, ids=[sentence for sentence, _ in STATED])
def test_relations_that_a_sentence_states(sentence: str, expected: str) -> None:
    assert spelled(triples(extract(sentence))) == sorted(part for part in expected.split("; ") if part)


@needs_spacy
@pytest.mark.parametrize("sentence", NOT_STATED)
def test_what_is_denied_asked_or_supposed_is_no_relation(sentence: str) -> None:
    assert triples(extract(sentence)) == []


@pytest.mark.parametrize("sentence", NOT_STATED)
def test_lite_rules_take_no_denied_relation_either(sentence: str) -> None:
    assert triples(extract(sentence, model="lite", known={"Billing": "service", "Redis": "database"})) == []


# sentence -> (surface, type) of the names in it; a sentence stands alone here, without the help of a corpus
NAMED = [
    ("We moved it to Amazon Web Services (AWS) last year.", {"Amazon Web Services", "AWS"}),
    ("See CVE-2026-9011 and INC-104 for details.", {"CVE-2026-9011", "INC-104"}),
    ("We decided it in ADR-007 and PEP 621.", {"ADR-007", "PEP 621"}),
    ("We run k8s and call CheckoutAPI.", {"k8s", "CheckoutAPI"}),
    ("She works at the Bank of China in Oslo.", {"Bank of China", "Oslo"}),
    ("Yesterday the Platform Team met Ana Kovač.", {"Platform Team", "Ana Kovač"}),
    ("We upgraded from Python 2 to Python 3.", {"Python 2", "Python 3"}),
    ("The host vm-lju-07 in eu-central-1 is old.", {"vm-lju-07", "eu-central-1"}),
    ("They bought it from Bramble & Rye in 2024.", {"Bramble & Rye"}),
    ("The content delivery network (CDN) was slow.", {"content delivery network", "CDN"}),
    ("We met Stripe's team.", {"Stripe"}),
    # ordinary words, dates, units, file names, addresses and markdown marks are no names
    ("In January 2024 we waited for a long time.", set()),
    ("The next morning it was fine again.", set()),
    ("However, this is only a note.", set()),
    ("It took 20 GB and 300 ms.", set()),
    ("See settings.toml and https://example.org/Some/Path.", set()),
    ("Run `kubectl get pods -n Prod` first.", set()),
]
FIELDS = """# Ledger

- **Owner:** Payments Team
- Depends on: Redis, Kafka

## Dependencies

- PostgreSQL: holds the entries
- [Vault](vault.md)

## Contacts

- Ana Kovač
"""
TABLE = """# Services

| service | owner | notes |
|---|---|---|
| Ledger | Payments Team | old |
| Checkout API | Platform Team | 3 |
"""


@needs_spacy
@pytest.mark.parametrize(("sentence", "expected"), NAMED, ids=[sentence for sentence, _ in NAMED])
def test_names_of_a_sentence(sentence: str, expected: set[str]) -> None:
    assert set(extract(sentence).entity_mentions["surface"]) == expected


@needs_spacy
@pytest.mark.parametrize("declared", [{}, R8_DECLARED], ids=["no aliases", "aliases.toml"])
def test_the_eight_redis_facts(declared: dict[str, str]) -> None:
    extraction = extract(R8, known=declared)
    assert sorted(triples(extraction)) == sorted(R8_RELATIONS)
    quotes = extraction.relationship_mentions.select("document_id", "start_char", "end_char", "is_verified")
    texts = {ids.document_id(path): text for path, text in R8.items()}
    assert all(texts[d][start:end] == texts[d] and verified for d, start, end, verified in quotes.iter_rows())


def test_the_eight_redis_facts_by_the_lite_rules() -> None:
    declared = {
        **R8_DECLARED,
        "Auth Service": "service",
        "Redis": "database",
        "Billing": "service",
        "login flow": "flow",
    }
    assert sorted(triples(extract(R8, model="lite", known=declared))) == sorted(R8_RELATIONS)


@needs_spacy
def test_one_name_across_and_where_the_corpus_shows_it_as_one() -> None:
    stated = {"a.md": "The Checkout API depends on Simon and Garfunkel Storage."}
    shown = {"b.md": "Simon and Garfunkel Storage runs on Kubernetes."}
    assert ("Checkout API", "depends_on", "Simon and Garfunkel Storage") in triples(extract(stated | shown))
    assert ("Checkout API", "depends_on", "Simon and Garfunkel Storage") in triples(
        extract(stated, known={"Simon and Garfunkel Storage": "storage"})
    )
    assert len(triples(extract(stated))) == 2


@needs_spacy
def test_a_small_name_is_the_name_that_the_corpus_writes_big() -> None:
    texts = {"a.md": "We moved sessions to Redis. The old Redis was slow.", "b.md": "Billing depends on redis."}
    assert triples(extract(texts)) == [("Billing", "depends_on", "redis")]
    assert triples(extract({"b.md": "Billing depends on redis."}, known={"Redis": "database"}))


@needs_spacy
def test_fields_lists_and_tables_give_the_relations_they_are_labelled_with() -> None:
    assert spelled(triples(extract(FIELDS, known={"Ledger": "service", "Vault": "service"}))) == [
        "Ledger depends_on Kafka",
        "Ledger depends_on PostgreSQL",
        "Ledger depends_on Redis",
        "Ledger depends_on Vault",
        "Ledger owned_by Payments Team",
    ]
    table = extract(TABLE)
    assert spelled(triples(table)) == ["Checkout API owned_by Platform Team", "Ledger owned_by Payments Team"]
    assert {"Ledger", "Checkout API", "Payments Team", "Platform Team"} <= set(table.entity_mentions["surface"])
    quotes = table.relationship_mentions.select("start_char", "end_char").rows()
    assert next(TABLE[start:end] for start, end in quotes) == "| Ledger | Payments Team | old |"


@needs_spacy
def test_pronouns_mean_the_subject_before_or_the_topic_or_nothing() -> None:
    text = "# Ledger\n\nIt writes to Kafka. The service depends on Redis.\n\nAna Kovač left in May. It calls Vault.\n"
    found = extract(text, known={"Ledger": "service", "Vault": "service"})
    assert spelled(triples(found)) == ["Ledger depends_on Redis", "Ledger writes_to Kafka"]
    rows = found.relationship_mentions.select("subject", "subject_surface", "is_verified").rows()
    assert sorted(rows) == [("Ledger", "It", True), ("Ledger", "The service", True)]
    assert triples(extract("It writes to Kafka.")) == []


@needs_spacy
def test_a_sentence_that_defines_a_name_gives_type_and_description() -> None:
    mentions = extract("Mercury is a message broker. We like Mercury.").entity_mentions
    first = mentions.row(0, named=True)
    assert (first["surface"], first["type"], first["description"]) == (
        "Mercury",
        "service",
        "Mercury is a message broker.",
    )
    assert mentions.row(1, named=True)["description"] == ""


@needs_spacy
def test_cooccurrence_pairs_only_what_no_relation_joins() -> None:
    found = extract("Billing uses Redis and talks about Kafka with Stripe.", known={"Billing": "service"}, pairs=True)
    pairs = found.relationship_mentions.filter(pl.col("origin") == "cooccurrence")
    rows = pairs.select("subject", "predicate", "object").rows()
    assert all(a < b and predicate == "co_occurs_with" for a, predicate, b in rows)
    assert ("Billing", "co_occurs_with", "Redis") not in rows
    assert ("Kafka", "co_occurs_with", "Redis") in rows
    many = "We saw " + ", ".join(f"Alpha{i}Service" for i in range(12)) + " today."
    assert extract(many, pairs=True).relationship_mentions.is_empty()


@needs_spacy
def test_overlapping_text_units_report_a_mention_once_for_the_first() -> None:
    text = "Billing uses Redis. Ledger writes to Kafka. Vault runs on Kubernetes."
    _, documents = build_frames({"a.md": text})
    document = documents["id"][0]
    cut, overlap = text.index(" Vault"), text.index("Ledger")
    units = [unit_row(document, text, 0, cut, 0), unit_row(document, text, overlap, len(text), 1)]
    found = extract_mentions(
        tables.TEXT_UNITS.from_rows(units), documents, model="auto", known_names={}, cooccurrence=False
    )
    assert len(triples(found)) == 3
    first = units[0]["id"]
    assert set(found.relationship_mentions.filter(pl.col("subject") == "Ledger")["text_unit_id"]) == {first}
    assert found.entity_mentions.select("start_char").is_unique().all()


@needs_spacy
def test_rows_do_not_depend_on_the_order_of_input_rows() -> None:
    text_units, documents = build_frames(R8)
    knobs = {"model": "auto", "known_names": {}, "cooccurrence": True}
    there = extract_mentions(text_units, documents, **knobs)
    back = extract_mentions(text_units.reverse(), documents.reverse(), **knobs)
    assert there.entity_mentions.equals(back.entity_mentions)
    assert there.relationship_mentions.equals(back.relationship_mentions)


def test_nothing_in_gives_empty_tables() -> None:
    found = extract({"empty.md": "", "code.md": "```\nBilling uses Redis\n```\n", "blank.md": " \n"})
    assert found.relationship_mentions.is_empty()
    assert found.entity_mentions.is_empty()
    assert found.failures.is_empty()


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ModelError, match="must be one of spacy, lite, auto"):
        extract("Billing uses Redis.", model="large")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Платёжный сервис использует Kafka и Redis.", {"Kafka", "Redis"}),
        ("决済サービスは PostgreSQL と CheckoutAPI を使う。", {"PostgreSQL", "CheckoutAPI"}),
        ("Die Rechnung wird von Siemens Energy in München geprüft.", {"Siemens Energy"}),
        ("نظام الدفع يستخدم Redis", {"Redis"}),
    ],
)
def test_other_languages_by_the_lite_rules(text: str, expected: set[str]) -> None:
    assert expected <= set(extract(text).entity_mentions["surface"])
    assert set(extract(text).entity_mentions["method"]) <= {"lite"}


PIECES = [
    *(
        "Billing",
        "Redis",
        "the Auth Service",
        "depends on",
        "is owned by",
        "`redis-main`",
        "**Platform Team**",
        "it",
        "It",
    ),
    *(
        "[[Vault|the Vault]]",
        "[Kafka](kafka.md)",
        "\n\n",
        "\n- ",
        "\n# ",
        "\n| a | ",
        " | ",
        "_x_",
        "http://x.y/Z",
        "\n> ",
    ),
    *(
        "Ana Kovač's",
        "“Mercury”",
        "&amp;",
        "\t",
        "PostgreSQL 14",
        "INC-104",
        ". ",
        ", ",
        "```",
        "<b>Ledger</b>",
        "\u200b",
    ),
    *("北京", "e\u0301", "![x](y.png)", ":pep:`621`", "\\_", "\n| owner | ", "- Owner: ", "\n|---|---|\n"),
]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=30)


@settings(max_examples=60, deadline=None)
@given(MARKDOWN, st.sampled_from(["lite", "auto"]))
def test_offsets_slice_back_to_surfaces(pieces: list[str], model: str) -> None:
    text = " ".join(pieces)
    found = extract(text, model=model, known={"Vault": "service", "Auth Service": "service"}, pairs=True)
    surfaces = set(found.entity_mentions["surface"])
    for surface, start, end in found.entity_mentions.select("surface", "start_char", "end_char").iter_rows():
        assert " ".join(text[start:end].split()) == surface
        assert surface == surface.strip() != ""
    for row in found.relationship_mentions.iter_rows(named=True):
        assert {row["subject"], row["object"]} <= surfaces
        assert 0 <= row["start_char"] < row["end_char"] <= len(text)
        assert re.fullmatch(r"[a-z0-9_]+", row["predicate"])
