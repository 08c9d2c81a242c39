"""Blocking of misspelt names: pairs at most two edits apart, without comparing all pairs.

Words first: two words within d edits share a form that is left when up to d letters are deleted from each (deletion
neighbourhoods, Mor and Fraenkel 1982), so that words which share no form are never compared. Then names: those that
differ in one word by up to two edits, or in two words by one edit each.

Short words, numbers and single letters have to be equal. Does not: find names that are one but for blanks (candidates
by spacing do), or decide anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

EDITS = 2
SHORTEST_WORD = 4  # has variants of one edit; longer words of two
SHORTEST_NAME = 5
LONGEST_WORD = 40
MAX_BLOCK = 400  # words that share one form; from larger blocks nothing is read
PAIRS_AT_ONCE = 4_000_000

_LETTER, _WORD, _PLACE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
_NEAR = {"a": pl.UInt32(), "b": pl.UInt32(), "distance": pl.UInt8()}


class NearNames(NamedTuple):
    """`pairs`: a, b (positions of names, a < b), distance. `n_large_blocks`: forms that too many words share."""

    pairs: pl.DataFrame
    n_large_blocks: int


def find_near_names(names: Sequence[Sequence[str]]) -> NearNames:
    """Pairs of names, given as their words, that are one or two edits apart in words of four letters and more."""
    words = sorted({word for name in names for word in name})
    id_of = {word: n for n, word in enumerate(words)}
    can_vary = np.array([_can_vary(word) for word in words], dtype=bool)
    varying = [n for n, varies in enumerate(can_vary) if varies]
    near, n_large_blocks = find_near_words([words[n] for n in varying])
    there = pl.Series(varying, dtype=pl.UInt32)
    near = near.with_columns(there.gather(near["a"]).alias("a"), there.gather(near["b"]).alias("b"))
    places = _place_words(names, id_of)
    places = places.filter(pl.Series(can_vary[places["word"].to_numpy()], dtype=pl.Boolean))
    found = pl.concat([_differ_in_one_word(places, near), _differ_in_two_words(places, near)])
    pairs = found.group_by("a", "b").agg(pl.col("distance").min()).sort("a", "b")
    length = pl.Series([sum(map(len, name)) + len(name) - 1 for name in names], dtype=pl.UInt32)
    is_long = length >= SHORTEST_NAME
    return NearNames(pairs.filter(is_long.gather(pairs["a"]) & is_long.gather(pairs["b"])), n_large_blocks)


def find_near_words(words: Sequence[str]) -> NearNames:
    """Pairs of words within EDITS of each other; within one where the shorter has only SHORTEST_WORD letters."""
    forms = pl.concat([pl.DataFrame(schema={"form": pl.UInt64(), "word": pl.UInt32()}), *_deletion_forms(words)])
    forms = forms.unique().sort("form", "word")
    blocks = forms.group_by("form", maintain_order=True).len().filter(pl.col("len") > 1)
    n_large = blocks.filter(pl.col("len") > MAX_BLOCK).height
    blocks = blocks.filter(pl.col("len") <= MAX_BLOCK)
    blocks = blocks.with_columns((pl.col("len").cast(pl.Int64).pow(2).cum_sum() // PAIRS_AT_ONCE).alias("batch"))
    found = [pl.DataFrame(schema=_NEAR)]
    for batch in blocks.partition_by("batch", maintain_order=True):
        members = forms.join(batch.select("form"), on="form")
        pairs = members.join(members, on="form", suffix="_b").select(
            pl.col("word").alias("a"), pl.col("word_b").alias("b")
        )
        found.append(_measure(pairs.filter(pl.col("a") < pl.col("b")).unique(), words))
    return NearNames(pl.concat(found).unique().sort("a", "b"), n_large)


def _can_vary(word: str) -> bool:
    return SHORTEST_WORD <= len(word) <= LONGEST_WORD and not any(c.isdigit() for c in word)


def _deletion_forms(words: Sequence[str]) -> Iterator[pl.DataFrame]:
    """A hash of each form that is left of each word without none, one or two of its letters."""
    by_length: dict[int, list[int]] = {}
    for n, word in enumerate(words):
        by_length.setdefault(len(word), []).append(n)
    for length, members in sorted(by_length.items()):
        letters = np.array([[ord(c) for c in words[n]] for n in members], dtype=np.uint64) * _LETTER
        letters ^= letters >> np.uint64(29)
        powers = np.cumprod(np.full(length, _WORD), dtype=np.uint64)
        weighted = [letters * np.roll(powers, shift) for shift in (0, 1, 2)]  # behind 0, 1, 2 deleted letters
        sums = [np.cumsum(w, axis=1, dtype=np.uint64) for w in weighted]
        positions = np.array(members, dtype=np.uint32)
        kept = [sums[0][:, -1]]
        for i in range(length):
            before = sums[0][:, i] - weighted[0][:, i]
            kept.append(before + sums[1][:, -1] - sums[1][:, i])
            for j in range(i + 1, length) if length > SHORTEST_WORD else ():
                between = sums[1][:, j] - weighted[1][:, j] - sums[1][:, i]
                kept.append(before + between + sums[2][:, -1] - sums[2][:, j])
        yield pl.DataFrame({"form": np.concatenate(kept), "word": np.tile(positions, len(kept))})


def _measure(pairs: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """The pairs that are near enough, with their distance."""
    a, b = pairs["a"].to_list(), pairs["b"].to_list()
    left, right = [words[n] for n in a], [words[n] for n in b]
    distance = process.cpdist(left, right, scorer=Levenshtein.distance, score_cutoff=EDITS, dtype=np.uint8)
    shorter = pl.Series([min(len(x), len(y)) for x, y in zip(left, right, strict=True)], dtype=pl.UInt8)
    frame = pairs.with_columns(pl.Series("distance", distance, dtype=pl.UInt8))
    return frame.filter((frame["distance"] <= EDITS) & ((shorter > SHORTEST_WORD) | (frame["distance"] == 1)))


def _place_words(names: Sequence[Sequence[str]], id_of: dict[str, int]) -> pl.DataFrame:
    """One row a word of a name: name, word, position, place (a hash of both), rest (the sum of the other places)."""
    sizes = np.array([len(name) for name in names], dtype=np.int64)
    word = np.array([id_of[word] for name in names for word in name], dtype=np.uint32)
    name = np.repeat(np.arange(len(names), dtype=np.uint32), sizes)
    position = np.arange(len(word), dtype=np.int64) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = _mix(word.astype(np.uint64) * _WORD + position.astype(np.uint64) * _PLACE)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(place, dtype=np.uint64)])
    ends = np.cumsum(sizes)
    every = np.repeat(_mix(sizes.astype(np.uint64)) + sums[ends] - sums[ends - sizes], sizes)
    return pl.DataFrame({"name": name, "word": word, "position": position, "place": place, "rest": every - place})


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (values ^ (values >> np.uint64(31))) * _LETTER
    return mixed ^ (mixed >> np.uint64(29))


def _differ_in_one_word(places: pl.DataFrame, near: pl.DataFrame) -> pl.DataFrame:
    other = places.join(near, left_on="word", right_on="a").select("name", "rest", "b", "distance")
    found = other.join(places, left_on=["rest", "b"], right_on=["rest", "word"], suffix="_b")
    return _order(found)


def _differ_in_two_words(places: pl.DataFrame, near: pl.DataFrame) -> pl.DataFrame:
    one = near.filter(pl.col("distance") == 1).select("a", "b")
    both_ways = pl.concat([one, one.select(pl.col("b").alias("a"), pl.col("a").alias("b"))])
    twos = (
        places.join(places, on="name", suffix="_2")
        .filter(pl.col("position") < pl.col("position_2"))
        .select("name", "word", "word_2", (pl.col("rest") - pl.col("place_2")).alias("rest"))
    )
    other = twos.join(one, left_on="word", right_on="a").join(both_ways, left_on="word_2", right_on="a", suffix="_2")
    found = other.join(twos, left_on=["rest", "b", "b_2"], right_on=["rest", "word", "word_2"], suffix="_b")
    return _order(found.with_columns(pl.lit(2, dtype=pl.UInt8).alias("distance")))


def _order(found: pl.DataFrame) -> pl.DataFrame:
    low, high = pl.min_horizontal("name", "name_b"), pl.max_horizontal("name", "name_b")
    return found.select(low.alias("a"), high.alias("b"), "distance")
