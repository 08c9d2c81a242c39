"""Mentions -> entities: which surfaces mean the same thing, with a row for every decision (specs: indexing 3).

Four steps, one after the other in `disambiguate_entities`, each a pure function of rooms in graphrag/naming:

1. normalisation (normalisation.py): mentions -> distinct keys; homonyms are split.
2. declared names and rules (decide_by_rules): aliases.toml, front matter, sentences, structural rules; vetoes come
   first, and a rule that fits two entities fits none.
3. candidates (candidates.py): what only looks alike, stands alike or means alike, ranked; proposals, never merges. What
   a judge said of them (index/judgement.py) is applied last.
4. documents that people linked or related become names too (document_nodes.py); clusters -> entities with title, type
   and id (entities.py), and a row for every decision.

Reads entity_mentions, relationship_mentions, documents; writes clusters, aliases, alias_candidates, and entity_id of
every mention. The same rows in any order give the same tables.

Does not: ask a model, or load one (`embed_names` is handed in). What is undecided stays apart and is a row of
alias_candidates.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl

from graphrag import tables
from graphrag.names import name_key
from graphrag.naming.alias_rules import AliasRules as AliasRules
from graphrag.naming.alias_rules import parse_alias_rules as parse_alias_rules
from graphrag.naming.candidates import Cut, EmbedNames, find_look_alikes, rank_candidates
from graphrag.naming.decisions import MAX_PROPOSALS, NameDecisions
from graphrag.naming.declared_aliases import Note, read_notes
from graphrag.naming.document_nodes import place_documents
from graphrag.naming.entities import Entity, id_of, name_entities
from graphrag.naming.normalisation import Names, read_names
from graphrag.naming.phrases import find_phrases
from graphrag.naming.qualified_names import find_linked_names
from graphrag.naming.rules import RULES
from graphrag.naming.verdicts import apply_verdicts

Row = dict[str, object]

STAGE = "disambiguation"
CLUSTER_SCHEMA = pl.Schema(
    {
        "entity_id": pl.String(), "title": pl.String(), "type": pl.String(), "surfaces": pl.List(pl.String()),
        "document_ids": pl.List(pl.String()),
    }
)  # fmt: skip


class Disambiguation(NamedTuple):
    """`clusters`: entity_id, title, type, surfaces (all names but the title, sorted), document_ids (those of `related`
    that it is), by key of the title."""

    clusters: pl.DataFrame
    entity_mentions: pl.DataFrame
    aliases: pl.DataFrame
    alias_candidates: pl.DataFrame
    failures: pl.DataFrame


def disambiguate_entities(
    entity_mentions: pl.DataFrame,
    relationship_mentions: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    related: Sequence[str] = (),
    rules: AliasRules | None = None,
    verdicts: pl.DataFrame | None = None,
    embed_names: EmbedNames | None = None,
    max_name_vectors: int = 0,
) -> Disambiguation:
    """Every mention gets exactly one entity. `rules` are those of aliases.toml and beat everything else.

    `related`: ids of documents that are entities, named or not: what people linked or related (document_relations.py).
    `verdicts` (naming/verdicts.SCHEMA): what a judge said of proposals that this same call gave without them.
    `embed_names`: names -> a vector of length 1 each; asked where there are no more than `max_name_vectors` names.
    """
    rules = rules or AliasRules()
    notes = read_notes(documents)
    with _no_cycle_collection():
        names = read_names(entity_mentions, relationship_mentions, documents, notes, rules=rules)
        decisions = decide_by_rules(names, notes, entity_mentions, documents, rules=rules)
        found = find_look_alikes(
            decisions.nodes,
            decisions.keys,
            relationship_mentions,
            embed_names=embed_names,
            max_vectors=max_name_vectors,
        )
        n_left_out = decisions.propose(rank_candidates([*decisions.undecided, *found.candidates]))
        if verdicts is not None:
            groups = list(decisions.entity_groups())
            apply_verdicts(decisions.unions, verdicts, {i: id_of(decisions, group) for group in groups for i in group})
        node_of = place_documents(decisions, documents, notes, related)
        entities = name_entities(decisions, notes, rules)
        alias_rows = [_alias_rows(entity, decisions) for entity in entities]
        return Disambiguation(
            clusters=_write_clusters(entities, alias_rows, node_of),
            entity_mentions=_write_mentions(names, entities),
            aliases=_write_aliases(alias_rows),
            alias_candidates=_write_candidates(entities, decisions),
            failures=_write_failures(decisions, rules, found.cuts, n_left_out),
        )


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """No search for cycles of objects: a million small ones are made here, none in a cycle, and to walk them again and
    again took a quarter of the stage (measured on 200,000 names)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def decide_by_rules(
    names: Names, notes: Sequence[Note], entity_mentions: pl.DataFrame, documents: pl.DataFrame, *, rules: AliasRules
) -> NameDecisions:
    """What users, documents and rules decide, in order of trust."""
    decisions = NameDecisions(names.keys, names.neighbours)
    decisions.apply_user_rules(rules)
    decisions.record_homonyms()
    decisions.apply_notes(notes)
    decisions.apply_qualified_names(find_linked_names(documents, notes))
    decisions.apply_phrases(find_phrases(entity_mentions, documents, is_known=decisions.knows))
    decisions.apply_namesakes()
    for rule, is_exclusive in RULES:
        decisions.apply_rule(rule, is_exclusive=is_exclusive)
    return decisions


