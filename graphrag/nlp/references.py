"""What "it", "this service" or "the gateway" stands for, where the place of the sentence makes that plain.

The topic of a section is the name that its heading is; the topic of a document that of its first heading. A pronoun
means the subject of its own sentence's first clause, else of the sentence before in the same paragraph, else, where
a paragraph begins with it, the topic. Anything less plain stays unresolved: a wrong edge is worse than a missing
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import regex

from graphrag.nlp.lexicon import CLOSED_WORDS, GENERIC_NAMES, IMPERATIVES, ORDINARY_WORDS, TYPE_OF_HEAD
from graphrag.nlp.parsing import Parse
from graphrag.nlp.predicates import Relation
from graphrag.nlp.relations import clause_subjects
from graphrag.nlp.sentences import Sentence
from graphrag.nlp.types import Definition
from graphrag.nlp.words import Name

NO_THINGS = frozenset({"person", "team", "organization", "group"})
AFTER_TOPIC = regex.compile(r"\s*(?:$|[:(–—-]\s?)")


@dataclass
class Reading:
    """A sentence with its parse (none for the lite rules), the names that stand in it, and its relations."""

    sentence: Sentence
    parse: Parse | None
    names: list[Name]
    relations: list[Relation] = field(default_factory=list)
    definitions: dict[Name, Definition] = field(default_factory=dict)

    def surface(self, name: Name) -> str:
        """The name as written, spaces collapsed."""
        span = self.sentence.clean.locate(name.start, name.end)
        return " ".join(self.sentence.clean.raw[slice(*span)].split()) if span else ""


@dataclass(frozen=True)
class Antecedent:
    surface: str
    type: str


@dataclass
class Place:
    """Where in the document we are: its topic, the section's, and the subject of the sentence before.

    lead_in: the words of the heading, or of the line ending in a colon, that stand above a list.
    """

    topic: Antecedent | None = None
    section: Antecedent | None = None
    previous: Antecedent | None = None
    previous_block: int = -2
    lead_in: str = ""
    seen: list[Antecedent] = field(default_factory=list)


def read_places(readings: Sequence[Reading], title: str) -> Iterator[tuple[Reading, Place]]:
    """Each reading of one document with its place, in order; headings included."""
    place = Place(title_topic(readings, title))
    for reading in readings:
        if reading.sentence.kind == "heading":
            heading = heading_topic(reading)
            if place.topic is None and not place.seen and place.previous_block < 0:
                place.topic = heading
            place.section, place.lead_in = heading, reading.sentence.clean.text
            yield reading, place
            place.previous, place.previous_block = None, reading.sentence.block
            place.seen += [Antecedent(reading.surface(name), name.type) for name in reading.names if name.is_sure]
            continue
        yield reading, place
        if reading.sentence.kind == "prose":
            text = reading.sentence.clean.text
            place.lead_in = text[:-1] if text.endswith(":") else ""
        subject = first_subject(reading)
        place.previous = (
            Antecedent(reading.surface(subject), subject.type) if subject else pronoun_subject(reading, place)
        )
        place.previous_block = reading.sentence.block
        place.seen += [Antecedent(reading.surface(name), name.type) for name in reading.names if name.is_sure]


def heading_topic(reading: Reading) -> Antecedent | None:
    """The name that a heading is: all of it, or what stands before its colon."""
    text = reading.sentence.clean.text
    for name in reading.names:
        if name.is_sure and name.start == 0 and AFTER_TOPIC.match(text, name.end):
            return Antecedent(reading.surface(name), name.type)
    return None


def title_topic(readings: Sequence[Reading], title: str) -> Antecedent | None:
    """The name that the document's title is, as the text first writes it."""
    wanted = {title.casefold(), title.split(":")[0].strip().casefold()}
    for reading in readings:
        for name in reading.names:
            if name.is_sure and reading.surface(name).casefold() in wanted:
                return Antecedent(reading.surface(name), name.type)
    return None


def first_subject(reading: Reading) -> Name | None:
    if reading.parse:
        return next(iter(clause_subjects(reading.parse, reading.names)), None)
    return next((relation.subject for relation in reading.relations if relation.subject is not None), None)


def pronoun_subject(reading: Reading, place: Place) -> Antecedent | None:
    """A sentence that begins with "it" hands its antecedent on."""
    return (
        resolve(reading, place, (0, 2), is_object=False) if regex.match(r"It\b", reading.sentence.clean.text) else None
    )


def resolve(
    reading: Reading, place: Place, span: tuple[int, int], *, is_object: bool, other: str = ""
) -> Antecedent | None:
    """The antecedent of a pronoun or "the NOUN" at a span; `other` is the surface of the relation's other end."""
    words = reading.sentence.clean.text[slice(*span)].casefold().split()
    candidates = list(_candidates(reading, place, span, is_object=is_object))
    if words != ["it"]:
        noun = words[-1]
        for candidate in [*candidates, *reversed(place.seen)]:
            if candidate.surface != other and candidate.surface.casefold().split()[-1] == noun:
                return candidate
        kind = TYPE_OF_HEAD.get(noun, "")
        return next((c for c in (place.section, place.topic) if c and c.type == kind and c.surface != other), None)
    for candidate in candidates:
        if candidate.type in NO_THINGS or candidate.surface.casefold() == other.casefold():
            continue
        is_doubtful = candidate is place.previous and candidate.type == "unknown" and " " in candidate.surface
        return None if is_doubtful else candidate  # two words of unknown type are a person as often as a thing
    return None


def _candidates(reading: Reading, place: Place, span: tuple[int, int], *, is_object: bool) -> Iterator[Antecedent]:
    before = [relation for relation in reading.relations if relation.predicate_span[1] <= span[0]]
    earlier = [relation.object if is_object else relation.subject for relation in before]
    yield from (
        Antecedent(reading.surface(name), name.type)
        for name in reversed(earlier)
        if name is not None and name.end <= span[0]
    )
    if not is_object and span[0] > 4 and reading.parse:
        for subject in reversed(clause_subjects(reading.parse, reading.names)):
            if subject is not None and subject.end <= span[0]:
                yield Antecedent(reading.surface(subject), subject.type)
    if place.previous_block == reading.sentence.block:
        if place.previous is not None:
            yield place.previous
        elif not is_object:
            return
    for topic in (place.section, place.topic):
        if topic is not None and is_thing(topic.surface):
            yield topic


def is_thing(surface: str) -> bool:
    """A title that a pronoun may mean: of few words, and no instruction ("How to ...", "Recording projects")."""
    first = surface.split()[0].casefold()
    is_instruction = " " in surface and (first.endswith("ing") or first in IMPERATIVES)
    is_generic = first in CLOSED_WORDS | ORDINARY_WORDS or surface.casefold() in GENERIC_NAMES
    return surface.count(" ") <= 3 and not is_instruction and not is_generic
