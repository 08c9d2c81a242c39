"""Joining two entities, or splitting a name off one, by an edit of aliases.toml: what the edit is and what it will do.

The preview is no estimate: names are decided and the graph is built twice from the published mentions, with the rules
as they are and as they would be; what a judge has joined stays joined. Nothing is published: the next run applies it.

Reads entity_mentions, relationship_mentions, documents, text_units, links, entry_relations of the published index.

Does not: ask the user.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import polars as pl

from graphrag.aliases import Named, find_one_named
from graphrag.errors import SettingsError, StoreError, UsageError, shown_path
from graphrag.index.disambiguation import Disambiguation, disambiguate_entities
from graphrag.index.document_relations import list_related, relate_documents
from graphrag.index.graph import Graph, build_graph
from graphrag.names import name_key
from graphrag.naming.alias_file import add_rule, remove_name, remove_rule
from graphrag.naming.alias_rules import AliasRule, AliasRules, parse_alias_rules
from graphrag.store import Index
from graphrag.tables import TABLES

FRAMES = ("entity_mentions", "relationship_mentions", "documents", "text_units", "links", "entry_relations")


class Move(NamedTuple):
    """Mentions of a surface whose entity has another title afterwards."""

    surface: str
    mentions: int
    before: str
    after: str


class Effects(NamedTuple):
    """Counts before and after. `relationships_changed`: rows that go or come. `self_loops`: statements more (or fewer)
    than before that would relate an entity to itself and are dropped."""

    moves: list[Move]
    entities: tuple[int, int]
    relationships: tuple[int, int]
    relationships_changed: int
    self_loops: int


class AliasChange(NamedTuple):
    """An edit that has not been written: `text` is the whole file, `diff` its lines that go (-) and come (+)."""

    action: str
    names: tuple[str, str]
    path: Path
    text: str
    diff: list[str]
    effects: Effects


class _Corpus:
    """The published mentions, decided under any rules."""

    def __init__(self, index: Index) -> None:
        self._frames = {name: TABLES[name].conform(index.table(name)) for name in FRAMES}
        frames = self._frames
        self._relations = relate_documents(
            frames["links"], frames["entry_relations"], frames["documents"], frames["text_units"]
        )
        judged = index.frame(
            "select e.title, a.surface from aliases a join entities e on e.id = a.entity_id where decided_by = 'judge' "
            "order by all"
        )
        self._judged = tuple(AliasRule(names) for names in judged.iter_rows())

    def decide(self, rules: AliasRules) -> Disambiguation:
        """What a judge has joined counts as said last by the user: `never` still wins."""
        frames = self._frames
        return disambiguate_entities(
            frames["entity_mentions"],
            frames["relationship_mentions"],
            frames["documents"],
            related=list_related(self._relations),
            rules=replace(rules, always=(*rules.always, *self._judged)),
        )

    def compare(self, before: Disambiguation, after: Disambiguation) -> Effects:
        graphs = [self._build(found) for found in (before, after)]
        rows = [Counter(graph.relationships.select("source", "predicate", "target").rows()) for graph in graphs]
        loops = [graph.failures.filter(pl.col("reason") == "self_relationship").height for graph in graphs]
        return Effects(
            moves=_find_moves(before, after),
            entities=(before.clusters.height, after.clusters.height),
            relationships=(graphs[0].relationships.height, graphs[1].relationships.height),
            relationships_changed=(rows[0] - rows[1]).total() + (rows[1] - rows[0]).total(),
            self_loops=loops[1] - loops[0],
        )

    def _build(self, found: Disambiguation) -> Graph:
        frames = self._frames
        return build_graph(
            found.clusters, found.entity_mentions, frames["relationship_mentions"], frames["text_units"],
            frames["documents"], self._relations,
        )  # fmt: skip


def plan_merge(index: Index, path: Path, name: str, other: str) -> AliasChange:
    """Make `other` a name of the entity `name`.

    Raises UnknownEntity; UsageError where there is nothing to do or no rule can say it; SettingsError where the file
    contradicts it.
    """
    into, joined = find_one_named(index, name), find_one_named(index, other)
    if into.entity_id == joined.entity_id:
        raise UsageError(f'"{name}" and "{other}" are one entity already: {into.title}.')
    text, rules = _read_rules(path)
    keys = [_keys_of(index, one) for one in (into, joined)]
    steps = [text]
    for rule in reversed(rules.never):
        apart = {n for n, mine in enumerate(keys) if mine & {name_key(word) for word in rule.names}}
        if len(apart) == 2 and len(rule.names) > 2:
            raise SettingsError(
                f"{rules.path}, line {rule.line} (never) keeps more names apart than these two. Edit that line first."
            )
        if len(apart) == 2:
            steps.append(remove_rule(steps[-1], "never", rule))
    corpus = _Corpus(index)
    if len(steps) == 1 or not _are_one(corpus.decide(parse_alias_rules(steps[-1])), index, into, joined):
        names = [_sayable(index, one) for one in (into, joined)]
        steps.append(add_rule(steps[-1], "always", names[1:], title=names[0]))
    change, found = _plan("merge", (into.title, joined.title), corpus, path, steps)
    if not _are_one(found, index, into, joined):
        raise _no_rule(change)
    return _refuse_needless(change)


def plan_split(index: Index, path: Path, surface: str) -> AliasChange:
    """Make `surface`, a name of some entity, an entity of its own. Raises as plan_merge."""
    found = find_one_named(index, surface)
    if found.surface == found.title:
        others = index.frame("select aliases from entities where id = ?", (found.entity_id,)).item().to_list()
        raise UsageError(
            f'"{found.title}" has no other names: nothing can be split off.'
            if not others
            else f'"{found.title}" is the title. Split off one of its other names: {", ".join(others)}.'
        )
    text, rules = _read_rules(path)
    mine = _keys_of(index, found)
    steps = [text]
    for rule in reversed(rules.always):
        joins = {name_key(word) for word in rule.all_names} & mine
        if name_key(found.surface) in joins and len(joins) > 1:
            steps.append(_without_name(steps[-1], rule, found.surface))
    corpus = _Corpus(index)
    if len(steps) == 1 or not _are_apart(corpus.decide(parse_alias_rules(steps[-1])), found):
        names = [_sayable(index, found._replace(surface=found.title)), found.surface]
        steps.append(add_rule(steps[-1], "never", names))
    change, after = _plan("split", (found.title, found.surface), corpus, path, steps)
    if not _are_apart(after, found):
        raise _no_rule(change)
    return _refuse_needless(change)


def write_change(change: AliasChange) -> None:
    """Write the file whole or not at all. Raises StoreError."""
    path = change.path.resolve()
    aside = path.with_name(path.name + ".new")
    try:
        with aside.open("w", encoding="utf-8", newline="") as handle:
            handle.write(change.text)
            handle.flush()
            os.fsync(handle.fileno())
        if path.exists():
            aside.chmod(path.stat().st_mode & 0o777)
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StoreError(
            f"Cannot write {shown_path(change.path)}: {error.strerror or error}. It is as it was."
        ) from None


def _plan(
    action: str, names: tuple[str, str], corpus: _Corpus, path: Path, steps: list[str]
) -> tuple[AliasChange, Disambiguation]:
    """`steps`: the text as it is, after each edit, and as it will be."""
    before, after = (corpus.decide(parse_alias_rules(text, path=shown_path(path))) for text in (steps[0], steps[-1]))
    diff = [line for a, b in pairwise(steps) for line in _diff(a, b)]
    return AliasChange(action, names, path, steps[-1], diff, corpus.compare(before, after)), after


def _no_rule(change: AliasChange) -> UsageError:
    return UsageError(
        f'No rule can {change.action} "{change.names[0]}" and "{change.names[1]}": a name that namesakes share cannot '
        "say which of them it means."
    )


def _refuse_needless(change: AliasChange) -> AliasChange:
    if not change.effects.moves:
        raise UsageError(f'{shown_path(change.path)} says so already. Run "graphrag index" to apply it.')
    return change


def _diff(before: str, after: str) -> list[str]:
    """The lines that go (-) and come (+), without blank ones; a rule that goes begins with its header."""
    a, b = before.splitlines(), after.splitlines()
    lines: list[str] = []
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        while tag == "delete" and i > 0 and a[i - 1] == a[i_end - 1]:
            i, i_end = i - 1, i_end - 1
        if tag != "equal":
            lines += [f"-{line}" for line in a[i:i_end] if line.strip()]
            lines += [f"+{line}" for line in b[j:j_end] if line.strip()]
    return lines


def _read_rules(path: Path) -> tuple[str, AliasRules]:
    try:
        text = path.read_bytes().decode("utf-8") if path.is_file() else ""
    except UnicodeDecodeError:
        raise SettingsError(f"{shown_path(path)} is not UTF-8. Save it as UTF-8.") from None
    return text, parse_alias_rules(text, path=shown_path(path))


def _without_name(text: str, rule: AliasRule, surface: str) -> str:
    named = [name for name in rule.names if name_key(name) == name_key(surface)]
    left = [name for name in rule.all_names if name not in named]
    if len(left) < 2:
        return remove_rule(text, "always", rule)
    for name in named:
        text = remove_name(text, "always", rule, name)
    return text


def _keys_of(index: Index, named: Named) -> set[str]:
    aliases = index.frame("select aliases from entities where id = ?", (named.entity_id,)).item().to_list()
    return {name_key(name) for name in (named.title, *aliases)}


def _sayable(index: Index, named: Named) -> str:
    """The name of an entity that a rule can use: as asked for, else its title, else an alias; none that a namesake has.

    The title "Mercury (planet)" is made up and stands in no document; a rule that names it would name nothing.
    """
    rows: list[tuple[str, str, list[str]]] = index.frame("select id, title, aliases from entities").rows()
    taken = Counter(key for _, title, aliases in rows for key in {name_key(name) for name in (title, *aliases)})
    aliases = next(aliases for row, _, aliases in rows if row == named.entity_id)
    written = index.frame(
        "select surface from entity_mentions where entity_id = $id union select title from documents",
        {"id": named.entity_id},
    )["surface"]
    known = {name_key(surface) for surface in written} | {name_key(alias) for alias in aliases}
    for name in (named.surface, named.title, *aliases):
        if taken[name_key(name)] == 1 and name_key(name) in known:
            return name
    raise UsageError(f'No rule can name "{named.title}": each of its names is that of another entity too.')


def _are_one(found: Disambiguation, index: Index, *named: Named) -> bool:
    """Most mentions of each entity are those of one entity afterwards; a name of it may have gone elsewhere."""
    homes = set()
    for one in named:
        theirs = index.frame("select id from entity_mentions where entity_id = ?", (one.entity_id,))
        after = found.entity_mentions.join(theirs, on="id", how="semi")["entity_id"]
        homes.add(min(Counter(after.to_list()).items(), key=lambda item: (-item[1], item[0]))[0])
    return len(homes) == 1


def _are_apart(found: Disambiguation, named: Named) -> bool:
    """The surface and the title that it had are two entities."""
    surfaces = dict(found.entity_mentions.sort("id").select("surface", "entity_id").iter_rows())
    titles = dict(found.clusters.select("title", "entity_id").iter_rows())
    return surfaces.get(named.surface) != titles.get(named.title)


def _find_moves(before: Disambiguation, after: Disambiguation) -> list[Move]:
    titles = [
        found.entity_mentions.join(found.clusters.select("entity_id", "title"), on="entity_id").select(
            "id", "surface", "title"
        )
        for found in (before, after)
    ]
    moved = (
        titles[0]
        .join(titles[1].select("id", pl.col("title").alias("after")), on="id")
        .filter(pl.col("title") != pl.col("after"))
        .group_by("surface", "title", "after")
        .len()
        .sort("title", "after", "surface")
    )
    return [Move(surface, n, title, then) for surface, title, then, n in moved.iter_rows()]
