"""Rows that answers are made of: what is shown of a fact stands in its document, to the letter."""

from __future__ import annotations

from pathlib import Path

from graphrag.search.rows import load_claims, load_facts, prove_first
from graphrag.store import open_index


def test_every_quote_of_a_fact_stands_in_its_document(sample_index: Path) -> None:
    with open_index(sample_index) as index:
        texts = dict(index.frame("select id, text from documents").iter_rows())
        origins = dict(index.frame("select id, origin from relationships order by id").iter_rows())
        facts = load_facts(index, list(origins))
        assert all(texts[fact.document][fact.start : fact.end] == fact.quote != "" for fact in facts)
        shown = {fact.id for fact in facts}
        # A relation that nobody but its author states has a note and no place.
        assert {origins[each] for each in origins.keys() - shown} == {"authored"}


def test_the_first_claims_with_evidence_are_facts(sample_index: Path) -> None:
    with open_index(sample_index) as index:
        ids = index.frame("select id from relationships order by origin = 'authored' desc, id")["id"].to_list()
        claims, facts = load_claims(index, [*ids, "nobody"]), load_facts(index, ids)
        assert [claim.id for claim in claims] == ids and not any(claim.quote for claim in claims)
        assert claims[0].id != facts[0].id, "an authored relation without a place has no evidence"
        for top in (1, 5, len(ids)):
            assert prove_first(index, claims, top=top) == facts[:top]
