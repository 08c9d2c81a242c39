"""Rules for names of persons: titles, initials, surname first, and parts of a name (specs: indexing 3).

Holmes, Mr. Holmes and Sherlock Holmes may be one. A part of a name is a weak sign, so that the full name must look like
one (Pemberley Woods, History of England and Even Frederick do not), and the part must be no word that the corpus writes
in small letters too. That both names stand in one document, decisions.py sees to.

Does not: decide; know which words are given names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import regex

from graphrag.names import GIVEN_NAME_TITLES, HONORIFICS, RANKS, SMALL_WORDS, TITLES, split_honorifics, titles_differ
from graphrag.naming.nodes import Candidate, Node
from graphrag.naming.vetoes import are_persons, is_initial_of, ordered_person_words

# Titles that are given names as well: Duke Ellington has no surname in common with Mercer Ellington.
_ALSO_GIVEN = frozenset((
    "baron", "bishop", "count", "duke", "earl", "judge", "justice", "king", "major", "marshal", "pope", "prince",
))  # fmt: skip
# Stand before a name in a sentence, and are no part of it: Poor Kitty, Even Elizabeth, my dear Harriet.
LEADING_WORDS = frozenset((
    "again", "although", "and", "because", "besides", "both", "but", "dear", "dearest", "even", "her", "his", "if",
    "maybe", "my", "now", "once", "only", "our", "perhaps", "poor", "since", "so", "still", "that", "then", "though",
    "thus", "unless", "until", "what", "when", "whenever", "where", "whether", "while", "yet", "your",
))  # fmt: skip
# No person's name has them inside; "of" and "the" stand behind a given name (Joan of Arc), never before a surname.
_JOINTS = frozenset((
    "about", "above", "across", "after", "against", "along", "among", "and", "around", "as", "at", "before", "behind",
    "below", "beneath", "beside", "between", "beyond", "but", "by", "for", "from", "in", "into", "near", "nor", "on",
    "onto", "or", "over", "than", "through", "to", "toward", "towards", "under", "upon", "versus", "via", "vs", "with",
    "within", "without", "a", "an", "is", "was", "not",
))  # fmt: skip
# Last words that make a name one of a place, a body or a thing.
_NO_SURNAMES = frozenset((
    "abbey", "academy", "airport", "alley", "army", "assembly", "association", "avenue", "award", "barracks", "beach",
    "boulevard", "bridge", "buildings", "canal", "canyon", "castle", "cathedral", "cemetery", "center", "centre",
    "chapel", "city", "college", "committee", "council", "county", "desert", "district", "festival", "foundation",
    "glacier", "gulf", "harbor", "harbour", "hospital", "hotel", "house", "institute", "island", "library", "lodge",
    "mountain", "museum", "ocean", "office", "orchestra", "palace", "park", "parliament", "parsonage", "party",
    "passage", "peninsula", "plaza", "prison", "province", "rectory", "regiment", "region", "republic", "reservoir",
    "river", "road", "rooms", "school", "seminary", "society", "square", "station", "street", "tavern", "terrace",
    "theater", "theatre", "tower", "town", "township", "university", "valley", "village", "zoo",
))  # fmt: skip
_GENERATIONS = frozenset(("jr", "sr", "junior", "senior", "elder", "younger"))
MAX_PERSON_WORDS = 6  # longer names are not taken apart
PARTS = {"surname": -1, "given_name": 0}
_REASONS = {
    "surname": "Surname of the person named in full.",
    "given_name": "Given name of the person named in full.",
}
_SMALL_ENDING = regex.compile(r"(?:^|[\p{Pd}_\s])\p{Ll}[\p{Ll}\p{M}'’]*\W*$")  # Edward-street is no person in full


def by_leading_word(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Poor Kitty and Kitty: a sentence put the word before the name."""
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        words = node.name.words
        start = next((n for n, word in enumerate(words) if word not in LEADING_WORDS), 0)
        bare = position.get(" ".join(words[start:])) if start > 0 and not node.name.qualifier else None
        if bare is not None and are_persons(node.name, nodes[bare].name) and not _is_bare_title(nodes[bare]):
            yield Candidate(i, bare, "leading_word", 1.0, "The same person's name but for a word before it.")


