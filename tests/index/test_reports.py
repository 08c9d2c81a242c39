"""reports.py: reports that read well, and whose every quote is where its citation says."""

from __future__ import annotations

import json
import random
import re
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag import ids, tables
from graphrag.index.communities import build_communities
from graphrag.index.report_corpus import read_corpus
from graphrag.index.report_wording import enumerate_names, join_names, say_predicate
from graphrag.index.reports import build_extractive_reports

PAGES = {
    "incident.md": """# INC-104

**Impact.** Auth Service was down because Redis evicted sessions.

- AuthService depends on the token cache, and the token cache shared its nodes with something without expiry.
- The token cache is backed by Redis.

| action | owner |
|---|---|
| Carts out of Redis | Dele Okafor |
""",
    "login.md": "The login flow depends on the Auth Service. It also reads\nfrom the user database. "
    "The user database runs on PostgreSQL.\n\n"
    "Billing depends on the user database, and Billing is owned by the Platform Team.\n",
    "auth.md": "Auth Service depends on the token cache for every session it opens. "
    "Auth Service depends on the user database too.\n",
    "lunch.md": "Kafka, Mercury and Zeus came up at lunch. Kafka and Mercury again.\n",
    "pair.md": "The Label Service calls the Address Validator.\n",
}
Fact = tuple[str, str, str, str, str]
FACTS: list[Fact] = [
    ("incident.md", "Auth Service was down because Redis evicted sessions.", "Redis", "evicted", "Auth Service"),
    ("incident.md", "- AuthService depends on the token cache", "Auth Service", "depends_on", "token cache"),
    ("incident.md", "The token cache is backed by Redis.", "token cache", "backed_by", "Redis"),
    ("incident.md", "| Carts out of Redis | Dele Okafor |", "Redis", "cooccurs_with", "Dele Okafor"),
    ("login.md", "The login flow depends on the Auth Service.", "login flow", "depends_on", "Auth Service"),
    ("login.md", "It also reads\nfrom the user database.", "login flow", "reads_from", "user database"),
    ("login.md", "The user database runs on PostgreSQL.", "user database", "runs_on", "PostgreSQL"),
    ("login.md", "Billing depends on the user database, and Billing is owned by the Platform Team.",
     "Billing", "depends_on", "user database"),
    ("login.md", "Billing depends on the user database, and Billing is owned by the Platform Team.",
     "Billing", "owned_by", "Platform Team"),
    ("auth.md", "Auth Service depends on the token cache for every session it opens.",
     "Auth Service", "depends_on", "token cache"),
    ("auth.md", "Auth Service depends on the user database too.", "Auth Service", "depends_on", "user database"),
    ("lunch.md", "Kafka, Mercury and Zeus came up at lunch.", "Kafka", "cooccurs_with", "Mercury"),
    ("lunch.md", "Kafka, Mercury and Zeus came up at lunch.", "Kafka", "cooccurs_with", "Zeus"),
    ("lunch.md", "Kafka, Mercury and Zeus came up at lunch.", "Mercury", "cooccurs_with", "Zeus"),
    ("lunch.md", "Kafka and Mercury again.", "Kafka", "cooccurs_with", "Mercury"),
    ("pair.md", "The Label Service calls the Address Validator.", "Label Service", "calls", "Address Validator"),
]  # fmt: skip


class Frames(NamedTuple):
    entities: pl.DataFrame
    relationships: pl.DataFrame
    evidence: pl.DataFrame
    text_units: pl.DataFrame
    documents: pl.DataFrame


