"""The title of an entity: the name to show, out of all that documents call it (specs: context graph 1.8).

What the user or a note declares, else the full form that stands most often in whatever casing, in the singular, and of
its casings the most frequent well-cased one. Small letters win only where they are far more frequent, so that one more
document that writes a name in small letters does not rename it.

Does not: make titles unique (index/disambiguation.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from graphrag.names import (
    SMALL_WORDS,
    abbreviates,
    digit_acronyms_of,
    display_name,
    is_acronym_of,
    name_key,
    singular_key,
)
from graphrag.naming.nodes import Key, Place

FAR_MORE = 2  # times as often as well-cased: then a name is a common noun (token cache), and capitals are headings


def choose_title(keys: Sequence[Key], user_titles: Mapping[str, str], note_titles: Mapping[str, str]) -> str:
    """`keys`: of one entity. The titles that users and notes declare, by name key.

    Ties: more capitals, then the earliest place, then a to z.
    """
    for key in keys:
        if key.key in user_titles and not key.qualifier:
            return user_titles[key.key]
    counts: Counter[str] = Counter()
    first: dict[str, Place] = {}
    for key in keys:
        for surface, n in key.surfaces.items():
            if surface in key.first:
                shown = display_name(surface)
                counts[shown] += n
                first[shown] = min(first.get(shown, key.first[surface]), key.first[surface])
    best = _choose_form(counts, first)
    for node in sorted(keys, key=lambda node: -node.surfaces.total()):
        declared = note_titles.get(node.key, "") if not node.qualifier else ""
        # A heading in capitals says nothing about casing where the text writes the name otherwise.
        if declared and not (declared.isupper() and name_key(declared) == name_key(best) and not best.isupper()):
            return declared
    return best


def _choose_form(counts: Counter[str], first: Mapping[str, Place]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    name_keys = {shown: name_key(shown) for shown in counts}
    others = [*name_keys.values()]
    short = {
        shown.casefold()
        for shown, key in name_keys.items()
        if any(_is_short_for(shown, other) or singular_key(shown) == other != key for other in others)
    }
    full = [shown for shown in counts if shown.casefold() not in short]
    total: Counter[str] = Counter()  # of all casings
    for shown, n in counts.items():
        total[shown.casefold()] += n

    def order(shown: str) -> tuple[object, ...]:
        capitals = sum(c.isupper() for c in shown)
        return -total[shown.casefold()], -counts[shown], -capitals, first[shown], shown

    best = min(full or counts, key=order)
    casings = [shown for shown in counts if shown.casefold() == best.casefold()]
    cased = [shown for shown in casings if is_well_cased(shown)]
    n_cased = sum(counts[shown] for shown in cased)
    # Code and commands write aws and redis: one word in capitals anywhere says how the name is spelt.
    is_word = best.isalnum() and best.islower()
    if cased and (is_word or total[best.casefold()] - n_cased <= FAR_MORE * n_cased):
        return min(cased, key=order)
    return best


def _is_short_for(shown: str, other_key: str) -> bool:
    """Also where it is written small, or half so, or with a digit: os, operating system; SPoF; P2P."""
    if abbreviates(shown, other_key):
        return True
    words = other_key.split()
    return " " not in shown and (is_acronym_of(shown.upper(), other_key) or name_key(shown) in digit_acronyms_of(words))


def is_well_cased(shown: str) -> bool:
    """Every word but the small ones holds a capital (eBPF too) or no letter that could be one: Bank of China, not Token
    cache at the start of a sentence."""
    words = shown.split()
    return all(
        any(c.isupper() for c in word) or not any(c.islower() for c in word) or (n > 0 and word in SMALL_WORDS)
        for n, word in enumerate(words)
    )
