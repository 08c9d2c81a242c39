"""The pair table, clusters, declared aliases, homonyms and properties of specs/indexing.md section 3."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import tables
from graphrag.errors import SettingsError
from graphrag.index.disambiguation import Disambiguation, disambiguate_entities, parse_alias_rules
from graphrag.names import is_acronym, name_key, parse_name
from graphrag.naming.decisions import MAX_PROPOSALS
from graphrag.naming.vetoes import find_veto
from tests.mention_rows import Row, document, mention, relation

PAIRS = """
The Auth Service | auth service | merge | key: article, case
AuthService | Auth Service | merge | key: CamelCase
auth-service | auth_service | merge | key: separators
AUTH SERVICE | Auth  Service. | merge | key: spaces, final full stop
Stripe's | Stripe | merge | key: possessive
“Token Cache” | token cache | merge | key: quotes
O’Reilly | O'Reilly | merge | key: apostrophe
Café Nord | Cafe\u0301 Nord | merge | key: NFKC
Zürich | Zurich | merge | key: one side plain ASCII, same base letters
STRASSE | Straße | merge | key: casefold
İstanbul | istanbul | merge | key: dotted i
ΣΊΣΥΦΟΣ | Σίσυφος | merge | key: final sigma
Москва | МОСКВА | merge | key: Cyrillic case
ＡＰＩ　Ｇａｔｅｗａｙ | API Gateway | merge | key: full width
Redis\u200bCache | RedisCache | merge | key: zero width
token caches | token cache | merge | key: plural of a lower-case head noun
Microsoft Corporation | Microsoft | merge | suffix
Acme Inc. | Acme | merge | suffix
Siemens AG | Siemens | merge | suffix
K8s | Kubernetes | merge | numeronym
i18n | internationalization | merge | numeronym
AWS | Amazon Web Services | merge | acronym, single full form
IMF | International Monetary Fund | merge | acronym, small words skipped or not
CVE-2026-9011 | cve-2026-9011 | merge | key
INC-104 | INC 104 | merge | key: separators
Release v1.2 | Release 1.2 | merge | key: v before a number
Node.js | NodeJS | merge | key: inner dot before letters
Dr. Ana Kovač | Ana Kovač | merge | honorific
A. Kovač | Ana Kovač | merge | initial, type person, single candidate
Kovač, Ana | Ana Kovač | merge | comma order, type person
Postgres | PostgreSQL | merge | declared
primary-db | PostgreSQL | merge | declared
Kube cluster | Kubernetes | merge | declared
User DB | user database | merge | declared
北京 | Beijing | merge | declared
Team A | Team B | never | single letter
Project 1 | Project 2 | never | number
Python 2 | Python 3 | never | number
TLS 1.2 | TLS 1.3 | never | number
PostgreSQL 14 | PostgreSQL | never | number on one side
1.2 | 1.20 | never | number text differs
CVE-2026-9011 | CVE-2026-9012 | never | number
GPT-3 | GPT-4 | never | number
us-east-1 | us-east-2 | never | number
us-east-1 | us-west-1 | never | opposite
Q3 2025 | Q3 2026 | never | number
Henry IV | Henry V | never | roman numeral
Phase II | Phase III | never | roman numeral
North Korea | South Korea | never | opposite
inbound queue | outbound queue | never | opposite
staging cluster | production cluster | never | opposite
internal API | external API | never | opposite
read replica | write replica | never | opposite
C | C++ | never | symbol
C++ | C# | never | symbol
.NET | Net | never | symbol
A | A* | never | symbol
東京 | 北京 | never | no shared key or token
Ana Kovač | Ivo Kovač | never | first names differ
Li Wei | Li Wen | never | short token differs
Acme Inc. | Acme GmbH | never | two legal forms
Асme | Acme | never | mixed script
Mercury (planet) | Mercury (metal) | never | qualifiers differ
SWIFT [organization] | Swift [language] | never | types
Bank of China | Bank of Canada | never | one word differs, no spelling variant
Java | JavaScript | never | prefix, 3 or more letters longer
Redis | Redis Sentinel | propose | token subset
Redis | Redis Cluster | propose | token subset
Auth Service | Auth | propose | token subset
React | React Native | propose | token subset
Kubernetes | Kuberentes | propose | edit 2
Phase II | Phase 2 | propose | roman against digit
Müller | Mueller | propose | edit 2
Москва | Москве | propose | edit 1
Payment Gateway | payment gateway service | propose | token subset
nowhere | now here | propose | space only, no code shape
"""
PERSONS = {"Dr. Ana Kovač", "Ana Kovač", "A. Kovač", "Kovač, Ana", "Ivo Kovač", "Li Wei", "Li Wen"}


def read_pairs() -> list[tuple[str, str, str, str]]:
    lines = [line.split(" | ") for line in PAIRS.strip().split("\n")]
    assert len(lines) == 76
    return [(a, b, verdict, why) for a, b, verdict, why in lines]


Rows = list[Row]


def run(docs: Rows, mentions: Rows, relations: Rows | None = None, *, rules: str = "") -> Disambiguation:
    return disambiguate_entities(
        tables.ENTITY_MENTIONS.from_rows(mentions),
        tables.RELATIONSHIP_MENTIONS.from_rows(relations or []),
        tables.DOCUMENTS.from_rows(docs),
        rules=parse_alias_rules(rules, path="aliases.toml"),
    )


def names(*surfaces: str, rules: str = "", **options: str) -> Disambiguation:
    """Disambiguate a corpus that has each surface once, each in its own document; `X [type]` is declared."""
    docs, mentions = [], []
    for n, surface in enumerate(surfaces):
        bare, _, rest = surface.partition(" [")
        doc = document(f"d{n:03}", bare)
        docs.append(doc)
        declared = {"type": rest.removesuffix("]"), "method": "declared"} if rest else options
        mentions.append(mention(doc, bare, **declared))  # type: ignore[arg-type]
    return run(docs, mentions, rules=rules)


def together(*surfaces: str, **options: str) -> Disambiguation:
    """Disambiguate one document that names each surface once."""
    doc = document("d", "; ".join(f"{n} {surface}" for n, surface in enumerate(surfaces)))
    mentions = [mention(doc, f"{n} {surface}", **options) for n, surface in enumerate(surfaces)]  # type: ignore[arg-type]
    for row, surface in zip(mentions, surfaces, strict=True):
        row["surface"] = surface
    return run([doc], mentions)


def titles(result: Disambiguation) -> list[str]:
    return result.clusters["title"].to_list()


def verdicts(result: Disambiguation) -> list[str]:
    return result.alias_candidates["verdict"].to_list()


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("a", "b", "verdict", "why"), read_pairs())
def test_pair(a: str, b: str, verdict: str, why: str, swap: bool) -> None:
    rules = f"[[always]]\nnames = {json.dumps([a, b], ensure_ascii=False)}" if why == "declared" else ""
    options = {"type": "person"} if {a, b} <= PERSONS else {}
    result = names(*((b, a) if swap else (a, b)), rules=rules, **options)
    assert result.clusters.height == (1 if verdict == "merge" else 2), result.clusters
    if verdict == "propose":
        assert verdicts(result) == ["propose"]
    else:
        assert "propose" not in verdicts(result)


def test_kubernetes_by_numeronym_and_declared_name() -> None:
    result = names("K8s", "Kubernetes", "Kube cluster", rules='[[always]]\nnames = ["Kubernetes", "Kube cluster"]')
    assert titles(result) == ["Kubernetes"]
    assert dict(result.aliases.select("surface", "method").iter_rows()) == {
        "K8s": "numeronym",
        "Kube cluster": "user",
    }


def test_two_full_forms_of_one_acronym_are_proposals() -> None:
    result = names("Amazon Web Services", "Alpine Water Supply", "AWS")
    assert titles(result) == ["Alpine Water Supply", "Amazon Web Services", "AWS"]
    assert verdicts(result) == ["propose", "propose"]


def test_acronym_of_another_page_is_a_proposal_in_a_large_corpus() -> None:
    """SUM of the page on SQL is no Short URL Manager; two pages each, or one page with both, say more."""
    crowd = [f"Name {n}" for n in range(20)]
    assert titles(names("SUM", "Short URL Manager")) == ["Short URL Manager"]
    apart = names("SUM", "Short URL Manager", *crowd)
    assert {"SUM", "Short URL Manager"} <= set(titles(apart))
    assert verdicts(apart) == ["propose"]
    twice = names("SUM", "SUM", "Short URL Manager", "Short URL Manager", *crowd)
    assert "SUM" not in titles(twice)


def test_text_decides_between_two_full_forms() -> None:
    full, other, both = (
        document("a", "Amazon Web Services is large. AWS is large."),
        document("b", "Alpine Water Supply is small."),
        document("c", "We use Amazon Web Services (AWS) a lot."),
    )
    mentions = [mention(full, "AWS"), mention(other, "Alpine Water Supply"), mention(both, "Amazon Web Services")]
    result = run([full, other, both], mentions)
    assert titles(result) == ["Alpine Water Supply", "Amazon Web Services"]


def test_document_decides_between_two_full_forms() -> None:
    """Without any phrase: the only document with AWS names just one of them in full."""
    full, other = document("a", "Amazon Web Services, or rather AWS."), document("b", "Alpine Water Supply.")
    mentions = [mention(full, "AWS"), mention(full, "Amazon Web Services"), mention(other, "Alpine Water Supply")]
    assert titles(run([full, other], mentions)) == ["Alpine Water Supply", "Amazon Web Services"]


def test_bare_name_fits_two_legal_forms() -> None:
    result = names("Acme", "Acme Inc.", "Acme GmbH")
    assert titles(result) == ["Acme", "Acme GmbH", "Acme Inc."]
    assert verdicts(result) == ["propose", "propose"]


def test_one_legal_form_in_two_spellings_takes_the_bare_name() -> None:
    assert names("Acme", "Acme Inc.", "Acme Incorporated").clusters.height == 1


def test_surname_fits_two_persons() -> None:
    result = together("Holmes", "Sherlock Holmes", "Mycroft Holmes", type="person")
    assert result.clusters.height == 3
    assert verdicts(result) == ["propose", "propose"]
    assert together("Holmes", "Mr. Holmes", "Sherlock Holmes", type="person").clusters.height == 1


def test_part_of_a_name_in_another_document_is_a_proposal() -> None:
    """Tom Jones, a book's hero, is not the Mr. Jones of another book."""
    result = names("Mr. Jones", "Tom Jones", type="person")
    assert result.clusters.height == 2
    assert verdicts(result) == ["propose"]


