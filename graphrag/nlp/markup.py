"""From the Markdown of one sentence to the plain text that people read, with the way back to its offsets.

Marks of emphasis, links and code are left out, addresses and pieces of code become a neutral noun, line breaks become
spaces; `offsets` says where each character came from. `Clean.locate` gives the raw span of a clean span, or None where
the raw text differs from it in more than spaces and quotes, so that a surface always slices back; a role such as
:pep:`600`, read as PEP 600, is located as it stands.

Does not: cut sentences (graphrag/sentences.py), or resolve links (index/links.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import regex

QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
# What a piece of inline code must be to count as a name: one word, path-like punctuation only inside.
CODE_NAME = regex.compile(r"[\p{L}][\p{L}\d]*(?:[-_.:/][\p{L}\d]+)*")

NUMBER_ROLE = regex.compile(r":(?P<prefix>pep|rfc|cve):`(?P<number>\d[\w-]*)`")

MARKUP = regex.compile(
    r"""
      (?P<prefix>\A\s*(?:>\s*)*(?:\#{1,6}\s+|(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[\ xX]\]\s+)?)?)
    | (?P<drop><!--.*?-->|<%.*?%>|\{\{.*?\}\}|\{%.*?%\}|</?[A-Za-z][^<>]*>|\[\^[^\]\s]++\]
        |!\[\[[^\[\]]*+\]\]|!\[[^\[\]]*+\]\([^()\s]*+(?:\s+"[^"]*+")?\))
    | (?P<wiki>\[\[(?P<target>[^\[\]|\#\n]*+)(?:\#[^\[\]|\n]*+)?(?:\|(?P<display>[^\[\]\n]*+))?\]\])
    | (?P<link>\[(?P<text>[^\[\]]++)\](?:\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)?(?:\s+"[^"]*+")?\)|\[[^\[\]]*+\]))
    | (?P<address><?(?:https?|ftp|mailto|ssh|git):[^\s<>)\]]*[^\s<>)\].,;:!?'"]>?
        |www\.[^\s<>)\]]*[^\s<>)\].,;:!?'"]|(?<![\w.+-])[\w.+-]++@[\w-]+\.[\w.-]*\w)
    | (?P<role>:(?P<kind>[a-z]+):`(?P<value>[^`\n]+)`)
    | (?P<code>(?P<ticks>`+)(?P<inner>.+?)(?P=ticks)(?:__?(?!\w))?)
    | (?P<mark>\*\*+|__+(?=\w)|(?<=\w)__+(?!\w)|~~|==(?=\w)|(?<=\w)==(?!=)
        |\*(?=\w)|(?<=[\w.,;:!?)])\*(?!\w)|(?<!\w)_(?=\w)|(?<=\w)_(?!\w))
    | (?P<escape>\\[\\`*_{}\[\]()\#+.!|<>-])
    | (?P<space>\s*\n[\s>]*|\s+)
    """,
    regex.VERBOSE | regex.DOTALL,
)

# Words with one space between them and no sign that MARKUP might begin with: most sentences, and read ten times faster.
PLAIN = regex.compile(r"(?!.*www\.)\p{L}[^\s<{\[`*_~=\\@:]*+(?: [^\s<{\[`*_~=\\@:]++)*+")


@dataclass
class Clean:
    """Readable text; `offsets[i]` is where character i stands in the raw text, with one item more for the end.

    codes, links: spans of inline code and of link texts that are names in their own right (clean offsets).
    opens: clean offsets where link text or emphasis begins or ends, so that a capital there says little.
    """

    raw: str
    text: str = ""
    offsets: list[int] = field(default_factory=list)
    codes: list[tuple[int, int]] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    opens: list[int] = field(default_factory=list)

    def locate(self, start: int, end: int) -> tuple[int, int] | None:
        """The raw span of a clean span; None where the raw text there is not the same name."""
        if not 0 <= start < end <= len(self.text):
            return None
        raw_start, raw_end = self.offsets[start], self.offsets[end - 1] + 1
        if (role := NUMBER_ROLE.match(self.raw, raw_start)) and read_role(role) == self.text[start:end]:
            return role.span()
        written = " ".join(self.raw[raw_start:raw_end].translate(QUOTES).split())
        return (raw_start, raw_end) if written == self.text[start:end] else None


def clean_markup(raw: str) -> Clean:
    """The readable text of one sentence, list item, heading or cell."""
    if PLAIN.fullmatch(raw):
        return Clean(raw, raw.translate(QUOTES), list(range(len(raw) + 1)))
    return _clean_marks(raw)


def _clean_marks(raw: str) -> Clean:
    clean = Clean(raw)
    pieces: list[str] = []
    for piece, offset, kind in _pieces(raw, 0):
        length = len(clean.offsets)
        if kind == "open":
            clean.opens.append(length)
            continue
        if piece == " " and (not pieces or pieces[-1].endswith(" ")):
            continue
        pieces.append(piece)
        if offset < 0:  # a placeholder: every character stands at the place of what it replaces
            clean.offsets += [-offset - 1] * len(piece)
        else:
            clean.offsets += range(offset, offset + len(piece))
        if kind == "code":
            clean.codes.append((length, length + len(piece)))
        elif kind == "link":
            clean.links.append((length, length + len(piece)))
    clean.text = "".join(pieces).translate(QUOTES)
    while clean.text.endswith(" "):
        clean.text = clean.text[:-1]
        clean.offsets.pop()
    clean.offsets.append(len(raw))
    return clean


def _pieces(raw: str, base: int) -> Iterator[tuple[str, int, str]]:
    """(text, offset in the whole raw text, kind); placeholders have offset -1 - place."""
    position = 0
    for match in MARKUP.finditer(raw):
        if match.end() == match.start():
            continue
        if match.start() > position:
            yield raw[position : match.start()], base + position, ""
        position = match.end()
        if match["space"] is not None:
            yield " ", base + match.start(), ""
        elif match["wiki"] is not None:
            shown = "display" if match["display"] else "target"
            if match[shown]:
                yield match[shown], base + match.start(shown), "link"
        elif match["link"] is not None:
            yield "", 0, "open"
            yield from _pieces(match["text"], base + match.start("text"))
        elif match["address"] is not None:
            yield "link", -1 - base - match.start(), ""
        elif match["mark"] is not None:
            yield "", 0, "open"
        elif match["escape"] is not None:
            yield match["escape"][1], base + match.start() + 1, ""
        elif match["role"] is not None:
            yield from _role_pieces(match, base)
        elif match["code"] is not None:
            yield from _code_pieces(match, base)
    if position < len(raw):
        yield raw[position:], base + position, ""


def read_role(role: regex.Match[str]) -> str:
    return f"{role['prefix'].upper()} {role['number']}"


def _role_pieces(match: regex.Match[str], base: int) -> Iterator[tuple[str, int, str]]:
    """reStructuredText: :pep:`600` is read as PEP 600, of any other role its label: :ref:`Motivation <motivation>`."""
    if role := NUMBER_ROLE.fullmatch(match[0]):
        yield read_role(role), -1 - base - match.start(), ""
        return
    label = regex.match(r"[~!]?(?P<label>[^<>]*[^<>\s])(?:\s*<[^<>]*>)?$", match["value"])
    if label:
        yield "", 0, "open"
        kind = "code" if CODE_NAME.fullmatch(label["label"]) else ""
        yield label["label"], base + match.start("value") + label.start("label"), kind


def _code_pieces(match: regex.Match[str], base: int) -> Iterator[tuple[str, int, str]]:
    inner = match["inner"]
    stripped = inner.strip()
    start = base + match.start("inner") + inner.index(stripped) if stripped else 0
    if CODE_NAME.fullmatch(stripped):
        yield stripped, start, "code"
    elif "\n" not in stripped and (label := regex.match(r"([^<>]+?)\s*<[^<>]*>$", stripped)):
        yield "", 0, "open"
        yield label[1], start, ""
    else:
        yield "code", -1 - base - match.start(), ""
