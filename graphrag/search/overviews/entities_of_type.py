"""An answer that lists things of a type: "Which technologies do we rely on?", "What products are there?".

The question names a type that entities have and nothing else. Each entity of it is shown with a sentence that is
evidence of one of its relationships, those named in most documents first.

Reads entities, relationships, evidence, documents. Does not: guess types, or answer a question that names a thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrag.citations import cite
from graphrag.context import TokenCounter, pack
from graphrag.digest import rate_readability, show_quote
from graphrag.search.answer import EXTRACTIVE_LABEL, Answer, compose_answer
from graphrag.search.overviews.documents_of_kind import ASKING_STEMS
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Fact, load_facts, load_passages
from graphrag.search.sections import entity_section, fact_section, list_facts, list_sources
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_LISTED, MAX_FACTS_READ = 12, 20


# Types that a wider word of a question means too.
_WIDER = {
    "technology": (
        "technology", "tool", "database", "language", "programming language", "operating system", "web server",
        "message broker", "cache", "library", "framework", "platform", "protocol", "format", "search engine",
        "cloud provider",
    ),
    "software": ("tool", "database", "operating system", "web server", "message broker", "cache", "search engine"),
    "people": ("person",),
    "company": ("organization", "company", "vendor", "customer"),
}  # fmt: skip


class Listing(NamedTuple):
    """Entities of a type with a fact each, the type, and how many of it there are."""

    entities: list[dict[str, Any]]
    facts: dict[str, Fact]
    type: str
    n_all: int


def list_types(index: Index) -> list[str]:
    """The types that entities have, sorted."""
    sql = "select distinct type from entities where type <> 'unknown' order by type"
    return index.frame_once(sql)["type"].to_list()


def find_entities_of_type(index: Index, question: Question) -> Listing | None:
    """The entities of the one type that the question asks for; None if it asks for none or names anything else."""
    means = {kind: (kind,) for kind in list_types(index)} | _WIDER
    asked = set(question.idf) - ASKING_STEMS
    kind = next((k for k in means if asked and asked == {stem_term(term) for term in split_search_terms(k)}), "")
    if not kind:
        return None
    rows = index.frame(
        "select id, human_readable_id, title, type, description from entities "
        "where type in (select unnest(?::varchar[])) order by n_documents desc, pagerank desc, title",
        (list(means[kind]),),
    ).to_dicts()
    facts = {row["id"]: fact for row in rows[: 2 * MAX_LISTED] if (fact := _choose_fact(index, row["id"]))}
    shown = [row for row in rows if row["id"] in facts][:MAX_LISTED]
    return Listing(shown, facts, kind, len(rows)) if shown else None


def _choose_fact(index: Index, entity_id: str) -> Fact | None:
    """The stated relationship of an entity whose evidence reads best, those that others have to it first."""
    ids = index.frame(
        "select id from relationships where origin <> 'cooccurrence' and (source_id = $id or target_id = $id) "
        f"order by (target_id = $id) desc, weight desc, id limit {MAX_FACTS_READ}",
        {"id": entity_id},
    )["id"].to_list()
    facts = load_facts(index, ids)
    return max(facts, key=lambda f: (round(rate_readability(f.quote), 3), f.target_id == entity_id), default=None)


def compose_entities(
    index: Index, draft: Answer, listing: Listing, *, top: int, budget_tokens: int, count: TokenCounter
) -> Answer:
    """The draft answered with what of the listing fits the budget, and the passages that say it as sources."""
    facts = {row["id"]: listing.facts[row["id"]] for row in listing.entities}
    sections = [fact_section(list(facts.values()), share=0.7), entity_section(listing.entities, share=0.3)]
    packed = pack(sections, budget=budget_tokens, count=count)
    if "Relationships" not in packed.ids:  # a budget too small for one of them whole: the first one cut
        packed = pack(sections[:1], budget=budget_tokens, count=count)
    inside = set(packed.ids.get("Relationships", ()))
    shown = [row for row in listing.entities if facts[row["id"]].human_readable_id in inside]
    passages = load_passages(index, list(dict.fromkeys(facts[row["id"]].text_unit_id for row in shown)))
    ranked = {passage.id: 1 / rank for rank, passage in enumerate(passages, start=1)}
    draft = replace(
        draft,
        sources=list_sources(passages, ranked, top=top),
        entities=tuple(shown),
        relationships=list_facts([facts[row["id"]] for row in shown]),
    )
    n = f"{len(shown)} of {listing.n_all}" if len(shown) < listing.n_all else f"{listing.n_all}"
    label = f"{EXTRACTIVE_LABEL.rstrip(':')}; {n} entities of type {listing.type}, named in most documents first:"
    citations = [facts[row["id"]].to_citation() for row in shown]
    return compose_answer(draft, _render(shown, facts), citations, packed=packed, label=label)


def _render(entities: Sequence[Mapping[str, Any]], facts: Mapping[str, Fact]) -> list[str]:
    return [
        f"- {row['title']} — {show_quote(facts[row['id']].quote)} "
        f"{cite(Relationships=[facts[row['id']].human_readable_id])}"
        for row in entities
    ]
