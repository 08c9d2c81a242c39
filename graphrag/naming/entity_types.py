"""Families of entity types: which types speak against two names being one entity (specs: indexing 3).

Does not: normalise the types that tables show; `unknown` and types outside the families fit all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

FAMILIES = {
    "person": "person people human",
    "place": "place location gpe loc city country region facility fac geo",
    "organization": "organization organisation org company institution norp",
    "technology": "technology language programming_language database service product software",
    "event": "event",
    "material": "material metal element chemical chemical_element",
    "celestial": "celestial planet star celestial_body",
}
_FAMILY_OF = {word: family for family, words in FAMILIES.items() for word in words.split()}

# What a mention's method says about its type. Declared by people, said by a model, read off the form, guessed.
METHOD_WEIGHTS = {"declared": 4, "llm": 4, "link": 2, "rule": 2, "lite": 1, "spacy": 1}
AUTHORITIES = ("declared", "llm")


def type_family(type_name: str) -> str:
    """The family of a type, or an empty string for types that fit all."""
    word = "_".join(type_name.strip().casefold().replace("-", " ").split())
    return _FAMILY_OF.get(word, "")


def choose_type(counts: Mapping[tuple[str, str], int]) -> str:
    """The type of an entity by {(type, method): mentions}: declared ones, else the largest weighted count.

    Ties: the better method, then a to z.
    """
    known = {(name, method): n for (name, method), n in counts.items() if name and name != "unknown"}
    declared = {key: n for key, n in known.items() if key[1] == "declared"}
    score: Counter[str] = Counter()
    best: dict[str, int] = {}
    for (type_name, method), count in (declared or known).items():
        weight = METHOD_WEIGHTS.get(method, 1)
        score[type_name] += weight * count
        best[type_name] = max(weight, best.get(type_name, 0))
    return min(score, key=lambda name: (-score[name], -best[name], name), default="unknown")