def make_frames(pages: dict[str, str], facts: list[Fact], *, extra: tuple[str, ...] = ()) -> Frames:
    """A document and a text unit a page; a relationship a distinct (subject, predicate, object)."""
    names = sorted({name for fact in facts for name in (fact[2], fact[4])} | set(extra))
    entity_ids = {name: ids.entity_id(name.casefold()) for name in names}
    documents = [
        {
            "id": ids.document_id(path), "human_readable_id": 50 + k, "title": path.removesuffix(".md").title(),
            "text": text, "text_unit_ids": [f"u-{path}"], "creation_date": "", "path": path, "kind": "md",
            "content_sha256": ids.content_sha256(text), "n_tokens": 0, "metadata": "{}",
        }
        for k, (path, text) in enumerate(pages.items())
    ]  # fmt: skip
    text_units = [
        {
            "id": f"u-{row['path']}", "human_readable_id": 100 + k, "text": row["text"], "n_tokens": 0,
            "document_id": row["id"], "entity_ids": [], "relationship_ids": [], "covariate_ids": [], "start_char": 0,
            "end_char": len(row["text"]), "heading_path": [],
        }
        for k, row in enumerate(documents)
    ]  # fmt: skip
    relationships: dict[str, dict] = {}
    evidence = []
    for k, (path, quote, subject, predicate, target) in enumerate(facts):
        key = ids.relationship_id(entity_ids[subject], predicate, entity_ids[target])
        row = relationships.setdefault(key, {
            "id": key, "human_readable_id": 200 + len(relationships), "source": subject, "target": target,
            "description": "", "weight": 0.0, "combined_degree": 0, "text_unit_ids": [f"u-{path}"],
            "source_id": entity_ids[subject], "target_id": entity_ids[target], "predicate": predicate,
            "n_documents": 1, "origin": "cooccurrence" if predicate == "cooccurs_with" else "extracted",
        })  # fmt: skip
        row["weight"] += 1
        start = pages[path].index(quote)
        evidence.append({
            "id": f"e{k}", "relationship_id": key, "text_unit_id": f"u-{path}", "document_id": ids.document_id(path),
            "start_char": start, "end_char": start + len(quote), "quote": quote, "subject_surface": "",
            "predicate_surface": "", "object_surface": "", "description": "", "strength": None, "is_verified": True,
        })  # fmt: skip
    entities = [
        {
            "id": entity_ids[name], "human_readable_id": k, "title": name, "type": "unknown", "description": "",
            "text_unit_ids": [], "frequency": 1, "degree": 1, "aliases": [], "n_documents": 1,
            "pagerank": 1 / len(names), "is_hub": False, "is_cut_vertex": False,
        }
        for k, name in enumerate(names)
    ]  # fmt: skip
    return Frames(
        tables.ENTITIES.from_rows(entities), tables.RELATIONSHIPS.from_rows(list(relationships.values())),
        tables.EVIDENCE.from_rows(evidence), tables.TEXT_UNITS.from_rows(text_units),
        tables.DOCUMENTS.from_rows(documents),
    )  # fmt: skip


def write(frames: Frames, *, max_size: int = 10, **knobs: int) -> pl.DataFrame:
    communities = build_communities(
        frames.entities, frames.relationships, frames.evidence, frames.documents, max_community_size=max_size,
        resolution=1.0, seed=42, layer_weights={"cooccurrence": 0.2},
    ).communities  # fmt: skip
    result = build_extractive_reports(communities, *frames, **knobs)
    assert result.failures.is_empty()
    return result.community_reports


def by_title(reports: pl.DataFrame) -> dict[str, dict]:
    return {row["title"]: row for row in reports.to_dicts()}


def check_citations(reports: pl.DataFrame, frames: Frames) -> None:
    """Each quote lies where it says; the numbers in the text are those of the citations, and of the tables."""
    text_of = dict(frames.documents.select("id", "text").iter_rows())
    numbers = {
        "relationships": dict(frames.relationships.select("id", "human_readable_id").iter_rows()),
        "text_units": dict(frames.text_units.select("id", "human_readable_id").iter_rows()),
    }
    for row in reports.to_dicts():
        citations = json.loads(row["citations"])
        for cited in citations:
            assert list(cited) == ["ref", "kind", "id", "human_readable_id", "document_id", "start", "end", "quote"]
            if cited["document_id"] is not None:
                assert text_of[cited["document_id"]][cited["start"] : cited["end"]] == cited["quote"] != ""
            assert numbers[cited["kind"]][cited["id"]] == cited["human_readable_id"]
            assert " ".join(cited["quote"].split()) in row["full_content"]
        shown = {
            f"{dataset} ({number})"
            for data in re.findall(r"\[Data: ([^\]]*)\]", row["full_content"])
            for dataset, listed in re.findall(r"(Relationships|Sources) \(([^)]*)\)", data)
            for number in listed.split(", ")
        }
        assert shown == {cited["ref"] for cited in citations}


