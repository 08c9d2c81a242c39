"""The names of an entity in the published index, with why each is its name, and what was looked at and kept apart.

`find_named` reads a name as every command does: exact title, title by key, alias by key, `#12` (specs: context graph
1.9). Tables read: entities, aliases, alias_candidates, entity_mentions, documents.

Does not: change anything (alias_changes.py), or print (render/aliases.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphrag.errors import UnknownEntity, UsageError, nearest, shown_name
from graphrag.names import name_key
from graphrag.store import Index


class Named(NamedTuple):
    """An entity that a name means. `surface` is the name as the index writes it."""

    entity_id: str
    title: str
    surface: str


class EntityNames(NamedTuple):
    """`types`: all that mentions give, with counts, most frequent first. `names`, `pairs`: rows as dicts."""

    title: str
    number: int
    type: str
    types: list[tuple[str, int]]
    n_mentions: int
    n_documents: int
    degree: int
    names: list[dict[str, Any]]
    pairs: list[dict[str, Any]]


def find_named(index: Index, name: str) -> list[Named]:
    """The entities that a name means: one, or namesakes. Raises UnknownEntity with the nearest names."""
    if name.startswith("#") and name[1:].isdigit():
        rows = index.frame("select id, title from entities where human_readable_id = ?", (int(name[1:]),)).rows()
        if rows:
            return [Named(row[0], row[1], row[1]) for row in rows]
    rows = index.frame("select id, title, aliases from entities order by human_readable_id").rows()
    key = name_key(name)
    if exact := [Named(row, title, title) for row, title, _ in rows if title == name]:
        return exact
    by_title = [Named(row, title, title) for row, title, _ in rows if name_key(title) == key]
    by_alias = [
        Named(row, title, name if name in aliases else same[0])
        for row, title, aliases in rows
        if (same := [alias for alias in aliases if name_key(alias) == key])
    ]
    by_title = [found._replace(surface=name) if _is_alias(found, name, rows) else found for found in by_title]
    if found := by_title or by_alias:
        return found
    known = nearest(name, [word for _, title, aliases in rows for word in (*aliases, title)])
    raise UnknownEntity(f'No entity "{shown_name(name)}".' + (f" Nearest: {', '.join(known)}." if known else ""))


def _is_alias(found: Named, name: str, rows: list[tuple[Any, ...]]) -> bool:
    return any(row == found.entity_id and name in aliases for row, _, aliases in rows)


def find_one_named(index: Index, name: str) -> Named:
    """As find_named, for commands that need one entity. Raises UsageError where several bear the name."""
    found = find_named(index, name)
    if len(found) > 1:
        titles = ", ".join(f'"{one.title}"' for one in found)
        raise UsageError(f'"{name}" is the name of {len(found)} entities: {titles}. Say which one.')
    return found[0]


def describe_names(index: Index, entity_id: str) -> EntityNames:
    """All that is known of the names of one entity."""
    entity = index.frame(
        "select title, human_readable_id, type, n_documents, degree from entities where id = ?", (entity_id,)
    ).row(0, named=True)
    types = index.frame(
        "select type, count(*) as n from entity_mentions where entity_id = ? group by type order by n desc, type",
        (entity_id,),
    ).rows()
    names = index.frame(
        """select surface, coalesce(n, 0) as mentions, method, decided_by, score, reason
           from (select surface, count(*) as n from entity_mentions where entity_id = $id group by surface)
           full join (select * from aliases where entity_id = $id) using (surface)
           order by (surface <> $title), n desc nulls last, surface""",
        {"id": entity_id, "title": entity["title"]},
    ).to_dicts()
    pairs = index.frame(
        """select case when entity_id_a = $id then surface_a else surface_b end as surface,
                  case when entity_id_a = $id then surface_b else surface_a end as other_surface,
                  e.title as other, c.verdict, c.decided_by, c.method, c.score, c.reason
           from alias_candidates c
           join entities e on e.id = case when entity_id_a = $id then entity_id_b else entity_id_a end
           where $id in (entity_id_a, entity_id_b)
           order by verdict desc, score desc, lower(e.title), e.title, surface""",
        {"id": entity_id},
    ).to_dicts()
    return EntityNames(
        title=entity["title"],
        number=entity["human_readable_id"],
        type=entity["type"],
        types=[(row[0], row[1]) for row in types],
        n_mentions=sum(row[1] for row in types),
        n_documents=entity["n_documents"],
        degree=entity["degree"],
        names=names,
        pairs=pairs,
    )


def list_suspects(index: Index, *, top: int) -> tuple[list[dict[str, Any]], int]:
    """The first rows of the view duplicate_suspects, and how many there are in all."""
    n_open = index.frame("select count(*) as n from duplicate_suspects").item()
    rows = index.frame("select * from duplicate_suspects limit ?", (top,)).to_dicts()
    return rows, n_open