@pytest.mark.parametrize(
    ("surfaces", "groups"),
    [
        ("Allen, Mr. Allen, Mrs. Allen", "Allen|Mr. Allen|Mrs. Allen"),
        ("Darcy, Mr. Darcy, Miss Darcy, Dr. Darcy", "Darcy|Dr. Darcy|Miss Darcy|Mr. Darcy"),
        ("Darcy, Mr. Darcy", "Darcy+Mr. Darcy"),
        # Of Ann Allen nobody says whether she is the one or the other.
        ("Allen, Mr. Allen, Mrs. Allen, Ann Allen", "Allen|Ann Allen|Mr. Allen|Mrs. Allen"),
        ("Mr. Allen, Mrs. Allen, Ann Allen, Mrs. Ann Allen", "Ann Allen+Mrs. Allen+Mrs. Ann Allen|Mr. Allen"),
        ("Mr. Ives, Ives, Hal Ives", "Hal Ives+Ives+Mr. Ives"),
        # A given name alone: the lady's, or that of another person?
        ("Cora, Lady Cora, Lady Cora Vane, Cora Moor", "Cora|Cora Moor|Lady Cora|Lady Cora Vane"),
        ("Cora, Lady Cora, Lady Cora Vane", "Cora+Lady Cora+Lady Cora Vane"),
        ("Mr. Vane, Vane Moor", "Mr. Vane|Vane Moor"),
        ("Cora, Cora-street", "Cora|Cora-street"),
        # Ranks are titles too; alone they name nobody.
        ("Colonel, Mrs. Forster, Colonel Forster", "Colonel|Colonel Forster|Mrs. Forster"),
        ("General Vane, Captain Vane, Mr. Hal Vane, Hal Vane", "Captain Vane|General Vane|Hal Vane+Mr. Hal Vane"),
        ("Aunt Cora, Uncle Cora, Cora", "Aunt Cora|Cora|Uncle Cora"),
        ("Admiral Vane, Vane, Hal Vane", "Admiral Vane+Hal Vane+Vane"),
        ("Duke Ellington, Mercer Ellington", "Duke Ellington|Mercer Ellington"),
        ("Ana Kovač, Ana, King Kovač", "Ana+Ana Kovač|King Kovač"),
        ("the Miss Vanes, Vanes, Miss Vane", "Miss Vane|Vanes|the Miss Vanes"),
        # What a sentence puts before a name is no given name.
        ("Poor Cora, Even Cora, Cora, Cora Vane", "Cora+Cora Vane+Even Cora+Poor Cora"),
        # Works, places and bodies have no surname.
        ("England, History of England", "England|History of England"),
        ("Vane, Vane Woods Street, Pemberley, Pemberley House", "Pemberley|Pemberley House|Vane|Vane Woods Street"),
        ("Pride, Pride and Prejudice", "Pride|Pride and Prejudice"),
        ("Buildings, Argyle Buildings", "Argyle Buildings|Buildings"),
        ("Arc, Joan, Joan of Arc", "Arc|Joan+Joan of Arc"),
    ],
)
def test_titles_of_persons(surfaces: str, groups: str) -> None:
    mentions = together(*surfaces.split(", "), type="person").entity_mentions
    found = mentions.group_by("entity_id").agg(pl.col("surface").sort())["surface"]
    assert "|".join(sorted("+".join(group) for group in found)) == groups


