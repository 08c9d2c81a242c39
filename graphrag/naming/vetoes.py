"""Vetoes: what keeps two names apart however alike they look (specs: indexing 3).

`find_veto(a, b)` gives the reason in words, or an empty string. Only what a person declared (aliases.toml, front
matter) beats a veto. Types are not looked at here: they need the neighbourhoods, which index/disambiguation.py knows.

Does not: say that two names are one. No veto means no more than that a rule or a judge may decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import regex
from rapidfuzz.distance import Levenshtein

from graphrag.names import (
    Name,
    base_letters,
    digit_acronyms_of,
    digit_runs,
    is_numeronym_of,
    singular,
    split_honorifics,
    titles_differ,
)
from graphrag.naming.country_names import country_of
from graphrag.naming.word_forms import SHORT_WORD, inflection_stem, is_cut_short, is_related_word

# Any two words of one row exclude each other.
OPPOSITES = (
    "in out", "inbound outbound", "incoming outgoing", "ingress egress", "input output", "north south east west",
    "northern southern eastern western", "northeast northwest southeast southwest", "read write", "reader writer",
    "primary secondary replica standby", "master slave", "leader follower", "staging production prod stage",
    "development production", "dev prod staging", "test prod", "test production", "internal external", "public private",
    "upper lower", "left right", "front back", "frontend backend", "client server", "upstream downstream",
    "source target sink", "producer consumer", "publisher subscriber", "sender receiver", "buyer seller", "old new",
    "legacy modern", "minimum maximum", "min max", "male female", "before after", "pre post", "up down", "on off",
    "hot cold warm", "active passive inactive", "sync async", "synchronous asynchronous", "encrypt decrypt",
    "encryption decryption", "encoder decoder", "import export", "importer exporter", "imports exports", "push pull",
    "start stop", "open closed", "high low medium", "major minor", "blue green", "hardware software", "online offline",
    "enabled disabled", "request response", "local global remote", "horizontal vertical", "positive negative",
    "allow deny", "create delete update", "insert delete", "forward reverse backward", "short long", "small large",
    "first second third fourth fifth sixth seventh eighth ninth tenth last", "one two three four five six seven",
    "alpha beta gamma delta", "monday tuesday wednesday thursday friday saturday sunday", "spring summer autumn winter",
    "daily weekly monthly yearly", "morning evening", "day night", "junior senior", "father mother son daughter",
)  # fmt: skip


def _opposites_by_word() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in OPPOSITES:
        for word in row.split():
            found.setdefault(word, set()).update(set(row.split()) - {word})
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITE_OF = _opposites_by_word()
_SEPARATORS = regex.compile(r"[^\p{L}\p{M}\d]+")
EDITS = 2
KIND_SUFFIXES = ("lang", "js")  # Rust, rustlang
GAP = 3  # JavaScript is longer than Java by more


def find_veto(a: Name, b: Name) -> str:
    """Why `a` and `b` can never be one entity, or an empty string. Symmetric."""
    if a.key == b.key:
        return ""
    if a.has_mixed_script or b.has_mixed_script:
        return "mixed scripts in one word"
    if a.symbols != b.symbols:
        return "symbols differ"
    if a.qualifier and b.qualifier and a.qualifier != b.qualifier:
        return f"qualifiers differ: {_both(a.qualifier, b.qualifier)}"
    if (country := country_of(a.key)) and country == country_of(b.key):
        return ""
    if a.compact == b.compact and digit_runs(a.key) == digit_runs(b.key):
        return ""
    if a.legal_form and b.legal_form and a.legal_form != b.legal_form:
        return f"two legal forms: {_both(a.legal_form, b.legal_form)}"
    return find_title_veto(a, b) or _numbers(a, b) or _words(a, b)


def find_title_veto(a: Name, b: Name) -> str:
    """Why the titles before two names speak against one person. Unlike other vetoes it holds for short forms too."""
    differ = titles_differ(a.honorific, b.honorific)
    return f"titles of persons differ: {_both(a.honorific, b.honorific)}" if differ else ""


def are_persons(a: Name, b: Name) -> bool:
    """One is known to be a person and nothing speaks against the other."""
    sides = {a.person, b.person}
    return bool(sides & {"yes", "guess"}) and "no" not in sides


def is_spelling_variant(a: str, b: str) -> bool:
    """Two words that may be one word, misspelt or inflected."""
    is_plural = singular(a) == singular(b) or ((a + "s" == b or b + "s" == a) and len(a) + len(b) > 2 * SHORT_WORD)
    if a == b or is_plural or base_letters(a) == base_letters(b):
        return True
    shorter = min(len(a), len(b))
    if shorter <= SHORT_WORD or any(c.isdigit() for c in a + b):
        return False
    if inflection_stem(a) == inflection_stem(b):
        return True
    return Levenshtein.distance(a, b, score_cutoff=EDITS) <= (1 if shorter == SHORT_WORD + 1 else EDITS)


def is_initial_of(short: str, full: str) -> bool:
    return len(short) == 1 and len(full) > 1 and full.startswith(short)


def _both(a: str, b: str) -> str:
    return " and ".join(sorted((a, b)))


def _numbers(a: Name, b: Name) -> str:
    if a.numbers == b.numbers or is_numeronym_of(a.key, b.key) or is_numeronym_of(b.key, a.key):
        return ""
    if a.key in digit_acronyms_of(b.words) or b.key in digit_acronyms_of(a.words):
        return ""
    return f"numbers differ: {_differing(*_only(a.numbers, b.numbers))}"


def _only(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words (with repeats) that only one side has, sorted."""
    words_a, words_b = Counter(a), Counter(b)
    return sorted((words_a - words_b).elements()), sorted((words_b - words_a).elements())


