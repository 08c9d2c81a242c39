"""Rules that say which names may be one: candidate generation by blocking, never all pairs (specs: indexing 3).

Each rule takes the names of a corpus, one a key, and yields candidates. `RULES` are structural rules: what they find is
merged unless a veto stands against it, and, where the rule is exclusive, only if it fits one entity. `PROPOSALS` find
names that look alike: these are never merged without a judge. Rules for names of persons are in person_rules.py.

Does not: decide. Vetoes are in vetoes.py; who is merged with whom is decided in index/disambiguation.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from graphrag.names import (
    TITLES,
    acronyms_of,
    base_letters,
    digit_runs,
    has_code_shape,
    is_acronym,
    numeronym_shape,
    roman_value,
    singular_key,
    split_legal_form,
)
from graphrag.naming.nodes import Candidate, Node
from graphrag.naming.person_rules import (
    by_comma_order,
    by_honorific,
    by_initials,
    by_leading_word,
    by_part_of_name,
)
from graphrag.naming.vetoes import EDITS

MAX_WORDS = 8  # longer names are phrases: no subsets of them
MAX_LETTERS = 64
MAX_BLOCK = 400  # names that share one block of the edit search; larger blocks say nothing
SHORTEST_EDIT = 5
N_SEGMENTS = EDITS + 1

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
        if not TITLES.issuperset(node.name.words):  # "Mr" alone is a part of too many
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
    (by_leading_word, False),
    (by_honorific, True),
    (by_initials, True),
    (by_acronym, True),
    (by_numeronym, True),
    (by_part_of_name, True),
)
PROPOSALS: tuple[Rule, ...] = (by_spacing, by_roman_numeral, by_token_subset, by_edits)
