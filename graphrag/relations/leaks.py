"""The leak check: a note says how the target pertains, never what it says (specs: folding 12 and 13).

A note leaks when it shares with the target's text, and not with the text of its own entry: a code-like token, a token
in backticks or quotes, a number of two or more digits or a version, or six words in a row. A reader who follows a
relation then reads the target; a note that held its content would go stale beside it.

Does not: read entries, or decide what becomes of the note (backfilled ones are kept and marked).
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

from graphrag.errors import UsageError

MIN_RUN = 6  # words
_CODE = regex.compile(
    r"(?<![\w-])--?[A-Za-z][\w.-]*[\w]"  # --flag
    r"|(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?"  # /path/to
    r"|\b[\w.-]+(?:/[\w.-]+)+\b"  # path/to
    r"|\b[\p{L}\d]+(?:_[\p{L}\d]+)+\b"  # snake_case
    r"|\b\p{L}*\p{Ll}\p{Lu}[\p{L}\d]*\b"  # CamelCase
)
_QUOTED = regex.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]|(?<!\w)'([^'\n]+)'(?!\w)")
_NUMBER = regex.compile(r"(?<![\w.,])(?:v\d+(?:\.\d+)*|\d+(?:[.,]\d+)+|\d{2,})(?![\w]|[.,]\d)", regex.IGNORECASE)
_WORD = regex.compile(r"[\p{L}\p{M}\d]+")


def find_leak(note: str, *, from_text: str, to_text: str, to_names: Iterable[str] = ()) -> str:
    """What the note repeats of the target and its own entry does not say; empty where it is clean.

    to_names: what the target is called (title, id). To name it is not to say what it says.
    """
    for name in sorted(to_names, key=len, reverse=True):
        note = note.replace(name, " ")
    if not note.strip():
        return ""
    own, target = from_text.casefold(), to_text.casefold()
    for found in (_codes, _quoted, _numbers):
        in_own = {token.casefold() for token in found(from_text)}
        theirs = {token.casefold() for token in found(to_text)}
        for token in found(note):
            fold = token.casefold()
            if fold in in_own or (fold in own and found is not _numbers):
                continue
            if fold in theirs or (found is not _numbers and _stands_in(fold, target)):
                return token
    for token in dict.fromkeys(_quoted(to_text)):  # the target's own quoted words, written without quotes
        if _stands_in(token.casefold(), note.casefold()) and not _stands_in(token.casefold(), own):
            return token
    return _shared_run(note, own, target)


def check_note(
    note: str, *, from_text: str, to_text: str, to_names: Iterable[str] = (), allow_leak: bool = False
) -> bool:
    """Whether the note leaks and is allowed to. Raises UsageError where it leaks and is not."""
    leak = find_leak(note, from_text=from_text, to_text=to_text, to_names=to_names)
    if leak and not allow_leak:
        raise UsageError(
            f'The note repeats the target ("{leak}"). Say how it pertains, not what it says. '
            "Use --allow-leak to keep it."
        )
    return bool(leak)


def _codes(text: str) -> list[str]:
    return [match.group() for match in _CODE.finditer(text)]


def _quoted(text: str) -> list[str]:
    """Quoted tokens: of at most three words, for a longer quote is caught as a run of words."""
    found = (next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(text))
    return [token.strip() for token in found if token.strip() and len(token.split()) <= 3]


def _numbers(text: str) -> list[str]:
    return [match.group() for match in _NUMBER.finditer(text)]


def _stands_in(token: str, text: str) -> bool:
    """As whole words."""
    start = text.find(token)
    while start >= 0:
        end = start + len(token)
        if not (start and text[start - 1].isalnum() and token[0].isalnum()) and not (
            end < len(text) and text[end].isalnum() and token[-1].isalnum()
        ):
            return True
        start = text.find(token, start + 1)
    return False


def _shared_run(note: str, own: str, target: str) -> str:
    words = list(_WORD.finditer(note))
    own_words, target_words = (f" {' '.join(_WORD.findall(text))} " for text in (own, target))
    for start in range(len(words) - MIN_RUN + 1):
        piece = words[start : start + MIN_RUN]
        run = f" {' '.join(word.group().casefold() for word in piece)} "
        if run in target_words and run not in own_words:
            return note[piece[0].start() : piece[-1].end()]
    return ""
