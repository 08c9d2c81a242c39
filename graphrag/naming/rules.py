"""Rules that say which names may be one: candidate generation by blocking, never all pairs (specs: indexing 3).

Each rule takes the names of a corpus, one a key, and yields candidates. `RULES` are structural rules: what they find is
merged unless a veto stands against it, and, where the rule is exclusive, only if it fits one entity. `PROPOSALS` find
names that look alike: these are never merged without a judge.

Does not: decide. Vetoes are in vetoes.py; who is merged with whom is decided in index/disambiguation.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

import regex
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from graphrag.names import (
    GIVEN_NAME_TITLES,
    HONORIFICS,
    acronyms_of,
    base_letters,
    digit_runs,
    has_code_shape,
    is_acronym,
    numeronym_shape,
    roman_value,
    singular_key,
    split_honorifics,
    split_legal_form,
    titles_differ,
)
from graphrag.naming.nodes import Candidate, Node
from graphrag.naming.vetoes import EDITS, are_persons, is_initial_of, ordered_person_words

MAX_WORDS = 8  # longer names are phrases: no subsets of them
MAX_LETTERS = 64
MAX_BLOCK = 400  # names that share one block of the edit search; larger blocks say nothing
SHORTEST_EDIT = 5
N_SEGMENTS = EDITS + 1

_SMALL_ENDING = regex.compile(r"(?:^|[\p{Pd}_\s])\p{Ll}[\p{Ll}\p{M}'’]*\W*$")  # Edward-street is no person in full

Rule = Callable[[Sequence[Node]], Iterator[Candidate]]


def _group(pairs: Iterable[tuple[object, int]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = defaultdict(list)
    for value, position in pairs:
        if position not in groups[value][-1:]:
            groups[value].append(position)
    return groups


def by_code_shape(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Equal without spaces, and one is written like an identifier: PostgreSQL, postgresql."""
    for a, b in _compact_pairs(nodes):
        if any(has_code_shape(surface) for surface in nodes[a].surfaces + nodes[b].surfaces):
            yield Candidate(a, b, "spacing", 1.0, "The same letters; one is written like an identifier.")


