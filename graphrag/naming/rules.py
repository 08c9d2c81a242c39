"""Rules that say which names are one: candidate generation by blocking, never all pairs (specs: indexing 3).

Each rule takes the names of a corpus, one a key, and yields candidates: what it finds is merged unless a veto stands
against it, and, where the rule is exclusive, only if it fits one entity. Rules for names of persons are in
person_rules.py; names that only look alike are in look_alikes.py, and never merged without a judge.

Does not: decide. Vetoes are in vetoes.py; who is merged with whom is decided in index/disambiguation.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import regex

from graphrag.names import (
    SMALL_WORDS,
    abbreviates,
    acronyms_of,
    base_letters,
    digit_acronyms_of,
    digit_runs,
    has_code_shape,
    is_acronym,
    numeronym_shape,
    singular_key,
    split_legal_form,
)
from graphrag.naming.country_names import country_of, is_country_name
from graphrag.naming.nodes import WEAK, Candidate, Node
from graphrag.naming.person_rules import (
    by_comma_order,
    by_honorific,
    by_initials,
    by_leading_word,
    by_part_of_name,
    by_shorter_name,
)
from graphrag.naming.spelling_rules import (
    by_compound,
    by_inflection,
    by_initials_compound,
    by_kind_suffix,
    by_short_form,
    by_spelling,
)
from graphrag.naming.vetoes import free_letters

_SYMBOL = regex.compile(r"\p{Lu}.*_|_.*\p{Lu}")  # a name in code with underscores and capitals: PyObject_Call
_NO_WORD = regex.compile(r"^[b-df-hj-np-tv-xz]{3,6}$")  # small letters, none a vowel: an acronym all the same

_MIXED_CASE = regex.compile(r"^\p{Lu}(?=\p{L}*\p{Ll})\p{L}{1,6}\p{Lu}$|^\p{Lu}\p{Ll}{1,2}\p{Lu}{1,5}$")  # WoT, DoD
_DIGIT_ACRONYM = regex.compile(r"^\p{L}[24\p{L}]*[24][24\p{L}]*\p{L}$")  # P2P
SHORTEST_COMPACT = 5  # I/O is not IO for its letters alone
MAX_WORDS = 8  # longer names are phrases
MAX_RUN = 4  # words that an acronym inside a longer name stands for

Rule = Callable[[Sequence[Node]], Iterator[Candidate]]


def group_positions(pairs: Iterable[tuple[object, int]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = defaultdict(list)
    for value, position in pairs:
        if position not in groups[value][-1:]:
            groups[value].append(position)
    return groups


def by_code_shape(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Equal without spaces, and one is written like an identifier: PostgreSQL, postgresql; but Py_TYPE is no Pytype."""
    for a, b in compact_pairs(nodes):
        if any(all(map(_SYMBOL.search, node.surfaces)) for node in (nodes[a], nodes[b])):
            continue
        if any(has_code_shape(surface) for surface in nodes[a].surfaces + nodes[b].surfaces):
            yield Candidate(a, b, "spacing", 1.0, "The same letters; one is written like an identifier.")


