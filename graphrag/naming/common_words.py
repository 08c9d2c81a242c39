"""Words that are parts of names and ordinary words as well: "upper" of Upper Rooms, "woods" of Pemberley Woods.

A word is common where the documents write it in small letters more often than they mention names with it. Reads
documents.

Does not: know a language; the corpus itself says which words are ordinary in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from graphrag.naming.nodes import Key


def set_common_words(keys: Sequence[Key], documents: pl.DataFrame) -> None:
    """Give each key those of its words that are common. Only words that stand free between blanks are counted."""
    mentioned: Counter[str] = Counter()
    for key in keys:
        for word in set(key.key.split()):
            mentioned[word] += key.surfaces.total()
    small: Counter[str] = Counter()
    for text in documents["text"]:
        small.update(text.split())
    common = {word for word, n in mentioned.items() if word.islower() and small[word] > n}
    for key in keys:
        key.common_words = frozenset(common.intersection(key.key.split()))
