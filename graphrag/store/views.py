"""Views and derived tables that the DuckDB file holds for analysts, as SQL text with the comments that go with it.

Views are listed in the order they are made.

Reads: all tables. Does not: open a database (database.py does), or follow relationships (macros.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphrag.tables import SUSPECT_SCORE


@dataclass(frozen=True)
class View:
    name: str
    meaning: str
    sql: str
    columns: dict[str, str] = field(default_factory=dict)


# One spelling of a name for look-ups in SQL: case, spaces, hyphens and underscores do not count.
FOLD = "lower(trim(regexp_replace({}, '[\\s_-]+', ' ', 'g')))"

ENTITY_NAMES_SQL = f"""
create table entity_names as
select name_key, title, entity_id, is_title from (
    select {FOLD.format("title")} as name_key, title, id as entity_id, true as is_title, degree from entities
    union all
    select {FOLD.format("surface")}, e.title, e.id, false, e.degree
    from (select id, title, degree, unnest(aliases) as surface from entities) e)
qualify row_number() over (partition by name_key, entity_id order by is_title desc) = 1
order by name_key, is_title desc, degree desc, lower(title), title
"""
ENTITY_NAMES_COMMENTS = {
    "entity_names": "One row a name (title or alias) of an entity, folded, best match first. See resolve_entity.",
    "entity_names.name_key": "The name in lower case; runs of spaces, hyphens and underscores are one space.",
    "entity_names.title": "Title of the entity.",
    "entity_names.entity_id": "id of the entity.",
    "entity_names.is_title": "The name is the title, not an alias.",
}

# A document whose title is the name of an entity is about it; a qualifier in brackets does not count.
ENTITY_DOCUMENTS_SQL = rf"""
create table entity_documents as
select distinct n.entity_id, d.id as document_id
from entity_names n join (
    select id, unnest([title, regexp_replace(title, '\s*\([^()]*\)\s*$', '')]) as name from documents) d
