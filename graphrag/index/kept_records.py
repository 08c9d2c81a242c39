"""What passages gave on other nights: rows read out of replies, kept in the memo. A night reads new replies only.

The door has the replies themselves; to render a question, look its reply up and read that again is ten times the work
of taking the rows. Kept is what was answered whole: a passage of which something could not be had is asked again.

A neighbour of extraction.py. Does not: ask, or know what the rows mean.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

import orjson

from graphrag.index.passage_calls import PassageReply
from graphrag.index.passages import Excerpt, Span
from graphrag.index.placed_records import Parsed
from graphrag.memo import Memo, memo_key

MEMO_KIND = "records"

GroupText = tuple[Excerpt, tuple[Span, ...]]
"""A text that is asked about and the spans of its text units: groups that are equal in it have equal rows but for their
offsets."""


def key_group_texts(texts: Iterable[GroupText], *asked_by: str) -> dict[GroupText, str]:
    """The memo's key of each text. `asked_by`: all that decides on its rows beside the text."""
    base = memo_key(*asked_by)
    return {
        (excerpt, spans): memo_key(base, excerpt.text, excerpt.header, orjson.dumps(spans).decode())
        for excerpt, spans in texts
    }


def recall_records(memo: Memo | None, keys: Mapping[GroupText, str]) -> dict[GroupText, Parsed]:
    """The rows of the texts that the memo knows."""
    held = memo.get_many(MEMO_KIND, list(keys.values())) if memo is not None else {}
    return {text: Parsed(*orjson.loads(zlib.decompress(held[key]))) for text, key in keys.items() if key in held}


def keep_records(memo: Memo | None, keys: Mapping[GroupText, str], parsed: Mapping[GroupText, Parsed]) -> None:
    """zlib over JSON. Never pickle: the memo is a file that others could write."""
    if memo is not None:
        memo.put_many(MEMO_KIND, {keys[text]: zlib.compress(orjson.dumps([*rows]), 1) for text, rows in parsed.items()})


def is_whole(replies: Sequence[PassageReply]) -> bool:
    """Whether all that was asked was answered, so that the next night need not ask."""
    return not any(reply.problem for reply in replies)
