"""Read JSON as language models write it: total, linear, without recursion.

Besides JSON it reads single, curly and missing quotes, inner quotes that were not escaped, missing and trailing
commas, comments, a wrong or missing closing bracket, line ends inside strings, NaN, and text that stops in mid-value.
Numbers come back as the text that stood there ("3.10" stays "3.10"); what they mean is for the reader of the field.
Nesting deeper than MAX_DEPTH is read over and left out.

Does not: decide what a value means (records.py, objects.py), or raise.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, TypeAlias

Json: TypeAlias = "bool | str | list[Json] | dict[str, Json] | None"

MAX_DEPTH = 32
MAX_RESCANS = 100  # strings of one value that may be closed by the second-best rule: keeps hostile input linear
RESCAN_WINDOW = 20_000
STRICT_WINDOW = 8_000

ENTITY_TAGS = ("entity", "entities", "ent", "node", "e")
RELATION_TAGS = ("relationship", "relationships", "relation", "rel", "edge", "triple", "r")
CLAIM_TAGS = ("claim", "covariate", "c")
TAGS = "|".join(ENTITY_TAGS + RELATION_TAGS + CLAIM_TAGS)

# A new record on a new line: text that is still inside a string there has lost its closing quote.
RECORD_LINE = re.compile(rf"\r?\n[ \t]{{0,80}}[\[({{][ \t]{{0,8}}[\"'“”‘’]?(?:{TAGS})[\"'“”‘’]?[ \t]{{0,8}},", re.I)

_CLOSING = {'"': '"', "'": "'", "`": "`", "“": '”"“', "”": '”"', "‘": "’'", "’": "’'"}
_SCAN = {quote: re.compile(rf"[\\\n{re.escape(closing)}]") for quote, closing in _CLOSING.items()}
_BLANK = re.compile(r"(?:[\s,;]+|//[^\n]*|/\*.{0,2000}?\*/)*", re.S)
_SPACE = re.compile(r"\s*")
_BARE_ITEM = re.compile(r"[^,\]}\n]+")
_BARE_KEY = re.compile(r"[^:=,\]}\n]+")
_HALF_QUOTED = re.compile(r"[^\"\n]{1,4000}\"(?=\s{0,80}[,\]}])")  # the opening quote was forgotten
_LOST_QUOTE = re.compile(r"[\]})][\s,;]*\Z")  # the closing quote was: the string ends with its record's bracket
_COLON = re.compile(r"\s*(?:=>|[:=])\s*")
_LITERAL_TEXT = r"(?:true|false|null|none|nan|-?infinity)"
_ITEM_AFTER_COMMA = re.compile(rf"\s*(?:[\"'“‘\[{{\]}})]|[-+]?\.?\d|{_LITERAL_TEXT}\b|/[/*]|$)", re.I)
_KEY_AFTER_COMMA = re.compile(r"\s*(?:[\"'“‘}\]]|\w{1,40}\s*[:=]|/[/*]|$)")
_KEY_AHEAD = re.compile(r"[\"'“‘][^\"'”’\n]{1,60}[\"'”’]\s*:")
_OPENING_RUN = re.compile(r"[\[{]+")
_CLOSING_RUN = re.compile(r"[\]}]+")
_BRACKETS = re.compile(r"[\[\]{}]")
_STRICT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class LooseValue(NamedTuple):
    """A value, the offset after it, and the containers (by identity) that the text did not close."""

    value: Json
    end: int
    unclosed: list[Json]


def read_value(text: str, start: int = 0) -> LooseValue:
    """The JSON value that begins at `start` with a bracket (`[`, `{`, or `(` taken for `[`)."""
    strict = _read_strict(text, start)
    return strict if strict is not None else _Reader(text, start).read()


def join_surrogates(text: str) -> str:
    """Pairs of surrogates, as \\u escapes leave them, become one character."""
    return _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)


def drop_surrogates(text: str) -> str:
    """Without halves of pairs: they are no characters and no file can hold them."""
    return _SURROGATE.sub("", join_surrogates(text)) if _SURROGATE.search(text) else text


def _read_strict(text: str, start: int) -> LooseValue | None:
    """The fast way, for a value that is correct JSON."""
    window = text[start : start + STRICT_WINDOW]  # an error message counts the lines before it: keep them few
    try:
        value, length = _STRICT.raw_decode(window)
    except (ValueError, RecursionError):
        return None
    return None if _is_too_deep(window, length) else LooseValue(value, start + length, [])


def _is_too_deep(text: str, end: int) -> bool:
    if text.count("[", 0, end) + text.count("{", 0, end) <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for bracket in _BRACKETS.finditer(text, 0, end):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.round_brackets = text.startswith("(", start)
        self.root: list[Json] = []
        self.stack: list[list[Json] | dict[str, Json]] = [self.root]
        self.keys: list[str | None] = [None]  # per open container: the key that waits for its value
        self.unclosed: list[Json] = []
        self.n_too_deep = 0  # open containers beyond MAX_DEPTH: counted, not built
        self.rescans = MAX_RESCANS

    def read(self) -> LooseValue:
        self._open(self.text[self.at])
        while len(self.stack) > 1:
            before = self.at
            match = _BLANK.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at >= len(self.text):
                self.unclosed += self.stack[1:]
                break
            if "\n" in self.text[before : self.at] and self._is_next_record():
                self._pop()
                continue
            char = self.text[self.at]
            if char in "[{":
                self._open(char)
            elif char in "]}" or (char == ")" and len(self.stack) == 2):
                self._close(char)
            elif char in _CLOSING:
                self._read_string(char)
            else:
                self._read_bare()
        return LooseValue(self.root[0] if self.root else None, self.at, self.unclosed)

    def _open(self, char: str) -> None:
        if len(self.stack) > MAX_DEPTH and (run := _OPENING_RUN.match(self.text, self.at)):
            self.n_too_deep += len(run[0])
            self.at = run.end()
            return
        container: list[Json] | dict[str, Json] = {} if char == "{" else []
        if isinstance(self.stack[-1], dict) and self.keys[-1] is None:
            self.keys[-1] = f"#{len(self.stack[-1])}"
        self._attach(container)
        self.stack.append(container)
        self.keys.append(None)
        self.at += 1

    def _close(self, char: str) -> None:
        if self.n_too_deep and (run := _CLOSING_RUN.match(self.text, self.at, self.at + self.n_too_deep)):
            self.n_too_deep -= len(run[0])
            self.at = run.end()
            return
        wanted: type = dict if char == "}" else list
        self.at += 1
        is_parents = (
            not isinstance(self.stack[-1], wanted) and len(self.stack) > 2 and isinstance(self.stack[-2], wanted)
        )
        for _ in range(2 if is_parents else 1):
            self._pop()

    def _pop(self) -> None:
        container, key = self.stack.pop(), self.keys.pop()
        if key is not None and isinstance(container, dict):
            container[key] = None

    def _attach(self, value: Json) -> None:
        parent, key = self.stack[-1], self.keys[-1]
        if self.n_too_deep:
            return
        if isinstance(parent, list):
            parent.append(value)
        elif key is not None:
            parent[key] = value
            self.keys[-1] = None
        else:
            self.keys[-1] = str(value)
            if colon := _COLON.match(self.text, self.at):
                self.at = colon.end()
            else:
                parent[str(value)] = None
                self.keys[-1] = None

    def _is_next_record(self) -> bool:
        """A record starts on this new line although the one before is still open: its bracket was forgotten."""
        container = self.stack[-1]
        start = self.text.rfind("\n", 0, self.at)
        if not RECORD_LINE.match(self.text, start):
            return False
        if isinstance(container, dict):
            return self.keys[-1] is None
        return bool(container) and isinstance(container[0], str)

    def _read_bare(self) -> None:
        in_key = isinstance(self.stack[-1], dict) and self.keys[-1] is None
        if not in_key and self.rescans > 0 and self.text[self.at].isalpha():
            if half_quoted := _HALF_QUOTED.match(self.text, self.at):
                self._finish_string(self.at, half_quoted.end() - 1)
                return
            self.rescans -= 1
        match = (_BARE_KEY if in_key else _BARE_ITEM).match(self.text, self.at)
        if not match:
            self.at += 1
            return
        self.at = match.end()
        word = match[0].strip()
        if self.round_brackets and len(self.stack) == 2 and word.endswith(")"):
            word, self.at = word[:-1].rstrip(), match.start() + match[0].rindex(")")
        known: dict[str, Json] = {"null": None, "none": None, "true": True, "false": False}
        self._attach(word if in_key else known.get(word.casefold(), word))

    def _read_string(self, quote: str) -> None:
        """The string that opens here. It ends where a quote is followed by what may follow a string."""
        start = self.at + 1
        position = start
        second_best = -1
        n_inner = 0  # quotes inside the string so far
        scan = _SCAN[quote]
        while match := scan.search(self.text, position):
            position = match.start()
            char = match[0]
            if char == "\\":
                position += 2
            elif char == "\n":
                if RECORD_LINE.match(self.text, position):
                    break
                position += 1
            elif self._closes(position + 1, may_lack_comma=n_inner % 2 == 0):
                self._finish_string(start, position)
                return
            else:
                if second_best < 0 and self.text[position + 1 : position + 2] == ",":
                    second_best = position
                n_inner += 1
                position += 1
        else:
            position = len(self.text)
        if second_best >= 0 and self.rescans > 0 and position - start <= RESCAN_WINDOW:
            self.rescans -= 1
            self._finish_string(start, second_best)
            return
        if bracket := _LOST_QUOTE.search(self.text, max(start, position - 80), position):
            self._finish_string(start, bracket.start())
            self.at = bracket.start()
            return
        self.unclosed.append(self.stack[-1])
        self.at = position
        if position < len(self.text):
            self._pop()
        else:
            self.unclosed += self.stack[1:]
            del self.stack[1:]

    def _finish_string(self, start: int, end: int) -> None:
        self.at = end + 1
        self._attach(unescape(self.text[start:end]))

    def _closes(self, after: int, *, may_lack_comma: bool) -> bool:
        """Whether the quote before `after` ends its string, by what follows it."""
        space = _SPACE.match(self.text, after)
        position = space.end() if space else after
        following = self.text[position : position + 1]
        in_dict = isinstance(self.stack[-1], dict)
        if not following:
            # Nothing but the end: closed, though its container is not.
            return True
        if in_dict and self.keys[-1] is None:
            return following in ":=,}"
        if following == ",":
            pattern = _KEY_AFTER_COMMA if in_dict else _ITEM_AFTER_COMMA
            return bool(pattern.match(self.text, position + 1))
        if following in "]})":
            behind = self.text[position + 1 : position + 2]
            return not (behind.isalnum() or behind in ("'", '"'))
        if "\n" in self.text[after:position]:
            return following in "\"'“‘[{(<`/" or following.isdigit()
        if following in "\"'“‘" and position > after and not in_dict and may_lack_comma:
            return True
        return following == "/" or (in_dict and bool(_KEY_AHEAD.match(self.text, position)))


def unescape(text: str) -> str:
    """JSON's escapes as characters; an unknown escape keeps its backslash, unless it escapes a quote."""
    if "\\" not in text:
        return text

    def decode(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        return _ESCAPES.get(code, code if code in "\"'\\/“”‘’`" else "\\" + code)

    return join_surrogates(_ESCAPE.sub(decode, text))
