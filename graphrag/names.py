"""Names: the key under which spellings of one name meet, and the parts of a name that rules look at.

`name_key` is the disambiguation key (specs: context graph 1.7, indexing 3). Everything here looks at one name alone;
what may never be one entity is said in naming/vetoes.py, which names may be one in naming/rules.py.

Does not: read tables, know types other than "is this a person", or decide anything about two names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

# reStructuredText: :pep:`600` is read as PEP 600.
_ROLE = regex.compile(r"^:(pep|rfc|cve):`(\d[\w-]*)`$")
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Cc}\p{VS}--[\t\n\r]]", flags=regex.V1)
_APOSTROPHES = regex.compile(r"[’‘ʼ`´‛′]")
_DOUBLE_QUOTES = regex.compile(r"[“”„‟«»\"″]")
_CAMEL = regex.compile(
    r"(?<=\p{Ll})(?=\p{Lu})"  # authService, AuthService
    r"|(?<=\d)(?=\p{Lu}\p{Ll})"  # S3Bucket, but not K8S
    r"|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})"  # HTTPServer, but not APIs
)
_MIXED_CASE_WORD = regex.compile(r"\b(?:GmbH|KGaA|SpA|ApS|PhD)\b")  # one word, not two
_SEPARATORS = regex.compile(r"[\p{Pd}_\s]+")
_DOTTED_ACRONYM = regex.compile(r"(?<![\p{L}\d])\p{L}(?:\.\p{L})+\.?(?![\p{L}\d])")
_INNER_DOT = regex.compile(r"(?<=[\p{L}\d])\.(?=\p{L})")
_WORD_END = regex.compile(r"(?<=[\p{L}\p{M}\d+#*)\]])[.,:;!?]+(?=\s|$)")
_VOWEL = regex.compile(r"[aeiouy]")
_TEXT_END = regex.compile(r"(?<=[\p{L}\p{M}\d+#*)\]])[.,:;!?]+$")
_POSSESSIVE = regex.compile(r"(?<=[\p{L}\p{M}\d])'s?$", flags=regex.IGNORECASE)
_ARTICLE = regex.compile(r"^(?:the|a|an(?=\s[aeiou]))\s(?=\S)", flags=regex.IGNORECASE)
_VERSION_MARK = regex.compile(r"(?<=\s)v\s?(?=\d)")
_QUALIFIER = regex.compile(r"^(.*\S)\s*\(([^()]+)\)$")
_NUMERONYM = regex.compile(r"^(\p{L})(\d{1,2})(\p{L}{1,3})$")
_ACRONYM = regex.compile(r"^(?:\p{Lu}\.?){2,8}$")
_ACRONYMS = regex.compile(r"\p{Lu}{2,}s")
_ROMAN = regex.compile(r"^(x{0,3})(ix|iv|v?i{0,3})$")
_CODE_SHAPE = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|[\p{L}\d][-_.][\p{L}\d]|\p{L}\d|\d\p{L}")
_SYMBOL = regex.compile(r"[+#*]|(?<![^ ])\.(?=[^ ])")  # the dot of .NET
_POSSESSIVE_SHOWN = regex.compile(r"(?<=[\p{L}\p{M}\d])['’]s$")
_DIGITS = regex.compile(r"\d+(?:\.\d+)*")
_SCRIPTS = (regex.compile(r"\p{Latin}"), regex.compile(r"\p{Cyrillic}"), regex.compile(r"\p{Greek}"))

SMALL_WORDS = frozenset((
    "a", "an", "and", "at", "by", "de", "del", "der", "des", "di", "du", "for", "in", "la", "le", "of", "on",
    "or", "the", "to", "und", "van", "von", "with", "y",
))  # fmt: skip
HONORIFICS = frozenset((
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "dame", "lord", "lady", "rev",
    "reverend", "herr", "frau", "mister", "madame", "mademoiselle", "monsieur", "capt", "col", "lt", "sgt", "hon",
))  # fmt: skip
# Words of other meanings too: titles only before the names of persons (General Tilney, not General Motors).
RANKS = frozenset((
    "captain", "colonel", "general", "major", "lieutenant", "commander", "admiral", "marshal", "sergeant", "corporal",
    "judge", "justice", "sheriff", "count", "countess", "baron", "baroness", "king", "queen", "prince", "princess",
    "duke", "duchess", "earl", "marquis", "marquess", "emperor", "empress", "tsar", "sultan", "bishop", "archbishop",
    "cardinal", "pope", "father", "brother", "sister", "mother", "uncle", "aunt", "senator", "president", "governor",
    "chancellor", "minister", "mayor", "ambassador", "congressman", "congresswoman", "secretary", "inspector",
))  # fmt: skip
TITLES = HONORIFICS | RANKS
# Of two rows no one person bears titles, but Ms and Frau fit Mrs and Miss. All other titles fit all: Dr, Prof, Rev.
_TITLE_ROWS = {
    "mr": "mr", "mister": "mr", "monsieur": "mr", "herr": "mr", "mrs": "mrs", "madame": "mrs", "miss": "miss",
    "mademoiselle": "miss", "ms": "mrs miss", "frau": "mrs miss", "sir": "sir", "lord": "lord", "lady": "lady",
    "dame": "dame",
}  # fmt: skip
_WOMEN = frozenset((
    "mrs", "madame", "miss", "mademoiselle", "ms", "frau", "lady", "dame", "countess", "baroness", "queen", "princess",
    "duchess", "empress", "sister", "mother", "aunt", "congresswoman",
))  # fmt: skip
_MEN = frozenset((
    "mr", "mister", "monsieur", "herr", "sir", "lord", "count", "baron", "king", "prince", "duke", "earl", "marquis",
    "marquess", "emperor", "tsar", "sultan", "pope", "father", "brother", "uncle", "congressman",
))  # fmt: skip
# Stand before a given name alone: Sir William.
GIVEN_NAME_TITLES = frozenset((
    "miss", "sir", "dame", "lady", "king", "queen", "prince", "princess", "emperor", "empress", "tsar", "pope",
    "father", "brother", "sister", "mother", "uncle", "aunt",
))  # fmt: skip
LEGAL_FORMS = {
    "inc": "inc", "incorporated": "inc", "corp": "corp", "corporation": "corp", "co": "co", "company": "co",
    "ltd": "ltd", "limited": "ltd", "llc": "llc", "llp": "llp", "lp": "lp", "plc": "plc", "gmbh": "gmbh", "ag": "ag",
    "se": "se", "kg": "kg", "kgaa": "kgaa", "sa": "sa", "sas": "sas", "sarl": "sarl", "srl": "srl", "spa": "spa",
    "bv": "bv", "nv": "nv", "ab": "ab", "oy": "oy", "oyj": "oyj", "aps": "aps", "kk": "kk", "pty": "pty", "pte": "pte",
    "doo": "doo", "zrt": "zrt", "kft": "kft",
}  # fmt: skip


_NO_PLURALS = frozenset(("news", "series", "species", "means", "headquarters", "always", "perhaps"))


@lru_cache(maxsize=1 << 18)
def name_key(surface: str) -> str:
    """The key of a name; two surfaces of equal key are one name. Never empty unless the surface is.

    Folds Unicode form (NFKC), case, invisible characters, quotes, possessive, leading article, CamelCase, separators,
    dots and commas at word ends, and `v` before a number. Keeps digits, `+ # * &`, a leading dot, brackets, accents.
    """
    text = _ARTICLE.sub("", _clean(surface))  # before dots go: A. Kovač has no article
    text = _DOTTED_ACRONYM.sub(lambda match: match.group().replace(".", ""), text)
    text = _MIXED_CASE_WORD.sub(lambda match: match.group().lower(), text)
    text = _SEPARATORS.sub(" ", _CAMEL.sub(" ", text))
    text = _WORD_END.sub("", _INNER_DOT.sub(" ", text)).replace(" & ", " and ")
    text = _POSSESSIVE.sub("", text.strip(" '"))
    # Casefolding can undo the normal form (and the dotted capital I leaves its dot behind).
    text = unicodedata.normalize("NFKC", text.casefold()).replace("i\u0307", "i")
    text = _VERSION_MARK.sub("", text)
    return " ".join(text.split()) or surface.strip() or surface


def read_role(surface: str) -> str:
    """The words of a role of reStructuredText that numbers a document: :pep:`600` is PEP 600."""
    return _ROLE.sub(lambda match: f"{match[1].upper()} {match[2]}", surface)


def _clean(surface: str) -> str:
    text = unicodedata.normalize("NFKC", read_role(surface))
    text = _DOUBLE_QUOTES.sub("", _APOSTROPHES.sub("'", _INVISIBLE.sub("", text))).strip()
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    return _TEXT_END.sub("", text.strip())


def compact_key(surface: str) -> str:
    """The key without spaces: where "PostgreSQL" and "postgresql", "e-mail" and "email" meet."""
    return name_key(surface).replace(" ", "")


def display_name(surface: str) -> str:
    """The surface as a title: one line, without leading article, outer quotes and possessive; case kept."""
    text = " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", read_role(surface))).split())
    text = text.strip('"“”„«»').strip()
    if len(text) > 1 and text[0] in "'‘’" and text[-1] in "'‘’":
        text = text[1:-1]
    bare = _ARTICLE.sub("", _POSSESSIVE_SHOWN.sub("", text)).rstrip(",;:")
    if bare.endswith(".") and not _is_abbreviated(bare):
        bare = bare.rstrip(".")
    return bare.strip() or text or surface


def _is_abbreviated(text: str) -> bool:
    last = text.split()[-1].rstrip(".").casefold()
    return last in LEGAL_FORMS or "." in last or len(last) == 1


def base_letters(key: str) -> str:
    """The key without accents: zürich -> zurich."""
    return "".join(c for c in unicodedata.normalize("NFD", key) if not unicodedata.combining(c))


def singular(word: str) -> str:
    """The singular of a regular English plural, else the word itself."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us")) or word in _NO_PLURALS:
        return word
    if word.endswith("is") and not word.endswith(("jis", "kis")):  # emojis and wikis, not analysis
        return word
    if not _VOWEL.search(word):  # an abbreviation: cljs is not many clj
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")) and not word.endswith("caches"):
        return word[:-2]
    return word[:-1]


