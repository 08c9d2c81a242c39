"""What decisions on names are made of: keys, nodes, candidates, edges, refusals.

Does not: decide (decisions.py) or find candidates (rules.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graphrag.names import Name, is_one_word, parse_name
from graphrag.naming.entity_types import AUTHORITIES, choose_type, type_family

Place = tuple[str, int]  # path of the document, offset: where a name stands first


@dataclass(frozen=True, slots=True)
class Node:
    """One key of the corpus: its name, and all its surfaces, most frequent first; as Key, its common words."""

    name: Name
    surfaces: tuple[str, ...]
    common_words: frozenset[str] = frozenset()
    family: str = ""  # of the type that most mentions have
    has_note: bool = False  # is the title of a document


WEAK = 0.9  # the score of a rule that is right only where one document has both names


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """Two nodes by position. `short` is the side that may fit several names (AWS, Holmes, Acme)."""

    short: int
    long: int
    method: str
    score: float
    reason: str


@dataclass(slots=True)
class Key:
    """A node: the surfaces of one key (of one homonym, where a key has several). Not mentioned: declared only."""

    key: str
    qualifier: str = ""
    surfaces: Counter[str] = field(default_factory=Counter)
    first: dict[str, Place] = field(default_factory=dict)
    types: Counter[tuple[str, str]] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    whole: str = ""  # key of the full name that the documents of a part of a name give: Brown of Gordon Brown
    common_words: frozenset[str] = frozenset()  # of its words, those that texts write in small letters more often
    has_note: bool = False  # is the title of a document
    is_thing: bool = False  # something runs on it, depends on it, ...: whatever the NLP model guesses, no person

    @property
    def is_mentioned(self) -> bool:
        return bool(self.first)

    def families(self) -> set[str]:
        """Families of the types that people or a model gave."""
        return {family for name, method in self.types if method in AUTHORITIES and (family := type_family(name))}


@dataclass(frozen=True, slots=True)
class Edge:
    """A decision that joined two nodes."""

    a: int
    b: int
    method: str
    score: float
    reason: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Two nodes looked at and not joined. verdict: never (kept apart) or propose (undecided)."""

    a: int
    b: int
    method: str
    score: float
    verdict: str
    reason: str
    decided_by: str = "rule"


def as_node(key: Key) -> Node:
    """The most frequent surface stands for the node; types say whether it may be a person."""
    surfaces = tuple(sorted(key.surfaces, key=lambda s: (-key.surfaces[s], s)))
    family = type_family(choose_type(key.types))
    name = parse_name(surfaces[0], person=_person(key, family))
    if name.is_one_word and not all(is_one_word(surface) for surface in surfaces[1:]):
        name = replace(name, is_one_word=False)
    return Node(name, surfaces, key.common_words, family, key.has_note)


def mark_written_apart(nodes: list[Node]) -> list[Node]:
    """A name counts as one word only where no other name of the same letters is written as several: tailwindcss."""
    apart = {node.name.compact for node in nodes if not node.name.is_one_word}
    return [
        replace(node, name=replace(node.name, is_one_word=False))
        if node.name.is_one_word and node.name.compact in apart
        else node
        for node in nodes
    ]


def group_by_letters(keys: Sequence[Key]) -> dict[str, int]:
    """Letters without blanks -> the one key that has them: javafx library of JavaFX library."""
    found: dict[str, int] = {}
    several: set[str] = set()
    for i, key in enumerate(keys):
        letters = key.key.replace(" ", "")
        if not any(c.isdigit() for c in letters) and found.setdefault(letters, i) != i:
            several.add(letters)
    return {letters: i for letters, i in found.items() if letters not in several}


def find_twins(nodes: Sequence[Node]) -> dict[str, list[int]]:
    """Names of the same letters that differ in blanks."""
    found: dict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        if not node.name.numbers:
            found[node.name.compact].append(i)
    return {letters: members for letters, members in found.items() if len(members) > 1}


def _person(key: Key, family: str) -> str:
    declared = key.families()
    if declared:
        return "yes" if "person" in declared else "no"
    if key.is_thing or family not in ("person", ""):
        return "unlikely"
    return "guess" if family else "maybe"