def _differing(a: list[str], b: list[str]) -> str:
    return _both(" ".join(a) or "none", " ".join(b) or "none")


def _words(a: Name, b: Name) -> str:
    only_a, only_b = _only(a.plain, b.plain)
    for word in only_a:
        for other in only_b:
            if other in _OPPOSITE_OF.get(word, ()):
                return f"opposites: {_both(word, other)}"
    if are_persons(a, b):
        return _persons(a, b)
    letters_a, letters_b = (
        free_letters(letters, name) if (letters := [word for word in only if _is_letter(word)]) else []
        for only, name in ((only_a, a), (only_b, b))
    )
    if letters_a or letters_b:
        return f"single letters differ: {_differing(letters_a, letters_b)}"
    if len(only_a) == len(only_b) == 1 and len(a.plain) > 1:
        word, other = only_a[0], only_b[0]
        are_forms = is_spelling_variant(word, other) or is_related_word(word, other)
        are_forms |= is_initial_of(word, other) or is_initial_of(other, word)  # GMod and Garry's Mod
        if not are_forms:
            return f"one word differs: {_both(word, other)}"
    return _prefix(a, b)


def free_letters(letters: Iterable[str], name: Name) -> list[str]:
    """Of the letters, those that are words of the name: A of Team A; not G of GMod, nor a preposition (v Brně)."""
    tokens = _SEPARATORS.split(name.surface.strip())
    is_cased = any(token.istitle() for token in tokens)
    free = {
        token.casefold()
        for n, token in enumerate(tokens)
        if not (is_cased and token.islower() and 0 < n < len(tokens) - 1)
    }
    return [letter for letter in letters if letter in free]


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and word.lower() != word.upper()


def _prefix(a: Name, b: Name) -> str:
    short, long = sorted((a.compact, b.compact), key=len)
    if long[len(short) :] in KIND_SUFFIXES:
        return ""
    are_forms = is_related_word(short, long) or is_cut_short(short, long)
    is_prefix = a.is_one_word and b.is_one_word and long.startswith(short) and not are_forms
    return (
        f"one is the start of the other: {_both(a.key, b.key)}" if is_prefix and len(long) - len(short) >= GAP else ""
    )


def _persons(a: Name, b: Name) -> str:
    """Given names differ, where neither is the other's initial; or surnames do."""
    words_a, words_b = ordered_person_words(a), ordered_person_words(b)
    if len(words_a) < 2 or len(words_b) < 2:
        return _prefix(a, b)
    if words_a[-len(words_b) :] == words_b or words_b[-len(words_a) :] == words_a:  # de la Rocha, Zack de la Rocha
        return ""
    first_a, first_b = words_a[0], words_b[0]
    is_initial = is_initial_of(first_a, first_b) or is_initial_of(first_b, first_a)
    if not is_initial and not is_spelling_variant(first_a, first_b):
        return f"first names differ: {_both(first_a, first_b)}"
    last_a, last_b = words_a[-1], words_b[-1]
    if last_a not in words_b and last_b not in words_a and not is_spelling_variant(last_a, last_b):
        return f"surnames differ: {_both(last_a, last_b)}"
    return ""


def ordered_person_words(name: Name) -> tuple[str, ...]:
    """Given names first, surname last, no honorific: "Kovač, Ana" and "Dr. Ana Kovač" -> (ana, kovač)."""
    words = split_honorifics(name.words)[0] if name.honorific else name.words
    if ", " not in name.surface:
        return words
    surname, comma, _ = name.surface.partition(", ")
    n_surname = len(surname.split())
    if comma and 0 < n_surname < len(words):
        return words[n_surname:] + words[:n_surname]
    return words
