"""The pair table, clusters, declared aliases, homonyms and properties of specs/indexing.md section 3."""

from __future__ import annotations

import json

import pytest

from graphrag import tables
from graphrag.index.disambiguation import Disambiguation, disambiguate_entities, parse_alias_rules
from tests.mention_rows import Row, document, mention

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