def singular_key(surface: str) -> str:
    """The key with its head noun in the singular, where that noun is written in lower case (or is an acronym + s)."""
    key = name_key(surface)
    words = surface.split()
    if not words:
        return key
    head = words[-1]
    if not head.islower() and not _ACRONYMS.fullmatch(head):
        return key
    return " ".join([*key.split()[:-1], key.split()[-1].removesuffix("s") if not head.islower() else _last(key)])


def _last(key: str) -> str:
    return singular(key.split()[-1])


def has_code_shape(surface: str) -> bool:
    """Written like an identifier: CamelCase, inner dash, underscore or dot, letters beside digits."""
    return bool(_CODE_SHAPE.search(surface))


def digit_runs(key: str) -> tuple[str, ...]:
    """The numbers and versions in a key, as text, in order."""
    return tuple(_DIGITS.findall(key))


def roman_value(word: str) -> int:
    """1 to 39 for a Roman numeral in lower case, else 0."""
    match = _ROMAN.match(word)
    if not match or not word:
        return 0
    ones = {"": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9}
    return 10 * len(match.group(1)) + ones[match.group(2)]


def is_acronym(surface: str) -> bool:
    """Shaped like an acronym: two to eight capitals, with or without dots."""
    return bool(_ACRONYM.match(unicodedata.normalize("NFKC", surface).strip()))