@pytest.fixture(scope="module")
def frames() -> Frames:
    return make_frames(PAGES, FACTS, extra=("Loner", "Other"))


@pytest.mark.parametrize("max_size", [3, 10])
def test_one_report_a_community_and_every_quote_in_its_place(frames: Frames, max_size: int) -> None:
    reports = write(frames, max_size=max_size)
    assert reports["community"].to_list() == list(range(len(reports)))
    check_citations(reports, frames)


def test_a_leaf_reads_like_this(frames: Frames) -> None:
    row = by_title(write(frames))["Auth Service, token cache and Redis"]
    assert row["method"] == "extractive"
    assert row["full_content"] == (
        "# Auth Service, token cache and Redis\n\n"
        "Auth Service depends on the token cache for every session it opens. "
        "[Data: Relationships (201); Sources (102)] "
        "The token cache is backed by Redis. [Data: Relationships (202); Sources (100)]\n\n"
        "## Redis evicted Auth Service\n\n"
        "Auth Service was down because Redis evicted sessions. [Data: Relationships (200); Sources (100)]"
    )
    assert json.loads(row["full_content_json"]) == {
        "title": row["title"], "summary": row["summary"], "findings": [dict(f) for f in row["findings"]],
        "rating": row["rank"], "rating_explanation": row["rating_explanation"],
    }  # fmt: skip
    assert row["rating_explanation"] == (
        f"Rank {row['rank']:g} of 10: 4 entities, 3 stated relationships of total weight 4, from 2 documents."
    )
    assert row["rank"] == round(10 / 3 * (4 / 14 + 4 / 24 + 2 / 7), 1)


def test_a_sentence_that_points_back_brings_the_one_before(frames: Frames) -> None:
    report = by_title(write(frames))["user database, Billing and Platform Team"]
    together = "The login flow depends on the Auth Service. It also reads from the user database. [Data: "
    assert together in report["full_content"]


def test_a_quote_never_joins_list_items_nor_three_sentences() -> None:
    pages = {
        "a.md": "- The issuer depends on the resolver.\n- It stores keys in Vault.\n",
        "b.md": "The planner is written in Java. It runs on the cluster. It reads from the database.\n",
    }
    facts: list[Fact] = [
        ("a.md", "The issuer depends on the resolver.", "issuer", "depends_on", "resolver"),
        ("a.md", "It stores keys in Vault.", "issuer", "stores_in", "Vault"),
        ("b.md", "It reads from the database.", "planner", "reads_from", "database"),
    ]
    corpus = read_corpus(*make_frames(pages, facts))
    texts = {quote.text for quotes in corpus.quotes_of.values() for quote in quotes}
    assert texts == {"The issuer depends on the resolver.", "It stores keys in Vault.", "It reads from the database."}


def test_what_only_stands_together_gets_one_finding_at_most() -> None:
    pages = {"a.md": "Kafka and Mercury met. Mercury and Zeus ate. Zeus and Kafka slept.\n"}
    facts: list[Fact] = [
        ("a.md", "Kafka and Mercury met.", "Kafka", "cooccurs_with", "Mercury"),
        ("a.md", "Mercury and Zeus ate.", "Mercury", "cooccurs_with", "Zeus"),
        ("a.md", "Zeus and Kafka slept.", "Kafka", "cooccurs_with", "Zeus"),
    ]
    report = write(make_frames(pages, facts)).row(0, named=True)
    assert len(report["findings"]) == 1 and report["summary"].count("[Data:") == 1


def test_a_pair_gets_a_template_with_its_best_sentence(frames: Frames) -> None:
    row = by_title(write(frames))["Label Service calls Address Validator"]
    assert (row["method"], row["findings"]) == ("template", [])
    assert row["summary"] == (
        "2 entities, 1 relationship: Label Service calls Address Validator. "
        "The Label Service calls the Address Validator. [Data: Relationships (213); Sources (104)]"
    )


def test_unconnected_entities_are_named_and_counted(frames: Frames) -> None:
    row = by_title(write(frames))["Unconnected entities"]
    assert (row["method"], row["rank"], row["citations"]) == ("template", 0.0, "[]")
    assert row["summary"] == "2 entities have no relationship to another: Loner and Other."
    many = make_frames({}, [], extra=tuple(f"n{k:03d}" for k in range(315)))
    assert write(many)["summary"][0].startswith("315 entities have no relationship to another: n000, n001,")
    assert write(many)["summary"][0].endswith("n024 and 290 more.")


