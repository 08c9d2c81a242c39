"""Find the records in a model's reply, whatever form they have: total and linear.

Forms: JSON arrays that begin with a tag (`["E", ...]`), one a line or all in one array or object; JSON objects;
the tuples of microsoft/graphrag and its kin (`("entity"<|>A<|>T<|>d)##`, `entity<|#|>A<|#|>T<|#|>d`).
Around them may stand code fences, headings, list markers, prose and thinking blocks. Prose is counted; a bullet,
a table row, or a line with delimiters that is no record is handed on as rejected, with its text.

Does not: say what the fields mean (graph.py, claims.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from graphrag.replies.loose_json import (
    CLAIM_TAGS,
    ENTITY_TAGS,
    MAX_DEPTH,
    RELATION_TAGS,
    TAGS,
    Json,
    drop_surrogates,
    read_value,
)

MAX_RAW = 2_000  # characters of a rejected record that are kept for people to look at

ENTITY, RELATION, CLAIM = "E", "R", "C"
TAG_OF = {
    **dict.fromkeys(ENTITY_TAGS, ENTITY),
    **dict.fromkeys(RELATION_TAGS, RELATION),
    **dict.fromkeys(CLAIM_TAGS, CLAIM),
    "relations": RELATION, "edges": RELATION, "nodes": ENTITY, "claims": CLAIM, "covariates": CLAIM,
}  # fmt: skip


class Record(NamedTuple):
    """One record. Its form is array, object or tuple; `tag` is empty where none was readable.

    `is_open`: the reply ended, or the next record began, before this one was closed. `is_closed`: its closing bracket
    was seen; a tuple can be neither, where a separator follows it.
    """

    form: str
    tag: str
    fields: list[Json]
    named: dict[str, Json]
    raw: str
    is_open: bool
    is_closed: bool


class Records(NamedTuple):
    records: list[Record]
    rejected: list[str]  # lines that look like records and are none
    prose: list[str]  # other lines
    n_empty: int  # empty lists: the model says that there is nothing
    is_ended: bool  # an end marker stands in the reply
    is_in_thought: bool  # the reply ends inside a thinking block


_QUOTE = "[\"'“”‘’`*]"
_MARK = r"[ \t]{0,40}+(?:(?:[-*•>+]|\d{1,4}[.)])[ \t]{1,8}+)?[`*]{0,3}+,?[ \t]{0,8}+"
_ANGLE = r"<(?=[^>]{0,8}\|)[\\/|#\ ]{1,8}>"
DELIMITER = re.compile(_ANGLE + r"|(?<=[\"”])(?:\|>|<\||<>)(?=[\"“\d])")  # the second: half of one, between quotes
_END_MARKER = re.compile(r"<\|?[ \t]{0,4}complete[ \t]{0,4}\|?>|\{completion_delimiter\}", re.I)
# Where a record may begin. tuple: `("entity"<|>`; foreign: a tuple with another first field, or claims, which have no
# tag; bare: `entity<|#|>` without brackets; tagged: `["E",` anywhere; round: `("E",`; json: a bracket at the start of a
# line; unbracketed: `"E",` at the start of a line. A line may begin with a list marker.
_OPENER = re.compile(
    rf"""(?P<tuple>\(\s{{0,8}}{_QUOTE}{{0,3}}(?:{TAGS}){_QUOTE}{{0,3}}[ ]{{0,4}}(?:{_ANGLE}|\t))
    |(?P<foreign>(?:^{_MARK}|\#\#\s{{0,8}})\({{1,3}}(?!\s{{0,8}}\()(?=[^<\n]{{0,200}}{_ANGLE}))
    |(?P<bare>^{_MARK}{_QUOTE}{{0,3}}(?:{TAGS}){_QUOTE}{{0,3}}[ ]{{0,4}}(?:{_ANGLE}|\t))
    |(?P<tagged>[\[{{(]\s{{0,40}}["'“”‘’](?:{TAGS})["'“”‘’]\s{{0,40}}[,:])
    |(?P<round>^{_MARK}\(\s{{0,40}}["'“”‘’]?(?:{TAGS})["'“”‘’]?\s{{0,40}},)
    |(?P<json>^{_MARK}[\[{{](?!\s{{0,8}}\^))
    |(?P<unbracketed>^{_MARK}["'“”](?:{TAGS})["'“”][ \t]{{0,8}},)""",
    re.I | re.M | re.X,
)
_JSON_AGAIN = re.compile(r"[ \t]{0,8}[,;]?[ \t]{0,8}(?=[\[{])")
_THOUGHT_START = re.compile(r"^[ \t]{0,8}<(think|thinking|reasoning|thought)>", re.I | re.M)
_THOUGHT_END = re.compile(r"</(?:think|thinking|reasoning|thought)>", re.I)
_TUPLE_END = re.compile(r"\)+(?=[ \t]{0,40}[,;.]?[ \t]{0,40}(?:##|\r?\n|\Z))")
_QUOTED_TUPLE_END = re.compile(r"[\"'”’`]\s{0,8}\)+(?=[ \t]{0,40}[,;.]?[ \t]{0,40}(?:##|\r?\n|\Z))")
_SEPARATOR = re.compile(r"##(?=[\s(]|\Z)|\n[ \t]{0,40}\r?\n|\n(?=[ \t]{0,8}(?:```|\*\*|#|~~~))")
_FILLER = re.compile(r"[\s#*`~_,;.=)\]}|-]*+(?:(?:json[lc5]?|text|plaintext|csv)\b)?+\s*+", re.I)
_BULLET = re.compile(r"\s{0,40}(?:[-*•+]|\d{1,4}[.)])\s{1,8}\S|\s{0,40}\|.*\|\s*$")


def read_records(reply: str) -> Records:
    text, is_in_thought = drop_thoughts(_decode_string(drop_surrogates(reply)))
    text, n_ends = _END_MARKER.subn("\n##\n", text)
    records: list[Record] = []
    residue: list[str] = []
    n_empty = 0
    position = 0
    while match := _OPENER.search(text, position):
        residue.append(text[position : match.start()])
        if match.lastgroup in ("tuple", "foreign", "bare"):
            record, position, rest = _read_tuple(text, match)
            records.append(record)
            residue.append(rest)
            continue
        start = match.start()
        if match.lastgroup == "unbracketed":
            position = _line_end(text, start)
            quote = re.search("[\"'“”]", text[start:position])
            found, _ = _read_json("[" + text[start + (quote.start() if quote else 0) : position] + "]", 0)
            records += found
            continue
        if match.lastgroup == "json":
            position = match.end() - 1
        else:
            position = start + (match[0].index("(") if match.lastgroup == "round" else 0)
        while True:
            start = position
            found, position = _read_json(text, start)
            records += found
            n_empty += not found
            again = _JSON_AGAIN.match(text, position)
            if not again:
                break
            position = again.end()
    residue.append(text[position:])
    rejected, prose = _sort_residue(residue)
    return Records(records, rejected, prose, n_empty, n_ends > 0, is_in_thought)


def _decode_string(reply: str) -> str:
    """A reply that is one JSON string, as its text."""
    stripped = reply.strip()
    if stripped.startswith('"') and stripped.endswith('"') and "\n" not in stripped:
        try:
            return drop_surrogates(str(json.loads(stripped)))
        except ValueError:
            return reply
    return reply


def drop_thoughts(reply: str) -> tuple[str, bool]:
    """The reply without its thinking blocks, and whether it ends inside one."""
    kept: list[str] = []
    position = 0
    while start := _THOUGHT_START.search(reply, position):
        kept.append(reply[position : start.start()])
        end = _THOUGHT_END.search(reply, start.end())
        if not end:
            return "".join(kept), True
        position = end.end()
    rest = reply[position:]
    if not position and (end := re.search(r"(?:^|\n)[ \t]{0,8}</(?:think|thinking)>[ \t]*(?:\n|\Z)", rest, re.I)):
        # Some chat templates open the block in the prompt: only its end is in the reply.
        rest = rest[end.end() :]
    return "".join(kept) + rest, False


def cut_raw(raw: str) -> str:
    raw = drop_surrogates(raw[: MAX_RAW + 1])
    return raw if len(raw) <= MAX_RAW else raw[:MAX_RAW] + " […]"


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


# Tuples


def _read_tuple(text: str, opener: re.Match[str]) -> tuple[Record, int, str]:
    """The record, the offset where to go on, and what stands behind the record but belongs to no other."""
    following = _OPENER.search(text, opener.end())
    while (
        following and following.lastgroup in ("tagged", "json", "round", "unbracketed") and _is_inside(text, following)
    ):
        following = _OPENER.search(text, following.end())
    end = following.start() if following else len(text)
    start = opener.start() + len(opener[0]) - len(opener[0].lstrip("# \t\r\n-*•>+0123456789.`,)"))
    body = text[start:end].lstrip("(")
    tab = "\t" if not DELIMITER.search(body) else None
    fields = body.split(tab) if tab else DELIMITER.split(body)
    last, rest, is_closed = _cut_line(fields[-1]) if opener.lastgroup == "bare" else _cut_tail(fields[-1])
    fields[-1] = last
    tag = TAG_OF.get(fields[0].strip(" \t\r\n\"'“”‘’`*()").casefold(), "")
    values: list[Json] = [field.strip() for field in (fields[1:] if tag else fields)]
    is_at_end = not following and not rest.strip() and not is_closed
    raw = body[: len(body) - len(rest)].strip()
    form = "bare" if opener.lastgroup == "bare" else "tuple"
    return Record(form, tag, values, {}, cut_raw(raw), is_at_end, is_closed), end, rest


def _is_inside(text: str, following: re.Match[str]) -> bool:
    """A bracket in the middle of a tuple's line is part of its description."""
    return following.start() > 0 and text[following.start() - 1] not in "\r\n" and not following[0].startswith("\n")


def _cut_tail(tail: str) -> tuple[str, str, bool]:
    """The last field of a tuple, the text behind the tuple, and whether a closing bracket stood between them."""
    end = _find_tuple_end(tail)
    if end >= 0:
        field = tail[:end]
        surplus = field.count(")") - field.count("(")
        while surplus > 0 and field.endswith(")"):
            field, surplus = field[:-1].rstrip(), surplus - 1
        return field, tail[end:], True
    separator = _SEPARATOR.search(tail)
    if separator:
        return tail[: separator.start()], tail[separator.start() :], False
    return tail, "", False


def _cut_line(tail: str) -> tuple[str, str, bool]:
    """The same for a tuple without brackets: it ends with its line."""
    end = _line_end(tail, 0)
    return tail[:end], tail[end:], end < len(tail)


def _find_tuple_end(tail: str) -> int:
    if tail.lstrip()[:1] in tuple("\"'“‘`") and (quoted := _QUOTED_TUPLE_END.search(tail)):
        return quoted.end()
    surplus, counted = 0, 0
    for match in _TUPLE_END.finditer(tail):
        surplus += tail.count(")", counted, match.end()) - tail.count("(", counted, match.end())
        counted = match.end()
        if surplus > 0:
            return counted
    return -1


# JSON


def _read_json(text: str, start: int) -> tuple[list[Record], int]:
    value, end, unclosed = read_value(text, start)
    end = max(end, start + 1)
    found = list(_flatten(value, "", {id(container) for container in unclosed}, 0))
    if not found and not _is_empty(value):
        found = [Record("array", "", [], {}, cut_raw(text[start:end].strip()), bool(unclosed), not unclosed)]
    elif len(found) == 1 and not found[0].raw:
        found = [found[0]._replace(raw=cut_raw(text[start:end].strip()))]
    return [record if record.raw else record._replace(raw=_raw_of(record)) for record in found], end


def _flatten(value: Json, context: str, unclosed: set[int], depth: int) -> Iterator[Record]:
    """The records inside a JSON value. `context` is the tag that the key above it implies."""
    if depth > MAX_DEPTH:
        return
    is_open = id(value) in unclosed
    if isinstance(value, dict):
        yield from _flatten_object(value, context, unclosed, depth)
    elif isinstance(value, list):
        value = _split_merged(value)
        tag = TAG_OF.get(value[0].strip(" \"'*`").casefold(), "") if value and isinstance(value[0], str) else ""
        if tag and (len(value) > 1 or is_open) and not isinstance(value[-1], dict):
            yield Record("array", tag, value[1:], {}, "", is_open, not is_open)
        elif context and value and all(isinstance(item, str) for item in value[:2]):
            yield Record("array", context, value, {}, "", is_open, not is_open)
        elif value and not any(isinstance(item, list | dict) for item in value):
            yield Record("array", "", value, {}, "", is_open, not is_open)
        else:
            for item in value:
                if isinstance(item, list | dict):
                    yield from _flatten(item, context, unclosed, depth + 1)
                elif item not in (None, ""):
                    yield Record("array", "", [item], {}, "", is_open, not is_open)


_MERGED = re.compile(r"[\"']?\s{0,8},\s{0,8}[\"'](?=\S)|\"\s{0,8},\s{0,8}(?=\S)")


def _split_merged(fields: list[Json]) -> list[Json]:
    """An array with too few fields for its tag; the field that swallowed its neighbour for want of a quote is split."""
    if not fields or not isinstance(fields[0], str) or len(fields) > 6:
        return fields
    head = _MERGED.split(fields[0], maxsplit=1)
    tag = TAG_OF.get(head[0].strip(" \"'*`").casefold(), "")
    if not tag or len(fields) - 2 + len(head) >= (3 if tag == ENTITY else 6):
        return [*head, *fields[1:]] if tag else fields
    for position, field in enumerate(fields[1:], 1):
        if isinstance(field, str) and len(parts := _MERGED.split(field, maxsplit=1)) == 2:
            return [*head, *fields[1:position], *parts, *fields[position + 1 :]]
    return [*head, *fields[1:]]


def _flatten_object(value: dict[str, Json], context: str, unclosed: set[int], depth: int) -> Iterator[Record]:
    keys = {key.strip().casefold().replace(" ", "_"): item for key, item in value.items()}
    nested = [(key, item) for key, item in keys.items() if isinstance(item, list | dict) and key not in SENTENCE_KEYS]
    if keys and (not nested or any(isinstance(keys.get(key), str) for key in OBJECT_KEYS)):
        is_open = id(value) in unclosed
        yield Record("object", context, [], keys, "", is_open, not is_open)
        return
    for key, item in nested:
        tag = TAG_OF.get(key, context)
        if isinstance(item, list) and len(key) <= 1 and item and isinstance(item[0], str):
            is_open = id(item) in unclosed
            yield Record("array", tag, item, {}, "", is_open, not is_open)
        else:
            yield from _flatten(item, tag, unclosed, depth + 1)


NAME_KEYS = ("name", "entity_name", "entity", "title", "id")
SUBJECT_KEYS = ("subject", "source", "source_entity", "src", "from", "head", "entity1", "subject_id", "source_name")
OBJECT_END_KEYS = (
    "object",
    "target",
    "target_entity",
    "tgt",
    "dst",
    "to",
    "tail",
    "entity2",
    "object_id",
    "target_name",
)
OBJECT_KEYS = (*NAME_KEYS, *SUBJECT_KEYS, *OBJECT_END_KEYS)
SENTENCE_KEYS = ("sentences", "sentence", "sentence_numbers", "sentence_ids", "evidence")


def _is_empty(value: Json) -> bool:
    if isinstance(value, dict):
        return all(isinstance(item, list | dict) and not item for item in value.values())
    return not value


def _raw_of(record: Record) -> str:
    return cut_raw(json.dumps(record.named or [record.tag, *record.fields], ensure_ascii=False, default=str))


# What stands between the records


def _sort_residue(residue: list[str]) -> tuple[list[str], list[str]]:
    rejected: list[str] = []
    prose: list[str] = []
    for position, text in enumerate(residue, 1):
        for line in text.splitlines(keepends=True):
            is_before_record = position < len(residue) and not line.endswith(("\n", "\r"))
            stripped = line.strip().strip("#").strip()
            if not stripped or _FILLER.fullmatch(stripped):
                continue
            is_rejected = DELIMITER.search(line) or (_BULLET.match(line) and not is_before_record)
            (rejected if is_rejected else prose).append(cut_raw(stripped))
    return rejected, prose