def test_word_that_the_text_writes_small_is_no_part_of_a_name() -> None:
    doc = document(
        "d", "Pemberley has woods and upper woods on its upper upper side. Pemberley Woods. Upper, Upper Moor."
    )
    surfaces = ("Pemberley", "Pemberley Woods", "Upper Moor")
    found = [mention(doc, s, type="person") for s in surfaces] + [mention(doc, "Upper", type="person")]
    assert titles(run([doc], found)) == ["Pemberley", "Pemberley Woods", "Upper", "Upper Moor"]


def test_document_decides_between_titles_only_by_a_full_name() -> None:
    a = document("a", "Vane saw Mrs. Vane.")
    b = document("b", "Mr. Vane")
    surfaces = [mention(a, "Vane", type="person"), mention(a, "Mrs. Vane", type="person")]
    assert run([a, b], [*surfaces, mention(b, "Mr. Vane", type="person")]).clusters.height == 3


def test_initial_fits_two_persons() -> None:
    assert names("A. Kovač", "Ana Kovač", "Anton Kovač", type="person").clusters.height == 3
    assert names("A. Kovač", "Ana Kovač", "Ivo Kovač", type="person").clusters.height == 2


def test_given_name_of_the_only_person_it_fits() -> None:
    doc = document("a", "Ana Kovač and Ivo Kovač met. Ana spoke to Kovač.")
    mentions = [mention(doc, s, type="person") for s in ("Ana Kovač", "Ivo Kovač")]
    mentions += [mention(doc, "Ana", nth=1, type="person"), mention(doc, "Kovač", nth=2, type="person")]
    assert titles(run([doc], mentions)) == ["Ana Kovač", "Ivo Kovač", "Kovač"]


