"""Types of entities: their names made one (ORG, Organisation, ORGANIATION: organization), the type of an entity by what
its mentions say, and families of types that speak against two names being one entity (specs: indexing 3).

Does not: drop what mentions say beside the type that wins; `unknown` and types outside the families fit all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import polars as pl
from rapidfuzz.distance import OSA

from graphrag.names import singular

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

# Other ways to write a type, and other words for one that the settings know.
SPELLINGS = {
    "org": "organization", "orgs": "organization", "organisation": "organization", "tech": "technology",
    "db": "database",
}  # fmt: skip
OTHER_WORDS = {
    "people": "person", "human": "person", "individual": "person", "location": "place", "loc": "place", "gpe": "place",
    "geo": "place",
}  # fmt: skip
SHORTEST_MISSPELT = 6  # letters; of shorter words too many are one edit apart: plane, place
MUCH_MORE = 10  # times

# What a mention's method says about its type. Declared by people, said by a model, read off the form, guessed.
METHOD_WEIGHTS = {"declared": 4, "llm": 4, "link": 2, "rule": 2, "lite": 1, "spacy": 1}
AUTHORITIES = ("declared", "llm")


def normalise_types(
    entity_mentions: pl.DataFrame, *, type_names: Mapping[str, str], known_types: Iterable[str]
) -> pl.DataFrame:
    """The mentions with their types made one; `type_names` is the user's own map, `known_types` are never renamed."""
    counts = dict(entity_mentions.group_by("type").len().iter_rows())
    renamed = name_types(counts, type_names=type_names, known_types=known_types)
    return entity_mentions.with_columns(pl.col("type").replace(renamed))


def name_types(
    counts: Mapping[str, int], *, type_names: Mapping[str, str], known_types: Iterable[str]
) -> dict[str, str]:
    """{type: its name} for types by frequency. In this order: the user's word, a known type, another spelling or word
    for one, the singular, and a word one typing error away from a known or far more frequent one."""
    chosen = {_fold(name): name.strip().casefold() for name in known_types}
    known = set(chosen)
    total: Counter[str] = Counter()
    for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        total[_fold(name)] += n
        chosen.setdefault(_fold(name), name.strip().casefold())
    words = {_fold(name): word.strip().casefold() for name, word in type_names.items()}
    result = {}
    for name in sorted(counts):
        fold = _fold(name)
        for _ in range(3):  # organisations -> organisation -> organization
            if fold in words or fold in known or (better := _find_better(fold, total, known)) == fold:
                break
            fold = better
        result[name] = words.get(fold) or chosen.get(fold, fold) or "unknown"
    return result


def _fold(type_name: str) -> str:
    return " ".join(type_name.casefold().replace("_", " ").replace("-", " ").split())


def _find_better(fold: str, total: Mapping[str, int], known: set[str]) -> str:
    """The type that a word stands for, or the word itself."""
    if fold in SPELLINGS:
        return SPELLINGS[fold]
    if OTHER_WORDS.get(fold) in known:
        return OTHER_WORDS[fold]
    head, _, last = fold.rpartition(" ")
    one = f"{head} {singular(last)}".strip()
    if one != fold and (one in known or one in total or one in SPELLINGS):
        return one
    near = [
        other
        for other in sorted({*known, *total})
        if _is_misspelt(fold, other) and (other in known or total[other] >= MUCH_MORE * total[fold])
    ]
    return min(near, key=lambda other: (other not in known, -total.get(other, 0), other), default=fold)


def _is_misspelt(word: str, other: str) -> bool:
    """A letter too many, too few or out of order, not at the ends (person, persona), or s for z. Another letter in a
    place makes another word: concert, concept."""
    if min(len(word), len(other)) < SHORTEST_MISSPELT or (word[0], word[-1]) != (other[0], other[-1]):
        return False
    if len(word) == len(other) and sorted(word) != sorted(other):
        return word.replace("s", "z") == other.replace("s", "z") and word != other
    return word != other and OSA.distance(word, other, score_cutoff=1) == 1


def type_family(type_name: str) -> str:
    """The family of a type, or an empty string for types that fit all."""
    word = "_".join(type_name.strip().casefold().replace("-", " ").split())
    return _FAMILY_OF.get(word, "")


def choose_type(counts: Mapping[tuple[str, str], int]) -> str:
    """The type of an entity by {(type, method): mentions}: declared ones, else the largest weighted count.

    Ties: the better method, then a to z.
    """
    if len(counts) == 1:
        ((name, _),) = counts
        return name or "unknown"
    known = {(name, method): n for (name, method), n in counts.items() if name and name != "unknown"}
    declared = {key: n for key, n in known.items() if key[1] == "declared"}
    score: Counter[str] = Counter()
    best: dict[str, int] = {}
    for (type_name, method), count in (declared or known).items():
        weight = METHOD_WEIGHTS.get(method, 1)
        score[type_name] += weight * count
        best[type_name] = max(weight, best.get(type_name, 0))
    return min(score, key=lambda name: (-score[name], -best[name], name), default="unknown")
