"""Fields of records: names, types, predicates, numbers and sentence numbers, cleaned; and names looked up in a text.

Every function takes what loose_json reads (numbers are text there) and gives a value for anything.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection

from graphrag.replies.loose_json import Json, join_surrogates

MAX_NAME = 200  # characters
MAX_DESCRIPTION = 4_000
MAX_PREDICATE = 60
MAX_RANGE = 1_000  # sentences that one "2-1000" may name
CUT_MARK = " […]"
UNKNOWN_TYPE = "unknown"
DEFAULT_PREDICATE = "related_to"
NO_NAMES = frozenset({"", "n/a", "none", "-", "–", "—"})


def field_at(fields: list[Json], position: int) -> Json:
    return fields[position] if position < len(fields) else None


def pick(named: dict[str, Json], keys: Collection[str]) -> Json:
    return next((named[key] for key in keys if named.get(key) is not None), None)


_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,10});", re.I)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SPACES = re.compile(r"\s+")
_QUOTE_PAIRS = {('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“")}


def clean_text(value: Json, *, limit: int = MAX_DESCRIPTION) -> str:
    """One line of text of a field: escapes and HTML entities decoded, control characters and outer quotes removed."""
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        value = "; ".join(item for item in value if isinstance(item, str))
    text = str(value)
    if "\\u" in text:
        text = join_surrogates(_UNICODE_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if not text.isprintable():
        text = "".join(char for char in text if char.isspace() or unicodedata.category(char) not in ("Cc", "Cs"))
    text = _strip_quotes(_SPACES.sub(" ", text).strip())
    return text if len(text) <= limit else text[:limit].rstrip() + CUT_MARK


def _strip_quotes(text: str) -> str:
    """Without quotes or markdown emphasis around the whole, unless they occur inside too; a lone one is removed too."""
    while len(text) > 1:
        if (text[0], text[-1]) in _QUOTE_PAIRS and text.count(text[0]) <= 2:
            text = text[1:-1].strip()
        elif len(text) > 4 and text.startswith("**") and text.endswith("**"):
            text = text[2:-2].strip()
        else:
            break
    if text.count('"') == 1 and (text[0] == '"' or text[-1] == '"'):
        text = text.strip('"').strip()
    return text


def clean_name(value: Json) -> str:
    return clean_text(value, limit=MAX_NAME + 1)


def clean_type(value: Json) -> str:
    """Lower case, the first of several ("Organization/Company"), without brackets and emphasis; else `unknown`."""
    text = clean_text(value, limit=MAX_NAME).casefold().strip("*_`#<>[]{} ")
    if text in NO_NAMES:
        return UNKNOWN_TYPE
    text = _SPACES.sub(" ", re.split(r"[/(,|;:]", text, maxsplit=1)[0]).strip("*_`.\"' ")
    is_type = any(char.isalpha() for char in text) and len(text) <= MAX_PREDICATE
    return text if is_type else UNKNOWN_TYPE


def clean_predicate(value: Json) -> str:
    """Lower snake_case (`Depends On`, `dependsOn`: depends_on); `related_to` where there is none."""
    text = clean_text(value, limit=MAX_NAME)
    if text.casefold() in NO_NAMES:
        return DEFAULT_PREDICATE
    text = re.sub(r"([a-z])([A-Z])", r"\1_\2", text).casefold()
    text = re.sub(r"[\W_]+", "_", text).strip("_")
    if len(text) > MAX_PREDICATE:
        text = text[:MAX_PREDICATE].rsplit("_", 1)[0].strip("_") or text[:MAX_PREDICATE]
    return text or DEFAULT_PREDICATE


_NUMBER = re.compile(
    r"[\s\"'“(*~≈]*([-+]?\d{1,30}(?:[.,]\d{1,30})?(?:e[-+]?\d{1,3})?)(?![\w])\s*(?:(?:/|out of)\s*(\d{1,6}))?", re.I
)


def parse_number(value: Json, *, scale: float) -> float | None:
    """The number a field begins with ("7", "7.5", "7/10", "85 out of 100" at the scale asked for), else None."""
    match = _NUMBER.match(value) if isinstance(value, str) else None
    if not match:
        return None
    number = float(match[1].replace(",", "."))
    whole = float(match[2]) if match[2] else 0.0
    number = number * scale / whole if whole else number
    return number if abs(number) != float("inf") else None


def parse_strength(value: Json) -> float | None:
    """A number clamped to 1..10, or None where none is readable."""
    number = parse_number(value, scale=10.0)
    return None if number is None else min(10.0, max(1.0, number))


def is_number(value: Json) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\s*-?\d{1,9}(?:\.\d{1,9})?(?:\s*/\s*10)?\s*", value))


_RANGE = re.compile(r"(\d{1,7})(?:\s{0,4}[-–—]\s{0,4}[a-z]?(\d{1,7}))?", re.I)


def parse_sentences(value: Json, n_sentences: int | None) -> tuple[int, ...]:
    """Sentence numbers of `2`, `"2"`, `"2-4"`, `[2, 3]`: sorted, from 1 to n_sentences (no upper limit if None)."""
    items = value if isinstance(value, list) else [value]
    numbers: set[int] = set()
    for item in items:
        for match in _RANGE.finditer(item[:2_000]) if isinstance(item, str) else ():
            first = int(match[1])
            last = min(int(match[2] or first), n_sentences or first + MAX_RANGE)
            numbers.update(range(first, last + 1))
        if len(numbers) > MAX_RANGE:
            break
    return tuple(sorted(n for n in numbers if n >= 1 and (n_sentences is None or n <= n_sentences)))


class TextNames:
    """Whether a name stands in the text unit as a whole word, without regard to case and runs of spaces."""

    def __init__(self, text: str | None) -> None:
        self.text = None if text is None else _fold(text)
        self.known: dict[str, bool] = {}

    def holds(self, name: str) -> bool:
        if self.text is None:
            return True
        if name not in self.known:
            self.known[name] = self._find(_fold(name), self.text)
        return self.known[name]

    def _find(self, name: str, text: str) -> bool:
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if not (joins(text[start - 1 : start], name[0]) or joins(name[-1], text[end : end + 1])):
                return True
            start = text.find(name, end)
        return False


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())


def joins(left: str, right: str) -> bool:
    """Two characters of one word: letters or digits of a script that separates words by spaces. "" joins nothing."""
    return left.isalnum() and right.isalnum() and _is_spaced_script(left) and _is_spaced_script(right)


def _is_spaced_script(char: str) -> bool:
    code = ord(char)
    return code < 0x0E00 or 0x10A0 <= code < 0x1780 or 0x1E00 <= code < 0x2000