def acronyms_of(tokens: Sequence[str]) -> set[str]:
    """The acronyms that a name of several words may have: of all words, and without the small ones."""
    if len(tokens) < 2:
        return set()
    every = "".join(token[0] for token in tokens)
    large = "".join(token[0] for token in tokens if token not in SMALL_WORDS)
    return {acronym for acronym in (every, large) if len(acronym) > 1}


def digit_acronyms_of(tokens: Sequence[str]) -> set[str]:
    """The acronyms with a digit for "to" or "for" inside: peer to peer -> p2p."""
    if len(tokens) < 3 or not {"to", "for"}.intersection(tokens[1:-1]):
        return set()
    inner = "".join({"to": "2", "for": "4"}.get(token, token[0]) for token in tokens[1:-1])
    return {tokens[0][0] + inner + tokens[-1][0]}


def numeronym_shape(key: str) -> tuple[str, int, str] | None:
    """(first letter, length of the full form, tail) of a numeronym such as k8s or i18n."""
    match = _NUMERONYM.match(key)
    if not match:
        return None
    first, count, tail = match.groups()
    return first, 1 + int(count) + len(tail), tail


def is_numeronym_of(short_key: str, full_key: str) -> bool:
    shape = numeronym_shape(short_key)
    if shape is None or not full_key.isalpha():
        return False
    first, length, tail = shape
    return len(full_key) == length and full_key.startswith(first) and full_key.endswith(tail)


def is_acronym_of(short: str, full_key: str) -> bool:
    return is_acronym(short) and name_key(short) in acronyms_of(full_key.split())


