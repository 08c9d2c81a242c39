"""Known technologies are recognised in every form that people write, and nothing else is."""

from __future__ import annotations

import pytest

from graphrag.nlp.technologies import (
    AMBIGUOUS,
    NAMES_OF_TYPE,
    TYPE_OF_TECHNOLOGY,
    is_certain_technology,
    is_small_technology,
    technology_type,
)

FORMS = [
    ("PostgreSQL", "database"),
    ("Postgres 15.2", "database"),
    ("Apache Kafka", "message broker"),
    ("Amazon SQS", "message broker"),
    ("RabbitMQ", "message broker"),
    ("Redis", "cache"),
    ("Elasticsearch", "search engine"),
    ("Python 3.11", "language"),
    ("CPython", "language"),
    ("Java", "language"),
    ("C++", "language"),
    ("GCP", "cloud provider"),
    ("Heroku", "cloud provider"),
    ("Debian 9", "operating system"),
    ("k8s", "platform"),
    ("Nginx", "web server"),
    ("Amazon S3", "storage"),
    ("gRPC", "protocol"),
    ("UTF-8", "format"),
    ("Node.js", "library"),
    ("nodejs", "library"),
    ("Argo CD", "tool"),
    ("argo-cd", "tool"),
    ("GitHub Actions", "tool"),
    ("PyPI", "service"),
    ("Kibana", "tool"),
    ("Router", ""),
    ("Paystrand", ""),
    ("Go Live", ""),
    ("go", ""),
    ("python", ""),
]


@pytest.mark.parametrize(("written", "kind"), FORMS, ids=[written for written, _ in FORMS])
def test_a_technology_is_recognised_by_its_forms(written: str, kind: str) -> None:
    assert technology_type(written) == kind


def test_a_word_of_two_meanings_needs_a_technical_text() -> None:
    assert technology_type("Java", is_technical=False) == ""
    assert technology_type("PostgreSQL", is_technical=False) == "database"


def test_a_word_with_one_meaning_is_a_name_wherever_it_stands() -> None:
    assert [w for w in ("Kafka", "Spring", "Redis", "redis", "REST") if is_certain_technology(w)] == ["Kafka", "Redis"]
    assert [w for w in ("etcd", "dbt", "slack", "pip", "curl", "Etcd") if is_small_technology(w)] == ["etcd", "dbt"]


def test_each_technology_has_one_type_and_ambiguous_ones_are_listed() -> None:
    names = [name for names in NAMES_OF_TYPE.values() for name in names.split(", ")]
    assert len(names) == len(set(names)) > 250
    assert all(name and name == name.strip() for name in names)
    assert len(AMBIGUOUS & set(TYPE_OF_TECHNOLOGY)) > 50