def by_honorific(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Dr. Ana Kovač, Ana Kovač. Where the name is a given name alone, it fits the full names that begin with it too."""
    position = {node.name.key: i for i, node in enumerate(nodes)}
    full_forms: dict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        if node.name.person in ("yes", "guess") and is_full_name(node, 0):
            full_forms[ordered_person_words(node.name)[0]].append(i)
    for i, node in enumerate(nodes):
        words, title = split_honorifics(node.name.words)
        bare = position.get(" ".join(words)) if title else None
        if bare is None or nodes[bare].name.person == "no" or node.name.person == "no":
            continue
        # A rank is a word of other meanings too: only the names of persons bear it (General Motors does not).
        is_sure = HONORIFICS.issuperset(title.split()) or are_persons(node.name, nodes[bare].name)
        if not is_sure or _is_bare_title(nodes[bare]) or _is_family(words, title, position):
            continue
        yield Candidate(bare, i, "honorific", 1.0, "The same person's name but for the title.")
        if len(words) == 1 and set(title.split()) <= GIVEN_NAME_TITLES:
            for long in full_forms.get(words[0], []):
                yield Candidate(bare, long, "given_name", 1.0, _REASONS["given_name"])


def _is_family(words: Sequence[str], title: str, position: dict[str, int]) -> bool:
    """The Miss Bennets are several of the Bennets."""
    endings = [ending for ending in ("s", "es") if title in ("miss", "lady") and words[-1].endswith(ending)]
    return any(" ".join((title, *words)).removesuffix(ending) in position for ending in endings)


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
                if i != j and are_persons(nodes[i].name, nodes[j].name) and fits_initials(words[:-1], full[:-1]):
                    yield Candidate(i, j, "initials", 1.0, "The same surname; the given name is an initial.")


def fits_initials(short: Sequence[str], full: Sequence[str]) -> bool:
    """Given names, one of them an initial: (j, ronald) and (john, ronald)."""
    return (
        len(short) <= len(full)
        and all(a == b or is_initial_of(a, b) for a, b in zip(short, full, strict=False))
        and any(is_initial_of(a, b) for a, b in zip(short, full, strict=False))
    )


def by_part_of_name(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Holmes, Mr. Holmes, Sherlock and Sherlock Holmes, for persons. Guesses count only where both names are guessed.

    Where two persons bear the word behind different titles (Mr. Holmes, Mrs. Holmes), the bare word fits both of them
    too, and a title says nothing of a full name that never stands behind one.
    """
    full_forms: dict[tuple[str, str], list[int]] = defaultdict(list)
    titled: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        words = ordered_person_words(node.name)
        if node.name.honorific:
            titled[words].append(i)
        for method, part in PARTS.items():
            if is_full_name(node, part):
                full_forms[method, words[part]].append(i)
    for i, node in enumerate(nodes):
        words = ordered_person_words(node.name)
        fitting = {
            long: method
            for method, part in PARTS.items()
            if is_part_of_name(node, part)
            for long in full_forms.get((method, words[0]), [])
        }
        # Names that may be no persons count as others that fit, but alone they are none.
        known = {nodes[long].name.person for long in fitting}
        trusted = ("yes", "guess", "maybe") if "yes" in known else ("yes", "guess") if "guess" in known else ()
        if node.name.person not in trusted:
            continue
        others: list[int] = []
        if _bear_different_titles(nodes, titled[words]):
            others = [] if node.name.honorific else titled[words]
            if node.name.honorific:
                fitting = {n: m for n, m in fitting.items() if titled[ordered_person_words(nodes[n].name)]}
        for long, method in fitting.items():
            if not node.name.honorific or _bears_title(nodes, long, titled, node.name.honorific):
                yield Candidate(i, long, method, 1.0, _REASONS[method])
        yield from (Candidate(i, long, "surname", 1.0, _REASONS["surname"]) for long in others)


def by_shorter_name(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Henrik Angell and Henrik August Angell; de la Rocha and Zack de la Rocha; Rachel Perry and Rachel Perry Welty."""
    position: dict[tuple[str, ...], list[int]] = defaultdict(list)
    persons = [i for i, node in enumerate(nodes) if node.name.person not in ("no", "unlikely")]
    for i in persons:
        if len(words := ordered_person_words(nodes[i].name)) > 1:
            position[words].append(i)
    for i in persons:
        words = ordered_person_words(nodes[i].name)
        if len(words) > MAX_PERSON_WORDS or not is_full_name(nodes[i], 0):
            continue
        for size in range(2, len(words)):
            for left in combinations(range(len(words)), size):
                short = tuple(words[n] for n in left)
                if short in position and _stand_for_all(left, words):
                    yield from (
                        Candidate(j, i, "shorter_name", 1.0, "A shorter form of the person's full name.")
                        for j in position[short]
                        if are_persons(nodes[j].name, nodes[i].name)
                    )


def is_shorter_name(short: Sequence[str], words: Sequence[str]) -> bool:
    """Is one name a shorter form of the other? Both as `ordered_person_words` gives them."""
    if not 1 < len(short) < len(words) <= MAX_PERSON_WORDS:
        return False
    places = combinations(range(len(words)), len(short))
    return any(tuple(words[n] for n in left) == tuple(short) and _stand_for_all(left, words) for left in places)


def _stand_for_all(left: Sequence[int], words: Sequence[str]) -> bool:
    """First and last word stay, or the words stand at one end of the full name; Jr. is another than Sr."""
    gone = {word for n, word in enumerate(words) if n not in left}
    if not gone.isdisjoint(_GENERATIONS) or words[left[-1]] in SMALL_WORDS:
        return False
    is_run = left[-1] - left[0] == len(left) - 1
    return (left[0] == 0 and left[-1] == len(words) - 1) or (is_run and (left[0] == 0 or left[-1] == len(words) - 1))


def is_full_name(node: Node, part: int) -> bool:
    """May the name be a person's in full, with a given name and a surname, one of which (`part`) stands for both?"""
    words = ordered_person_words(node.name)
    if len(words) < 2 or node.name.person == "no" or _SMALL_ENDING.search(node.name.surface):
        return False
    if words[0] in LEADING_WORDS or words[0] in TITLES or not _JOINTS.isdisjoint(words):
        return False
    if part == -1 and not {"of", "the"}.isdisjoint(words):
        return False
    if words[-1] in _NO_SURNAMES or words[-1].removesuffix("s") in _NO_SURNAMES:
        return False
    return bool(node.name.honorific) or node.common_words.isdisjoint((words[0], words[-1]))


def is_part_of_name(node: Node, part: int) -> bool:
    words, titles = ordered_person_words(node.name), set(node.name.honorific.split())
    if len(words) != 1 or node.name.surface.islower():
        return False
    if not titles:
        return words[0] not in TITLES and words[0] not in node.common_words
    return titles <= GIVEN_NAME_TITLES if part == 0 else titles.isdisjoint(_ALSO_GIVEN)


def _is_bare_title(node: Node) -> bool:
    return TITLES.issuperset(node.name.words)


def _bears_title(nodes: Sequence[Node], long: int, titled: dict[tuple[str, ...], list[int]], title: str) -> bool:
    """A full name that stands behind titles is no General's where it is a Mister's."""
    known = [nodes[i].name.honorific for i in titled[ordered_person_words(nodes[long].name)]]
    return not known or not all(_are_different_titles(title, other) for other in known)


def _bear_different_titles(nodes: Sequence[Node], titled: Sequence[int]) -> bool:
    names = (nodes[i].name.honorific for i in titled)
    return any(_are_different_titles(a, b) for a, b in combinations(names, 2))


def _are_different_titles(a: str, b: str) -> bool:
    """Titles of two persons as far as one can tell. A General may be a Mister too, but then a text says so in full."""
    has_rank = not RANKS.isdisjoint((*a.split(), *b.split()))
    return titles_differ(a, b) or (has_rank and set(a.split()).isdisjoint(b.split()))
