"""Relations that people write as fields: "Owner: Platform Team", a column of owners, a list under "Depends on".

The subject is the topic of the section or document (nlp/references), or the first cell of the row; the predicate
comes from a short table of field names; the objects are the names that the value consists of. A value that is a
sentence is left to the other rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from graphrag.nlp.lexicon import FIELD_PREDICATES
from graphrag.nlp.references import Antecedent, Place, Reading
from graphrag.nlp.words import Name

LABEL = regex.compile(r"(?P<label>[\p{L}][\p{L} -]{1,30}?)\s*:\s+(?=\S)")
LEAD_IN = regex.compile(
    r"\b(depends on|relies on|runs on|is owned by|is used by|uses|requires|calls)(?: the following(?: \w+)?)?$"
)
BETWEEN_NAMES = regex.compile(r"(?:\s|[,;/&+()–—-]|\band\b|\bthe\b|\bteam\b)*", regex.IGNORECASE)
AFTER_ITEM = regex.compile(r"\s*(?:$|[.,:;(–—-]|for\b|to\b|via\b|as\b|in\b|on\b|with\b|\|)")


@dataclass(frozen=True)
class FieldRelation:
    """`subject` is a surface of the document; the evidence is the value's sentence, item or row."""

    subject: str
    predicate: str
    label: str
    object: Name


def predicate_of(label: str) -> str:
    return FIELD_PREDICATES.get(" ".join(label.casefold().strip(" *:_").split()), "")


def field_relations(reading: Reading, place: Place) -> Iterator[FieldRelation]:
    """The relations of one line: a labelled value, or an item under a label that named the relation."""
    topic: Antecedent | None = place.section or place.topic
    text = reading.sentence.clean.text
    if reading.sentence.kind == "heading":
        return
    match = LABEL.match(text)
    if match and (predicate := predicate_of(match["label"])):
        if topic is not None:
            for name in value_names(text, reading.names, match.end()):
                yield FieldRelation(topic.surface, predicate, match["label"], name)
        return
    topic = place.topic or topic
    label = lead_in_label(place.lead_in)
    if label and topic is not None and reading.sentence.kind == "item":
        first = next(
            (name for name in reading.names if name.start <= 4 and BETWEEN_NAMES.fullmatch(text[: name.start])), None
        )
        if first is not None and AFTER_ITEM.match(text, first.end):
            yield FieldRelation(topic.surface, predicate_of(label), label, first)


def lead_in_label(text: str) -> str:
    """The field name that a heading or lead-in line is: "Dependencies", "The service depends on the following"."""
    if predicate_of(text):
        return text
    match = LEAD_IN.search(text)
    label = match[1].removeprefix("is ") if match else ""
    return label if predicate_of(label) and regex.match(r"(?:It|This|The)\b", text) else ""


def value_names(text: str, names: Sequence[Name], start: int) -> list[Name]:
    """The names that a value is made of, up to the first other word."""
    found: list[Name] = []
    position = start
    for name in names:
        if name.start < start:
            continue
        if not BETWEEN_NAMES.fullmatch(text[position : name.start]):
            break
        found.append(name)
        position = name.end
    rest = text[position:].strip()
    is_sentence = len(regex.findall(r"\p{L}+", rest)) > 3 and not rest.startswith(("(", "—", "–", "-", ",", ".", "#"))
    return [] if is_sentence else found


def row_relations(
    cells: Mapping[int, Reading], header: Mapping[int, str], place: Place
) -> Iterator[tuple[Reading, FieldRelation]]:
    """Of one table row: a label and its value, or columns whose header names a relation of the first cell's entity.

    cells and header by column; columns without a letter are absent.
    """
    topic = place.section or place.topic
    first = cells.get(0)
    if first is None:
        return
    text = first.sentence.clean.text
    predicate = predicate_of(text)
    if predicate and len(cells) == 2 and 1 in cells:
        if topic is not None:
            for name in value_names(cells[1].sentence.clean.text, cells[1].names, 0):
                yield cells[1], FieldRelation(topic.surface, predicate, text, name)
        return
    subject = first.names[0] if first.names else None
    if subject is None or subject.start != 0 or not AFTER_ITEM.match(text, subject.end):
        return
    for column, cell in cells.items():
        label = header.get(column, "")
        if column and (predicate := predicate_of(label)):
            for name in value_names(cell.sentence.clean.text, cell.names, 0):
                yield cell, FieldRelation(first.surface(subject), predicate, label, name)
