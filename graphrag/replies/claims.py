"""Read what a model answered to the claims prompt. Total: never raises, loses nothing without a count.

Does not: make ids, offsets or the covariates table (index/claims.py).
"""

from __future__ import annotations

from typing import NamedTuple

from graphrag.replies.fields import (
    CUT_MARK,
    MAX_NAME,
    NO_NAMES,
    clean_name,
    clean_text,
    clean_type,
    field_at,
    parse_sentences,
    pick,
)
from graphrag.replies.loose_json import Json
from graphrag.replies.problems import Unreadable, count_unreadable, find_problem, is_truncated
from graphrag.replies.records import CLAIM, OBJECT_END_KEYS, SENTENCE_KEYS, SUBJECT_KEYS, Record, read_records


class Claim(NamedTuple):
    subject: str
    object: str
    type: str
    status: str
    start_date: str
    end_date: str
    description: str
    source_text: str
    sentences: tuple[int, ...]


class ClaimsReply(NamedTuple):
    claims: list[Claim]
    unreadable: list[Unreadable]
    problem: str
    is_truncated: bool
    n_records: int

    @property
    def should_ask_again(self) -> bool:
        return bool(self.problem) or count_unreadable(self.unreadable) > self.n_records


def parse_claims_reply(reply: str | None, *, n_sentences: int | None = None, is_cut: bool = False) -> ClaimsReply:
    """Claims of a reply: `["C", subject, object, type, status, start, end, description, [sentences]]` a line, or the
    reference's tuples `(SUBJECT<|>OBJECT<|>TYPE<|>STATUS<|>START<|>END<|>DESCRIPTION<|>SOURCE)`.
    """
    found = read_records(reply or "")
    unreadable = [Unreadable("unreadable_record", raw) for raw in found.rejected]
    claims: dict[Claim, None] = {}
    n_records = 0
    closes_tuples = any(record.form == "tuple" and record.is_closed for record in found.records)
    for record in found.records:
        if is_truncated(record, is_cut=is_cut, closes_tuples=closes_tuples):
            unreadable.append(Unreadable("truncated", record.raw))
            continue
        item = _claim_of(record, n_sentences)
        if isinstance(item, Unreadable):
            unreadable.append(item)
            continue
        n_records += 1
        claims.setdefault(item)
    return ClaimsReply(
        list(claims),
        unreadable,
        find_problem(reply, found, has_lines=bool(found.records or unreadable)),
        is_cut or found.is_in_thought or any(line.reason == "truncated" for line in unreadable),
        n_records,
    )


def _claim_of(record: Record, n_sentences: int | None) -> Claim | Unreadable:
    if record.form == "object":
        keys = (SUBJECT_KEYS, OBJECT_END_KEYS, ("type", "claim_type"), ("status", "claim_status"),
                ("start_date", "start"), ("end_date", "end"), ("description", "claim"))  # fmt: skip
        fields = [pick(record.named, names) for names in keys]
        last: Json = pick(record.named, SENTENCE_KEYS)
        source = pick(record.named, ("source_text", "quote"))
    else:
        fields = record.fields[:7]
        last = field_at(record.fields, 7)
        source = last if record.form != "array" else None
    is_claim = record.tag in (CLAIM, "") and (record.form != "array" or record.tag == CLAIM) and len(fields) > 3
    subject, object_ = clean_name(field_at(fields, 0)), clean_name(field_at(fields, 1))
    description = clean_text(field_at(fields, 6))
    if not is_claim or subject.casefold() in NO_NAMES or not description:
        return Unreadable("unreadable_record", record.raw)
    if len(subject) > MAX_NAME or len(object_) > MAX_NAME:
        return Unreadable("name_too_long", record.raw[:MAX_NAME] + CUT_MARK)
    status = clean_text(field_at(fields, 3)).casefold()
    return Claim(
        subject, "" if object_.casefold() in NO_NAMES else object_, clean_type(field_at(fields, 2)),
        status if status in ("true", "false") else "suspected",
        _clean_date(field_at(fields, 4)), _clean_date(field_at(fields, 5)), description, clean_text(source),
        parse_sentences(last, n_sentences) if record.form != "tuple" else (),
    )  # fmt: skip


def _clean_date(value: Json) -> str:
    text = clean_text(value, limit=40)
    return "" if text.casefold() in NO_NAMES or not any(char.isdigit() for char in text) else text