def _alias_rows(entity: Entity, decisions: NameDecisions) -> list[Row]:
    """A row for each name of the entity but its title, with the decision that led to it."""
    if len(entity.members) == 1 and len(decisions.keys[entity.members[0]].surfaces) == 1:
        (surface,) = decisions.keys[entity.members[0]].surfaces
        if surface == entity.title:
            return []
    titled = name_key(entity.title)
    # A homonym's title carries its type, a made-unique one its key: then the first key stands for it.
    start = next((i for i in entity.members if decisions.keys[i].key == titled), entity.members[0])
    reached = decisions.unions.edges_from(start)
    rows: dict[str, Row] = {}
    for i in entity.members:
        edge = reached.get(i)
        for surface in sorted(decisions.keys[i].surfaces):
            if surface == entity.title or surface in rows:
                continue
            rows[surface] = {
                "surface": surface,
                "entity_id": entity.id,
                "method": edge.method if edge else "key",
                "score": edge.score if edge else 1.0,
                "reason": edge.reason if edge else "The same name after normalisation.",
                "decided_by": edge.decided_by if edge else "rule",
            }
    return [rows[surface] for surface in sorted(rows)]


def _write_clusters(
    entities: Sequence[Entity], alias_rows: Sequence[list[Row]], node_of: Mapping[str, int]
) -> pl.DataFrame:
    surfaces = [[row["surface"] for row in rows] for rows in alias_rows]
    documents_of: dict[int, list[str]] = defaultdict(list)
    for document_id, node in sorted(node_of.items()):
        documents_of[node].append(document_id)
    documents = [sorted(d for i in e.members for d in documents_of.get(i, ())) for e in entities]
    columns = ([e.id for e in entities], [e.title for e in entities], [e.type for e in entities], surfaces, documents)
    return pl.DataFrame(dict(zip(CLUSTER_SCHEMA, columns, strict=True)), schema=CLUSTER_SCHEMA)


def _write_mentions(names: Names, entities: Sequence[Entity]) -> pl.DataFrame:
    entity_of = {i: entity.id for entity in entities for i in entity.members}
    rows = [(surface, qualifier, entity_of[i]) for (surface, qualifier), i in names.position_of.items()]
    found = pl.DataFrame(rows, schema={"surface": pl.String, "qualifier": pl.String, "found": pl.String}, orient="row")
    mentions = (
        names.named.join(found, on=["surface", "qualifier"], how="left")
        .with_columns(pl.col("found").alias("entity_id"))
        .drop("qualifier", "found")
        .sort("document_id", "start_char", "end_char", "id")
    )
    return tables.ENTITY_MENTIONS.conform(mentions)


def _write_aliases(alias_rows: Sequence[list[Row]]) -> pl.DataFrame:
    rows = [row for rows in alias_rows for row in rows]
    return _frame(tables.ALIASES, sorted(rows, key=lambda row: (row["surface"], row["entity_id"])))


def _write_candidates(entities: Sequence[Entity], decisions: NameDecisions) -> pl.DataFrame:
    entity_of = {i: entity.id for entity in entities for i in entity.members}
    rows: dict[tuple[str, ...], Row] = {}
    for refusal in decisions.unions.refusals():
        if refusal.a not in entity_of or refusal.b not in entity_of:  # of names that no document mentions
            continue
        sides = sorted(
            (decisions.keys[i].key, decisions.keys[i].qualifier, decisions.nodes[i].name.surface, entity_of[i])
            for i in (refusal.a, refusal.b)
        )
        (_, _, surface_a, id_a), (_, _, surface_b, id_b) = sides
        rows[surface_a, surface_b, id_a, id_b] = {
            "surface_a": surface_a,
            "surface_b": surface_b,
            "entity_id_a": id_a,
            "entity_id_b": id_b,
            "method": refusal.method,
            "score": refusal.score,
            "verdict": refusal.verdict,
            "reason": refusal.reason,
            "decided_by": refusal.decided_by,
        }
    return _frame(tables.ALIAS_CANDIDATES, [rows[key] for key in sorted(rows)])


def _write_failures(decisions: NameDecisions, rules: AliasRules, cuts: Sequence[Cut], n_left_out: int) -> pl.DataFrame:
    rows = [
        tables.failure_row(STAGE, name, "unknown_alias", f'{rules.path}, line {line}: no document has "{name}".')
        for name, line in decisions.unknown_names
    ]
    for name, line in decisions.ambiguous_names:
        detail = f'{rules.path}, line {line}: several entities are called "{name}"; the rule leaves them as they are.'
        rows.append(tables.failure_row(STAGE, name, "ambiguous_alias", detail))
    rows += [tables.failure_row(STAGE, cut.source, "candidates_cut", cut.detail) for cut in cuts]
    if n_left_out:
        detail = f"{n_left_out} less probable pairs of entities that have {MAX_PROPOSALS} proposals."
        rows.append(tables.failure_row(STAGE, "proposals", "candidates_cut", detail))
    return tables.FAILURES.from_rows(rows)


def _frame(table: tables.Table, rows: list[Row]) -> pl.DataFrame:
    """As table.from_rows, without its check of each row: there may be a million candidates."""
    return table.conform(pl.DataFrame(rows, schema=table.schema, orient="row"))