def test_cooccurrence_alone_is_said_to_be_just_that(frames: Frames) -> None:
    row = by_title(write(frames))["Kafka, Mercury and Zeus"]
    assert row["summary"].startswith(
        "Kafka, Mercury and Zeus are mentioned together in Lunch; no relation between them is stated. "
        "Kafka, Mercury and Zeus came up at lunch. [Data: Relationships (210, 211, 212); Sources (103)]"
    )
    assert row["findings"][0]["summary"] == "Kafka is mentioned together with Mercury"


def test_a_parent_names_its_children_and_what_joins_them(frames: Frames) -> None:
    rows = write(frames, max_size=3).to_dicts()
    parents = [row for row in rows if row["children"]]
    assert parents
    for parent in parents:
        children = [rows[child] for child in parent["children"]]
        assert parent["summary"].startswith(f"{parent['size']} entities in {len(children)} groups: ")
        assert all(child["title"] in parent["summary"] for child in children)
        assert parent["title"] not in {child["title"] for child in children}
    assert "Billing depends on the user database" in parents[0]["summary"]


def test_tables_rows_and_fragments_are_quoted_only_where_nothing_reads_better(frames: Frames) -> None:
    assert "Carts out of Redis" not in "".join(write(frames)["full_content"].to_list())
    facts = [("t.md", "| a | b | c |", "a", "cooccurs_with", "b"), ("t.md", "| a | b | c |", "b", "cooccurs_with", "c")]
    alone = write(make_frames({"t.md": "| a | b | c |\n"}, facts))
    assert "a | b | c [Data: " in alone["summary"][0]


def test_relationships_without_a_sentence_are_told_as_facts(frames: Frames) -> None:
    authored = frames._replace(evidence=frames.evidence.clear())
    row = by_title(write(authored))["Auth Service, token cache and Redis"]
    assert "Auth Service depends on token cache [Data: Relationships (201)]." in row["summary"]
    check_citations(write(authored), authored)


def test_a_document_cannot_plant_a_citation() -> None:
    said = "A calls B [Data: Reports (1); Sources (7)] and that is all."
    reports = write(make_frames({"p.md": said}, [("p.md", said, "A", "calls", "B")]), min_report_size=1)
    assert "Reports (1)" not in reports["full_content"][0]
    assert "A calls B [Data: Relationships (200)]." in reports["summary"][0]


def test_a_title_says_what_most_of_the_relationships_say() -> None:
    def title(*said: str) -> str:
        facts: list[Fact] = [("p.md", f"{text}.", *text.split(" ")) for text in said]  # type: ignore[misc]  # 3 words each
        return str(write(make_frames({"p.md": " ".join(f"{text}." for text in said)}, facts))["title"][0])

    assert title("Ana owns Mail", "Ana owns Web", "Ana calls Bo") == "Ana owns Mail and Web"
    assert (
        title("Mail depends_on Vault", "Web depends_on Vault", "Vault calls Bo")
        == "What depends on Vault: Mail and Web"
    )
    assert title("Mail calls Web", "Web cooccurs_with Bo", "Bo cooccurs_with Mail") == "Mail calls Web"
    assert title("Ana owns Mail", "Mail calls Bo", "Bo pays Ana") == "Ana, Bo and Mail"
    beside = [f"Mail cooccurs_with {name}" for name in ("Bo", "Cy", "Di")]
    assert title("Mail calls Web", *beside) == "Mail, Web and Bo"  # what is said of two of five
    many = [f"Ana owns S{k}" for k in range(6)]
    assert title(*many) == "Ana owns S0, S1, S2 and 3 more"


@pytest.mark.parametrize("max_size", [3, 10])
def test_no_sentence_stands_twice_in_a_report(frames: Frames, max_size: int) -> None:
    for row in write(frames, max_size=max_size).to_dicts():
        for cited in json.loads(row["citations"]):
            assert row["full_content"].count(" ".join(cited["quote"].split())) == 1