def nora(*full_names: str, bare_in: str = "d", relations: str = "") -> list[str]:
    """Titles of a corpus with an untyped "Nora", and with full names that front matter calls deciders."""
    docs = [document(f"d{n}", f"{name}, Nora", deciders=[name]) for n, name in enumerate(full_names)]
    mentions = [mention(doc, name) for doc, name in zip(docs, full_names, strict=True)]
    docs.append(document("other", "Search Nora"))
    for doc in docs:
        if str(doc["path"]).startswith(bare_in):
            mentions.append(mention(doc, "Nora", nth=str(doc["text"]).count("Nora") - 1))
    mentions.append(mention(docs[-1], "Search"))
    found = [relation(docs[-1], "Search", relations, "Nora")] if relations else []
    return [title for title in titles(run(docs, mentions, found)) if title != "Search"]


def test_given_name_of_a_person_that_front_matter_names() -> None:
    assert nora("Nora Lind") == ["Nora Lind"]
    assert nora("Nora Lind", bare_in="other") == ["Nora Lind"]
    # Two persons: only a document that names one of them alone decides.
    assert nora("Nora Lind", "Nora Berg", bare_in="other") == ["Nora", "Nora Berg", "Nora Lind"]
    assert nora("Nora Lind", "Nora Berg", bare_in="d1") == ["Nora Berg", "Nora Lind"]
    assert nora("Nora Lind", "Nora Berg") == ["Nora", "Nora Berg", "Nora Lind"]
    # What something runs on is no person, and a team of two words is none either.
    assert nora("Nora Lind", bare_in="", relations="runs_on") == ["Nora", "Nora Lind"]
    doc = document("a", "Nora Team, Nora", deciders=["Nora Team"])
    assert titles(run([doc], [mention(doc, "Nora Team", type="team"), mention(doc, "Nora", nth=1)])) == [
        "Nora",
        "Nora Team",
    ]


def test_technology_that_the_model_takes_for_a_person_keeps_its_name() -> None:
    doc = document("a", "Redis Sentinel watches Redis. Search runs on Redis.")
    mentions = [mention(doc, "Redis Sentinel", type="person"), mention(doc, "Redis", nth=1, type="person")]
    mentions.append(mention(doc, "Search"))
    assert titles(run([doc], mentions, [relation(doc, "Search", "runs_on", "Redis")])) == [
        "Redis",
        "Redis Sentinel",
        "Search",
    ]


def test_declared_type_beats_any_number_of_guesses() -> None:
    doc = document("a", "Redis Redis Redis Redis Redis Redis")
    mentions = [mention(doc, "Redis", nth=n, type="person") for n in range(5)]
    mentions.append(mention(doc, "Redis", nth=5, type="database", method="declared"))
    assert run([doc], mentions).clusters["type"].to_list() == ["database"]


def test_never_holds_for_a_title_that_no_document_mentions() -> None:
    rules = """
[[always]]
title = "Storefront Service"
names = ["Shop"]
[[never]]
names = ["Storefront Service", "StorefrontService Inc."]
"""
    assert names("Shop", "StorefrontService Inc.", rules=rules).clusters.height == 2


def test_union_is_refused_when_any_pair_is_vetoed() -> None:
    """(a, b) and (c, d) are declared, (b, c) would follow by rule, (a, d) differ in a number."""
    rules = """
[[always]]
names = ["Atlas 1", "Orbit"]
[[always]]
names = ["Orbit Inc.", "Atlas 2"]
"""
    result = names("Atlas 1", "Orbit", "Orbit Inc.", "Atlas 2", rules=rules)
    assert result.clusters["surfaces"].list.len().to_list() == [1, 1]
    row = result.alias_candidates.row(0, named=True)
    assert (row["verdict"], row["method"]) == ("never", "suffix")
    assert '"Atlas 1" and "Atlas 2" stay apart: numbers differ' in row["reason"]


def test_what_the_user_joins_keeps_no_other_name_of_it_out() -> None:
    rules = '[[always]]\ntitle = "Python"\nnames = ["Parselmouth North"]'
    assert titles(names("Python", "Parselmouth North", "Python Inc.", rules=rules)) == ["Python"]
    # A veto against the title itself stands, and so does one between two such names.
    assert names("Python", "Parselmouth North", "Parselmouth South", rules=rules).clusters.height == 2


def test_never_undoes_a_merge_of_rules() -> None:
    rules = '[[never]]\nnames = ["AWS", "Amazon Web Services"]'
    result = names("AWS", "Amazon Web Services", rules=rules)
    assert titles(result) == ["Amazon Web Services", "AWS"]
    assert result.alias_candidates.select("verdict", "method").row(0) == ("never", "user")
    assert "line 1" in result.alias_candidates["reason"][0]


def test_never_undoes_equal_keys() -> None:
    rules = '[[never]]\nnames = ["Auth Service", "AuthService"]'
    result = names("Auth Service", "AuthService", "auth service", rules=rules)
    assert titles(result) == ["Auth Service", "AuthService"]
    assert result.clusters["surfaces"].to_list() == [["auth service"], []]


def test_never_beats_front_matter() -> None:
    doc = document("k.md", "Kubernetes and Kube run.", title="Kubernetes", aliases=["Kube"])
    mentions = [mention(doc, "Kubernetes"), mention(doc, "Kube", nth=0)]
    mentions[1] = mention(document("k.md", "Kubernetes and Kube run.", title="Kubernetes"), "Kube run") | {
        "surface": "Kube"
    }
    assert run([doc], mentions).clusters.height == 1
    assert run([doc], mentions, rules='[[never]]\nnames = ["Kube", "Kubernetes"]').clusters.height == 2


