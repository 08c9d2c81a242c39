"""Names that look alike: candidates by form, for a judge or the user to settle; no rule ever merges them.

Each function takes the names of a corpus, one a key, and yields candidates: blanks, Roman numerals, word order, words
of the one among those of the other, shortened compounds, small acronyms, misspellings. Scores say how likely such a
pair is one thing beside other pairs, not how many letters agree.

Does not: look at documents (company.py) or vectors (name_vectors.py), rank, or decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from graphrag.names import SMALL_WORDS, TITLES, acronyms_of, is_acronym, roman_value
from graphrag.naming.blocking import find_near_names
from graphrag.naming.country_names import country_of
from graphrag.naming.nodes import Candidate, Node
from graphrag.naming.rules import compact_pairs, group_positions
from graphrag.naming.spelling_rules import find_initials_compounds, find_short_forms

MAX_WORDS = 8  # longer names are phrases: no subsets of them
MAX_SAME_WORDS = 50  # names of the same words in some order, or of the same shortened form


class Misspellings(NamedTuple):
    """`n_large_blocks`: letter groups that too many words share to compare them."""

    candidates: list[Candidate]
    n_large_blocks: int


def by_spacing(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """nowhere and now here."""
    for a, b in compact_pairs(nodes):
        yield Candidate(a, b, "spacing", 0.9, "The same letters but for spaces.")


def by_roman_numeral(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Phase II and Phase 2."""
    keys = [" ".join([*w[:1], *(str(roman_value(x) or x) for x in w[1:])]) for w in (n.name.words for n in nodes)]
    for members in group_positions((key, i) for i, key in enumerate(keys)).values():
        for a, b in combinations(members, 2):
            if nodes[a].name.qualifier == nodes[b].name.qualifier:
                yield Candidate(a, b, "roman_numeral", 0.9, "Roman numeral against digits.")


def by_word_order(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """The same words in another order, small ones aside: Bank of Italy, Italy Bank."""
    groups = group_positions(
        (tuple(sorted(large)), i)
        for i, node in enumerate(nodes)
        if 1 < len(large := [word for word in node.name.words if word not in SMALL_WORDS]) <= MAX_WORDS
    )
    for members in groups.values():
        for a, b in combinations(members[:MAX_SAME_WORDS], 2):
            if nodes[a].name.qualifier == nodes[b].name.qualifier:
                yield Candidate(a, b, "word_order", 0.8, "The same words in another order.")


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
                if subset in position:
                    yield from _subsets(i, position[subset], round(size / len(words), 3))


def _windows(words: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    return [words[start : start + size] for start in range(len(words) - size + 1)]


def _subsets(long: int, shorts: Sequence[int], score: float) -> Iterator[Candidate]:
    for short in shorts:
        if short != long:
            yield Candidate(short, long, "token_subset", score, "All words of one name stand in the other.")


def by_nationality(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Finland and Finnish, where both are typed as places. Of such pairs people call two in five one entity."""
    countries: dict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        if (country := country_of(node.name.key)) and node.family == "place":
            countries[country].append(i)
    for country, members in sorted(countries.items()):
        lead = next((i for i in members if nodes[i].name.key == country), members[0])
        yield from (
            Candidate(i, lead, "nationality", 0.4, "A country and its adjective.") for i in members if i != lead
        )


def by_shortened_compound(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """The first letters of the first words before the last word whole: gdrive, Google Drive."""
    for short, i in find_initials_compounds(nodes):
        yield Candidate(short, i, "compound", 0.7, "First letters of the first words, and the last word.")


def by_short_form(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Web app and web application, lib and library."""
    for a, b in find_short_forms(nodes):
        yield Candidate(a, b, "short_form", 0.7, "The same words, one of them cut short.")


def by_small_acronym(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """oss and Open Source Software: the letters of an acronym, but not written as one."""
    shorts = {
        node.name.key: i
        for i, node in enumerate(nodes)
        if 2 < len(node.name.key) < 6 and node.name.key.isalpha() and not any(is_acronym(s) for s in node.surfaces)
    }
    for i, node in enumerate(nodes):
        for acronym in sorted(acronyms_of(node.name.words)) if not node.name.qualifier else ():
            if acronym in shorts:
                yield Candidate(shorts[acronym], i, "acronym", 0.4, "The first letters of the words, in small letters.")


def find_misspellings(nodes: Sequence[Node]) -> Misspellings:
    """At most two edits apart; numbers, short words and descriptions in brackets equal."""
    near = find_near_names([(*node.name.words, node.name.qualifier) for node in nodes])
    found = []
    for a, b, distance in near.pairs.iter_rows():
        score = round(1 - distance / max(len(nodes[a].name.key), len(nodes[b].name.key)), 3)
        found.append(Candidate(a, b, "edit", score, f"{distance} edit{'s' * (distance > 1)} apart."))
    return Misspellings(found, near.n_large_blocks)