def compact_pairs(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Pairs of the same letters and numbers, whatever blanks, apostrophes and slashes stand between them."""
    groups = group_positions((_letters_alone(node.name.key), i) for i, node in enumerate(nodes))
    for members in groups.values():
        for other in members[1:]:
            if digit_runs(nodes[members[0]].name.key) == digit_runs(nodes[other].name.key):
                yield members[0], other


def _letters_alone(key: str) -> str:
    bare = key.replace(" ", "")
    return bare.replace("'", "").replace("/", "") if len(bare) >= SHORTEST_COMPACT else bare


def by_accents(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """The same base letters, one side plain ASCII: Zürich, Zurich. Zürich and Zurïch say nothing of each other."""
    groups = group_positions((base_letters(node.name.key), i) for i, node in enumerate(nodes))
    for members in groups.values():
        plain = [i for i in members if nodes[i].name.key.isascii()]
        for short in plain:
            for long in members:
                if not nodes[long].name.key.isascii():
                    yield Candidate(short, long, "accents", 1.0, "The same letters but for accents.")


def by_plural(nodes: Sequence[Node]) -> Iterator[Candidate]:
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        for key in {singular_key(surface) for surface in node.surfaces} - {node.name.key}:
            if key in position:
                yield Candidate(i, position[key], "plural", 1.0, "Plural of the same noun.")


def by_legal_form(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Acme Inc., Acme Incorporated, Acme."""
    parts = [split_legal_form(node.name.words) for node in nodes]
    formed = group_positions(
        (words, i)
        for i, (words, form) in enumerate(parts)
        if form and not nodes[i].name.qualifier and not all(surface.islower() for surface in nodes[i].surfaces)
    )
    for i, (words, form) in enumerate(parts):
        for long in formed.get(words, []):
            if long != i and not nodes[i].name.qualifier and (not form or (form == parts[long][1] and i > long)):
                yield Candidate(i, long, "suffix", 1.0, "The same name but for its legal form.")


def by_acronym(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """AWS and Amazon Web Services; also a name that holds both, rpg (which is no word), WoT, P2P and peer to peer."""
    full_forms: dict[str, list[int]] = defaultdict(list)
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        if not node.name.qualifier and not _has_loose_letter(node):
            for acronym in sorted(acronyms_of(node.name.words) | digit_acronyms_of(node.name.words)):
                full_forms[acronym].append(i)
    for i, node in enumerate(nodes):
        shapes = [surface for surface in node.surfaces if _is_short_form(surface)]
        mixed = [surface for surface in node.surfaces if _MIXED_CASE.match(surface)]
        acronym = node.name.key.replace(" ", "")
        for long in full_forms.get(acronym, []) if shapes or mixed else ():
            if not shapes and not any(_has_case_of(surface, nodes[long].name.words) for surface in mixed):
                continue
            # LL and Linux-libre, CDP and cookie details page: two letters or a plain phrase prove little.
            is_weak = len(acronym) == 2 or all(surface.islower() for surface in nodes[long].surfaces)
            yield Candidate(i, long, "acronym", WEAK if is_weak else 1.0, "Acronym of the full form.")
        if node.name.qualifier and abbreviates(node.name.qualifier.upper(), " ".join(node.name.words)):
            for key in (" ".join(node.name.words), node.name.qualifier):
                if key in position:
                    yield Candidate(position[key], i, "acronym", 1.0, "The full form with its acronym in brackets.")


def _has_loose_letter(node: Node) -> bool:
    """A capital that stands alone inside a word is no word: PGO is not PyGObject."""
    letters = [word for word in node.name.words if len(word) == 1]
    return bool(letters) and len(free_letters(letters, node.name)) < len(letters)


def _is_short_form(surface: str) -> bool:
    return is_acronym(surface) or bool(_NO_WORD.match(surface) or _DIGIT_ACRONYM.match(surface))


def _has_case_of(surface: str, words: Sequence[str]) -> bool:
    """Small words have small letters, the others capitals: WoT of Web of Things."""
    return len(surface) == len(words) and all(
        letter.islower() == (word in SMALL_WORDS) for letter, word in zip(surface, words, strict=True)
    )


def by_acronym_inside(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """AI for science, artificial intelligence for science: some words of the one are an acronym in the other."""
    shorts: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
    for i, node in enumerate(nodes):
        if len(node.name.words) > 1:
            inner = {word.casefold() for surface in node.surfaces for word in surface.split() if is_acronym(word)}
            for acronym in sorted(inner.intersection(node.name.words)):
                shorts[node.name.words].append((i, acronym))
    for i, node in enumerate(nodes) if shorts else ():
        words = node.name.words
        for start in range(len(words) if 3 <= len(words) <= MAX_WORDS else 0):
            for end in range(start + 2, min(len(words), start + MAX_RUN) + 1):
                for acronym in sorted(acronyms_of(words[start:end])):
                    for short, inside in shorts.get((*words[:start], acronym, *words[end:]), ()):
                        if inside == acronym and nodes[short].name.qualifier == node.name.qualifier:
                            yield Candidate(
                                short, i, "acronym", WEAK, "Some words of the one are an acronym in the other."
                            )


def by_country(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """U.S., USA, United States; an abbreviation only where it is typed as a place: RSA may be a cipher."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        is_short = any(is_acronym(surface) for surface in node.surfaces)
        if is_country_name(node.name.key) and (node.family == "place" or not (node.family or is_short)):
            places[country_of(node.name.key)].append(i)
    for country, members in sorted(places.items()):
        lead = next((i for i in members if nodes[i].name.key == country), members[0])
        yield from (Candidate(i, lead, "country", 1.0, "Names of one country.") for i in members if i != lead)


def by_numeronym(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """K8s and Kubernetes."""
    shapes = [(i, shape) for i, node in enumerate(nodes) if (shape := numeronym_shape(node.name.key))]
    if not shapes:
        return
    full_forms: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        key = node.name.key
        if key.isalpha():
            for n_tail in (1, 2, 3):
                full_forms[key[0], len(key), key[-n_tail:]].append(i)
    for i, shape in shapes:
        for long in full_forms.get(shape, []):
            yield Candidate(i, long, "numeronym", 1.0, "First letter, number of letters, last letters.")


# (rule, is it exclusive: what fits two entities fits none). In order of trust.
RULES: tuple[tuple[Rule, bool], ...] = (
    (by_code_shape, False),
    (by_accents, True),
    (by_plural, False),
    (by_spelling, False),
    (by_legal_form, True),
    (by_comma_order, True),
    (by_leading_word, False),
    (by_honorific, True),
    (by_initials, True),
    (by_country, False),
    (by_inflection, False),
    (by_acronym, True),
    (by_acronym_inside, True),
    (by_numeronym, True),
    (by_kind_suffix, True),
    (by_compound, True),
    (by_initials_compound, True),
    (by_short_form, True),
    (by_shorter_name, True),
    (by_part_of_name, True),
)