def test_title_is_a_full_form_in_the_singular() -> None:
    assert titles(names("token caches", "token caches", "token caches", "token cache")) == ["token cache"]
    assert titles(names("AWS", "aws", "A.W.S.", "Amazon Web Services")) == ["Amazon Web Services"]


def test_title_alone_renames() -> None:
    assert titles(names("redis", rules='[[always]]\ntitle = "REDIS"')) == ["REDIS"]
    assert titles(names("The Redis", "redis's")) == ["Redis"]


def test_front_matter_aliases_as_list_or_string_beat_vetoes() -> None:
    for aliases in (["primary-db", "Postgres 14"], "primary-db, Postgres 14"):
        note = document("notes/postgresql.md", "It is big.", title="PostgreSQL", aliases=aliases)
        text = document("a", "primary-db and Postgres 14 are slow.")
        result = run([note, text], [mention(text, "primary-db"), mention(text, "Postgres 14")])
        assert titles(result) == ["PostgreSQL"]
        assert set(result.aliases["method"]) == {"frontmatter"}
        assert set(result.aliases["decided_by"]) == {"user"}


def test_alias_that_two_notes_claim_is_neithers() -> None:
    notes = [
        document("s.md", "One.", title="Sherlock Holmes", aliases=["Holmes"]),
        document("m.md", "Two.", title="Mycroft Holmes", aliases=["Holmes"]),
    ]
    text = document("a", "Holmes met Sherlock Holmes and Mycroft Holmes.")
    mentions = [mention(text, "Holmes"), mention(text, "Sherlock Holmes"), mention(text, "Mycroft Holmes")]
    result = run([*notes, text], mentions)
    assert result.clusters.height == 3
    assert "propose" in verdicts(result)


def test_note_title_is_the_declared_title_of_an_equal_key_only() -> None:
    notes = [
        document("redis.md", "# Redis outage", title="Incident review: Redis outage 2024-03"),
        document("cache.md", "Text.", title="Token Cache"),
        document("README.md", "Read.", title="README"),
        document("lower/redis.txt", "Redis again, redis."),
    ]
    mentions = [mention(notes[3], "Redis"), mention(notes[0], "Redis")]
    text = document("t", "The token cache is slow, a token cache.")
    result = run([*notes, text], [*mentions, mention(text, "token cache")])
    assert titles(result) == ["Redis", "Token Cache"]


def test_equal_note_titles_in_two_folders_join_nothing() -> None:
    notes = [
        document("a/overview.md", "One.", title="Platform", aliases=["Auth"]),
        document("b/overview.md", "Two.", title="Platform", aliases=["Billing"]),
        document("c/readme.md", "Three.", title="README", aliases=["Search"]),
        document("d/readme.md", "Four.", title="README", aliases=["Ledger"]),
    ]
    text = document("t", "Auth, Billing, Search, Ledger, Platform.")
    surfaces = ["Auth", "Billing", "Search", "Ledger", "Platform"]
    result = run([*notes, text], [mention(text, surface) for surface in surfaces])
    assert titles(result) == sorted(surfaces)


@pytest.mark.parametrize(
    ("sentence", "a", "b", "n_entities"),
    [
        ("Amazon Web Services (AWS) is used.", "Amazon Web Services", "AWS", 1),
        ("AWS (Amazon Web Services) is used.", "AWS", "Amazon Web Services", 1),
        ("Ledger (also known as Moneybox) is old.", "Ledger", "Moneybox", 1),
        ("Ledger, also known as the Moneybox, is old.", "Ledger", "Moneybox", 1),
        ("Ledger (formerly Moneybox) is old.", "Ledger", "Moneybox", 1),
        ("Ledger, formerly known as Moneybox, is old.", "Ledger", "Moneybox", 1),
        ("Ledger (aka “Moneybox”) is old.", "Ledger", "Moneybox", 1),
        ("Ledger (Moneybox) is old.", "Ledger", "Moneybox", 2),
        ("Python 2 (formerly Python 3) is a phrase that no veto lets pass.", "Python 2", "Python 3", 2),
        ("Berlin (Germany) is cold.", "Berlin", "Germany", 2),
    ],
)
def test_phrases_in_running_text(sentence: str, a: str, b: str, n_entities: int) -> None:
    doc, other = document("a", sentence), document("b", f"{b} stands here.")
    result = run([doc, other], [mention(doc, a), mention(other, b)])
    assert result.clusters.height == n_entities
    if n_entities == 1:
        assert result.aliases["method"].to_list() == ["appositive"]
        assert titles(result) == ["Amazon Web Services" if "AWS" in sentence else "Ledger"]


def mercury(first: str, second: str, *, shared: bool, method: str = "declared") -> Disambiguation:
    a = document("astronomy.md", "Mercury orbits the Sun.", title="Orbits")
    b = document("chemistry.md", "Mercury melts in the Lab.", title="Metals")
    near = "Sun" if shared else "Lab"
    c = document("third.md", f"Mercury and {near}.", title="Third")
    mentions = [
        mention(a, "Mercury", type=first, method=method),
        mention(a, "Sun"),
        mention(b, "Mercury", type=second, method=method),
        mention(b, "Lab"),
        mention(c, "Mercury", type=second, method=method),
        mention(c, near),
    ]
    relations = [relation(a, "Mercury", "orbits", "Sun"), relation(c, "Mercury", "near", near)]
    return run([a, b, c], mentions, relations)


