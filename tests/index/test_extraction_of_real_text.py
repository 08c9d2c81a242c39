"""The extraction on text as people have it: sentences of one word, slips of the parser, code without fences, dumps."""

from __future__ import annotations

import base64
import os
import subprocess
import sys

import pytest

from graphrag.index import nlp_extraction
from graphrag.index.nlp_extraction import UnitProgress, extract_mentions
from tests.index.test_nlp_extraction import build_frames, extract, spelled, triples

needs_spacy = pytest.mark.skipif(bool(nlp_extraction.missing_parts()), reason="spaCy or its model is not installed")

# Sentences like those of public documentation whose words stand between two names without relating them.
UNRELATED = [
    "A report, GDS use of Zendesk, covers this.",
    "See the Router Config repos Terraform for details.",
    "It's worth running the app locally with Docker.",
    "Deployments of Billing are in Python.",
    "An Engineer is a member of the Platform Team.",
    "Access to Billing is managed via Okta.",
    "We have a Grafana Dashboard called Backups.",
    "Billing has Redis at hand.",
    "NumPy 1.22 replaces NumPy.",
    "Each function has a price depending on Redis.",
    "Every Pull Request is deployed on Heroku.",
]
RELATED = [
    ("Publishing API sends messages to RabbitMQ.", "Publishing API sends_to RabbitMQ"),
    ("LibreSSL is a fork of OpenSSL.", "LibreSSL fork_of OpenSSL"),
    ("ASCII is a subset of Unicode.", "ASCII is_subset_of Unicode"),
    ("GOV.UK stores original data directly in S3.", "GOV.UK stores_in S3"),
]


@needs_spacy
@pytest.mark.parametrize("sentence", UNRELATED)
def test_words_between_names_that_relate_nothing(sentence: str) -> None:
    assert triples(extract(sentence)) == []


@needs_spacy
@pytest.mark.parametrize(("sentence", "expected"), RELATED, ids=[sentence for sentence, _ in RELATED])
def test_relations_of_documentation(sentence: str, expected: str) -> None:
    assert spelled(triples(extract(sentence))) == [expected]


@pytest.mark.parametrize("model", ["auto", "lite"])
def test_sentences_of_one_word_are_names(model: str) -> None:
    assert extract("Redis. Kafka. Postgres.\n", model=model).entity_mentions["surface"].to_list() == [
        "Redis", "Kafka", "Postgres",
    ]  # fmt: skip


def test_a_role_is_the_document_it_numbers() -> None:
    mentions = extract("The rules of :pep:`517` and PEP 518 hold, also :rfc:`2119`.").entity_mentions
    assert mentions.select("surface", "type").rows() == [
        (":pep:`517`", "document"), ("PEP 518", "document"), (":rfc:`2119`", "document"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(bytes(range(256)) * 40).decode(),
        "\n".join(base64.b64encode(bytes([i]) * 50 + b"Kafka" * 4).decode() for i in range(100)),
        "`" * 20_000,
        "[" * 20_000,
        "![a](" * 4_000,
        "[[" * 10_000,
        "def pay(self, billing: Billing) -> Ledger:\n",
        "from Billing import Redis\n",
    ],
    ids=["base64", "base64 lines", "backticks", "brackets", "images", "wiki", "def", "import"],
)
def test_what_nobody_reads_names_nothing(text: str) -> None:
    found = extract(text)
    assert found.entity_mentions.is_empty() and found.relationship_mentions.is_empty()


def test_progress_counts_each_text_unit_once() -> None:
    for model in ("auto", "lite"):
        text_units, documents = build_frames({f"{i}.md": f"Billing {i} uses Redis. It is fast." for i in range(7)})
        steps: list[int] = []
        extract_mentions(text_units, documents, model=model, known_names={}, cooccurrence=False, advance=steps.append)
        assert sum(steps) == 7 and min(steps) > 0


def test_progress_keeps_step_with_the_text_parsed() -> None:
    steps: list[int] = []
    progress = UnitProgress(10, steps.append)
    progress.n_characters = 100
    for n in (5, 5, 50, 39):
        progress.advance(n)
    assert steps == [1, 5, 3]
    progress.finish()
    assert sum(steps) == 10


PROGRAM = """
from tests.index.test_nlp_extraction import R8, extract
text = "GitHub Actions, Redis and the Auth Service of Petr Viktorin met. Vault uses Redis."
found = extract(R8 | {"n.md": text}, pairs=True)
print(found.entity_mentions.rows(), found.relationship_mentions.rows())
"""


@needs_spacy
@pytest.mark.slow
def test_rows_do_not_depend_on_the_hash_seed() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]  # fmt: skip
    assert len(set(outputs)) == 1 and outputs[0].strip()
