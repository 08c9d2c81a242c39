"""What a sentence says that a name is: "Redis is a database", "Ledger, a service of the Platform Team, ...".

Such a sentence is the description of that mention, and its noun gives the type where it is one that we know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from graphrag.nlp.lexicon import TYPE_OF_NOUN
from graphrag.nlp.parsing import Parse
from graphrag.nlp.words import Name

DEFINITION = regex.compile(
    r"(?:,| is| are| was) (?:an?|the|our|one of the|one of our) (?:[\p{L}\d'-]+ ){0,4}?(?P<noun>\p{Ll}[\p{Ll}-]+)"
    r"(?=[,.;:)]| (?:of|for|that|which|who|in|at|from|with|by|to|on|and|used|built|written|owned|where)\b|$)"
)
MAX_DESCRIPTION = 400


@dataclass(frozen=True)
class Definition:
    """type: of the noun that the sentence gives the name, or empty. text: the sentence."""

    type: str
    text: str


def find_definitions(text: str, parse: Parse | None, names: Sequence[Name]) -> dict[Name, Definition]:
    """The names that the sentence defines."""
    found = dict(_from_words(text, names))
    if parse is not None:
        found |= dict(_from_parse(text, parse, names))
    return found


def _from_words(text: str, names: Sequence[Name]) -> Iterator[tuple[Name, Definition]]:
    if text.rstrip().endswith("?"):
        return
    for name in names:
        match = DEFINITION.match(text, name.end)
        is_opening = text[: name.start] in {"", "The ", "Our "}
        if match and is_opening and (kind := TYPE_OF_NOUN.get(match["noun"], "")):
            yield name, Definition(kind, text[:MAX_DESCRIPTION])


def _from_parse(text: str, parse: Parse, names: Sequence[Name]) -> Iterator[tuple[Name, Definition]]:
    """Subject, a form of "be" that is not denied, and a noun with an article."""
    words = [text[a:b].casefold() for a, b in zip(parse.starts, parse.ends, strict=True)]
    for token, dep in enumerate(parse.deps):
        head = parse.heads[token]
        if dep != "attr" or parse.lemmas[head] != "be" or not parse.tags[token].startswith("NN"):
            continue
        below = [t for t, h in enumerate(parse.heads) if h in {head, token} and t != h]
        if any(parse.deps[t] in {"neg", "aux", "mark"} for t in below) or text.rstrip().endswith("?"):
            continue
        if not any(words[t] in {"a", "an", "the", "our", "one"} for t in below if parse.heads[t] == token):
            continue
        for subject in below:
            if parse.deps[subject] == "nsubj" and parse.heads[subject] == head:
                for name in names:
                    if name.start < parse.ends[subject] and parse.starts[subject] < name.end:
                        yield (
                            name,
                            Definition(TYPE_OF_NOUN.get(parse.lemmas[token].casefold(), ""), text[:MAX_DESCRIPTION]),
                        )