def test_homonyms_of_separate_types_and_neighbourhoods_stay_two() -> None:
    result = mercury("planet", "metal", shared=False)
    assert [title for title in titles(result) if "Mercury" in title] == ["Mercury (metal)", "Mercury (planet)"]
    types = dict(result.clusters.select("title", "type").iter_rows())
    assert (types["Mercury (metal)"], types["Mercury (planet)"]) == ("metal", "planet")
    row = result.alias_candidates.filter(pl.col("method") == "homonym").row(0, named=True)
    assert row["verdict"] == "never"
    assert row["entity_id_a"] != row["entity_id_b"]
    of_document = dict(result.entity_mentions.filter(surface="Mercury").select("document_id", "entity_id").iter_rows())
    assert len(set(of_document.values())) == 2


@pytest.mark.parametrize(
    ("first", "second", "shared", "method"),
    [
        ("planet", "metal", True, "declared"),  # a shared neighbour
        ("planet", "celestial body", False, "declared"),  # one family
        ("planet", "metal", False, "spacy"),  # guessed types never veto
        ("planet", "concept", False, "declared"),  # a type that fits all
    ],
)
def test_one_name_is_one_entity_otherwise(first: str, second: str, shared: bool, method: str) -> None:
    result = mercury(first, second, shared=shared, method=method)
    assert [title for title in titles(result) if "Mercury" in title] == ["Mercury"]


def test_description_in_brackets_tells_which_homonym() -> None:
    """A link leads to the note, a type is the type of one; what neither tells stays apart."""
    a = document("sky.md", "Orbit turns round Sol. Orbit (planet)", title="Orbit")
    b = document("lab.md", "Orbit is kept in Jars.", title="Orbit")
    c = document("start.md", "[[lab|Orbit (the red one)]], Orbit (the old one)")
    mentions = [mention(a, "Orbit", type="planet", method="declared"), mention(a, "Sol"), mention(b, "Jars")]
    mentions += [mention(b, "Orbit", type="metal", method="declared"), mention(a, "Orbit (planet)")]
    mentions += [mention(c, "Orbit (the red one)"), mention(c, "Orbit (the old one)")]
    relations = [relation(a, "Orbit", "turns_round", "Sol"), relation(b, "Orbit", "kept_in", "Jars")]
    found = run([a, b, c], mentions, relations).clusters
    surfaces = dict(found.select("title", "surfaces").iter_rows())
    assert found["title"].to_list() == [
        "Jars", "Orbit (metal)", "Orbit (planet)", "Orbit (the old one)", "Sol",
    ]  # fmt: skip
    assert "Orbit (the red one)" in surfaces["Orbit (metal)"]


def test_case_tells_homonyms_apart_only_with_types() -> None:
    assert titles(names("US", "us")) == ["US"]
    assert titles(names("SWIFT [organization]", "Swift [language]")) == ["Swift (language)", "SWIFT (organization)"]


@pytest.mark.parametrize(
    ("surfaces", "n_entities"),
    [
        (["Redis", "REDIS", "redis", " Redis", "“Redis”", "Re\u200bdis"], 1),
        (['Danh mục "bài toán lớn"', "O'Reilly", "a/b", "%", "_", "x;--", "NULL", "true", "123"], 9),
        (["C", "C++", "C#", ".NET", "Net", "3.12", "42", "007"], 8),
        (["東京", "北京", "Москва", "القاهرة", "🚀"], 5),
        (["Café", "Cafe\u0301", "CAFE\u0301"], 1),
        (["O’Brien", "O'Brien", "O‘Brien", "OʼBrien"], 1),
        (["ＡＷＳ", "AWS", "ａｗｓ"], 1),
        (["Сергей Королёв", "СЕРГЕЙ КОРОЛЁВ", "Сергеи\u0306 Королё\u200bв"], 1),
        (["東京都", "東京", "東京タワー", "京都"], 4),
        (["한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"], 1),
        (["🚀", "🛸", "🚀🛸", "🚀 Rocket", "Rocket"], 5),
        (["☁️ Cloud", "☁ Cloud", "☁\ufe0e Cloud"], 1),
        (["👩‍🚀", "👩🚀"], 1),
        (["Unconnected entities", "entities", "depends_on"], 3),
        ([f"a{n}" for n in range(1, 51)], 50),
        (["...", "--", "!?"], 3),
    ],
)
def test_hostile_names(surfaces: list[str], n_entities: int) -> None:
    result = names(*surfaces)
    assert result.clusters.height == n_entities
    assert all(title.strip() for title in titles(result))
    assert len(set(titles(result))) == n_entities
    assert result.entity_mentions["entity_id"].null_count() == 0


def test_no_snowball_of_near_names() -> None:
    chain = [f"service{chr(97 + n)}{chr(97 + n)}" for n in range(26)]
    result = names(*chain)
    assert result.clusters.height == 26
    assert set(verdicts(result)) <= {"propose", "never"}


def test_unknown_name_in_aliases_is_a_row() -> None:
    result = names("Redis", rules='[[never]]\nnames = ["Redis", "Reddis"]')
    assert result.failures.select("item_id", "reason").rows() == [("Reddis", "unknown_alias")]


