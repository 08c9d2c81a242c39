"""What the line around a link says of the relation: `requires:: [[X]]`, `- requires [[X]] (for login)`.

Does not: find links (links.py), or read the relation out of prose (nlp/relations.py does).
"""

from __future__ import annotations

import re

from graphrag.reading.written_link import WrittenLink, to_predicate

_KEY = r"(?P<key>[^\W_][^:\[\](){}|\n]{0,60}?)[*_]{0,3}::(?=[ \t\[]|$)[ \t]*"
_FIELD_LINE = re.compile(rf"[ \t>]{{0,200}}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]{{1,20}})?[*_]{{0,3}}{_KEY}")
_FIELD = re.compile(rf"(?P<open>[\[(]){_KEY}(?:\[\[[^\[\]\n]{{1,250}}\]\][ \t,]{{0,20}}){{0,50}}$")
_ITEM = re.compile(r"[ \t>]{0,200}[-*+][ \t]{1,20}(?P<key>[a-z][a-z_-]{1,40}(?: [a-z][a-z_-]{0,40}){0,2})[ \t]{1,20}$")
_REASON = re.compile(r"[ \t]*(?:\((?P<why>[^()\n]{1,300})\)[ \t]*)?$")
# Words that begin an item of prose before a link: "- see [[X]]", "- the [[X]]". They relate nothing.
PROSE_WORDS = frozenset((
    "a", "add", "also", "an", "and", "as", "at", "but", "by", "check", "click", "create", "each", "every", "for",
    "from", "go", "if", "in", "install", "into", "it", "its", "just", "learn", "look", "my", "new", "no", "not",
    "of", "old", "on", "open", "or", "our", "please", "read", "run", "see", "some", "that", "the", "their", "then",
    "these", "this", "those", "to", "try", "use", "using", "via", "view", "visit", "when", "where", "with", "you",
    "your",
))  # fmt: skip


def name_relation(link: WrittenLink, before: str, after: str) -> WrittenLink:
    """The link with the predicate and reason of its line. before, after: the rest of the line, code hidden."""
    if link.syntax == "embed":
        return link
    if field := _FIELD.search(before) or _FIELD_LINE.match(before):
        return link._replace(syntax="inline_field", predicate=to_predicate(field["key"]))
    item, reason = _ITEM.match(before), _REASON.match(after)
    if item and reason and item["key"].split()[0] not in PROSE_WORDS:
        return link._replace(predicate=to_predicate(item["key"]), reason=(reason["why"] or "").strip())
    return link
