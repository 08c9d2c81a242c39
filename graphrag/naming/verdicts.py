"""What a judge said of pairs of names that rules left open: same, different, unsure.

A verdict names its pair as alias_candidates does, by surfaces and entities of the tables that the judge was shown.
`apply_verdicts` is the last step of the decisions: "same" joins whole clusters, the most alike first, unless a veto,
`never` or a "different" of the judge stands between any two of their names; then the union is cut, with its reason.

Does not: ask a judge (index/judgement.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from graphrag.naming.nodes import Edge, Refusal
from graphrag.naming.unions import Unions
from graphrag.replies.objects import DIFFERENT, SAME

SCHEMA = pl.Schema(
    {
        "surface_a": pl.String(), "surface_b": pl.String(), "entity_id_a": pl.String(), "entity_id_b": pl.String(),
        "verdict": pl.String(), "reason": pl.String(),
    }
)  # fmt: skip


def apply_verdicts(unions: Unions, verdicts: pl.DataFrame, entity_of: Mapping[int, str]) -> None:
    """`entity_of`: entity of each mentioned node before any verdict. Verdicts on other than open pairs are ignored."""
    open_pairs = {_names(unions, refusal, entity_of): refusal for refusal in unions.open_refusals(entity_of)}
    said = [
        (refusal, verdict, reason)
        for *pair, verdict, reason in verdicts.sort(SCHEMA.names()).select(SCHEMA.names()).iter_rows()
        if (refusal := open_pairs.get(frozenset([(pair[0], pair[2]), (pair[1], pair[3])])))
    ]
    said.sort(key=lambda row: (-row[0].score, row[0].a, row[0].b))
    for refusal, verdict, reason in said:
        if verdict != SAME:
            unions.record_judged(refusal, is_different=verdict == DIFFERENT, reason=_in_words(reason, verdict))
    for refusal, verdict, reason in said:
        if verdict == SAME:
            words = _in_words(reason, verdict)
            unions.join_judged(Edge(refusal.a, refusal.b, refusal.method, refusal.score, words, "judge"))
    unions.refuse_conflicting()


def _names(unions: Unions, refusal: Refusal, entity_of: Mapping[int, str]) -> frozenset[tuple[str, str]]:
    return frozenset((unions.nodes[i].name.surface, entity_of[i]) for i in (refusal.a, refusal.b))


def _in_words(reason: str, verdict: str) -> str:
    return f"The judge says {verdict}: {reason}" if reason else f"The judge says {verdict}."