def test_name_of_two_homonyms_in_aliases_is_a_row() -> None:
    rules = '[[always]]\nnames = ["Swift", "Redis"]'
    docs = [document("a", "Swift"), document("b", "Swift is old."), document("c", "Redis")]
    mentions = [
        mention(doc, "Swift", type=t, method="llm") for doc, t in zip(docs, ("person", "language"), strict=False)
    ]
    result = run(docs, [*mentions, mention(docs[2], "Redis")], rules=rules)
    assert result.clusters.height == 3
    assert result.failures.select("item_id", "reason").rows() == [("Swift", "ambiguous_alias")]


def test_no_mentions_gives_typed_empty_tables() -> None:
    result = run([document("a", "Hello, world")], [])
    assert [frame.height for frame in result] == [0, 0, 0, 0, 0]
    assert result.clusters.schema["surfaces"] == pl.List(pl.String)


WORDS = ["Auth Service", "AuthService", "auth services", "Auth", "AWS", "Amazon Web Services", "Alpine Water Supply"]
WORDS += ["K8s", "Kubernetes", "Redis", "Redis Sentinel", "Acme", "Acme Inc.", "Acme GmbH", "Ana Kovač", "A. Kovač"]
WORDS += ["Team A", "Team B", "Zürich", "Zurich", "PostgreSQL", "postgresql", "Postgres", "primary-db", "R2", "R 2"]
RULE_SETS = ["", '[[always]]\nnames = ["Postgres", "primary-db"]\n[[never]]\nnames = ["AWS", "Amazon Web Services"]']


@settings(max_examples=40, deadline=None)
@given(
    surfaces=st.lists(st.sampled_from(WORDS), min_size=1, max_size=14, unique=True),
    rules=st.sampled_from(RULE_SETS),
    seed=st.randoms(use_true_random=False),
)
def test_order_of_rows_does_not_matter(surfaces: list[str], rules: str, seed: Random) -> None:
    docs = [document(f"d{n}", f"{surface} works.") for n, surface in enumerate(surfaces)]
    kind = {"Ana Kovač": "person", "A. Kovač": "person"}
    mentions = [mention(d, s, type=kind.get(s, "unknown")) for d, s in zip(docs, surfaces, strict=True)]
    relations = [relation(d, s, "works_on", near) for d, (s, near) in zip(docs, pairwise(surfaces), strict=False)]
    first = run(docs, mentions, relations, rules=rules)
    for rows in (docs, mentions, relations):
        seed.shuffle(rows)
    second = run(docs, mentions, relations, rules=rules)
    for a, b in zip(first, second, strict=True):
        assert a.equals(b)
    check_rules_hold(first, rules)


def check_rules_hold(result: Disambiguation, rules: str) -> None:
    entity = dict(result.entity_mentions.select("surface", "entity_id").iter_rows())
    for a, b in (("Team A", "Team B"), ("Acme Inc.", "Acme GmbH"), ("Redis", "Redis Sentinel")):
        assert a not in entity or entity[a] != entity.get(b)
    if rules and {"AWS", "Amazon Web Services"} <= set(entity):
        assert entity["AWS"] != entity["Amazon Web Services"]
    if rules and {"Postgres", "primary-db"} <= set(entity):
        assert entity["Postgres"] == entity["primary-db"]
    merged = set(result.entity_mentions["entity_id"])
    assert merged == set(result.clusters["entity_id"])
    assert result.alias_candidates.filter(pl.col("entity_id_a") == pl.col("entity_id_b")).is_empty()


def test_a_name_that_code_writes_in_small_letters_is_shown_as_the_text_spells_it() -> None:
    doc = document("a", "aws s3, aws ec2. We like AWS. Token cache: the token cache is a token cache.")
    rows = [
        mention(doc, "aws"), mention(doc, "aws", nth=1), mention(doc, "AWS"), mention(doc, "Token cache"),
        mention(doc, "token cache"), mention(doc, "token cache", nth=1),
    ]  # fmt: skip
    found = disambiguate_entities(
        tables.ENTITY_MENTIONS.from_rows(rows), tables.RELATIONSHIP_MENTIONS.empty(), tables.DOCUMENTS.from_rows([doc])
    )
    assert sorted(found.clusters["title"]) == ["AWS", "token cache"]


SURFACES = st.lists(st.sampled_from(WORDS), min_size=2, max_size=12, unique=True)


def groups(result: Disambiguation) -> set[frozenset[str]]:
    """The surfaces of each entity."""
    found = result.entity_mentions.group_by("entity_id").agg("surface")["surface"]
    return {frozenset(surfaces) for surfaces in found.to_list()}


@settings(max_examples=30, deadline=None)
@given(SURFACES)
def test_idempotent(surfaces: list[str]) -> None:
    """What was found, told as the user's rules, is found again; and a second run over its own mentions changes none."""
    docs = [document(f"d{n}", surface) for n, surface in enumerate(surfaces)]
    first = run(docs, [mention(d, s) for d, s in zip(docs, surfaces, strict=True)])
    again = disambiguate_entities(
        first.entity_mentions, tables.RELATIONSHIP_MENTIONS.empty(), tables.DOCUMENTS.from_rows(docs)
    )
    assert all(a.equals(b) for a, b in zip(first, again, strict=True))
    merged = [sorted(group) for group in groups(first) if len(group) > 1]
    rules = "".join(f"[[always]]\nnames = {json.dumps(names, ensure_ascii=False)}\n" for names in sorted(merged))
    assert groups(names(*surfaces, rules=rules)) == groups(first)


