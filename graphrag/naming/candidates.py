"""Candidates that no rule decides: pairs of names that may be one, each once, with all that speaks for it, best first.

`find_look_alikes` asks every source: form (look_alikes.py), place (company.py), meaning (name_vectors.py).
`rank_candidates` joins what several sources say of one pair. Candidates of rules (rules.py) that fit several names are
ranked with them.

Does not: decide; vetoes and the number of proposals an entity may have are naming/decisions.py's matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import polars as pl

from graphrag.naming import company, look_alikes
from graphrag.naming.entity_types import choose_type, type_family
from graphrag.naming.name_vectors import Matrix, by_vectors
from graphrag.naming.nodes import Candidate, Key, Node

EmbedNames = Callable[[Sequence[str]], Matrix]  # a row of length 1 for each name


class Cut(NamedTuple):
    """What a source left out, for the failures table."""

    source: str
    detail: str


class LookAlikes(NamedTuple):
    candidates: list[Candidate]
    cuts: list[Cut]


def find_look_alikes(
    nodes: Sequence[Node],
    keys: Sequence[Key],
    relationship_mentions: pl.DataFrame,
    *,
    embed_names: EmbedNames | None = None,
    max_vectors: int = 0,
) -> LookAlikes:
    """Pairs of positions in `nodes` that may be one name, by every source. Vectors only up to `max_vectors` names."""
    documents = company.group_by_document(keys)
    misspellings = look_alikes.find_misspellings(nodes)
    found = [
        *look_alikes.by_spacing(nodes),
        *look_alikes.by_roman_numeral(nodes),
        *look_alikes.by_word_order(nodes),
        *look_alikes.by_nationality(nodes),
        *look_alikes.by_shortened_compound(nodes),
        *look_alikes.by_short_form(nodes),
        *look_alikes.by_small_acronym(nodes),
        *look_alikes.by_token_subset(nodes),
        *misspellings.candidates,
        *company.by_word_family(nodes, documents),
        *company.by_letters_in_order(nodes, documents),
        *company.by_shared_neighbours(nodes, relationship_mentions),
    ]
    cuts = []
    if n_blocks := misspellings.n_large_blocks:
        cuts.append(Cut("edit", f"{n_blocks} groups of letters are shared by too many words to compare."))
    if embed_names is not None and 1 < len(nodes) <= max_vectors:
        families = [type_family(choose_type(key.types)) for key in keys]
        found += by_vectors(embed_names([node.name.key for node in nodes]), documents, families)
    elif embed_names is not None and len(nodes) > max_vectors > 0:
        cuts.append(Cut("vector", f"{len(nodes)} names: more than disambiguation.name_vectors, {max_vectors}."))
    return LookAlikes(found, cuts)


# What is named as the method of a pair that several sources found: the one that says most.
_METHODS = (
    "spacing", "accents", "plural", "inflection", "suffix", "comma_order", "leading_word", "honorific", "initials",
    "country", "acronym", "numeronym", "shorter_name", "surname", "given_name", "link", "qualifier", "appositive",
    "roman_numeral", "word_order", "compound", "short_form", "nationality", "edit", "token_subset", "letters_in_order",
    "word_family", "vector", "neighbours",
)  # fmt: skip
_METHOD_ORDER = {method: n for n, method in enumerate(_METHODS)}


def rank_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """One candidate a pair, the most probable first. Further sources raise the score by half of what they say."""
    by_pair: dict[tuple[int, int], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.short != candidate.long:
            low, high = sorted((candidate.short, candidate.long))
            by_pair[low, high].append(candidate)
    found = [_join_sources(sources) for sources in by_pair.values()]
    return sorted(found, key=lambda c: (-c.score, c.short, c.long))


def _join_sources(sources: list[Candidate]) -> Candidate:
    best: dict[str, Candidate] = {}
    for source in sorted(sources, key=lambda c: (-c.score, c)):
        best.setdefault(source.method, source)
    if len(best) == 1:
        return next(iter(best.values()))
    first, *others = sorted(best.values(), key=lambda c: (_METHOD_ORDER.get(c.method, 0), c))
    strongest, *weaker = sorted((c.score for c in best.values()), reverse=True)
    doubt = 1 - strongest
    for score in weaker:
        doubt *= 1 - score / 2
    reason = " ".join([first.reason, *(other.reason for other in others)])
    return Candidate(first.short, first.long, first.method, round(min(1 - doubt, 0.99), 3), reason)
