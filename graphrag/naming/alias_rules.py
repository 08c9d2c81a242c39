"""The user's own word on names: aliases.toml, read and checked.

    [[always]]                         [[never]]
    title = "PostgreSQL"               names = ["AWS", "Amazon Web Services"]
    names = ["Postgres", "primary-db"]

`always` makes one entity of its names (a title alone renames), `never` keeps each pair of its names apart, whatever
rule, document or judge says otherwise. Contradictions are errors that name both lines.

Does not: look at the corpus. Names that no document mentions are reported by index/disambiguation.py.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import regex

from graphrag.errors import SettingsError, did_you_mean
from graphrag.names import name_key

_HEADER = regex.compile(r"^[ \t]*\[\[[ \t]*[\"']?(always|never)[\"']?[ \t]*\]\]", flags=regex.MULTILINE)
_KEYS = {"always": ("title", "names"), "never": ("names",)}


@dataclass(frozen=True, slots=True)
class AliasRule:
    """One entry. `title` is empty where none is given; `line` is that of its header, 0 if unknown."""

    names: tuple[str, ...]
    title: str = ""
    line: int = 0

    @property
    def all_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*([self.title] if self.title else []), *self.names]))


@dataclass(frozen=True, slots=True)
class AliasRules:
    always: tuple[AliasRule, ...] = ()
    never: tuple[AliasRule, ...] = ()
    path: str = "aliases.toml"

    def known_names(self) -> list[str]:
        """Every name that stands in the file, for extraction to look for."""
        return list(dict.fromkeys(name for rule in (*self.always, *self.never) for name in rule.all_names))


def parse_alias_rules(toml_text: str, *, path: str = "aliases.toml") -> AliasRules:
    """The rules of an aliases.toml. Raises SettingsError on broken TOML, unknown keys, wrong values, contradictions."""
    try:
        data = tomllib.loads(toml_text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f'{path}: {error}. Entries look like [[always]] title = "X", names = ["Y"].') from error
    for key in data:
        if key not in _KEYS:
            raise SettingsError(f'{path}: unknown key "{key}".{did_you_mean(key, _KEYS)} Known: always, never.')
    lines = _header_lines(toml_text)
    rules = AliasRules(
        always=tuple(_entry(data, "always", i, lines, path) for i in range(_n_entries(data, "always", path))),
        never=tuple(_entry(data, "never", i, lines, path) for i in range(_n_entries(data, "never", path))),
        path=path,
    )
    _refuse_contradictions(rules)
    return rules


def _header_lines(text: str) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {"always": [], "never": []}
    for match in _HEADER.finditer(text):
        lines[match.group(1)].append(text.count("\n", 0, match.start()) + 1)
    return lines


def _n_entries(data: dict[str, Any], kind: str, path: str) -> int:
    entries = data.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SettingsError(f"{path}: {kind} is {type(entries).__name__}; write [[{kind}]] and its keys below.")
    return len(entries)


def _entry(data: dict[str, Any], kind: str, index: int, lines: dict[str, list[int]], path: str) -> AliasRule:
    entry = data[kind][index]
    line = lines[kind][index] if len(lines[kind]) == len(data[kind]) else 0
    where = f"{path}, line {line}" if line else f"{path}, {kind} entry {index + 1}"
    for key in entry:
        if key not in _KEYS[kind]:
            known = ", ".join(_KEYS[kind])
            raise SettingsError(f'{where}: unknown key "{key}".{did_you_mean(key, _KEYS[kind])} Known: {known}.')
    names, title = entry.get("names", []), entry.get("title", "")
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise SettingsError(f"{where}: names is {names!r}; give a list of names.")
    if not isinstance(title, str) or ("title" in entry and not title.strip()):
        raise SettingsError(f"{where}: title is {title!r}; give one name.")
    rule = AliasRule(tuple(name.strip() for name in names), title.strip(), line)
    if kind == "never" and len(set(rule.names)) < 2:
        raise SettingsError(f"{where}: never needs two names or more, has {len(set(rule.names))}.")
    if kind == "always" and not rule.title and len(rule.names) < 2:
        raise SettingsError(f"{where}: always needs a title, or two names or more.")
    return rule


def _refuse_contradictions(rules: AliasRules) -> None:
    """An always chain (A = B, B = C) that never keeps apart (A, C) is an error that names the lines."""
    lines_by_key: dict[str, set[int]] = {}
    group_of: dict[str, str] = {}

    def root(key: str) -> str:
        while group_of.setdefault(key, key) != key:
            key = group_of[key]
        return key

    for rule in rules.always:
        keys = [name_key(name) for name in rule.all_names]
        for key in keys:
            group_of[root(key)] = root(keys[0])
            lines_by_key.setdefault(key, set()).add(rule.line)
    titles: dict[str, AliasRule] = {}
    for rule in rules.always:
        if rule.title:
            first = titles.setdefault(root(name_key(rule.title)), rule)
            if first.title != rule.title:
                raise SettingsError(
                    f'{rules.path}: lines {first.line} and {rule.line} give one entity two titles, "{first.title}" and '
                    f'"{rule.title}". Keep one.'
                )
    for rule in rules.never:
        for a, b in combinations(rule.names, 2):
            if name_key(a) != name_key(b) and root(name_key(a)) == root(name_key(b)) and name_key(a) in lines_by_key:
                always = sorted(lines_by_key[name_key(a)] | lines_by_key[name_key(b)])
                shown = " and ".join(str(line) for line in always)
                raise SettingsError(
                    f'{rules.path}: line {shown} (always) and line {rule.line} (never) contradict each other on "{a}" '
                    f'and "{b}". Remove one of them.'
                )
