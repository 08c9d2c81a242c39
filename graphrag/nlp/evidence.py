"""The type of each name of a corpus, by all that the corpus shows of it: a mention alone seldom tells.

In this order: what people declared; a technology that everybody knows; the role it has in relations (who a text is
authored by is a person, what a thing is written in is a language); its own head noun; what sentences say that it is; a
place or given name that everybody knows; what the news model believes, where the corpus is no technical one or the name
has the shape of what it is believed to be. All mentions of a name get one type, but that a part of a person's name
means that person in that person's documents.

Reads entity_mentions and relationship_mentions. Does not: decide which names mean one entity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl
import regex

from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.lexicon import INSTITUTIONS, TECHNOLOGY_PREDICATES, TYPE_OF_PREFIX, TYPE_OF_PROPER_HEAD, words
from graphrag.nlp.people_and_places import GIVEN_NAMES, PLACES
from graphrag.nlp.technologies import technology_type
from graphrag.nlp.words import Name, head_type

UNKNOWN = "unknown"
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
    mentions: pl.DataFrame,
    relations: pl.DataFrame,
    definitions: pl.DataFrame,
    places: pl.DataFrame,
    lexicon: Lexicon,
) -> pl.DataFrame:
    """The mentions; each of undeclared type has the type of its name.

    mentions: surface, type, method, document_id. relations: subject, predicate, object, origin. definitions: surface,
    type, n: how often sentences say that it is one. places: surface, n: how often it stands where places do.
    """
    types = _choose_types(mentions, relations, definitions, places, lexicon)
    is_open = (pl.col("method") != "declared") | (pl.col("type") == UNKNOWN)
    chosen = pl.when(is_open).then(pl.col("surface").replace_strict(types, default=UNKNOWN)).otherwise("type")
    return _type_short_names(mentions.with_columns(type=chosen))


def _choose_types(
    mentions: pl.DataFrame,
    relations: pl.DataFrame,
    definitions: pl.DataFrame,
    places: pl.DataFrame,
    lexicon: Lexicon,
) -> dict[str, str]:
    """Surface -> its type; where all that was seen of it says nothing, that of most who write it in another case."""
    seen: dict[str, Evidence] = {}
    for surface, kind, n in mentions.group_by("surface", "type").len().iter_rows():
        seen.setdefault(surface, Evidence(surface)).guessed[kind] = n
    for surface, kind, n in definitions.select("surface", "type", "n").iter_rows():
        if surface in seen:
            seen[surface].defined[kind] += n
    for surface, n in places.select("surface", "n").iter_rows():
        if surface in seen:
            seen[surface].n_placed += n
    stated = relations.filter(pl.col("origin") == "extracted")
    for predicate, subject in stated.select("predicate", "subject").unique().iter_rows():
        if found := seen.get(subject):
            _note_subject(predicate, found)
    for predicate, object_ in stated.select("predicate", "object").unique().iter_rows():
        if found := seen.get(object_):
            _note_object(predicate, found)
    given = _given_names(seen)
    types = {surface: choose_type(evidence, lexicon, given) for surface, evidence in seen.items()}
    cased: dict[str, Counter[str]] = defaultdict(Counter)
    for surface, evidence in seen.items():
        if types[surface] != UNKNOWN:
            cased[surface.casefold()][types[surface]] += evidence.guessed.total()
    for surface, kind in types.items():
        if kind == UNKNOWN and (votes := cased.get(surface.casefold())):
            types[surface] = min(votes, key=lambda kind: (-votes[kind], kind))
    return types


def _note_subject(predicate: str, subject: Evidence) -> None:
    subject.is_person |= predicate in PERSON_SUBJECTS
    subject.is_authored |= predicate in {"authored_by", "reviewed_by"}


def _note_object(predicate: str, object_: Evidence) -> None:
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
        is_other = defined not in {"", "person"} and technology_type(surface, is_technical=False) == ""
        return defined if is_other else kind  # "Helm is a package manager" makes no person of it
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


def _type_short_names(mentions: pl.DataFrame) -> pl.DataFrame:
    """A surname or given name that stands alone is the person of that name in the same document."""
    persons = mentions.filter((pl.col("type") == "person") & pl.col("surface").str.contains(" ", literal=True))
    surfaces = persons["surface"].unique().to_list()
    parts = {surface: [part for part in surface.split() if is_short_name(part)] for surface in surfaces}
    in_person = pl.col("surface").replace_strict(parts, return_dtype=pl.List(pl.String))
    short = persons.select("document_id", in_person).explode("surface").drop_nulls().unique().with_columns(short=True)
    is_open = pl.col("type").is_in([UNKNOWN, "location", "organization", "group"]) & (pl.col("method") != "declared")
    kind = pl.when(is_open & pl.col("short")).then(pl.lit("person")).otherwise("type")
    joined = mentions.join(short, on=["document_id", "surface"], how="left", maintain_order="left")
    return joined.with_columns(type=kind).drop("short")


def is_short_name(part: str) -> bool:
    return len(part) > 2 and part not in PLACES and NAME_PART.fullmatch(part) is not None


def has_person_shape(surface: str) -> bool:
    """Two to five words with capitals, small particles between them: Guido van Rossum, J. R. Smith."""
    parts = surface.split()
    if not 2 <= len(parts) <= 5 or parts[0].casefold() in NAME_PARTICLES:
        return False
    if any(part.casefold() in NO_SURNAMES for part in parts) or len(parts[-1].strip(".")) < 2:
        return False
    is_told = parts[0].casefold() in GIVEN_NAMES
    if not is_told and (parts[0].endswith("ing") or any(technology_type(part) for part in parts)):
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