def _compact_pairs(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    groups = _group((node.name.key.replace(" ", ""), i) for i, node in enumerate(nodes))
    for members in groups.values():
        for other in members[1:]:
            if digit_runs(nodes[members[0]].name.key) == digit_runs(nodes[other].name.key):
                yield members[0], other


def by_accents(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """The same base letters, one side plain ASCII: Zürich, Zurich. Zürich and Zurïch say nothing of each other."""
    groups = _group((base_letters(node.name.key), i) for i, node in enumerate(nodes))
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
    formed = _group(
        (words, i)
        for i, (words, form) in enumerate(parts)
        if form and not nodes[i].name.qualifier and not all(surface.islower() for surface in nodes[i].surfaces)
    )
    for i, (words, form) in enumerate(parts):
        for long in formed.get(words, []):
            if long != i and not nodes[i].name.qualifier and (not form or (form == parts[long][1] and i > long)):
                yield Candidate(i, long, "suffix", 1.0, "The same name but for its legal form.")


def by_honorific(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Dr. Ana Kovač, Ana Kovač. Where the name is a given name alone, it fits the full names that begin with it too."""
    position = {node.name.key: i for i, node in enumerate(nodes)}
    full_forms = _group(
        (words[0], i)
        for i, node in enumerate(nodes)
        if node.name.person in ("yes", "guess") and len(words := ordered_person_words(node.name)) > 1
    )
    for i, node in enumerate(nodes):
        words, title = split_honorifics(node.name.words)
        bare = position.get(" ".join(words)) if title else None
        if bare is None or nodes[bare].name.person == "no":
            continue
        yield Candidate(bare, i, "honorific", 1.0, "The same person's name but for the title.")
        if len(words) == 1 and title in GIVEN_NAME_TITLES:
            reason = "Given name of the person named in full."
            yield from (Candidate(bare, long, "given_name", 1.0, reason) for long in full_forms.get(words[0], []))


def by_comma_order(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Kovač, Ana and Ana Kovač, for persons."""
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        ordered = position.get(" ".join(ordered_person_words(node.name)))
        if ", " in node.name.surface and ordered not in (None, i) and are_persons(node.name, nodes[ordered].name):
            yield Candidate(i, ordered, "comma_order", 1.0, "The same person's name, surname first.")


def by_initials(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """A. Kovač and Ana Kovač, for persons: equal surnames, given names equal or one the other's initial."""
    blocks: dict[tuple[str, str], list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for i, node in enumerate(nodes):
        words = ordered_person_words(node.name) if node.name.person != "no" else ()
        if len(words) > 1:
            blocks[words[-1], words[0][0]].append((i, words))
    for members in blocks.values():
        shorts = [(i, words) for i, words in members if any(len(word) == 1 for word in words[:-1])]
        for i, words in shorts:
            for j, full in members:
                if i != j and are_persons(nodes[i].name, nodes[j].name) and _initials_fit(words[:-1], full[:-1]):
                    yield Candidate(i, j, "initials", 1.0, "The same surname; the given name is an initial.")


def _initials_fit(short: Sequence[str], full: Sequence[str]) -> bool:
    return (
        len(short) <= len(full)
        and all(a == b or is_initial_of(a, b) for a, b in zip(short, full, strict=False))
        and any(is_initial_of(a, b) for a, b in zip(short, full, strict=False))
    )


def by_acronym(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """AWS and Amazon Web Services; also a name that holds both: Amazon Web Services (AWS)."""
    full_forms: dict[str, list[int]] = defaultdict(list)
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        if not node.name.qualifier:
            for acronym in sorted(acronyms_of(node.name.words)):
                full_forms[acronym].append(i)
    for i, node in enumerate(nodes):
        if any(is_acronym(surface) for surface in node.surfaces):
            for long in full_forms.get(node.name.key.replace(" ", ""), []):
                yield Candidate(i, long, "acronym", 1.0, "Acronym of the full form.")
        base = position.get(" ".join(node.name.words)) if node.name.qualifier in acronyms_of(node.name.words) else None
        if base is not None:
            yield Candidate(i, base, "acronym", 1.0, "The full form with its acronym in brackets.")


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


def by_surname(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Holmes, Mr. Holmes and Sherlock Holmes, for persons."""
    yield from _part_of_name(nodes, -1, "surname", "Surname of the person named in full.")


def by_given_name(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Sherlock and Sherlock Holmes, for persons."""
    yield from _part_of_name(nodes, 0, "given_name", "Given name of the person named in full.")


def _part_of_name(nodes: Sequence[Node], part: int, method: str, reason: str) -> Iterator[Candidate]:
    """Names of one word that are the given part of longer ones. Guesses count only where both names are guessed.

    Where two persons bear the word behind different titles (Mr. Holmes, Mrs. Holmes), the bare word fits both of them
    too, and a title says nothing of a full name that never stands behind one.
    """
    full_forms: dict[str, list[int]] = defaultdict(list)
    titled: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        words = ordered_person_words(node.name)
        if node.name.honorific:
            titled[words].append(i)
        if len(words) > 1 and node.name.person != "no" and not _SMALL_ENDING.search(node.name.surface):
            full_forms[words[part]].append(i)
    for i, node in enumerate(nodes):
        words = ordered_person_words(node.name)
        if len(words) != 1 or words[0] in HONORIFICS or node.name.surface.islower():
            continue
        if part == 0 and not set(node.name.honorific.split()) <= GIVEN_NAME_TITLES:
            continue
        fitting = full_forms.get(words[0], [])
        # Names that may be no persons count as others that fit, but alone they are none.
        known = {nodes[long].name.person for long in fitting}
        trusted = ("yes", "guess", "maybe") if "yes" in known else ("yes", "guess") if "guess" in known else ()
        if node.name.person not in trusted:
            continue
        if _bear_different_titles(nodes, titled[words]):
            with_title = [long for long in fitting if titled[ordered_person_words(nodes[long].name)]]
            fitting = with_title if node.name.honorific else [*fitting, *titled[words]]
        yield from (Candidate(i, long, method, 1.0, reason) for long in fitting)


def _bear_different_titles(nodes: Sequence[Node], titled: Sequence[int]) -> bool:
    names = (nodes[i].name.honorific for i in titled)
    return any(titles_differ(a, b) for a, b in combinations(names, 2))


def by_roman_numeral(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Phase II and Phase 2."""
    keys = [" ".join([*w[:1], *(str(roman_value(x) or x) for x in w[1:])]) for w in (n.name.words for n in nodes)]
    groups = _group((key, i) for i, key in enumerate(keys))
    for members in groups.values():
        for a, b in combinations(members, 2):
            if nodes[a].name.qualifier == nodes[b].name.qualifier:
                yield Candidate(a, b, "roman_numeral", 0.9, "Roman numeral against digits.")


def by_spacing(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """nowhere and now here."""
    for a, b in _compact_pairs(nodes):
        yield Candidate(a, b, "spacing", 0.9, "The same letters but for spaces.")


def by_token_subset(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """All words of the shorter name stand in the longer, in order: Redis, Redis Sentinel."""
    position: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        position[node.name.words].append(i)
    for i, node in enumerate(nodes):
        words = node.name.words
        if len(words) > MAX_WORDS:
            continue
        if node.name.qualifier:
            yield from _subsets(i, position.get(words, []), 0.9)
        for size in range(1, len(words)):
            subsets = combinations(words, size) if len(words) <= MAX_WORDS // 2 else _windows(words, size)
            for subset in dict.fromkeys(subsets):
                yield from _subsets(i, position.get(subset, []), round(size / len(words), 3))


def _windows(words: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    return [words[start : start + size] for start in range(len(words) - size + 1)]


def _subsets(long: int, shorts: list[int], score: float) -> Iterator[Candidate]:
    for short in shorts:
        if short != long:
            yield Candidate(short, long, "token_subset", score, "All words of one name stand in the other.")


def by_edits(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """At most two edits apart, numbers and single letters equal.

    Blocking is exact (Pass-Join, Li et al. 2011, multi-match-aware): of three segments of the shorter key, two edits
    leave one untouched and near its place. Only blocks of more than MAX_BLOCK names lose pairs.
    """
    blocks: dict[tuple[object, ...], dict[tuple[int, str], list[int]]] = {}
    keys = [node.name.key for node in nodes]
    long_enough = [i for i, node in enumerate(nodes) if SHORTEST_EDIT <= len(node.name.key) <= MAX_LETTERS]
    for i in sorted(long_enough, key=lambda i: (len(keys[i]), keys[i])):
        name, key = nodes[i].name, keys[i]
        fixed = (name.numbers, tuple(word for word in name.plain if len(word) == 1))
        found: set[int] = set()
        for longer in range(EDITS + 1):
            block = blocks.get((len(key) - longer, *fixed), {})
            for segment, start, size in _places(len(key) - longer, longer) if block else ():
                found.update(block.get((segment, key[start : start + size]), ()))
        others = {other: keys[other] for other in sorted(found)}
        near = process.extract(
            key, others, scorer=Levenshtein.distance, processor=None, score_cutoff=EDITS, limit=len(others)
        )
        for _, distance, other in near:
            score = round(1 - distance / len(key), 3)
            yield Candidate(other, i, "edit", score, f"{distance} edit{'s' * (distance > 1)} apart.")
        block = blocks.setdefault((len(key), *fixed), {})
        for segment, start, size in _places(len(key), 0, own=True):
            members = block.setdefault((segment, key[start : start + size]), [])
            if len(members) < MAX_BLOCK:
                members.append(i)


@cache
def _places(length: int, longer: int, *, own: bool = False) -> tuple[tuple[int, int, int], ...]:
    """(segment, start, size) where a key of length + longer may hold the segments of a key of that length."""
    size, rest = divmod(length, N_SEGMENTS)
    places, start = [], 0
    for segment in range(N_SEGMENTS):
        width = size + (segment >= N_SEGMENTS - rest)
        after = EDITS - segment  # edits that may come behind this segment
        shifts = range(max(-segment, longer - after), min(segment, longer + after) + 1)
        places += [(segment, start + shift, width) for shift in ((0,) if own else shifts) if start + shift >= 0]
        start += width
    return tuple(places)


# (rule, is it exclusive: what fits two entities fits none). In order of trust.
RULES: tuple[tuple[Rule, bool], ...] = (
    (by_code_shape, False),
    (by_accents, True),
    (by_plural, False),
    (by_legal_form, True),
    (by_comma_order, True),
    (by_honorific, True),
    (by_initials, True),
    (by_acronym, True),
    (by_numeronym, True),
    (by_surname, True),
    (by_given_name, True),
)
PROPOSALS: tuple[Rule, ...] = (by_spacing, by_roman_numeral, by_token_subset, by_edits)
