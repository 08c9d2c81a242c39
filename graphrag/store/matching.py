"""What an index shows of some documents only: its tables, restricted to rows that these documents back.

SQL of temporary tables and views that stand before those of the run under the same names, for one connection; so every
reader of an index, search, paths and neighbourhoods alike, reads the matching documents without knowing.

text_units, mentions, evidence, claims, links   those of the documents
relationships   with evidence in them; text units and weight count that evidence, the description quotes it
entities        mentioned in them, or an end of such a relationship; degree, frequency and text units count them
communities     with at least one text unit in them; members, relationships and text units are the matching ones
reports         of these communities; is_whole: no text unit of the community lies outside, else only statements of the
                report that cite matching documents are read (search/rows.py)
words           the inverted index, so that a word is as rare as it is in these documents

Unchanged: names, aliases, types, pagerank, is_hub, titles of communities, ids and numbers for citations.

Does not: find the documents (conditions.py), or run the SQL (database.py).
"""

from __future__ import annotations

from graphrag.store.inverted_index import INDEXED


def list_restrictions(run: str) -> list[str]:
    """Statements in their order. `run`: quoted name of the database, which has the table matching_documents (id)."""
    return [sql.replace("RUN.", f"{run}.main.") for sql in _STATEMENTS]


def _kept(table: str, column: str, of: str) -> str:
    """id and the sorted list `column` of the table's rows, without ids that `of` does not hold any more."""
    return (
        f"select t.id, list(t.item order by t.item) as {column} from (select id, unnest({column}) as item from "
        f"RUN.{table}) t semi join {of} o on o.id = t.item group by t.id"
    )


_RELATIONSHIPS = f"""
create temp table relationships as
with said as (
    select v.relationship_id as id, count(*) as n, count(distinct d.content_sha256) as n_documents,
           string_agg(distinct coalesce(nullif(v.description, ''), v.quote), ' '
                      order by coalesce(nullif(v.description, ''), v.quote)) as said
    from evidence v join documents d on d.id = v.document_id group by all),
counted as (select relationship_id as id, count(*) as n from RUN.evidence group by all),
kept as ({_kept("relationships", "text_unit_ids", "text_units")})
select r.* replace (
    least(r.weight, greatest(1.0, len(k.text_unit_ids))) as weight,
    coalesce(k.text_unit_ids, []) as text_unit_ids, s.n_documents as n_documents,
    case when s.n = c.n then r.description else s.said end as description)
from RUN.relationships r join said s on s.id = r.id join counted c on c.id = r.id left join kept k on k.id = r.id
order by r.rowid
"""

_ENTITIES = f"""
create temp table entities as
with said as (
    select m.entity_id as id, count(distinct d.content_sha256) as n_documents,
           string_agg(distinct nullif(m.description, ''), ' ' order by nullif(m.description, '')) as said
    from entity_mentions m join documents d on d.id = m.document_id where m.entity_id is not null group by all),
ends as (
    select source_id as id, target_id as other, origin from relationships
    union select target_id, source_id, origin from relationships),
degrees as (
    select id, count(distinct other) filter (origin <> 'cooccurrence' and id <> other) as n from ends group by id),
kept as ({_kept("entities", "text_unit_ids", "text_units")})
select e.* replace (
    case when len(k.text_unit_ids) = len(e.text_unit_ids) then e.description else coalesce(s.said, '') end
        as description,
    coalesce(k.text_unit_ids, []) as text_unit_ids, coalesce(len(k.text_unit_ids), 0) as frequency,
    coalesce(g.n, 0) as degree, coalesce(s.n_documents, 0) as n_documents)
from RUN.entities e left join said s on s.id = e.id left join degrees g on g.id = e.id left join kept k on k.id = e.id
where s.id is not null or g.id is not null or k.id is not null
order by e.rowid
"""

_COMMUNITIES = f"""
create temp table communities as
with units as ({_kept("communities", "text_unit_ids", "text_units")}),
members as ({_kept("communities", "entity_ids", "entities")}),
edges as ({_kept("communities", "relationship_ids", "relationships")}),
alive as (select list(community) as numbers from RUN.communities c semi join units u on u.id = c.id)
select c.* replace (
    u.text_unit_ids as text_unit_ids, coalesce(m.entity_ids, []) as entity_ids,
    coalesce(r.relationship_ids, []) as relationship_ids, coalesce(len(m.entity_ids), 0) as size,
    list_filter(c.children, lambda child: list_contains(a.numbers, child)) as children),
    len(u.text_unit_ids) = len(c.text_unit_ids) as is_whole
from RUN.communities c join units u on u.id = c.id cross join alive a
left join members m on m.id = c.id left join edges r on r.id = c.id
order by c.rowid
"""

_OWNERS = " union all ".join(f"select '{name}' as owner_table, id as owner_id from {name}" for name in INDEXED)

_STATEMENTS = (
    "create temp view documents as select * from RUN.documents semi join matching_documents using (id)",
    *(
        f"create temp view {name} as select * from RUN.{name} semi join documents d on d.id = document_id"
        for name in ("text_units", "entity_mentions", "relationship_mentions", "evidence", "links")
    ),
    "create temp view covariates as select * from RUN.covariates semi join text_units u on u.id = text_unit_id",
    _RELATIONSHIPS,
    _ENTITIES,
    _COMMUNITIES,
    "create temp table community_reports as select r.*, c.is_whole from RUN.community_reports r "
    "join communities c on c.community = r.community order by r.rowid",
    "create temp view entity_names as select * from RUN.entity_names semi join entities e on e.id = entity_id",
    "create temp view entity_documents as select * from RUN.entity_documents "
    "semi join entities e on e.id = entity_id semi join documents d on d.id = document_id",
    f"create temp table search_owners as select * from RUN.search_owners semi join ({_OWNERS}) "
    "using (owner_table, owner_id)",
    "create temp table embeddings as select * from RUN.embeddings e semi join search_owners "
    "using (owner_table, owner_id) order by e.rowid",
    "create temp view search_postings as select * from RUN.search_postings semi join search_owners "
    "using (owner_table, position)",
)
