"""What a relation of the embedded extraction is, and how its predicate is written.

Active verbs stand in the third person (depends_on, owns), passives as participle and preposition (owned_by, backed_by),
copulas by their noun or adjective (part_of, responsible_for). The arrow follows the reading direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from graphrag.nlp.lexicon import (
    CARRYING_PREDICATES,
    PREDICATE_SYNONYMS,
    STRONG_PREDICATES,
)
from graphrag.nlp.people_and_places import PLACES
from graphrag.nlp.relating_words import (
    EMPTY_VERBS,
    INTRANSITIVE_VERBS,
    MISREAD_PREDICATES,
    OBJECTS_OF_FOR,
    OBJECTS_OF_OF,
    PLURAL_NOUNS,
    RELATING_NOUNS,
)
from graphrag.nlp.technologies import technology_type
from graphrag.nlp.words import Name

IRREGULAR_THIRD = {"be": "is", "have": "has", "do": "does", "go": "goes"}
NO_WORD = regex.compile(r"[^\p{L}\p{N}]+")
EXCLUDED_BEFORE = regex.compile(
    r"\b(?:not|nor|neither|never|no|without|except|except for|but not|unlike|instead of|rather than|other than"
    r"|apart from|excluding|besides|than)"
    r"(?: on| to| from| by| with)?(?: the| a| an| any| our)?\s*$",
    regex.IGNORECASE,
)
# Verbs of the strong predicates: what stores_in says is as much about things as what stores says.
STRONG_VERBS = frozenset(predicate.split("_")[0] for predicate in STRONG_PREDICATES) - {
    "part",
    "responsible",
    "built",
    "talks",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """Spans are of the clean sentence. An end is None where a pronoun or a generic noun stands for it."""

    subject: Name | None
    subject_span: tuple[int, int]
    predicate: str
    predicate_span: tuple[int, int]
    object: Name | None
    object_span: tuple[int, int]


def third_person(lemma: str) -> str:
    """depend -> depends, carry -> carries, push -> pushes."""
    if lemma in IRREGULAR_THIRD:
        return IRREGULAR_THIRD[lemma]
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def normalise_predicate(*parts: str) -> str:
    """The parts in lower snake_case, fixed synonyms folded: is_dependent_on -> depends_on."""
    predicate = NO_WORD.sub("_", "_".join(part for part in parts if part).casefold()).strip("_")
    return PREDICATE_SYNONYMS.get(predicate, predicate)


def is_precise(predicate: str, object_: Name | None, text: str) -> bool:
    """Does the predicate relate its two ends, and not only stand between them?"""
    verb, *rest = predicate.split("_")
    last = rest[-1] if rest else ""
    if verb in EMPTY_VERBS or (not rest and verb in INTRANSITIVE_VERBS | PLURAL_NOUNS):
        return False
    if verb in PLURAL_NOUNS or "as" in rest or (verb == "logs" and last not in {"", "to", "into"}):
        return False
    if predicate in MISREAD_PREDICATES:
        return False
    if last == "for":
        return predicate in OBJECTS_OF_FOR
    if last == "of":
        is_noun = verb == "is" and len(rest) == 2 and rest[0] in RELATING_NOUNS
        return is_noun or predicate in OBJECTS_OF_OF or predicate.rpartition("_")[0] in RELATING_NOUNS
    if verb == "is" and len(rest) == 1:
        return last in {"behind", "inside", "within"} or (
            last == "in" and object_ is not None and is_place(object_, text)
        )
    return True


def is_place(name: Name, text: str) -> bool:
    written = text[name.start : name.end]
    kind = technology_type(written) or name.type
    return kind in {"location", "data center", "cluster", "network", "platform", "cloud provider"} or written in PLACES


def is_excluded(text: str, name: Name) -> bool:
    """The words before the name leave it out: "rather than Kafka", "not Redis"."""
    return EXCLUDED_BEFORE.search(text[: name.start]) is not None


def is_strong(predicate: str) -> bool:
    """A relation that has things at its ends, whatever they are called."""
    verb, *rest = predicate.split("_")
    return predicate in STRONG_PREDICATES or (verb in STRONG_VERBS and not {"for", "of", "as", "at"} & set(rest))


def is_confirmed(name: Name | None, predicate: str) -> bool:
    """Names that only a relation shows to be things need a strong one."""
    if name is None or name.is_sure:
        return True
    return predicate in CARRYING_PREDICATES if name.kind == "code" else is_strong(predicate)
