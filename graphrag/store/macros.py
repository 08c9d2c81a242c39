"""Macros that the DuckDB file holds for analysts: a name to its entity, and walks over the relationships.

The walks give what the commands give (`graphrag impact`, `path`, `neighborhood` without a hub cutoff, `chains`); a test
compares them on random graphs. They take names as data; an unknown name gives no rows. In a recursive query
`recurring.walk` is all that was walked so far, so that nothing is visited twice.

Reads: entities, relationships, evidence, documents, entity_names, entity_components, impact_predicates,
impact_bystanders.
Does not: open a database (database.py does).
"""

from __future__ import annotations

from dataclasses import dataclass

from graphrag.store.views import FOLD


@dataclass(frozen=True)
class Macro:
    name: str
    signature: str
    meaning: str
    sql: str
    is_table: bool = False


MACROS = (
    Macro(
        "resolve_entity",
        "(name)",
        "Title of the entity of that name or alias, ignoring case, or NULL.",
        f"""(select title from entity_names where name_key = {FOLD.format("name::varchar")}
            order by rowid limit 1)""",
    ),
    Macro(
        "neighborhood",
        "(name, hops := 2, direction := 'out')",
        "Entities within so many hops (at most 6) of the named one; direction out, in or both. Hubs are walked "
        "through, co-occurrence is not. Columns title, hop.",
        """with recursive walk(title, hop) as (
               select resolve_entity(name), 0 where resolve_entity(name) is not null
               union
               select case when r.source = w.title and direction <> 'in' then r.target else r.source end, w.hop + 1
               from walk w join relationships r on (direction in ('out', 'both') and r.source = w.title)
                                                or (direction in ('in', 'both') and r.target = w.title)
               where w.hop < least(hops, 6) and r.origin <> 'cooccurrence')
           select title, min(hop) as hop from walk group by title order by hop, lower(title), title""",
        is_table=True,
    ),
    Macro(
        "impacted_by",
        "(name)",
        "What breaks when the named entity fails, ranked: everything that leads to it over impact_predicates. Columns "
        "rank, title, hops, weakest (the least weight on its path), total (the sum), path (from the failed one).",
        """with recursive hop as (
               select case when p.is_reversed then r.source else r.target end as near,
                      case when p.is_reversed then r.target else r.source end as far, max(r.weight) as weight
               from relationships r join impact_predicates p using (predicate)
               where r.source <> r.target and r.origin <> 'cooccurrence' group by all),
           walk(title, hops, path, weakest, total) as (
               select resolve_entity(name), 0, [resolve_entity(name)], null::double, 0::double
               where resolve_entity(name) is not null
               union all
               select title, hops, path, weakest, total from (
                   select h.far as title, w.hops + 1 as hops, list_append(w.path, h.far) as path,
                          least(coalesce(w.weakest, h.weight), h.weight) as weakest, w.total + h.weight as total,
                          row_number() over (
                              partition by h.far
                              order by least(coalesce(w.weakest, h.weight), h.weight) desc, w.total + h.weight desc,
                                       lower(array_to_string(w.path, chr(31))), array_to_string(w.path, chr(31))) as n
                   from walk w join hop h on h.near = w.title
                   where h.far not in (select title from recurring.walk)) where n = 1)
           select row_number() over (order by hops, weakest desc, total desc, lower(title), title) as rank,
                  title, hops, weakest, total, path
           from walk where hops > 0 order by rank""",
        is_table=True,
    ),
    Macro(
        "survives",
        "(name)",
        "What is connected with the named entity, in any way but co-occurrence, and does not break when it fails; but "
        "for impact_bystanders. Column title.",
        """select title from entity_components
           where component = (select component from entity_components where title = resolve_entity(name))
           and title <> resolve_entity(name) and title not in (select title from impacted_by(name))
           and type not in (select type from impact_bystanders)
           order by number""",
        is_table=True,
    ),
    Macro(
        "path_between",
        "(a, b)",
        "The best route along the arrows from one entity to another, at most 6 hops: fewest hops, then the strongest "
        "weakest hop, then the largest sum. One row a relationship. Columns step, source, predicate, target, weight, "
        "citations (path:start-end of each sentence).",
        """with recursive hop as (
               select source as near, target as far, max(weight) as weight from relationships
               where source <> target and origin <> 'cooccurrence' group by all),
           walk(title, hops, path, weakest, total) as (
               select resolve_entity(a), 0, [resolve_entity(a)], null::double, 0::double
               where resolve_entity(a) is not null and resolve_entity(a) <> resolve_entity(b)
               union all
               select title, hops, path, weakest, total from (
                   select h.far as title, w.hops + 1 as hops, list_append(w.path, h.far) as path,
                          least(coalesce(w.weakest, h.weight), h.weight) as weakest, w.total + h.weight as total,
                          row_number() over (
                              partition by h.far, least(coalesce(w.weakest, h.weight), h.weight)
                              order by w.total + h.weight desc, lower(array_to_string(w.path, chr(31))),
                                       array_to_string(w.path, chr(31))) as n
                   from walk w join hop h on h.near = w.title
                   where w.hops < 6 and h.far not in (select title from recurring.walk)
                   and resolve_entity(b) not in (select title from recurring.walk)) where n = 1),
           best as (
               select path from walk where title = resolve_entity(b)
               order by weakest desc, total desc, lower(array_to_string(path, chr(31))),
                        array_to_string(path, chr(31)) limit 1),
           steps as (select path, unnest(range(1, len(path))) as step from best)
           select s.step, r.source, r.predicate, r.target, r.weight,
                  coalesce((
                      select list(d.path || ':' || v.start_char || '-' || v.end_char order by d.path, v.start_char)
                      from evidence v join documents d on d.id = v.document_id
                      where v.relationship_id = r.id), []) as citations
           from steps s join relationships r on r.source = s.path[s.step] and r.target = s.path[s.step + 1]
           where r.origin <> 'cooccurrence' order by s.step, r.weight desc, r.predicate""",
        is_table=True,
    ),
    Macro(
        "chains_from",
        "(name, max_depth := 2)",
        "Chains of relationships that start at the named entity, each beginning a row of its own; an entity is "
        "followed once. Columns depth, chain.",
        """with recursive walk(title, depth, chain, place, is_followed) as (
               select resolve_entity(name), 0, '', 0::bigint, true where resolve_entity(name) is not null
               union all
               select r.target, w.depth + 1,
                      w.chain || case when w.chain = '' then '' else ' -> ' end
                          || '(' || r.source || ') --[' || upper(r.predicate) || ']--> (' || r.target || ')',
                      row_number() over (order by w.place, r.predicate, lower(r.target), r.target),
                      r.target not in (select title from recurring.walk) and row_number() over (
                          partition by r.target order by w.place, r.predicate) = 1
               from walk w join relationships r on r.source = w.title
               where w.is_followed and w.depth < max_depth and r.source <> r.target and r.origin <> 'cooccurrence')
           select depth, chain from walk where depth > 0 order by depth, place""",
        is_table=True,
    ),
)
