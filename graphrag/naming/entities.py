"""Entities: the clusters that decisions leave, with their title, type and id (specs: context graph 1.8).

Does not: choose between spellings (titles.py) or decide who is one with whom (decisions.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from graphrag.ids import entity_id
from graphrag.names import name_key
from graphrag.naming.alias_rules import AliasRules
from graphrag.naming.decisions import NameDecisions
from graphrag.naming.declared_aliases import Note
from graphrag.naming.entity_types import choose_type
from graphrag.naming.titles import choose_title


class Entity(NamedTuple):
    """One cluster: positions of its keys, and what is said of it."""

    members: list[int]
    id: str
    title: str
    type: str


def name_entities(decisions: NameDecisions, notes: Sequence[Note], rules: AliasRules) -> list[Entity]:
    """Titles (context graph 1.8), types and ids. Titles are made unique by type, then by key."""
    user_titles = {name_key(rule.title): rule.title for rule in rules.always if rule.title}
    note_titles: dict[str, str] = {}
    other_names = {name_key(alias) for note in notes for alias in note.merged}
    for note in notes:
        if note.title_is_cased and not note.is_generic and name_key(note.title) not in other_names:
            note_titles.setdefault(name_key(note.title), note.title)
    found: list[Entity] = []
    for members in decisions.entity_groups():
        keys = [decisions.keys[i] for i in members]
        mentioned = [key for key in keys if key.is_mentioned]
        types: Counter[tuple[str, str]] = Counter()
        for key in mentioned:
            types.update(key.types)
        title = choose_title(keys, user_titles, note_titles)
        type_name = choose_type(types)
        for key in mentioned:
            if key.qualifier and key.key == name_key(title) and key.qualifier in {name for name, _ in types}:
                title, type_name = f"{title} ({key.qualifier.replace('_', ' ')})", key.qualifier
        found.append(Entity(members, id_of(decisions, members), title, type_name))
    return _make_titles_unique(found, decisions)


def id_of(decisions: NameDecisions, members: list[int]) -> str:
    """The smallest name key, but a part that stands for several persons comes last: which it is may change."""
    mentioned = [key for i in members if (key := decisions.keys[i]).is_mentioned]
    return entity_id(*min((bool(key.whole), key.key, key.qualifier) for key in mentioned)[1:])


def _make_titles_unique(entities: list[Entity], decisions: NameDecisions) -> list[Entity]:
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
