"""Vetoes: what keeps two names apart however alike they look (specs: indexing 3).

`find_veto(a, b)` gives the reason in words, or an empty string. Only what a person declared (aliases.toml, front
matter) beats a veto. Types are not looked at here: they need the neighbourhoods, which index/disambiguation.py knows.

Does not: say that two names are one. No veto means no more than that a rule or a judge may decide.
"""

from __future__ import annotations

from collections import Counter

from rapidfuzz.distance import Levenshtein

from graphrag.names import (
    Name,
    base_letters,
    digit_runs,
    is_numeronym_of,
    roman_value,
    singular,
    split_honorifics,
    split_legal_form,
)

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
_SYMBOLS = "+#*"
SHORT_WORD = 3  # a word of so few letters has no spelling variants: Wei, Wen
EDITS = 2
PREFIX_GAP = 3


def find_veto(a: Name, b: Name) -> str:
    """Why `a` and `b` can never be one entity, or an empty string. Symmetric."""
    if a.key == b.key:
        return ""
    if a.has_mixed_script or b.has_mixed_script:
        return "mixed scripts in one word"
    if _symbols(a) != _symbols(b):
        return "symbols differ"
    if a.qualifier and b.qualifier and a.qualifier != b.qualifier:
        return f"qualifiers differ: {_both(a.qualifier, b.qualifier)}"
    if a.key.replace(" ", "") == b.key.replace(" ", "") and digit_runs(a.key) == digit_runs(b.key):
        return ""
    return _legal_forms(a, b) or _numbers(a, b) or _words(a, b)


def are_persons(a: Name, b: Name) -> bool:
    """One is known to be a person and nothing speaks against the other."""
    return "yes" in (a.person, b.person) and "no" not in (a.person, b.person)


def is_spelling_variant(a: str, b: str) -> bool:
    """Two words that may be one word, misspelt or inflected."""
    if a == b or singular(a) == singular(b) or base_letters(a) == base_letters(b):
        return True
    shorter = min(len(a), len(b))
    if shorter <= SHORT_WORD or any(c.isdigit() for c in a + b):
        return False
    return Levenshtein.distance(a, b, score_cutoff=EDITS) <= (1 if shorter == SHORT_WORD + 1 else EDITS)


def is_initial_of(short: str, full: str) -> bool:
    return len(short) == 1 and len(full) > 1 and full.startswith(short)


def _both(a: str, b: str) -> str:
    return " and ".join(sorted((a, b)))


def _symbols(name: Name) -> list[str]:
    found = [c for word in name.words for c in word if c in _SYMBOLS]
    return sorted(found + ["." for word in name.words if word.startswith(".") and len(word) > 1])


def _legal_forms(a: Name, b: Name) -> str:
    form_a, form_b = split_legal_form(a.words)[1], split_legal_form(b.words)[1]
    return f"two legal forms: {_both(form_a, form_b)}" if form_a and form_b and form_a != form_b else ""


def _numerals(name: Name) -> Counter[str]:
    """Words with digits and Roman numerals (not as first word: IV drip, Li Wei), the latter as their value."""
    found = [word for word in name.words if any(c.isdigit() for c in word)]
    return Counter(found + [f"{roman_value(word)}" for word in _romans(name)])


def _romans(name: Name) -> tuple[str, ...]:
    """Roman numerals; I, V and X alone count as the last word only (John V. Smith)."""
    inner, last = name.words[1:-1], name.words[1:][-1:]
    return tuple(word for word in inner if len(word) > 1 and roman_value(word)) + tuple(filter(roman_value, last))


def _numbers(a: Name, b: Name) -> str:
    if is_numeronym_of(a.key, b.key) or is_numeronym_of(b.key, a.key):
        return ""
    only_a, only_b = _numerals(a) - _numerals(b), _numerals(b) - _numerals(a)
    if only_a or only_b:
        sides = [", ".join(sorted(only)) or "none" for only in (only_a, only_b)]
        return f"numbers differ: {_both(*sides)}"
    return ""


def _words(a: Name, b: Name) -> str:
    words_a, words_b = _plain_words(a), _plain_words(b)
    only_a, only_b = list((words_a - words_b).elements()), list((words_b - words_a).elements())
    for word in only_a:
        for other in only_b:
            if other in _OPPOSITE_OF.get(word, ()):
                return f"opposites: {_both(word, other)}"
    if are_persons(a, b):
        return _persons(a, b)
    letters_a, letters_b = ([w for w in only if _is_letter(w)] for only in (only_a, only_b))
    if letters_a != letters_b:
        return f"single letters differ: {_both(' '.join(letters_a) or 'none', ' '.join(letters_b) or 'none')}"
    if len(only_a) == len(only_b) == 1 and words_a.total() > 1 and not is_spelling_variant(only_a[0], only_b[0]):
        return f"one word differs: {_both(only_a[0], only_b[0])}"
    return _prefix(a, b)


def _plain_words(name: Name) -> Counter[str]:
    """Words that are no numerals: those were compared as numbers."""
    words = split_legal_form(name.words)[0]
    return Counter(word for word in words if not any(c.isdigit() for c in word)) - Counter(_romans(name))


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and word.lower() != word.upper()


def _prefix(a: Name, b: Name) -> str:
    short, long = sorted((a, b), key=lambda name: len(name.key.replace(" ", "")))
    short_key, long_key = short.key.replace(" ", ""), long.key.replace(" ", "")
    if not (short.is_one_word and long.is_one_word and long_key.startswith(short_key)):
        return ""
    return (
        f"one is the start of the other: {_both(a.key, b.key)}" if len(long_key) - len(short_key) >= PREFIX_GAP else ""
    )


def _persons(a: Name, b: Name) -> str:
    """Given names differ: the words before the surname, pairwise, where neither is the other's initial."""
    words_a, words_b = ordered_person_words(a), ordered_person_words(b)
    if len(words_a) < 2 or len(words_b) < 2:
        return _prefix(a, b) if len(words_a) == len(words_b) == 1 else ""
    first_a, first_b = words_a[0], words_b[0]
    if not (
        is_initial_of(first_a, first_b) or is_initial_of(first_b, first_a) or is_spelling_variant(first_a, first_b)
    ):
        return f"first names differ: {_both(first_a, first_b)}"
    if len(words_a) == len(words_b) == 2 and not is_spelling_variant(words_a[1], words_b[1]):
        return f"surnames differ: {_both(words_a[1], words_b[1])}"
    return ""


def ordered_person_words(name: Name) -> tuple[str, ...]:
    """Given names first, surname last, no honorific: "Kovač, Ana" and "Dr. Ana Kovač" -> (ana, kovač)."""
    words = split_honorifics(name.words)[0]
    surname, comma, _ = name.surface.partition(", ")
    n_surname = len(surname.split())
    if comma and 0 < n_surname < len(words):
        return words[n_surname:] + words[:n_surname]
    return words
