"""What may be learned: a note that will still be true next month, not a log of a session or the state of the day.

The rules are those of the settings [learn]. Does not: look whether the bank says it already
(search/entries/near_duplicates.py), or write (knowledge_bank.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphrag.errors import SettingsError

MIN_LOG_LINES = 3
_LOG_LINE = re.compile(
    r"\s*(?:[-*+]\s+)?(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d?:\d\d(?::\d\d)?\b"  # times
    r"|(?:trace|debug|info|warn(?:ing)?|error|fatal)\b[ :\]]"
    r"|(?:\*\*)?(?:user|human|assistant|agent|system|tool)(?:\*\*)?\s*:"  # turns of a conversation
    r")",
    re.IGNORECASE,
)


def find_refusal(
    title: str, text: str, *, refuse: Sequence[str], log_share: float, min_words: int, max_words: int
) -> str:
    """Why a note is not worth keeping, in words that tell what to change; empty where it is.

    Raises SettingsError for a pattern that is no regular expression.
    """
    n_words = len(text.split())
    if not title.strip():
        return "A note needs a title."
    if n_words < min_words:
        words = "1 word" if n_words == 1 else f"{n_words} words"
        return f"The note has {words}, fewer than learn.min_words = {min_words}. Say what holds, and when."
    if n_words > max_words:
        return f"The note has {n_words} words, more than learn.max_words = {max_words}: one thing learned, one note."
    lines = [line for line in text.splitlines() if line.strip()]
    n_log = sum(_LOG_LINE.match(line) is not None for line in lines)
    if n_log >= MIN_LOG_LINES and n_log > log_share * len(lines):
        return f"{n_log} of {len(lines)} lines look like a log or a transcript. Write down what was learned from it."
    for pattern in refuse:
        try:
            found = re.search(pattern, f"{title}\n{text}", re.IGNORECASE)
        except re.error as error:
            raise SettingsError(f'settings.toml: learn.refuse has "{pattern}": {error}.') from None
        if found:
            return (
                f'"{found.group().strip()}" is of the moment (learn.refuse). Write what will still be true when it '
                "is over."
            )
    return ""
