"""Rules for one name in two spellings: British and American, Vue.js and Vue, Rust and Rust language, web app.

These rules look at the form of names alone, so that each asks for more than likeness: that the shorter name is no word
which the corpus writes in small letters (node and Node.js), and that no second name fits. Reads nothing.

Does not: decide; look at names of persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from graphrag.names import SMALL_WORDS
from graphrag.naming.nodes import WEAK, Candidate, Node

_BRITISH = (
    (regex.compile(r"(?<=\w{3})is(e|ed|er|ers|es|ing|ation|ations)$"), r"iz\1"),
    (regex.compile(r"(?<=\w{3})ys(e|ed|er|ers|es|ing)$"), r"yz\1"),
    (regex.compile(r"(?<=\w{3})our(s|ed|ing|ite|ites|ful|al)?$"), r"or\1"),
    (regex.compile(r"(?<=\w{2})tre(s?)$"), r"ter\1"),
    (regex.compile(r"(?<=\w{3})ogue(s?)$"), r"og\1"),
    (regex.compile(r"(?<=[aeiou]\w{0,6}[aeiou])ll(ing|ed|er|ers)$"), r"l\1"),  # modelling, but not filling and filing
)
_BRITISH_WORDS = {
    "defence": "defense", "offence": "offense", "licence": "license", "grey": "gray", "programme": "program",
    "programmes": "programs", "artefact": "artifact", "artefacts": "artifacts", "aluminium": "aluminum", "tyre": "tire",
    "cheque": "check", "plough": "plow", "judgement": "judgment",
}  # fmt: skip
SHORTEST_PART = 3
SHORTEST_COMPOUND = 5


def by_spelling(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """organisation, organization; Data Centre, Data Center."""
    first: dict[tuple[str, ...], int] = {}
    for i, node in enumerate(nodes):
        american = tuple(map(american_spelling, (*node.name.words, node.name.qualifier)))
        if american in first:
            yield Candidate(i, first[american], "spelling", 1.0, "British and American spelling.")
        first.setdefault(american, i)


def american_spelling(word: str) -> str:
    for pattern, replacement in _BRITISH if len(word) > 4 else ():
        word, n = pattern.subn(replacement, word)
        if n:
            return word
    return _BRITISH_WORDS.get(word, word)


def by_kind_suffix(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Vue.js, vuejs and Vue; Rust, rust-lang and Rust programming language; not for words such as node and Node.js.

    Nor where each has a note of its own: Discord.js is no Discord.
    """
    position = {node.name.key: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        base = split_kind_suffix(node.name.key) if not node.name.qualifier else ""
        short = position.get(base) if base else None
        if short is None or short == i or base in SMALL_WORDS:
            continue
        both = (node, nodes[short])
        are_things = all(n.family in ("", "technology") for n in both) and not all(n.has_note for n in both)
        if are_things and nodes[short].common_words.isdisjoint(base.split()):
            yield Candidate(i, short, "kind_suffix", 1.0, "The same name but for what kind of thing it is.")


def split_kind_suffix(key: str) -> str:
    """The name before -js, -lang or -language, or an empty string."""
    for suffix in (" programming language", " language", " lang", " js"):
        if key.endswith(suffix):
            return key.removesuffix(suffix)
    for suffix in ("lang", "js"):
        if key.isalpha() and key.endswith(suffix) and len(key) > len(suffix) + 1:
            return key.removesuffix(suffix)
    return ""


def by_compound(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """webapp and web application, webdev and web development: the first word whole, the second cut."""
    shorts: dict[str, int] = {}
    for i, node in enumerate(nodes):
        key = node.name.key
        if key.isalpha() and len(key) >= SHORTEST_COMPOUND and not node.common_words and node.name.person != "yes":
            shorts[key] = i
    for i, node in enumerate(nodes):
        words = node.name.words
        if len(words) != 2 or len(words[0]) < SHORTEST_PART or node.name.qualifier or node.name.person == "yes":
            continue
        for size in range(SHORTEST_PART, len(words[1])):
            short = shorts.get(words[0] + words[1][:size])
            if short is not None:
                yield Candidate(short, i, "compound", WEAK, "The first word, and the start of the second.")
