"""Mentions -> entities: which surfaces mean the same thing, with a row for every decision (specs: indexing 3).

Normalisation (names.name_key; homonyms split) -> candidates (naming/rules, naming/declared_aliases, aliases.toml) ->
decision (vetoes first; a rule that fits two entities fits none) -> clusters -> titles. Works on distinct keys.
Reads entity_mentions, relationship_mentions, documents; writes clusters, aliases, alias_candidates, and entity_id of
every mention. The same rows in any order give the same tables.

Does not: ask a model (index/judgement.py does, and hands in verdicts) or compare vectors. What is undecided stays apart
and is a row of alias_candidates.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl

from graphrag import tables
from graphrag.ids import entity_id
from graphrag.names import name_key
from graphrag.naming.alias_rules import AliasRules as AliasRules
from graphrag.naming.alias_rules import parse_alias_rules as parse_alias_rules
from graphrag.naming.candidates import EmbedNames, find_look_alikes, rank_candidates
from graphrag.naming.common_words import set_common_words
from graphrag.naming.decisions import MAX_PROPOSALS, NameDecisions
from graphrag.naming.declared_aliases import Note, read_notes, read_persons
from graphrag.naming.entity_types import choose_type
from graphrag.naming.homonyms import split_homonyms
from graphrag.naming.namesakes import split_namesakes
from graphrag.naming.nodes import Key
from graphrag.naming.phrases import find_phrases
from graphrag.naming.qualified_names import find_linked_names
from graphrag.naming.rules import RULES
from graphrag.naming.titles import choose_title
from graphrag.naming.verdicts import apply_verdicts

CLUSTER_SCHEMA = pl.Schema(
    {"entity_id": pl.String(), "title": pl.String(), "type": pl.String(), "surfaces": pl.List(pl.String())}
)


# Relations that persons have no part in.
THING_PREDICATES = (
    "backed_by", "built_on", "connects_to", "depends_on", "deployed_to", "hosted_on", "powered_by", "reads_from",
    "runs_in", "runs_on", "served_by", "stored_in", "writes_to", "written_in",
)  # fmt: skip
_QUALIFIER_SCHEMA = pl.Schema({"id": pl.String(), "qualifier": pl.String()})


class Disambiguation(NamedTuple):
    """`clusters`: entity_id, title, type, surfaces (all names but the title, sorted), by key of the title."""

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
    rules: AliasRules | None = None,
    verdicts: pl.DataFrame | None = None,
    embed_names: EmbedNames | None = None,
    max_name_vectors: int = 0,
) -> Disambiguation:
    """Every mention gets exactly one entity. `rules` are those of aliases.toml and beat everything else.

    `verdicts` (naming/verdicts.SCHEMA): what a judge said of proposals that this same call gave without them.
    """
    rules = rules or AliasRules()
    homonyms = split_homonyms(entity_mentions, relationship_mentions)
    declared = {name_key(name) for rule in (*rules.always, *rules.never) for name in rule.all_names}
    wholes = split_namesakes(entity_mentions, documents, known={*declared, *homonyms.qualifier_of_mention})
    named = _qualify_mentions(entity_mentions, {**wholes, **homonyms.qualifier_of_mention})
    keys, key_of = _read_keys(named, documents, rules)
    _set_wholes(keys, set(wholes.values()) - set(homonyms.qualifier_of_mention.values()))
    set_common_words(keys, documents)
    things = _read_things(relationship_mentions)
    persons = read_persons(documents)
    for key in keys:
        key.is_thing = key.key in things
        if key.key in persons and not key.is_thing and choose_type(key.types) in ("person", "unknown"):
            key.types["person", "declared"] += 1
    notes = read_notes(documents)
    decisions = NameDecisions(keys, homonyms.neighbours)
    decisions.apply_user_rules(rules)
    decisions.record_homonyms()
    decisions.apply_notes(notes)
    decisions.apply_qualified_names(find_linked_names(documents, notes))
    decisions.apply_phrases(find_phrases(entity_mentions, documents, is_known=decisions.knows))
    decisions.apply_namesakes()
    for rule, is_exclusive in RULES:
        decisions.apply_rule(rule, is_exclusive=is_exclusive)
    look_alikes = find_look_alikes(
        decisions.nodes, decisions.keys, relationship_mentions, embed_names=embed_names, max_vectors=max_name_vectors
    )
    n_left_out = decisions.propose(rank_candidates([*decisions.undecided, *look_alikes.candidates]))
    cuts = [*look_alikes.cuts]
    if n_left_out:
        cuts.append(("proposals", f"{n_left_out} less probable pairs of entities with {MAX_PROPOSALS} proposals."))
    if verdicts is not None:
        groups = list(decisions.entity_groups())
        apply_verdicts(decisions, verdicts, {i: _id_of(decisions, group) for group in groups for i in group})
    entities = _name_entities(decisions, notes, rules)
    return _write_tables(named, key_of, decisions, entities, rules, cuts)


class _Entity(NamedTuple):
    """One cluster: positions of its keys, and what is said of it."""

    members: list[int]
    id: str
    title: str
    type: str


def _qualify_mentions(entity_mentions: pl.DataFrame, found: dict[str, str]) -> pl.DataFrame:
    """The mentions with a column `qualifier`, else empty: the type or full name that tells them from namesakes."""
    qualifiers = pl.DataFrame({"id": list(found), "qualifier": list(found.values())}, schema=_QUALIFIER_SCHEMA)
    return entity_mentions.join(qualifiers, on="id", how="left").with_columns(pl.col("qualifier").fill_null(""))


def _read_keys(
    named: pl.DataFrame, documents: pl.DataFrame, rules: AliasRules
) -> tuple[list[Key], dict[tuple[str, str], int]]:
    """The keys of the corpus in order, and the position of each (surface, qualifier)."""
    own_node = _surfaces_kept_apart(rules)
    places = (
        named.join(documents.select(pl.col("id").alias("document_id"), "path"), on="document_id", how="left")
        .with_columns(pl.col("path").fill_null(""))
        .group_by("surface", "qualifier", "type", "method", "document_id", "path")
        .agg(pl.len().alias("n"), pl.col("start_char").min().alias("start"))
    )
    keys: dict[tuple[str, str], Key] = {}
    node_of: dict[tuple[str, str], tuple[str, str]] = {}
    for surface, qualifier, type_name, method, document_id, path, n, start in places.iter_rows():
        if (surface, qualifier) not in node_of:
            apart = surface if not qualifier and surface in own_node else qualifier
            node_of[surface, qualifier] = (name_key(surface), apart)
        node = node_of[surface, qualifier]
        key = keys.setdefault(node, Key(*node))
        key.surfaces[surface] += n
        key.first[surface] = min(key.first.get(surface, (path, start)), (path, start))
        key.types[type_name, method] += n
        key.documents.add(document_id)
    order = sorted(keys)
    position = {node: i for i, node in enumerate(order)}
    return [keys[node] for node in order], {names: position[node] for names, node in node_of.items()}


def _set_wholes(keys: list[Key], wholes: set[str]) -> None:
    for key in keys:
        key.whole = key.qualifier if key.qualifier in wholes else ""


def _read_things(relationship_mentions: pl.DataFrame) -> set[str]:
    """Keys of names that stand at an end of a relation between things."""
    at_both, at_object = pl.col("predicate").is_in(THING_PREDICATES), pl.col("predicate").is_in(("uses", "requires"))
    found = pl.concat(
        [
            relationship_mentions.filter(at_both).select(pl.col("subject").alias("name")),
            relationship_mentions.filter(at_both | at_object).select(pl.col("object").alias("name")),
        ]
    )
    return {name_key(name) for name in found["name"].unique()}


def _surfaces_kept_apart(rules: AliasRules) -> set[str]:
    """Surfaces of equal key that `never` separates all the same: all but the first of each key get their own node."""
    apart: set[str] = set()
    for rule in rules.never:
        first: set[str] = set()
        for name in rule.names:
            if name_key(name) in first:
                apart.add(name)
            first.add(name_key(name))
    return apart


def _name_entities(decisions: NameDecisions, notes: list[Note], rules: AliasRules) -> list[_Entity]:
    """Titles (context graph 1.8), types and ids. Titles are made unique by type, then by key."""
    user_titles = {name_key(rule.title): rule.title for rule in rules.always if rule.title}
    note_titles: dict[str, str] = {}
    for note in notes:
        if note.title_is_cased and not note.is_generic:
            note_titles.setdefault(name_key(note.title), note.title)
    found: list[_Entity] = []
    for members in decisions.entity_groups():
        keys = [decisions.keys[i] for i in members]
        mentioned = [key for key in keys if key.is_mentioned]
        types: Counter[tuple[str, str]] = Counter()
        for key in mentioned:
            types.update(key.types)
        title = choose_title(keys, user_titles, note_titles)
        type_name = choose_type(types)
        for key in mentioned:
            if key.key == name_key(title) and key.qualifier in {name for name, _ in types}:
                title, type_name = f"{title} ({key.qualifier.replace('_', ' ')})", key.qualifier
        found.append(_Entity(members, _id_of(decisions, members), title, type_name))
    return _make_titles_unique(found, decisions)


def _id_of(decisions: NameDecisions, members: list[int]) -> str:
    """The smallest name key, but a part that stands for several persons comes last: which it is may change."""
    mentioned = [key for i in members if (key := decisions.keys[i]).is_mentioned]
    return entity_id(*min((bool(key.whole), key.key, key.qualifier) for key in mentioned)[1:])


def _make_titles_unique(entities: list[_Entity], decisions: NameDecisions) -> list[_Entity]:
    """Titles that clash (a title declared twice) get the type behind them, then the key, then the id."""
    found = sorted(entities, key=lambda entity: (name_key(entity.title), entity.id))
    for part in range(3):
        counts = Counter(entity.title for entity in found)
        for n, entity in enumerate(found):
            if counts[entity.title] > 1:
                key = decisions.keys[entity.members[0]].key
                behind = (entity.type.replace("_", " "), key, entity.id)[part]
                found[n] = entity._replace(title=f"{entity.title} ({behind})")
    return sorted(found, key=lambda entity: (name_key(entity.title), entity.id))


def _alias_rows(entity: _Entity, decisions: NameDecisions) -> list[dict[str, object]]:
    """A row for each name of the entity but its title, with the decision that led to it."""
    titled = name_key(entity.title)
    # A homonym's title carries its type, a made-unique one its key: then the first key stands for it.
    start = next((i for i in entity.members if decisions.keys[i].key == titled), entity.members[0])
    reached = decisions.edges_from(start)
    rows: dict[str, dict[str, object]] = {}
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


def _candidate_rows(decisions: NameDecisions, entities: list[_Entity]) -> list[dict[str, object]]:
    entity_of = {i: entity.id for entity in entities for i in entity.members}
    rows: dict[tuple[str, ...], dict[str, object]] = {}
    for refusal in decisions.refusals():
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
    return [rows[key] for key in sorted(rows)]


def _frame(table: tables.Table, rows: list[dict[str, object]]) -> pl.DataFrame:
    """As table.from_rows, without its check of each row: there may be a million candidates."""
    return table.conform(pl.DataFrame(rows, schema=table.schema, orient="row"))


def _write_tables(
    named: pl.DataFrame,
    key_of: dict[tuple[str, str], int],
    decisions: NameDecisions,
    entities: list[_Entity],
    rules: AliasRules,
    cuts: list[tuple[str, str]],
) -> Disambiguation:
    entity_of = {i: entity.id for entity in entities for i in entity.members}
    clusters: list[dict[str, object]] = []
    alias_rows: list[dict[str, object]] = []
    for entity in entities:
        rows = _alias_rows(entity, decisions)
        alias_rows += rows
        surfaces = [row["surface"] for row in rows]
        clusters.append({"entity_id": entity.id, "title": entity.title, "type": entity.type, "surfaces": surfaces})
    names = [(surface, qualifier, entity_of[i]) for (surface, qualifier), i in key_of.items()]
    found = pl.DataFrame(names, schema={"surface": pl.String, "qualifier": pl.String, "found": pl.String}, orient="row")
    mentions = (
        named.join(found, on=["surface", "qualifier"], how="left")
        .with_columns(pl.col("found").alias("entity_id"))
        .drop("qualifier", "found")
        .sort("document_id", "start_char", "end_char", "id")
    )
    failures = [
        tables.failure_row(
            "disambiguation", name, "unknown_alias", f'{rules.path}, line {line}: no document has "{name}".'
        )
        for name, line in decisions.unknown_names
    ]
    for name, line in decisions.ambiguous_names:
        detail = f'{rules.path}, line {line}: several entities are called "{name}"; the rule leaves them as they are.'
        failures.append(tables.failure_row("disambiguation", name, "ambiguous_alias", detail))
    failures += [tables.failure_row("disambiguation", source, "candidates_cut", detail) for source, detail in cuts]
    return Disambiguation(
        clusters=pl.DataFrame(clusters, schema=CLUSTER_SCHEMA, orient="row"),
        entity_mentions=tables.ENTITY_MENTIONS.conform(mentions),
        aliases=_frame(tables.ALIASES, sorted(alias_rows, key=lambda row: (row["surface"], row["entity_id"]))),
        alias_candidates=_frame(tables.ALIAS_CANDIDATES, _candidate_rows(decisions, entities)),
        failures=tables.FAILURES.from_rows(failures),
    )
