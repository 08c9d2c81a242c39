"""Names that may be one because of where they stand: in one document, or beside the same names.

Word families (Sweden and Swedish) and letters of a longer name (OVPS) say little of two names in two documents, and
something of two names in one. Names that state relations with the same rare neighbours may be one, where nothing is
stated between the two themselves. All are candidates for a judge or the user; no rule ever merges them.

Does not: rank, decide, or look at vectors (name_vectors.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log

import polars as pl
from rapidfuzz.distance import Prefix

from graphrag.names import SMALL_WORDS, abbreviates, is_acronym, name_key
from graphrag.naming.nodes import Candidate, Key, Node

STEM = 4  # letters that words of one family share at least
STEM_SHARE = 0.6  # of the shorter word
MAX_FAMILY = 40  # names of one document whose words begin alike
MAX_WORDS = 8
RARE = 20  # names that a neighbour has beside it at most
SHARED_NEIGHBOURS = 3
SHARED_WEIGHT = 0.5  # of the neighbours of the name that has less


def group_by_document(keys: Sequence[Key]) -> list[list[int]]:
    """For each document, the positions of its names; of documents with two names and more."""
    found: dict[str, list[int]] = defaultdict(list)
    for i, key in enumerate(keys):
        for document in sorted(key.documents):
            found[document].append(i)
    return [found[document] for document in sorted(found) if len(found[document]) > 1]


def by_word_family(nodes: Sequence[Node], documents: Sequence[Sequence[int]]) -> Iterator[Candidate]:
    """In one document: each word of the shorter name begins as a word of the longer does: Sweden, Swedish."""
    long_words = [[w for w in node.name.words if len(w) >= STEM and w not in SMALL_WORDS] for node in nodes]
    pairs: set[tuple[int, int]] = set()
    for members in documents:
        families: dict[str, set[int]] = defaultdict(set)
        for i in members:
            if 0 < len(long_words[i]) <= MAX_WORDS:
                for word in long_words[i]:
                    families[word[:STEM]].add(i)
        for family in families.values():
            if len(family) <= MAX_FAMILY:
                pairs.update(combinations(sorted(family), 2))
    for a, b in sorted(pairs):
        short, long = sorted((a, b), key=lambda i: (len(long_words[i]), i))
        if long_words[a] != long_words[b] and all(_has_relative(word, long_words[long]) for word in long_words[short]):
            yield Candidate(short, long, "word_family", 0.3, "Their words begin alike, in one document.")


def _has_relative(word: str, others: Sequence[str]) -> bool:
    return any(Prefix.similarity(word, other) >= max(STEM, STEM_SHARE * min(len(word), len(other))) for other in others)


def by_letters_in_order(nodes: Sequence[Node], documents: Sequence[Sequence[int]]) -> Iterator[Candidate]:
    """In one document: capitals that stand in a longer name in this order, the first as its first: FLAMA."""
    found: set[tuple[int, int]] = set()
    for members in documents:
        by_letter: dict[str, list[int]] = defaultdict(list)
        for i in members:
            if len(nodes[i].name.words) > 1:
                by_letter[nodes[i].name.key[0]].append(i)
        for i in members:
            surface = next((s for s in nodes[i].surfaces if len(s) > 2 and is_acronym(s)), "")
            for j in by_letter.get(name_key(surface)[:1], ()) if surface else ():
                if (i, j) not in found and abbreviates(surface, nodes[j].name.key):
                    found.add((i, j))
    for i, j in sorted(found):
        reason = "Its letters stand in order in the longer name, in one document."
        yield Candidate(i, j, "letters_in_order", 0.3, reason)


def by_shared_neighbours(nodes: Sequence[Node], relationship_mentions: pl.DataFrame) -> Iterator[Candidate]:
    """Stated relations with SHARED_NEIGHBOURS rare names and more in common, half of what either has at least."""
    position = {node.name.key: i for i, node in enumerate(nodes)}
    near: dict[int, set[int]] = defaultdict(set)
    stated = relationship_mentions.filter(pl.col("origin") != "cooccurrence").select("subject", "object").unique()
    for subject, object_ in stated.iter_rows():
        a, b = position.get(name_key(subject)), position.get(name_key(object_))
        if a is not None and b is not None and a != b:
            near[a].add(b)
            near[b].add(a)
    weight = {i: 1 / log(1 + len(others)) for i, others in near.items() if 1 < len(others) <= RARE}
    shared: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i in sorted(weight):
        for pair in combinations(sorted(near[i]), 2):
            shared[pair].append(i)
    for (a, b), both in sorted(shared.items()):
        if len(both) < SHARED_NEIGHBOURS or b in near[a]:
            continue
        less = min(sum(weight.get(i, 0) for i in sorted(near[one])) for one in (a, b))
        share = sum(weight[i] for i in both) / less
        if share >= SHARED_WEIGHT:
            words = f"{len(both)} rare neighbours in common."
            yield Candidate(a, b, "neighbours", round(0.4 * share, 3), words)
