"""Why a record, or a whole reply, is of no use: cut off, empty, a refusal, or prose.

Reasons are fixed words: unreadable_record, truncated, self_relationship and name_too_long for a line;
empty_reply, refusal and unreadable_reply for a reply. A reply with such a problem is not memoised as good.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from graphrag.replies.records import ENTITY, Record, Records


class Unreadable(NamedTuple):
    """A line of the reply that is no record: unreadable_record, truncated, self_relationship or name_too_long."""

    reason: str
    raw: str


def count_unreadable(lines: list[Unreadable]) -> int:
    """Lines that could not be read; those that could, and were not kept, do not count."""
    return sum(line.reason == "unreadable_record" for line in lines)


def is_truncated(record: Record, *, is_cut: bool, closes_tuples: bool) -> bool:
    """Whether the end of an open record is missing, rather than only its closing bracket."""
    if not record.is_open:
        return False
    if record.form == "object":
        return True
    n_whole = 3 if record.tag == ENTITY else 5
    if record.form == "array":
        return len(record.fields) < (n_whole + 1 if is_cut and record.tag != ENTITY else n_whole)
    last = record.fields[-1] if record.fields else ""
    if isinstance(last, str) and len(last) > 1 and last[0] in "\"“'" and last[-1] in "\"”'":
        return len(record.fields) < min(n_whole, 4)
    is_quoted = isinstance(last, str) and last[:1] in ('"', "“")
    return is_cut or is_quoted or (record.form == "tuple" and closes_tuples)


_NOTHING = re.compile(
    r"\W*(?:none|nothing(?: found)?|n/?a|empty|\[\s*\]"
    r"|no\s+(?:\w+\s+){0,3}?(?:entit|relation|record|claim|more)\w*.*)\W*",
    re.I | re.S,
)
_NOTHING_INSIDE = re.compile(
    r"\b(?:no|any|not any)\s+(?:\w+\s+){0,3}?(?:entities|relations|relationships|records|claims)\b", re.I
)
_REFUSAL = re.compile(
    r"\b(?:i['’]?m (?:sorry|unable|not able)|i am (?:sorry|unable|not able)|i apologi[sz]e"
    r"|my apologies|sorry,|unfortunately, i\b"
    r"|i (?:cannot|can['’]?t|can not|won['’]t|am not able to|must decline|need to decline)|as an ai\b|content policy"
    r"|unable to (?:assist|help|process|comply|fulfil)|(?:cannot|can['’]t) (?:assist|help|fulfil|comply|process)"
    r"|es tut mir leid|ich kann nicht|lo siento|no puedo|je suis désolé|désolé,|je ne peux pas|mi dispiace|desculpe)"
    r"|抱歉|对不起|對不起|无法|申し訳|できません|죄송|извините|к сожалению",
    re.I,
)


def is_refusal(text: str) -> bool:
    """Whether a text begins as an apology or a refusal does, in some languages."""
    return bool(_REFUSAL.search(text[:400]))


def find_problem(reply: str | None, found: Records, *, has_lines: bool) -> str:
    if has_lines:
        return ""
    if found.is_in_thought:
        return "unreadable_reply"
    prose = " ".join(found.prose)
    if not prose:
        said_nothing = found.n_empty > 0 or found.is_ended
        return "" if said_nothing else "empty_reply"
    head = prose[:400]
    if _NOTHING.fullmatch(head) or (len(prose) < 400 and _NOTHING_INSIDE.search(head)):
        return ""
    return "refusal" if is_refusal(prose) else "unreadable_reply"