@settings(max_examples=60, deadline=None)
@given(SURFACES, st.data())
def test_user_rules_hold_or_contradict_each_other(surfaces: list[str], data: st.DataObject) -> None:
    some = st.lists(st.sampled_from(surfaces), min_size=2, max_size=3, unique=True)
    always, never = data.draw(st.lists(some, max_size=3)), data.draw(st.lists(some, max_size=2))
    entries = [("always", group) for group in always] + [("never", group) for group in never]
    rules = "".join(f"[[{kind}]]\nnames = {json.dumps(names, ensure_ascii=False)}\n" for kind, names in entries)
    joined = {name: {name} for name in surfaces}
    for group in always:
        union = set().union(*(joined[n] for name in group for n in surfaces if name_key(n) == name_key(name)))
        union |= set().union(*(joined[n] for n in union))
        joined.update(dict.fromkeys(union, union))
    apart = [(a, b) for group in never for a, b in combinations(group, 2) if name_key(a) != name_key(b)]
    if any(b in joined[a] for a, b in apart):
        with pytest.raises(SettingsError, match=r"line [\d and,]+ \(always\) and line \d+ \(never\) contradict"):
            parse_alias_rules(rules)
        return
    try:
        found = groups(names(*surfaces, rules=rules))
    except SettingsError as error:  # spellings of one key that never keeps apart and always joins
        assert "contradict" in str(error)
        return
    entity = {surface: group for group in found for surface in group}
    assert all(entity[a] is not entity[b] for a, b in apart)
    split = {name for group in never for name in group}
    assert all(entity[a] is entity[b] for group in always for a, b in combinations(group, 2) if not {a, b} & split)


@settings(max_examples=30, deadline=None)
@given(SURFACES)
def test_rules_merge_nothing_that_a_veto_keeps_apart(surfaces: list[str]) -> None:
    for group in groups(names(*surfaces)):
        full = [parse_name(surface) for surface in sorted(group) if not is_acronym(surface) and surface != "K8s"]
        for a, b in combinations(full, 2):
            assert not find_veto(a, b), (a.surface, b.surface)


@settings(max_examples=20, deadline=None)
@given(SURFACES)
def test_vectors_propose_and_merge_nothing(surfaces: list[str]) -> None:
    """Even names whose vectors are all the same, and whatever a veto says of them."""
    docs = [document("d", " ".join(surfaces))]
    frames = (
        tables.ENTITY_MENTIONS.from_rows([mention(docs[0], surface) for surface in surfaces]),
        tables.RELATIONSHIP_MENTIONS.empty(),
        tables.DOCUMENTS.from_rows(docs),
    )
    without = disambiguate_entities(*frames)
    found = disambiguate_entities(
        *frames, embed_names=lambda names: np.ones((len(names), 1), dtype=np.float32), max_name_vectors=100
    )
    assert found.clusters.equals(without.clusters)
    assert found.aliases.equals(without.aliases)
    pair = ["entity_id_a", "entity_id_b"]
    kept_apart = without.alias_candidates.filter(verdict="never").select(pair)
    proposed = found.alias_candidates.filter(verdict="propose").select(pair)
    assert kept_apart.join(proposed, on=pair).is_empty()


def test_proposals_of_one_entity_are_bounded_and_the_rest_is_told() -> None:
    hub = [f"Ledger {word}" for word in WORDS[:14]]
    result = names("Ledger", *hub, *(f"{name} Desk" for name in hub), *(f"Big {name}" for name in hub))
    of_hub = result.entity_mentions.filter(surface="Ledger")["entity_id"][0]
    ends = result.alias_candidates.filter(verdict="propose").select("entity_id_a", "entity_id_b")
    assert sum(of_hub in row for row in ends.rows()) == MAX_PROPOSALS
    assert result.failures.select("item_id", "reason").rows() == [("proposals", "candidates_cut")]


def test_an_acronym_that_all_use_is_not_that_of_one_page() -> None:
    docs = [document(f"d{n}", "We style with CSS.") for n in range(4)] + [document("mac", "Open Cirrus Self Service.")]
    mentions = [mention(doc, "CSS") for doc in docs[:4]] + [mention(docs[4], "Cirrus Self Service")]
    assert titles(run(docs, mentions)) == ["Cirrus Self Service", "CSS"]
    both = document("both", "CSS? Cirrus Self Service!")
    mentions += [mention(both, "CSS"), mention(both, "Cirrus Self Service")]
    assert titles(run([*docs, both], mentions)) == ["Cirrus Self Service"]


@pytest.mark.parametrize(("short", "full"), [("LL", "Linux-libre"), ("CDP", "cookie details page")])
def test_two_letters_or_a_plain_phrase_need_one_document(short: str, full: str) -> None:
    assert names(short, full).clusters.height == 2
    assert together(short, full).clusters.height == 1


def test_names_of_countries() -> None:
    places = ("U.S.", "USA", "the United States", "American", "UK", "Great Britain")
    entity_of = dict(names(*places, type="location").entity_mentions.select("surface", "entity_id").iter_rows())
    assert entity_of["U.S."] == entity_of["USA"] == entity_of["the United States"] != entity_of["American"]
    assert entity_of["UK"] == entity_of["Great Britain"]
    assert titles(names("RSA", "South Africa")) == ["RSA", "South Africa"]
