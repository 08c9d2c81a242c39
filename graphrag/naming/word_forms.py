"""Forms of one word: plurals, -ing and -ed, Latin plurals, words cut short (app, application).

Reads nothing. Does not: say that two names are one; spelling_rules.py and vetoes.py ask here about single words.
"""

from __future__ import annotations

from functools import lru_cache

import regex
from rapidfuzz.distance import Prefix

from graphrag.names import singular

SHORT_FORMS = {
    "administrator": ("admin",), "administration": ("admin",), "application": ("app",), "applications": ("apps",),
    "authentication": ("auth",), "authorization": ("auth",), "configuration": ("config",), "database": ("db",),
    "development": ("dev",), "documentation": ("docs",), "environment": ("env",), "information": ("info",),
    "language": ("lang",), "library": ("lib",), "management": ("mgmt",), "operations": ("ops",),
    "repository": ("repo",), "service": ("svc",), "simulator": ("sim",), "simulation": ("sim",),
    "specification": ("spec",), "windows": ("win",),
}  # fmt: skip
SHORT_WORD = 3  # a word of so few letters has no forms: Wei, Wen
_ENDINGS = frozenset((
    "", "able", "ation", "e", "ed", "er", "ern", "ers", "es", "ies", "ing", "ings", "ion", "ions", "or", "ors", "s",
    "y",
))  # fmt: skip
# Things, where the verb beside them is something else: a setting and a set, a building and a build.
_NOUNS_IN_ING = frozenset((
    "bearing", "building", "ceiling", "clothing", "drawing", "ending", "evening", "filing", "finding", "heading",
    "hearing", "housing", "landing", "lightning", "listing", "meaning", "meeting", "morning", "offering", "opening",
    "painting", "rating", "saving", "setting", "wedding",
))  # fmt: skip
_LATIN = {
    "automata": "automaton", "automatons": "automaton", "criteria": "criterion", "indices": "index",
    "matrices": "matrix", "phenomena": "phenomenon", "schemata": "schema", "vertices": "vertex",
}  # fmt: skip
_ING_OR_ED = regex.compile(r"(?<=[aeiouy]\w*[^aeiou\W]\w*)(?:ing|ed)$")  # behind a verb of one syllable at least
_DOUBLED = regex.compile(r"([bdgmnprt])\1$")


def is_related_word(a: str, b: str) -> bool:
    """Two forms of one word, or one of them cut short: testing and tests, south and southern, app and application."""
    if a in SHORT_FORMS.get(b, ()) or b in SHORT_FORMS.get(a, ()):
        return True
    n_shared = Prefix.similarity(a, b)
    return n_shared >= SHORT_WORD and a[n_shared:] in _ENDINGS and b[n_shared:] in _ENDINGS


def is_cut_short(short: str, long: str) -> bool:
    """One run of letters, its last word cut short: webapp and webapplication."""
    return any(
        long.endswith(word) and short == long.removesuffix(word) + form
        for word, forms in SHORT_FORMS.items()
        for form in forms
    )


@lru_cache(maxsize=1 << 16)
def inflection_stem(word: str) -> str:
    """What the forms of a verb or noun share: host, hosts, hosted, hosting; not hoster, nor setting and set."""
    word = _LATIN.get(word, word)
    if word in _NOUNS_IN_ING or not word.isalpha():
        return word
    stem = _ING_OR_ED.sub("", singular(word) if not word.endswith("ings") else word)
    if len(stem) < SHORT_WORD:
        return word
    return _DOUBLED.sub(r"\1", stem).removesuffix("e") if len(stem) > SHORT_WORD else stem
