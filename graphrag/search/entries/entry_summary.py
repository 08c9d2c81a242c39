"""One sentence that says what an entry is about, to be shown beside another entry.

Does not: rank sentences for a question (extract.py).
"""

from __future__ import annotations

import re

from graphrag.digest import rate_readability, show_quote, trim_span
from graphrag.sentences import sentence_spans

MAX_SUMMARY, HEAD_CHARACTERS, N_LOOKED_AT = 200, 1_000, 6
READABLE = 0.7
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")


def summarise_entry(declared: object, text: str) -> str:
    """The first sentence of the summary that the front matter declares, else the first of the text that reads by
    itself, or the best of its first ones; links are words, a long sentence is cut."""
    text = declared if isinstance(declared, str) and declared.strip() else text[:HEAD_CHARACTERS]
    best, best_rate = "", 0.0
    for start, end in sentence_spans(text)[:N_LOOKED_AT]:
        if text[start] in "#|`~" or len(text[start:end].split()) < 2:
            continue
        start, end = trim_span(text, start, end)
        sentence = show_quote(_WIKILINK.sub(r"\1", text[start:end]))
        rate = rate_readability(sentence) if sentence else 0.0
        if rate > best_rate:
            best, best_rate = sentence, rate
        if rate >= READABLE:
            break
    return best if len(best) <= MAX_SUMMARY else best[: MAX_SUMMARY - 1].rstrip() + "…"