on n.name_key = {FOLD.format("d.name")}
order by all
"""
ENTITY_DOCUMENTS_COMMENTS = {
    "entity_documents": "Documents that are about an entity: their title is one of its names.",
    "entity_documents.entity_id": "id of the entity.",
    "entity_documents.document_id": "id of the document.",
}

SIMILAR_DOCUMENTS_COMMENTS = {
    "similar_documents": "Pairs of documents whose vectors have a cosine of 0.65 or more, of each document the nearest "
    "ten; empty without vectors, and beyond 20,000 documents.",
    "similar_documents.document_id_a": "The smaller id.",
    "similar_documents.document_id_b": "The larger id.",
    "similar_documents.cosine": "Of their vectors: means of those of their text units, or imported ones.",
}
IMPACT_COMMENTS = {
    "impact_predicates": "Predicates that carry a failure: settings [impact] when the run was made.",
    "impact_predicates.predicate": "Name of the predicate.",
    "impact_predicates.is_reversed": "The failure goes from source to target (X hosts Y), not from target to source.",
    "impact_bystanders": "Types that are no survivors: settings [impact] when the run was made.",
    "impact_bystanders.type": "Type of entities.",
}

VIEWS = (
    View(
        "top_entities",
        "Entities by importance: highest PageRank first.",
        """select row_number() over (order by pagerank desc, degree desc, lower(title), title) as rank,
           title, type, degree, frequency, n_documents, pagerank, is_hub, aliases, description
           from entities order by rank""",
        {"rank": "1 is the entity with the highest PageRank; degree decides among equals."},
    ),
    View(
        "entities_by_type",
        "How many entities of each type there are, and the three most connected of each.",
        """select type, count(*) as n_entities, sum(frequency)::bigint as n_text_units,
           list(title order by degree desc, pagerank desc, lower(title))[1:3] as examples
           from entities group by type order by n_entities desc, type""",
        {"n_text_units": "Sum of frequency.", "examples": "The three most connected."},
    ),
    View(
        "entity_timeline",
        "Where each entity is named, by date: one row an entity and document. Filter on entity.",
        """select e.title as entity, d.creation_date, d.title as document, d.path, m.n_mentions, s.quote
           from (select entity_id, document_id, count(*) as n_mentions from entity_mentions
                 where entity_id is not null group by all) m
           join entities e on e.id = m.entity_id
           join documents d on d.id = m.document_id
           left join (
               select entity_id, document_id, arg_min(quote, (start_char, end_char)) as quote from (
                   select r.source_id as entity_id, v.document_id, v.start_char, v.end_char, v.quote
                   from evidence v join relationships r on r.id = v.relationship_id
                   union all
                   select r.target_id, v.document_id, v.start_char, v.end_char, v.quote
                   from evidence v join relationships r on r.id = v.relationship_id)
               group by all) s on s.entity_id = m.entity_id and s.document_id = m.document_id
           order by lower(e.title), e.title, d.creation_date, d.path""",
        {
            "entity": "Title of the entity.",
            "document": "Title of the document.",
            "n_mentions": "How often the document names it.",
            "creation_date": "Date of the document, ISO; empty if it has none.",
            "quote": "First sentence of the document that states a relationship of the entity; null if none does.",
        },
    ),
    View(
        "relationship_evidence",
        "Every relationship with each sentence that states it, and where it stands.",
        """select r.source, r.predicate, r.target, r.origin, r.weight, d.path, v.start_char, v.end_char, v.quote,
           v.is_verified, d.creation_date, r.human_readable_id as relationship_number
           from evidence v join relationships r on r.id = v.relationship_id join documents d on d.id = v.document_id
           order by lower(r.source), r.source, r.predicate, lower(r.target), r.target, d.path, v.start_char""",
        {"relationship_number": "Number used in citations: Relationships (n)."},
    ),
    View(
        "predicates",
        "Which predicates there are, how often, and one example each.",
        """select predicate, count(*) as n_relationships, sum(n_documents)::bigint as n_documents,
           arg_max(source || ' ' || predicate || ' ' || target, (weight, combined_degree, id)) as example
           from relationships group by predicate order by n_relationships desc, predicate""",
        {"n_documents": "Sum over its relationships.", "example": "Its relationship of the greatest weight."},
    ),
    View(
        "unconnected_entities",
        "Entities without any relationship except co-occurrence, most mentioned first.",
        """select title, type, frequency, n_documents, aliases from entities where degree = 0
           order by frequency desc, lower(title), title""",
    ),
    View(
        "duplicate_suspects",
        "Pairs of entities that may be the same but were not merged, but for the least alike (score under "
        f"{SUSPECT_SCORE}, which alias_candidates holds). Settle them in aliases.toml.",
        f"""select a.title as title_a, b.title as title_b, c.score, c.method, c.reason, a.type as type_a,
           b.type as type_b, a.degree as degree_a, b.degree as degree_b, c.surface_a, c.surface_b
           from alias_candidates c join entities a on a.id = c.entity_id_a join entities b on b.id = c.entity_id_b
           where c.verdict = 'propose' and c.score >= {SUSPECT_SCORE}
           order by c.score desc, a.degree + b.degree desc, lower(a.title), lower(b.title), c.surface_a, c.surface_b""",
        {
            "title_a": "The first entity.",
            "title_b": "The second entity.",
            "type_a": "Type of the first.",
            "type_b": "Type of the second.",
            "degree_a": "degree of the first.",
            "degree_b": "degree of the second.",
        },
    ),
    View(
        "community_overview",
        "Communities with the title and summary of their report, largest first within a level.",
        """select c.level, c.community, c.parent, c.size, coalesce(r.title, c.title) as title, r.rank, c.period,
           r.summary, r.method
           from communities c left join community_reports r on r.community = c.community
           order by c.level, c.size desc, c.community""",
        {"method": "How the report was made: llm, extractive or template; null if there is none."},
    ),
    View(
        "entity_communities",
        "Which community each entity is in, one row an entity and level.",
        """select e.title as entity, c.level, c.community, coalesce(r.title, c.title) as community_title, c.size
           from (select community, level, title, size, unnest(entity_ids) as entity_id from communities) c
           join entities e on e.id = c.entity_id
           left join community_reports r on r.community = c.community
           order by lower(e.title), e.title, c.level""",
        {
            "entity": "Title of the entity.",
            "community_title": "Title of its report, else its own.",
        },
    ),
    View(
        "document_overview",
        "Documents with what was found in each.",
        """select d.human_readable_id as document_number, d.path, d.title, d.creation_date, d.n_tokens,
           len(d.text_unit_ids) as n_text_units, coalesce(m.n_entities, 0) as n_entities,
           coalesce(v.n_evidence, 0) as n_evidence
           from documents d
           left join (select document_id, count(distinct entity_id) as n_entities from entity_mentions group by all) m
               on m.document_id = d.id
           left join (select document_id, count(*) as n_evidence from evidence group by all) v on v.document_id = d.id
           order by d.path""",
        {
            "document_number": "Number used in citations: Documents (n).",
            "n_entities": "Distinct entities named in it.",
            "n_evidence": "Sentences in it that state a relationship.",
        },
    ),
    View(
        "unlinked_but_related",
        "Pairs of documents that have to do with each other, not linked and not related: at least two entities in "
        "common, of those that at most twenty documents name, or vectors that are alike (similar_documents).",
        """with named as (
               select distinct m.document_id, m.entity_id from entity_mentions m where m.entity_id is not null),
           rare as (
               select entity_id, count(*) as n from named group by entity_id having count(*) between 2 and 20),
           shared as (
               select a.document_id as id_a, b.document_id as id_b, count(*) as n_shared, sum(1.0 / r.n) as score,
               list(e.title order by r.n, lower(e.title), e.title)[1:5] as shared
               from rare r join named a on a.entity_id = r.entity_id join named b on b.entity_id = r.entity_id
               join entities e on e.id = r.entity_id
               where a.document_id < b.document_id group by all having count(*) >= 2),
           pairs as (
               select coalesce(s.id_a, v.document_id_a) as id_a, coalesce(s.id_b, v.document_id_b) as id_b,
               coalesce(s.n_shared, 0) as n_shared, coalesce(s.score, 0) as score, v.cosine,
               coalesce(s.shared, []) as shared
               from shared s full join similar_documents v on v.document_id_a = s.id_a and v.document_id_b = s.id_b),
           linked as (
               select source_document_id as id_a, target_document_id as id_b from links
               where target_document_id is not null
               union all select from_document_id, to_document_id from entry_relations)
           select least(a.path, b.path) as path_a, greatest(a.path, b.path) as path_b, s.n_shared,
           round(s.score, 3) as score, s.cosine, s.shared
           from pairs s join documents a on a.id = s.id_a join documents b on b.id = s.id_b
           where not exists (select 1 from linked l where l.id_a = s.id_a and l.id_b = s.id_b)
           and not exists (select 1 from linked l where l.id_a = s.id_b and l.id_b = s.id_a)
           and a.content_sha256 <> b.content_sha256
           order by round(s.score, 3) + coalesce(s.cosine, 0) desc, path_a, path_b""",
        {
            "path_a": "One document; the smaller path.",
            "path_b": "The other.",
            "n_shared": "Entities that both name.",
            "score": "Sum over them of 1 / number of documents that name it: the rarer what they share, the higher.",
            "cosine": "Of their vectors; null below the threshold, without vectors, and beyond the nearest ten.",
            "shared": "The five rarest of what both name.",
        },
    ),
    View(
        "mentioned_but_unlinked",
        "Notes that name what another note is about, and do not link to it. Names of several notes are left out.",
        """select d.path, t.path as target_path, e.title as entity, count(*) as n_mentions,
           list(distinct m.surface order by m.surface) as names
           from entity_documents o
           join (select entity_id from entity_documents group by entity_id having count(*) = 1) one
           on one.entity_id = o.entity_id
           join entities e on e.id = o.entity_id join entity_mentions m on m.entity_id = o.entity_id
           join documents d on d.id = m.document_id join documents t on t.id = o.document_id
           where d.kind = 'md' and d.id <> t.id and d.content_sha256 <> t.content_sha256 and not exists (
               select 1 from links l where l.source_document_id = d.id and l.target_document_id = t.id)
           group by d.path, t.path, e.title order by d.path, t.path, e.title""",
        {
            "path": "The note that names it.",
            "target_path": "The document that is about it.",
            "entity": "What that document is about.",
            "n_mentions": "How often the note names it.",
            "names": "The names that the note uses.",
        },
    ),
    View(
        "linked_but_never_mentioned",
        "Links to a document about an entity that the linking document never names, in no spelling: the link stands "
        "for something that its text is silent about.",
        """select d.path, l.line, l.raw, t.path as target_path, string_agg(e.title, ', ' order by e.title) as entity
           from links l join documents d on d.id = l.document_id join documents t on t.id = l.target_document_id
           join entity_documents o on o.document_id = t.id join entities e on e.id = o.entity_id
           where l.status in ('resolved', 'ambiguous') and l.source_document_id = l.document_id
           and not exists (
               select 1 from entity_documents p join entity_mentions m on m.entity_id = p.entity_id
               where p.document_id = t.id and m.document_id = d.id)
           group by d.path, l.ordinal, l.line, l.raw, t.path order by d.path, l.ordinal""",
        {
            "path": "The document with the link.",
            "target_path": "The document that it leads to.",
            "entity": "What that document is about.",
        },
    ),
    View(
        "relations_by_source",
        "Typed relations between documents by who wrote them in what role, and how many have a note.",
        """select origin, source, type, count(*) as n_relations, count(*) filter (note <> '') as n_notes,
           count(*) filter (is_leak) as n_leaks from entry_relations group by all
           order by n_relations desc, origin, source, type""",
        {"n_relations": "Relations of that kind.", "n_notes": "Those with a note.", "n_leaks": "Those with is_leak."},
    ),
    View(
        "notes_missing",
        "Authored relations without a note that says how the other document pertains.",
        """select f.path as from_path, r.type, t.path as to_path, r.source, r.actor, r.at, r.event_id
           from entry_relations r join documents f on f.id = r.from_document_id
           join documents t on t.id = r.to_document_id
           where r.origin = 'authored' and trim(r.note) = '' order by from_path, r.type, to_path""",
        {"from_path": "The document that it starts at.", "to_path": "The document that it leads to."},
    ),
    View(
        "steps_without_successor",
        "Documents that something precedes, or that produce something, and that precede nothing: where a chain of "
        "steps ends, or is not written on.",
        """select d.path, d.title, count(*) filter (r.type = 'precedes') as n_before,
           count(*) filter (r.type = 'produces') as n_produced
           from documents d join entry_relations r on (r.type = 'precedes' and r.to_document_id = d.id)
           or (r.type = 'produces' and r.from_document_id = d.id)
           where not exists (select 1 from entry_relations n where n.type = 'precedes' and n.from_document_id = d.id)
           group by d.path, d.title order by d.path""",
        {"n_before": "Documents that precede it.", "n_produced": "Documents that it produces."},
    ),
    View(
        "decisions_with_one_branch",
        "Documents of type decision that precede, produce or require exactly one other: the way that was not taken "
        "is not written down.",
        """select d.path, d.title, min(r.type) as type, min(t.path) as to_path
           from documents d join entry_relations r on r.from_document_id = d.id
           join documents t on t.id = r.to_document_id
           where lower(json_extract_string(d.metadata, '$.type')) = 'decision'
           and r.type in ('precedes', 'produces', 'requires')
           group by d.path, d.title having count(distinct r.to_document_id) = 1 order by d.path""",
        {"to_path": "The one document."},
    ),
    View(
        "failures_by_reason",
        "What could not be done, counted by stage and reason, with one example each.",
        """select stage, reason, count(*) as n_failures, min(item_id) as example, arg_min(detail, item_id) as detail
           from failures group by stage, reason order by n_failures desc, stage, reason""",
        {"example": "First item_id by name.", "detail": "What happened to the example."},
    ),
)
