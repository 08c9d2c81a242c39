"""What a relation of the embedded extraction is, and how its predicate is written.

Active verbs stand in the third person (depends_on, owns), passives as participle and preposition (owned_by, backed_by),
copulas by their noun or adjective (part_of, responsible_for). The arrow follows the reading direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import regex

from graphrag.nlp.lexicon import CARRYING_PREDICATES, PREDICATE_SYNONYMS, STRONG_PREDICATES
from graphrag.nlp.words import Name

IRREGULAR_THIRD = {"be": "is", "have": "has", "do": "does", "go": "goes"}
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
    predicate = regex.sub(r"[^\p{L}\p{N}]+", "_", "_".join(part for part in parts if part).casefold()).strip("_")
    return PREDICATE_SYNONYMS.get(predicate, predicate)


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
