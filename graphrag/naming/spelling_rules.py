"""Rules for one name in two spellings: British and American, Vue.js and Vue, Rust and Rust language, web app, vscode,
integration tests and integration testing.

These rules look at the form of names alone, so that each asks for more than likeness: that the shorter name is no word
which the corpus writes in small letters (node and Node.js), and that no second name fits. Reads nothing.

Does not: decide; look at names of persons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from graphrag.names import SMALL_WORDS
from graphrag.naming.nodes import WEAK, Candidate, Node
from graphrag.naming.word_forms import SHORT_FORMS, inflection_stem

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
SHORTEST_RUN = 8  # letters of two words run together: retrogaming
SHORTEST_BLEND = 7  # words and letters of the last: Google Drive, Visual Studio Code
LONGEST_BLEND = 8  # words of a name that is shortened to first letters and its last word
MAX_SAME_FORM = 50  # names of one shortened form
_BETWEEN_WORDS = regex.compile(r"[\s\p{Pd}_]+")


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


def by_inflection(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """integration tests, Integration testing; retro-game, retrogaming: another form of the last word, in small letters.

    Names of several words only (code and coding are two), and no nouns of agents: a load balancer is no load balancing.
    """
    first: dict[tuple[str, str], int] = {}
    runs: dict[tuple[str, str], list[int]] = {}
    for i, node in enumerate(nodes):
        words, last = node.name.words, _BETWEEN_WORDS.split(node.name.surface.strip())[-1]
        if not words or not last.islower() or node.name.person == "yes" or len(words[-1]) <= SHORTEST_PART:
            continue
        form = "".join(words[:-1]) + inflection_stem(words[-1]), node.name.qualifier
        if len(words) == 1:
            if len(words[0]) >= SHORTEST_RUN and not node.common_words:
                runs.setdefault(form, []).append(i)
        elif form in first and nodes[first[form]].name.words != words:
            yield Candidate(i, first[form], "inflection", 1.0, "Another form of the last word.")
        else:
            first.setdefault(form, i)
    for form, members in runs.items():
        for i in members if form in first else ():
            yield Candidate(i, first[form], "inflection", WEAK, "Another form of the last word, run together.")


def find_initials_compounds(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """The first letters of the first words before the last word whole: gdrive, Google Drive; vscode."""
    shorts: dict[str, list[int]] = {}
    for i, node in enumerate(nodes):
        if len(node.name.words) <= 2 and len(node.name.compact) > SHORTEST_PART:
            shorts.setdefault(node.name.compact, []).append(i)
    for i, node in enumerate(nodes):
        words = node.name.words
        if 1 < len(words) <= LONGEST_BLEND and len(words[-1]) >= SHORTEST_PART and not node.name.qualifier:
            for short in shorts.get("".join(word[0] for word in words[:-1]) + words[-1], [])[:MAX_SAME_FORM]:
                if short != i:
                    yield short, i


def by_initials_compound(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Of those, what is no other word: vscode, gsheets; not Sports (source ports), estate (end state), dlang (Dart)."""
    for short, i in find_initials_compounds(nodes):
        node, words = nodes[short], nodes[i].name.words
        is_new = len(node.name.words) == 1 and not node.common_words and all(s.islower() for s in node.surfaces)
        is_person = "yes" in (node.name.person, nodes[i].name.person)
        if is_new and not is_person and len(words) + len(words[-1]) >= SHORTEST_BLEND:
            yield Candidate(short, i, "compound", WEAK, "First letters of the first words, and the last word.")


def find_short_forms(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Equal but for words that the one cuts short: web app, web application; lib, library."""
    short = {long: forms[0] for long, forms in SHORT_FORMS.items()}
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, node in enumerate(nodes):
        form = (*(short.get(word, word) for word in node.name.words), node.name.qualifier)
        groups.setdefault(form, []).append(i)
    for members in groups.values():
        for n, a in enumerate(members[:MAX_SAME_FORM]):
            for b in members[n + 1 : MAX_SAME_FORM]:
                if nodes[a].name.words != nodes[b].name.words:
                    yield a, b


def by_short_form(nodes: Sequence[Node]) -> Iterator[Candidate]:
    """Of those, names of several words that are no symbols of code (DB_OWNER); a word cut short may mean two (auth)."""
    for a, b in find_short_forms(nodes):
        is_code = any("_" in surface and surface.isupper() for i in (a, b) for surface in nodes[i].surfaces)
        if len(nodes[a].name.words) > 1 and not is_code:
            short, long = sorted((a, b), key=lambda i: (len(nodes[i].name.key), i))
            yield Candidate(short, long, "short_form", WEAK, "The same words, one of them cut short.")
