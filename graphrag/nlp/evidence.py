"""The type of each name of a corpus, by all that the corpus shows of it: a mention alone seldom tells.

In this order: what people declared; a technology that everybody knows; the role it has in relations (who a text is
authored by is a person, what a thing is written in is a language); its own head noun; what sentences say that it is; a
place or given name that everybody knows; what the news model believes, where the corpus is no technical one or the name
has the shape of what it is believed to be. All mentions of a name get one type, but that a part of a person's name
means that person in that person's documents.

Reads rows of entity_mentions and relationship_mentions as dictionaries. Does not: decide which names mean one entity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.lexicon import INSTITUTIONS, TECHNOLOGY_PREDICATES, TYPE_OF_PREFIX, TYPE_OF_PROPER_HEAD, words
from graphrag.nlp.people_and_places import GIVEN_NAMES, PLACES
from graphrag.nlp.technologies import technology_type
from graphrag.nlp.words import Name, head_type

PERSON_OBJECTS = words(
    "authored_by written_by reviewed_by commanded_by led_by decided_by approved_by proposed_by reported_by managed_by "
    "sponsored_by signed_by created_by maintained_by on_call_by"
)
# Who does these by name is a person, if the name has the shape of one.
PERSON_SUBJECTS = words("leads led joined joins member_of on_call_for reports_to manages works_on works_for authors")
SURELY_PERSON = words("authored_by written_by reviewed_by commanded_by sponsored_by decided_by")
LANGUAGE_OBJECTS = words("written_in programmed_in coded_in implemented_in rewritten_in")
BEFORE_PLACE = regex.compile(r"\b(?:in|near|across|around|outside|from|to|between|of|serves)\s$", regex.IGNORECASE)
NUMBERED = regex.compile(r":?(?P<prefix>\p{L}+)(?:[ -]|:`)\d")
NAME_PART = regex.compile(r"\p{Lu}[\p{L}\p{M}'’]*\p{Ll}[\p{L}\p{M}'’]*(?:-\p{Lu}?[\p{L}\p{M}'’]+)*|\p{Lu}\.?")
PLACE_HEADS = words(
    "region dam palace city town village castle forest desert canal hill hills falls creek cape plaza coast strait "
    "peak volcano reservoir territory canyon glacier isle isles parish oblast voivodeship prefecture"
)
NAME_PARTICLES = words("van von de da di du del der den la le bin al ben ter dos of")
NO_SURNAMES = words(
    "the api team service group project release python windows linux manager admin support data core code key app "
    "account page search content index type class model server client"
)


@dataclass
class Evidence:
    """What was seen of one name. `defined`: types that sentences give it. `guessed`: types of its mentions."""

    surface: str
    defined: Counter[str] = field(default_factory=Counter)
    guessed: Counter[str] = field(default_factory=Counter)
    n_placed: int = 0
    is_person: bool = False
    is_surely_person: bool = False
    is_language: bool = False
    is_built_on: bool = False
    is_authored: bool = False


def settle_types(
    mentions: Sequence[dict[str, Any]],
    relations: Sequence[Mapping[str, Any]],
    defined: Mapping[str, Counter[str]],
    placed: Mapping[str, int],
    lexicon: Lexicon,
) -> None:
    """Give each mention of undeclared type the type of its name.

    defined: surface -> types that sentences give it. placed: surface -> mentions that stand where places do.
    """
    seen: dict[str, Evidence] = {}
    for mention in mentions:
        evidence = seen.setdefault(mention["surface"], Evidence(mention["surface"]))
        evidence.guessed[mention["type"]] += 1
    for surface, evidence in seen.items():
        evidence.n_placed = placed.get(surface, 0)
    for surface, kinds in defined.items():
        if surface in seen:
            seen[surface].defined.update(kinds)
    for relation in relations:
        if relation["origin"] == "extracted":
            _note_roles(relation, seen)
    given = _given_names(seen)
    types = {surface: choose_type(evidence, lexicon, given) for surface, evidence in seen.items()}
    cased: dict[str, Counter[str]] = defaultdict(Counter)
    for surface, evidence in seen.items():
        if types[surface] != "unknown":
            cased[surface.casefold()][types[surface]] += evidence.guessed.total()
    for row in mentions:
        if row["method"] == "declared" and row["type"] != "unknown":
            continue
        row["type"] = types[row["surface"]]
        if row["type"] == "unknown" and (votes := cased.get(row["surface"].casefold())):
            row["type"] = min(votes, key=lambda kind: (-votes[kind], kind))
    _type_short_names(mentions)


def _note_roles(row: Mapping[str, Any], seen: Mapping[str, Evidence]) -> None:
    predicate = row["predicate"]
    if subject := seen.get(row["subject"]):
        subject.is_person |= predicate in PERSON_SUBJECTS
        subject.is_authored |= predicate in {"authored_by", "reviewed_by"}
    if object_ := seen.get(row["object"]):
        object_.is_person |= predicate in PERSON_OBJECTS
        object_.is_surely_person |= predicate in SURELY_PERSON
        object_.is_language |= predicate in LANGUAGE_OBJECTS
        object_.is_built_on |= predicate in TECHNOLOGY_PREDICATES


def _given_names(seen: Mapping[str, Evidence]) -> frozenset[str]:
    """The list of given names, and those of the persons that the corpus names as authors and the like."""
    found = {
        evidence.surface.split()[0].casefold()
        for evidence in seen.values()
        if evidence.is_surely_person and has_person_shape(evidence.surface) and not technology_type(evidence.surface)
    }
    return GIVEN_NAMES | found


def choose_type(evidence: Evidence, lexicon: Lexicon, given: frozenset[str]) -> str:
    surface = evidence.surface
    has_shape = has_person_shape(surface)
    starts_given = surface.split()[0].casefold() in given
    if (numbered := NUMBERED.match(surface)) and (kind := TYPE_OF_PREFIX.get(numbered["prefix"].upper(), "")):
        return kind
    if kind := technology_type(surface, is_technical=lexicon.is_technical):
        defined = _most(evidence.defined)
        return defined if defined and technology_type(surface, is_technical=False) == "" else kind
    if evidence.is_surely_person and has_shape:
        return "person"
    if evidence.is_language and " " not in surface:
        return "language"
    if evidence.is_authored:
        return "document"
    if surface in PLACES and not evidence.is_built_on:
        return "location"
    if not lexicon.is_technical:
        return _choose_type_in_prose(evidence)
    if kind := head_type(surface) or _most(evidence.defined):
        return kind
    if has_shape and (starts_given or evidence.is_person) and _is_rare(surface, lexicon):
        return "person"
    guess = _most(evidence.guessed)
    if guess and is_believable(evidence, guess, lexicon, has_shape=has_shape):
        return guess
    return "technology" if evidence.is_built_on else "unknown"


def _choose_type_in_prose(evidence: Evidence) -> str:
    """Where the corpus is about people and places, the news model knows more than the technical head nouns."""
    last = evidence.surface.split()[-1].casefold()
    if " " in evidence.surface and (kind := "location" if last in PLACE_HEADS else TYPE_OF_PROPER_HEAD.get(last, "")):
        return kind
    guess = _most(evidence.defined) or _most(evidence.guessed) or head_type(evidence.surface)
    first = evidence.surface.split()[0].casefold()
    is_person = has_person_shape(evidence.surface) or (" " not in evidence.surface and len(first) > 2)
    if guess in {"", "organization"} and first in GIVEN_NAMES and is_person and not evidence.defined:
        return "person"
    return guess or ("technology" if evidence.is_built_on else "unknown")


def _type_short_names(mentions: Sequence[dict[str, Any]]) -> None:
    """A surname or given name that stands alone is the person of that name in the same document."""
    parts: dict[str, set[str]] = defaultdict(set)
    for row in mentions:
        if row["type"] == "person" and " " in row["surface"]:
            parts[row["document_id"]].update(row["surface"].split())
    for row in mentions:
        is_short = row["surface"] in parts[row["document_id"]] and len(row["surface"]) > 2
        is_open = row["type"] in {"unknown", "location", "organization", "group"} and row["method"] != "declared"
        if is_short and is_open and row["surface"] not in PLACES and NAME_PART.fullmatch(row["surface"]):
            row["type"] = "person"


def has_person_shape(surface: str) -> bool:
    """Two to five words with capitals, small particles between them: Guido van Rossum, J. R. Smith."""
    parts = surface.split()
    if not 2 <= len(parts) <= 5 or parts[0].casefold() in NAME_PARTICLES:
        return False
    if any(part.casefold() in NO_SURNAMES for part in parts) or len(parts[-1].strip(".")) < 2:
        return False
    return all(NAME_PART.fullmatch(part) or part in NAME_PARTICLES for part in parts)


def _is_rare(surface: str, lexicon: Lexicon) -> bool:
    """No word of it but particles is one that the corpus also writes small."""
    return all(
        lexicon.lower[part.casefold()] <= 1
        or part.casefold() in NAME_PARTICLES
        or 3 * lexicon.lower[part.casefold()] < lexicon.upper[part.casefold()]
        for part in surface.split()
    )


def stands_for_place(text: str, name: Name) -> bool:
    """ "in Burgenland": where places stand, and companies and tools seldom."""
    return BEFORE_PLACE.search(text, 0, name.start) is not None


def is_believable(evidence: Evidence, kind: str, lexicon: Lexicon, *, has_shape: bool) -> bool:
    """May a guess stand in a technical corpus? The news model takes tools for companies, people and countries there."""
    surface = evidence.surface
    if kind == "person":
        return has_shape and _is_rare(surface, lexicon)
    if kind == "location":
        is_placed = 2 * evidence.n_placed >= evidence.guessed.total()
        return is_placed and NAME_PART.fullmatch(surface) is not None and _is_rare(surface, lexicon)
    if kind == "organization":
        pieces = surface.casefold().split()
        return len(pieces) > 1 and (
            pieces[-1] in INSTITUTIONS or pieces[0] in INSTITUTIONS or {"of", "for"} & set(pieces) != set()
        )
    return kind not in {"work", "product", "group", "document", "event", "language"}


def _most(votes: Counter[str]) -> str:
    known = {kind: n for kind, n in votes.items() if kind and kind != "unknown"}
    return min(known, key=lambda kind: (-known[kind], kind), default="")