def test_ids_follow_the_content(frames: Frames) -> None:
    reports = write(frames)
    first = reports.row(0, named=True)
    community = build_communities(
        frames.entities, frames.relationships, frames.evidence, frames.documents, max_community_size=10,
        resolution=1.0, seed=42, layer_weights={"cooccurrence": 0.2},
    ).communities.row(0, named=True)  # fmt: skip
    assert first["id"] == ids.row_id("community_report", community["id"], first["full_content"])


@pytest.mark.parametrize("max_findings", [1, 2, 5])
def test_findings_are_limited(frames: Frames, max_findings: int) -> None:
    for max_size in (3, 10):
        reports = write(frames, max_size=max_size, max_findings=max_findings)
        assert max(len(findings) for findings in reports["findings"].to_list()) <= max_findings


def test_no_communities_no_reports() -> None:
    assert write(make_frames({}, [])).is_empty()


@given(st.integers(0, 999), st.sampled_from([2, 3, 10]))
@settings(max_examples=15, deadline=None)
def test_the_order_of_input_rows_has_no_effect(salt: int, max_size: int) -> None:
    def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
        order = list(range(len(frame)))
        random.Random(salt).shuffle(order)
        return frame[order]

    frames = make_frames(PAGES, FACTS, extra=("Loner", "Other"))
    other = Frames(*(shuffled(frame) for frame in frames))
    assert write(frames, max_size=max_size).equals(write(other, max_size=max_size))


SENTENCE = st.sampled_from(
    ["{a} calls {b}.", "It calls {b}.", "- {a} needs {b}", "| {a} | {b} |", "**{a}:** {b}", "{a}{b}"]
)
NAME = st.sampled_from(["Redis", "token cache", "C++", "北京", "O'Reilly", "a/b", "[x]", "Kafka", "🚀"])


@given(
    st.lists(
        st.tuples(st.integers(0, 2), SENTENCE, NAME, NAME, st.sampled_from(["calls", "cooccurs_with"])), max_size=30
    )
)
@settings(max_examples=60, deadline=None)
def test_every_quote_is_verbatim_in_random_corpora(drawn: list) -> None:
    pages = {f"p{k}.md": "" for k in range(3)}
    facts = []
    for page, template, subject, target, predicate in drawn:
        if subject != target:
            sentence = template.format(a=subject, b=target)
            pages[f"p{page}.md"] += sentence + ("\n\n" if len(facts) % 3 else " ")
            facts.append((f"p{page}.md", sentence, subject, predicate, target))
    frames = make_frames(pages, facts)
    reports = write(frames, max_size=3)
    for row in reports.to_dicts():
        text_of = dict(frames.documents.select("id", "text").iter_rows())
        for cited in json.loads(row["citations"]):
            assert text_of[cited["document_id"]][cited["start"] : cited["end"]] == cited["quote"] != ""


def test_wording() -> None:
    assert enumerate_names(list("ABC"), 2) == "A, B and C"
    assert [join_names(list("ABC")[:n]) for n in range(4)] == ["", "A", "A and B", "A, B and C"]
    assert enumerate_names(list("ABCD"), 2) == "A, B and 2 more"
    said = {"depends_on": "depends on", "owned_by": "is owned by", "located_in": "is located in", "calls": "calls",
            "is_part_of": "is part of", "related_to": "is related to", "moved_to": "moved to"}  # fmt: skip
    for predicate, words in said.items():
        assert say_predicate({"predicate": predicate, "origin": "extracted"}) == words


def test_a_hub_of_5000_neighbours_is_told_within_limits() -> None:
    text = "".join(f"Hub calls Service{k}. " for k in range(5000))
    facts = [("hub.md", f"Hub calls Service{k}.", "Hub", "calls", f"Service{k}") for k in range(5000)]
    row = write(make_frames({"hub.md": text}, facts)).row(0, named=True)
    assert row["size"] == 5001
    assert len(row["full_content"]) < 5000


def test_read_corpus_keeps_each_span_once_with_all_its_relationships(frames: Frames) -> None:
    corpus = read_corpus(*frames[:5])
    spans = {quote for quotes in corpus.quotes_of.values() for quote in quotes}
    billing = [quote for quote in spans if quote.text.startswith("Billing depends")]
    assert len(billing) == 1 and len(billing[0].ids) == 2
