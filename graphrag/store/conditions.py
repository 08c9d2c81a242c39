"""A condition on documents in SQL, `country = 'DE' and 'redis' in tags`: parsed, checked, rewritten, then evaluated.

Names are columns of documents or keys of their metadata (front matter, further columns of a table); a column comes
first, `metadata.title` is the key. A key holds numbers, or true and false, or lists of texts where all its values are
such, else texts. DuckDB parses the condition (json_serialize_sql) to a tree, of which only comparisons, and, or, not,
in, between, like, case, casts and the functions below are let through; the tree, with names of ours in it, is what
runs. So one boolean expression over one row can be said and nothing else: no subquery, no statement, no file, no table.

Reads documents. Does not: open a database (database.py), or restrict other tables (matching.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from graphrag.errors import NothingFound, UsageError, nearest
from graphrag.tables import DOCUMENTS

MAX_CHARACTERS = 4_000
MAX_SHOWN, MAX_VALUES, MAX_VALUE_CHARACTERS = 8, 10, 40  # in a message

_COLUMNS = [name for name in DOCUMENTS.names if name != "text_unit_ids"]
_EXPRESSIONS = "COMPARISON CONJUNCTION OPERATOR FUNCTION CAST TYPE CONSTANT COLUMN_REF BETWEEN CASE COLLATE"
_WORDS = {
    "SUBQUERY": "a subquery (a value in a list is: 'x' in tags)", "WINDOW": "a window function",
    "PARAMETER": "a parameter", "STAR": "*", "LAMBDA": "a lambda",
}  # fmt: skip
_OPERATORS = "+ - * / // % || ~~ !~~ ~~* !~~* ~~~ ^@ -> ->>"
_NAMED_FUNCTIONS = (
    "abs round floor ceil trunc lower upper trim ltrim rtrim length len substring left right replace contains "
    "starts_with prefix ends_with suffix position strip_accents regexp_matches regexp_full_match nullif ifnull "
    "greatest least list_value list_contains list_has list_has_any list_has_all date_part date_trunc date_diff year "
    "month day today strftime to_years to_months to_weeks to_days"
)
_FUNCTIONS = frozenset([*_OPERATORS.split(), *_NAMED_FUNCTIONS.split()])
_AS_WRITTEN = "current_date"  # a name to DuckDB's parser
LIST = "a list of texts"
_BEFORE, _AFTER = "select 1 where (", "\n)"

Tree = dict[str, Any]
Query = Callable[[str, Sequence[object]], pl.DataFrame]
"""The rows of one query with its parameters."""


class Name(NamedTuple):
    """A name as written in a condition, its column in the query, SQL of its value in a row of documents, and its type
    in words."""

    written: str
    column: str
    sql: str
    kind: str = "a text"


class Condition(NamedTuple):
    """A condition that was let through: SQL over the columns of its names."""

    where: str
    sql: str
    names: tuple[Name, ...]

    def explain(self, problem: str) -> str:
        """A message about a problem in evaluating it, with what its names hold."""
        for name in self.names:
            problem = re.sub(rf"(?: when casting from source column)? ?\b{name.column}\b", "", problem)
        kinds = ", ".join(f"{name.written} is {name.kind}" for name in self.names)
        return f"--where: {problem.rstrip('.')}" + (f" ({kinds})." if kinds else ".")


def read_condition(query: Query, where: str) -> Condition:
    """Raises UsageError where it is no condition, or a name in it is neither a column nor a metadata key."""
    tree = _parse(query, where)
    _refuse_more(tree)
    names = _rename(query, tree)
    skeleton = _serialize(query, "true")
    skeleton["statements"][0]["node"]["where_clause"] = tree
    sql = str(query("select json_deserialize_sql(?::json) as sql", (json.dumps(skeleton),)).item())
    return Condition(where, sql.removeprefix("SELECT 1 WHERE "), tuple(names))


def find_matching(query: Query, condition: Condition) -> list[str]:
    """Ids of the documents for which it is true, in table order.

    Raises NothingFound where no document matches, and what `query` raises while it is evaluated.
    """
    columns = "".join(f", {name.sql} as {name.column}" for name in condition.names)
    rows = f"select id, rowid as row{columns} from documents"
    found = query(f"select id from ({rows}) where {condition.sql} order by row", ())["id"].to_list()
    if not found:
        values = _list_values(query, condition.names)
        raise NothingFound(f"No document matches --where {_cut(condition.where)}.{values}")
    return found


def _parse(query: Query, where: str) -> Tree:
    """The tree of the condition. Raises UsageError where it is none, or more than one."""
    if not where.strip():
        raise UsageError("--where is empty. Write a condition, such as: country = 'DE'.")
    if len(where) > MAX_CHARACTERS or "\0" in where:
        raise UsageError(f"--where must be a condition of up to {MAX_CHARACTERS} characters without NUL.")
    parsed = _serialize(query, where)
    if parsed.get("error"):
        message = str(parsed.get("error_message", "")).splitlines()[0].rstrip(".")
        is_at_end = int(parsed.get("position") or 0) >= len((_BEFORE + where).rstrip().encode())
        raise UsageError(f"--where: {'it ends too early' if is_at_end else message}. Got: {_cut(where)}")
    node = parsed["statements"][0]["node"]
    tree: Tree = node.pop("where_clause")
    frame = _serialize(query, "true")["statements"][0]["node"]
    frame.pop("where_clause")
    if len(parsed["statements"]) != 1 or _without_places(node) != _without_places(frame):
        raise UsageError(f"--where must be one condition, without clauses after it. Got: {_cut(where)}")
    return tree


def _serialize(query: Query, where: str) -> Tree:
    sql = _BEFORE + where + _AFTER
    tree: Tree = json.loads(query("select json_serialize_sql(?::varchar) as tree", (sql,)).item())
    return tree


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_places(part) for key, part in value.items() if not key.startswith("query_location")}
    return [_without_places(part) for part in value] if isinstance(value, list) else value


def _walk(value: Any) -> Iterator[Tree]:
    """The expressions of a tree, outer ones first."""
    if isinstance(value, dict):
        if "class" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _walk(part)


def _refuse_more(tree: Tree) -> None:
    """Raises UsageError for an expression that says more than a condition on one row needs."""
    for node in _walk(tree):
        if node["class"] not in _EXPRESSIONS.split():
            words = _WORDS.get(node["class"], str(node["class"]).lower())
            raise UsageError(f"--where holds {words}: only a condition on a document's own values is possible.")
        name = node.get("function_name")
        if name is None:
            continue
        if name == "row":
            raise UsageError("--where must be one condition; join several by and, or.")
        if name not in _FUNCTIONS or node.get("schema") or node.get("catalog") or node.get("filter"):
            known = nearest(name, _FUNCTIONS) or _NAMED_FUNCTIONS.split()
            raise UsageError(f'--where: no function "{name}" here. Nearest: {", ".join(known[:MAX_SHOWN])}.')


def _rename(query: Query, tree: Tree) -> list[Name]:
    """Names in the tree become columns named_0, named_1, ... ; what they stand for, in this order."""
    keys = query("select distinct unnest(json_keys(metadata)) as key from documents order by key", ())["key"].to_list()
    names: dict[str, Name] = {}
    for node in _walk(tree):
        if node["class"] != "COLUMN_REF" or node["column_names"][0].lower() == _AS_WRITTEN:
            continue
        written = ".".join(node["column_names"])
        if written not in names:
            names[written] = _find_name(query, node["column_names"], keys, column=f"named_{len(names)}")
        node["column_names"] = [names[written].column]
    return list(names.values())


def _find_name(query: Query, parts: Sequence[str], keys: Sequence[str], *, column: str) -> Name:
    """Raises UsageError with the nearest names where it is neither a column nor a key."""
    written = ".".join(parts)
    if len(parts) > 1 and parts[0].lower() == "documents":
        parts = parts[1:]
    by_lower = {name.lower(): name for name in _COLUMNS}
    if len(parts) == 1 and parts[0].lower() in by_lower:
        name = by_lower[parts[0].lower()]
        sql = f"nullif(\"{name}\", '')" if name == "creation_date" else f'"{name}"'
        return Name(written, column, sql, "a text" if DOCUMENTS.schema[name] == pl.String else "a number")
    if len(parts) > 1 and parts[0].lower() == "metadata":
        parts = parts[1:]
    first = parts[0] if parts[0] in keys else next((key for key in keys if key.lower() == parts[0].lower()), None)
    if first is not None:
        pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in (first, *parts[1:]))
        types = query(
            "select distinct json_type(metadata, ?) as type from documents where type is not null order by type",
            (pointer,),
        )["type"].to_list()
        if types:
            return _read_key(written, column, pointer.replace("'", "''"), set(types) - {"NULL"})
    known = [*keys, *_COLUMNS]
    near = nearest(parts[0], known)
    told = f"Nearest: {', '.join(near)}" if near else f"Known: {', '.join(known[:MAX_SHOWN])}"
    raise UsageError(f'--where: no column or metadata key "{written}" in documents. {told}.')


def _read_key(written: str, column: str, pointer: str, types: set[str]) -> Name:
    """SQL of a metadata key, of the one type that all its values have."""
    text = f"json_extract_string(metadata, '{pointer}')"
    if "ARRAY" in types:
        whole = f"json_extract(metadata, '{pointer}')::varchar[]"
        single = f"case when {text} is null then null else [{text}] end"
        sql = f"case json_type(metadata, '{pointer}') when 'ARRAY' then {whole} else {single} end"
        return Name(written, column, sql, LIST)
    if types and types <= {"BIGINT", "UBIGINT", "DOUBLE"}:
        return Name(written, column, f"{text}::{'double' if 'DOUBLE' in types else 'hugeint'}", "a number")
    if types == {"BOOLEAN"}:
        return Name(written, column, f"{text}::boolean", "true or false")
    return Name(written, column, text)


def _list_values(query: Query, names: Sequence[Name]) -> str:
    """` country is one of: DE, FR.` where the condition is about one thing with few values; else nothing."""
    if len(names) != 1:
        return ""
    sql = f"unnest({names[0].sql})" if names[0].kind == LIST else f"({names[0].sql})::varchar"
    rows = query(f"select distinct v from (select {sql} as v from documents) where v is not null order by v", ())
    values = rows["v"].to_list()
    if not 0 < len(values) <= MAX_VALUES or any(len(value) > MAX_VALUE_CHARACTERS for value in values):
        return ""
    return f" {names[0].written} is one of: {', '.join(values)}."


def _cut(where: str) -> str:
    shown = " ".join(where.split())
    return shown if len(shown) <= 2 * MAX_VALUE_CHARACTERS else shown[: 2 * MAX_VALUE_CHARACTERS] + "…"
