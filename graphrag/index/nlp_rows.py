"""From the sentences of a document, with their names and relations, to rows of mentions and relations.

A place in a document gives one mention, a statement one relation; pairs of names of one sentence are relations of an
origin of their own. Offsets are the document's, ids hang on the text unit.

A neighbour of nlp_extraction.py. Does not: find names or relations (graphrag/nlp), or look beyond the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, groupby
from typing import Any

from graphrag.ids import row_id
from graphrag.nlp.evidence import stands_for_place
from graphrag.nlp.fields import FieldRelation, field_relations, row_relations
from graphrag.nlp.predicates import Relation
from graphrag.nlp.references import Place, Reading, read_places, resolve
from graphrag.nlp.words import Name, name_order

# A sentence with more names than this is a list; its pairs say nothing.
MAX_COOCCURRING = 8
CO_OCCURS = "co_occurs_with"


class DocumentRows:
    """The rows of one document. definitions: (surface, type that a sentence gives it); places: surfaces that stand
    where places do."""

    def __init__(self, readings: Sequence[Reading], title: str, *, cooccurrence: bool) -> None:
        self.cooccurrence = cooccurrence
        self.mentions: dict[tuple[int, int], dict[str, Any]] = {}
        self.relations: dict[str, dict[str, Any]] = {}
        self.definitions: Counter[tuple[str, str]] = Counter()
        self.places: Counter[str] = Counter()
        self._append(readings, title)

    def _append(self, readings: Sequence[Reading], title: str) -> None:
        header: dict[int, str] = {}
        last_row = -2
        for (block, kind), places in groupby(
            read_places(readings, title), key=lambda item: (item[0].sentence.block, item[0].sentence.kind)
        ):
            cells: dict[int, Reading] = {}
            place = None
            for reading, place in places:
                self._append_sentence(reading, place)
                cells[reading.sentence.column] = reading
            if kind == "cell" and place is not None:
                if block > last_row + 2:  # the rule under the header is a block without words
                    header = {column: cell.sentence.clean.text for column, cell in cells.items()}
                for cell, found in row_relations(cells, header, place):
                    for name in cells[0].names[:1]:  # the subject, where the relation shows it to be a name
                        if cells[0].surface(name) == found.subject:
                            self._append_name(cells[0], name)
                    self._append_field(cell, found)
                last_row = block

    def _append_sentence(self, reading: Reading, place: Place) -> None:
        ends = {end for relation in reading.relations for end in (relation.subject, relation.object) if end is not None}
        for name in sorted({name for name in reading.names if name.is_sure} | ends, key=name_order):
            self._append_name(reading, name)
        typed: set[frozenset[str]] = set()
        for relation in reading.relations:
            pair = self._append_relation(reading, relation, place)
            typed.add(frozenset(pair))
        for found in field_relations(reading, place):
            typed.add(frozenset(self._append_field(reading, found)))
        if self.cooccurrence and reading.sentence.kind in {"prose", "item"}:
            self._append_pairs(reading, typed)

    def _append_name(self, reading: Reading, name: Name) -> None:
        row = _mention_row(reading, name)
        if row is not None:
            self.mentions.setdefault((row["start_char"], row["end_char"]), row)
            if stands_for_place(reading.sentence.clean.text, name):
                self.places[row["surface"]] += 1
            if definition := reading.definitions.get(name):
                self.definitions[row["surface"], definition.type] += 1

    def _append_relation(self, reading: Reading, relation: Relation, place: Place) -> tuple[str, ...]:
        subject = reading.surface(relation.subject) if relation.subject else ""
        object_ = reading.surface(relation.object) if relation.object else ""
        if relation.subject is None:
            found = resolve(reading, place, relation.subject_span, is_object=False, other=object_)
            subject = found.surface if found else ""
        if relation.object is None:
            found = resolve(reading, place, relation.object_span, is_object=True, other=subject)
            object_ = found.surface if found else ""
        if not subject or not object_ or subject.casefold() == object_.casefold():
            return ()
        text = reading.sentence.clean.text
        spans = (relation.subject_span, relation.predicate_span, relation.object_span)
        written = [" ".join(text[slice(*span)].split()) for span in spans]
        written[0] = reading.surface(relation.subject) if relation.subject else written[0]
        written[2] = reading.surface(relation.object) if relation.object else written[2]
        self._append_row(_relation_row(reading, (subject, relation.predicate, object_), written, "extracted"))
        return subject, object_

    def _append_field(self, reading: Reading, found: FieldRelation) -> tuple[str, ...]:
        object_ = reading.surface(found.object)
        if found.subject.casefold() == object_.casefold():
            return ()
        self._append_name(reading, found.object)
        written = [found.subject, found.label, object_]
        self._append_row(_relation_row(reading, (found.subject, found.predicate, object_), written, "extracted"))
        return found.subject, object_

    def _append_pairs(self, reading: Reading, typed: set[frozenset[str]]) -> None:
        surfaces = sorted({reading.surface(name) for name in reading.names if name.is_sure})
        for a, b in combinations(surfaces, 2) if len(surfaces) <= MAX_COOCCURRING else ():
            if frozenset((a, b)) not in typed and a.casefold() != b.casefold():
                self._append_row(_relation_row(reading, (a, CO_OCCURS, b), [a, "", b], "cooccurrence"))

    def _append_row(self, row: dict[str, Any]) -> None:
        self.relations.setdefault(row["id"], row)


def _mention_row(reading: Reading, name: Name) -> dict[str, Any] | None:
    sentence = reading.sentence
    span = sentence.locate(name.start, name.end)
    if span is None:
        return None
    surface = reading.surface(name)
    relative = str(span[0] - sentence.unit_start), str(span[1] - sentence.unit_start)
    definition = reading.definitions.get(name)
    method = {"known": "declared", "ner": "spacy"}.get(name.kind, "rule" if reading.parse else "lite")
    return {
        "id": row_id("entity_mention", sentence.text_unit_id, *relative, surface),
        "entity_id": None, "text_unit_id": sentence.text_unit_id, "document_id": sentence.document_id,
        "surface": surface,
        "type": name.type, "description": definition.text if definition else "",
        "start_char": span[0], "end_char": span[1], "method": method,
    }  # fmt: skip


def _relation_row(
    reading: Reading, triple: tuple[str, str, str], written: Sequence[str], origin: str
) -> dict[str, Any]:
    """A row whose place is the sentence or table row; `written` is subject, predicate, object as they stand there."""
    sentence = reading.sentence
    start, end = sentence.row
    relative = str(start - sentence.unit_start), str(end - sentence.unit_start)
    subject, predicate, object_ = triple
    quote = " ".join(sentence.row_text.split())
    return {
        "id": row_id("relationship_mention", sentence.text_unit_id, *relative, subject, predicate, object_),
        "text_unit_id": sentence.text_unit_id, "document_id": sentence.document_id, "subject": subject,
        "predicate": predicate, "object": object_, "subject_surface": written[0], "predicate_surface": written[1],
        "object_surface": written[2], "description": "", "strength": None, "start_char": start, "end_char": end,
        "is_verified": written[0] in quote and written[2] in quote, "origin": origin,
        "method": "spacy" if reading.parse else "lite",
    }  # fmt: skip
