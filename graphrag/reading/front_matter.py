"""Front matter: the YAML between two lines of --- at the very top of a text file.

`find_body` says where the text below it begins, without reading the YAML, so that stages agree on it cheaply;
`parse_front_matter` reads it into plain JSON values. YAML is read with its 1.2 scalars (no: text, 12:30: text,
007: text), dates become ISO text, tags that build objects are refused, size, nesting and aliases are bounded.

Does not: decide which keys mean what (index/documents.py), or read fields inside the body.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from typing import Any, NamedTuple

import yaml

# Kinds whose text is the file itself; records and converted formats have no front matter.
TEXT_KINDS = frozenset({"md", "txt", "rst", "adoc", "org"})
MAX_CHARS = 65_536
MAX_VALUES = 10_000
MAX_DEPTH = 50

_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
# A rule of --- above prose is not front matter: the first line must look like YAML.
_YAML_LINE = re.compile(
    r"""\s*(?:\#|- |\[|\{|[!&][\w!]|\d+\s*$|"[^"\n]*"\s*:|'[^'\n]*'\s*:|[^\s:][^:\n]{0,80}:(?:\s|$))"""
)


class FrontMatter(NamedTuple):
    metadata: dict[str, Any]  # JSON values only
    warning: str  # empty, or why the YAML could not be read, with the line


class _Refused(Exception):
    pass


class _Loader(yaml.SafeLoader):
    """YAML 1.2 core scalars and ISO timestamps, each kept as text where the value would not survive."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own interface)


for _tag, _pattern, _first in (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]{0,17})$", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]{1,17}\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?$", "-+0123456789."),
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def find_body(text: str, kind: str) -> int:
    """Offset at which the text below the front matter begins; 0 where there is none."""
    if kind not in TEXT_KINDS or not (opened := _OPEN.match(text)):
        return 0
    first = re.compile(r"[ \t\n]*").match(text, opened.end())
    closed = _CLOSE.search(text, opened.end())
    if closed is None or first is None:
        return 0
    if closed.start() > first.end() and not _YAML_LINE.match(
        text, first.end(), min(closed.start(), first.end() + 4096)
    ):
        return 0
    return min(closed.end() + 1, len(text))


def parse_front_matter(text: str, kind: str) -> FrontMatter:
    """The front matter as JSON values; empty with a warning where it is no mapping, broken, too large or unsafe."""
    body = find_body(text, kind)
    if not body:
        return FrontMatter({}, "")
    source = text[text.index("\n") + 1 : body]
    source = source[: source.rstrip().rfind("\n") + 1]
    if not source.strip():
        return FrontMatter({}, "")
    if len(source) > MAX_CHARS:
        return FrontMatter(
            {}, f"line 2: front matter of {len(source)} characters is over {MAX_CHARS}. The body was read."
        )
    try:
        value = _to_json(yaml.load(source, Loader=_Loader), [MAX_VALUES], 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 2
        return FrontMatter({}, f"line {line}: front matter is not valid YAML ({error.problem}). The body was read.")
    except (yaml.YAMLError, _Refused, ValueError) as error:
        problem = " ".join(str(error).split())[:200]
        return FrontMatter({}, f"line 2: front matter is not valid YAML ({problem}). The body was read.")
    except RecursionError:
        return FrontMatter({}, "line 2: front matter is nested too deep. The body was read.")
    if not isinstance(value, dict):
        return FrontMatter({}, "line 2: front matter is not a list of `key: value` lines. The body was read.")
    return FrontMatter(value, "")


def _to_json(value: Any, left: list[int], depth: int) -> Any:
    """A YAML value as JSON. Values are counted: an alias of an alias grows without bounds when written out."""
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        raise _Refused(f"more than {MAX_VALUES} values" if left[0] < 0 else "nested too deep")
    if isinstance(value, dict):
        return {str(_to_json(key, left, depth + 1)): _to_json(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_json(item, left, depth + 1) for item in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
