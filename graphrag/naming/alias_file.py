"""Edits of the text of an aliases.toml: a rule more, a rule less, a name less; all else stays to the letter.

Comments, blank lines, order, line ends and quotes are the user's own and are not touched. Every edit is checked by
reading the text again: it must say what it said before, but for the edit, or SettingsError asks to do it by hand.

Does not: read or write files (aliases.py does), or know what documents say.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any, Literal

import orjson
import regex

from graphrag.errors import SettingsError
from graphrag.naming.alias_rules import AliasRule

Kind = Literal["always", "never"]
_HEADER = regex.compile(r"^[ \t]*\[", flags=regex.MULTILINE)
# A comment, or a string of one line: basic with escapes, or literal.
_TOKEN = regex.compile(r"#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_NAMES = regex.compile(r"^[ \t]*(?:names|\"names\"|'names')[ \t]*=[ \t]*\[", flags=regex.MULTILINE)


def render_rule(kind: Kind, names: Sequence[str], *, title: str = "") -> list[str]:
    """The lines of a rule: `[[always]]`, `title = "X"`, `names = ["Y"]`."""
    lines = [f"[[{kind}]]"]
    if title:
        lines.append(f"title = {_string(title)}")
    if names:
        lines.append(f"names = [{', '.join(map(_string, names))}]")
    return lines


def add_rule(text: str, kind: Kind, names: Sequence[str], *, title: str = "") -> str:
    """The text with one rule more at its end."""
    end = "\r\n" if "\r\n" in text else "\n"
    before = text if not text or text.endswith("\n") else text + end
    gap = end if before.strip() and not before.endswith(2 * end) else ""
    new = before + gap + end.join(render_rule(kind, names, title=title)) + end
    entry: dict[str, Any] = ({"title": title} if title else {}) | ({"names": [*names]} if names else {})
    wanted = _read(text)
    wanted[kind] = [*wanted.get(kind, []), entry]
    return _checked(new, wanted, f"add a rule to {kind}")


def remove_rule(text: str, kind: Kind, rule: AliasRule) -> str:
    """The text without the rule: its header and keys; comments above and below stay."""
    start, end = _block(text, rule)
    new = text[:start] + text[end:]
    if text[:start].endswith(("\n\n", "\r\n\r\n")) and text[end:].startswith(("\n", "\r\n")):
        new = text[:start] + text[end:].removeprefix("\r").removeprefix("\n")  # one of the two blank lines
    if not text[end:].strip():
        new = text[:start].rstrip("\r\n") + ("\r\n" if "\r\n" in text else "\n") if text[:start].strip() else ""
    wanted = _read(text)
    wanted[kind] = [entry for n, entry in enumerate(wanted[kind]) if n != _number(text, kind, rule)]
    return _checked(new, wanted, f"remove the rule of line {rule.line}")


def remove_name(text: str, kind: Kind, rule: AliasRule, name: str) -> str:
    """The text without one name of the rule's `names`; the rule must be left with something to say."""
    start, end = _block(text, rule)
    new = text
    opened = _NAMES.search(text, start, end)
    for token in _TOKEN.finditer(text, opened.end() if opened else end, end):
        if token[0][0] != "#" and tomllib.loads(f"x = {token[0]}")["x"].strip() == name:
            new = _without_item(text, token.start(), token.end())
            break
    wanted = _read(text)
    number = _number(text, kind, rule)
    entry = wanted[kind][number]
    wanted[kind][number] = entry | {"names": [item for item in entry.get("names", []) if item.strip() != name]}
    return _checked(new, wanted, f'remove "{name}" from line {rule.line}')


def _without_item(text: str, start: int, end: int) -> str:
    """Without an item of an array and the comma behind it, or before it where it is the last."""
    behind = regex.compile(r"[ \t]*,[ \t]*").match(text, end)
    if behind:
        alone = regex.compile(r"(?<=\n)[ \t]*$").search(text[:start])  # a line of its own goes whole
        line_end = regex.compile(r"\r?\n").match(text, behind.end())
        if alone and line_end:
            return text[: alone.start()] + text[line_end.end() :]
        return text[:start] + text[behind.end() :]
    before = regex.compile(r",\s*$").search(text[:start])
    return text[: before.start() if before else start] + text[end:]


def _block(text: str, rule: AliasRule) -> tuple[int, int]:
    """From the rule's header to the end of its last key, its line end included."""
    lines = _lines(text)
    start = sum(map(len, lines[: rule.line - 1]))
    header_end = start + len(lines[rule.line - 1]) if 0 < rule.line <= len(lines) else start
    after = _HEADER.search(text, header_end)
    end = after.start() if after else len(text)
    block = _lines(text[start:end])
    while block and (not block[-1].strip() or block[-1].lstrip().startswith("#")):
        block.pop()
    return start, start + sum(map(len, block))


def _lines(text: str) -> list[str]:
    """With their ends; those of TOML, not all that Unicode knows."""
    return regex.findall(r"[^\n]*\n|[^\n]+", text)


def _number(text: str, kind: Kind, rule: AliasRule) -> int:
    """Which entry of its kind the rule is."""
    header = regex.compile(rf"^[ \t]*\[\[[ \t]*[\"']?{kind}[\"']?[ \t]*\]\]", flags=regex.MULTILINE)
    lines = [text.count("\n", 0, match.start()) + 1 for match in header.finditer(text)]
    return lines.index(rule.line) if rule.line in lines else -1


def _read(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff"))


def _checked(new: str, wanted: dict[str, Any], doing: str) -> str:
    try:
        found = _read(new)
    except tomllib.TOMLDecodeError:
        found = None
    if found is None or {k: v for k, v in found.items() if v} != {k: v for k, v in wanted.items() if v}:
        raise SettingsError(f"Cannot {doing} without changing what else the file says. Edit it by hand.")
    return new


def _string(value: str) -> str:
    """A basic string of TOML; orjson escapes all but DEL as TOML wants it."""
    return orjson.dumps(value).decode().replace("\x7f", "\\u007F")
