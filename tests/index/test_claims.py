"""Claims: about entities only, with their quote, listed in their text unit."""

from __future__ import annotations

import polars as pl

from graphrag.index.claims import Claims, extract_claims
from graphrag.index.disambiguation import disambiguate_entities
from graphrag.index.graph import build_graph
from graphrag.llm.chat import ChatRequest
from graphrag.llm.replay import ScriptedLlm
from graphrag.store import check_integrity

from .model_rows import CLAIM_PROMPTS, TYPES, answer_depends, extract, read_folder

FOLDER = {
    "a.md": "Billing depends on Redis. On 2026-03-14 the review found that Billing lost orders.\n",
    "b.md": "Ledger depends on Redis.\n",
}
LOST = '["C","Billing","","data loss","true","2026-03-14","2026-03-14","Billing lost orders.",[2]]'


def claim(script: object) -> tuple[Claims, dict[str, pl.DataFrame], ScriptedLlm]:
    documents, text_units = read_folder(FOLDER)
    found = extract(FOLDER, answer_depends)
    named = disambiguate_entities(found.entity_mentions, found.relationship_mentions, documents)
    graph = build_graph(named.clusters, named.entity_mentions, found.relationship_mentions, text_units, documents)
    llm = ScriptedLlm(script)  # type: ignore[arg-type]
    claims = llm.run(
        extract_claims(
            graph.text_units, graph.entities, named.entity_mentions, llm=llm, prompts=CLAIM_PROMPTS,
            entity_types=TYPES, description="Any failure.", max_reply_tokens=500,
        )
    )  # fmt: skip
    frames = graph._asdict() | {"entity_mentions": named.entity_mentions, "covariates": claims.covariates}
    return claims, frames | {"text_units": claims.text_units}, llm


def test_a_claim_has_its_entity_its_dates_and_its_quote() -> None:
    claims, frames, llm = claim(lambda request: LOST if "lost orders" in request.text else "NONE")
    (row,) = claims.covariates.iter_rows(named=True)
    assert (row["covariate_type"], row["type"], row["subject_id"], row["status"]) == (
        "claim", "data loss", "Billing", "true",
    )  # fmt: skip
    assert row["source_text"] == "On 2026-03-14 the review found that Billing lost orders."
    assert row["object_id"] is None and row["start_date"] == "2026-03-14"
    assert sorted(claims.text_units["covariate_ids"].to_list()) == [[], [row["id"]]]
    assert claims.failures.is_empty() and len(llm.requests) == 2
    assert [fault for fault in check_integrity(frames) if "covariate" in fault] == []


def test_what_gives_no_claim_is_a_failure() -> None:
    def script(request: ChatRequest) -> str:
        if "lost orders" in request.text:
            return LOST.replace('"Billing"', '"Nobody Known"', 1) + "\n" + LOST + "\n- a bullet"
        return "I'm sorry, I cannot do that."

    claims, _, _ = claim(script)
    assert claims.covariates.height == 1
    assert sorted(claims.failures["reason"].to_list()) == ["refusal", "unknown_endpoint", "unreadable_record"]