def abbreviates(short: str, full_key: str) -> bool:
    """Acronym of all or the last words, numeronym, or capitals that stand in the full form in order: PostgreSQL (PG).

    Weaker than `is_acronym_of`: enough where the text sets the two side by side, or they are known to be one.
    """
    words = full_key.split()
    tails = (" ".join(words[start:]) for start in range(max(1, len(words) - 1)))
    if any(is_acronym_of(short, tail) for tail in tails) or is_numeronym_of(name_key(short), full_key):
        return True
    key, letters = name_key(short), iter(full_key.replace(" ", ""))
    return is_acronym(short) and len(key) < len(full_key) and key[0] == full_key[0] and all(c in letters for c in key)


def is_abbreviation(short: Name, full: Name) -> bool:
    """One name is the acronym or numeronym of the other."""
    return is_numeronym_of(short.key, full.key) or is_acronym_of(short.surface, full.key)


def split_legal_form(tokens: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The words without their legal suffixes, and those in canonical form: acme co limited -> (acme), "co ltd"."""
    words = list(tokens)
    forms: list[str] = []
    while len(words) > 1 and words[-1] in LEGAL_FORMS:
        forms.insert(0, LEGAL_FORMS[words.pop()])
    return tuple(words), " ".join(forms)


def split_honorifics(tokens: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The words without leading titles of persons, and those titles. Ranks count as titles before persons only."""
    words = list(tokens)
    titles = []
    while len(words) > 1 and words[0] in TITLES:
        titles.append(words.pop(0))
    return tuple(words), " ".join(titles)


def titles_differ(a: str, b: str) -> bool:
    """One person cannot bear both titles (as `split_honorifics` gives them): Mr and Mrs, Aunt and Uncle."""
    x, y = set(a.split()), set(b.split())
    if (x & _MEN and y & _WOMEN) or (x & _WOMEN and y & _MEN):
        return True
    return any(
        not set(_TITLE_ROWS[x].split()) & set(_TITLE_ROWS[y].split())
        for x in a.split()
        for y in b.split()
        if x in _TITLE_ROWS and y in _TITLE_ROWS
    )


@dataclass(frozen=True, slots=True)
class Name:
    """A name taken apart once, since vetoes look at it many times.

    words: those of the key, without bracketed qualifier. numbers: words with digits, and Roman numerals as their value.
    plain: the other words, without legal form. person: "yes" and "no" (people or a model say so), "guess" and
    "unlikely" (the NLP model guesses so, or something else), "maybe".
    """

    surface: str
    key: str
    words: tuple[str, ...]
    qualifier: str
    numbers: tuple[str, ...]
    plain: tuple[str, ...]
    legal_form: str
    symbols: str
    is_one_word: bool
    has_mixed_script: bool
    honorific: str
    person: str = "maybe"

    @property
    def compact(self) -> str:
        return self.key.replace(" ", "")


def parse_name(surface: str, *, person: str = "maybe") -> Name:
    key = name_key(surface)
    match = _QUALIFIER.match(key) if "(" in key else None
    base, qualifier = match.groups() if match else (key, "")
    words = tuple(base.split())
    bare, legal_form = split_legal_form(words)
    romans = _romans(bare)
    numbers = [word for word in bare if _has_digit(word)] + [str(roman_value(word)) for word in romans]
    plain = [word for word in bare if not _has_digit(word)]
    for word in romans:
        plain.remove(word)
    return Name(
        surface=surface,
        key=key,
        words=words,
        qualifier=qualifier,
        numbers=tuple(sorted(numbers)),
        plain=tuple(sorted(plain)),
        legal_form=legal_form,
        symbols="".join(sorted(_SYMBOL.findall(base))),
        is_one_word=is_one_word(surface),
        has_mixed_script=not key.isascii() and any(_has_mixed_script(word) for word in words),
        honorific=split_honorifics(words)[1],
        person=person,
    )


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(c.isdigit() for c in word)


def _romans(words: Sequence[str]) -> list[str]:
    """Roman numerals, not as first word (IV drip, Li Wei); I, V and X alone as the last word only (John V. Smith)."""
    inner = [word for word in words[1:-1] if len(word) > 1 and roman_value(word)]
    return inner + [word for word in words[1:][-1:] if roman_value(word)]


def is_one_word(surface: str) -> bool:
    """Written without blanks, dashes, underscores: JavaScript is, Java-Script is not."""
    return not _SEPARATORS.search(surface.strip())


def _has_mixed_script(word: str) -> bool:
    return not word.isascii() and sum(bool(script.search(word)) for script in _SCRIPTS) > 1
