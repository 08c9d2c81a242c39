"""Entity and relationship mentions without a language model: spaCy's parse where it is installed, plain rules else.

Reads documents and text_units; writes entity_mentions, relationship_mentions and failures (entity_id stays null until
disambiguation). graphrag/nlp holds the rules: sentences (what is read), markup (Markdown to words), names, relations
(from a parse), evidence (types), lexicon (word lists); parsing is the door to spaCy. Two passes: the first counts how
the corpus writes its words, the second decides; types come last.

Does not: decide which names mean one entity (disambiguation.py), or ask a language model (extraction.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any, NamedTuple

import polars as pl

from graphrag import tables
from graphrag.batches import MapBatches
from graphrag.errors import ModelError
from graphrag.ids import row_id
from graphrag.memo import Memo
from graphrag.nlp import parsing
from graphrag.nlp.corpus import Lexicon
from graphrag.nlp.evidence import settle_types, stands_for_place
from graphrag.nlp.fields import FieldRelation, field_relations, row_relations
from graphrag.nlp.names import count_names, count_words, find_names
from graphrag.nlp.parsing import Parse
from graphrag.nlp.patterns import find_pattern_relations
from graphrag.nlp.predicates import Relation
from graphrag.nlp.references import Place, Reading, read_places, resolve
from graphrag.nlp.relations import find_relations
from graphrag.nlp.sentences import Sentence, cut_sentences
from graphrag.nlp.types import find_definitions
from graphrag.nlp.words import Name, find_words, name_order

# A sentence with more names than this is a list; its pairs say nothing.
MAX_COOCCURRING = 8
CO_OCCURS = "co_occurs_with"


class Extraction(NamedTuple):
    entity_mentions: pl.DataFrame
    relationship_mentions: pl.DataFrame
    failures: pl.DataFrame


class UnitProgress:
    """Characters parsed in, text units done out: all units are reported once, none before its share is parsed."""

    def __init__(self, n_units: int, advance: Callable[[int], None]) -> None:
        self.n_units, self.report = n_units, advance
        self.n_characters = self.n_parsed = self.n_reported = 0

    def advance(self, n_characters: int) -> None:
        self.n_parsed += n_characters
        self._reach(self.n_units * self.n_parsed // max(1, self.n_characters))

    def finish(self) -> None:
        self._reach(self.n_units)

    def _reach(self, n_units: int) -> None:
        if n_units > self.n_reported:
            self.report(n_units - self.n_reported)
            self.n_reported = n_units


def fingerprint_parts(model: str) -> str:
    """Which reader `model` (auto, spacy, lite) means here, and its version; changes with any file of spaCy's model."""
    if model == "lite" or parsing.missing_parts():
        return "lite"
    return parsing.fingerprint_model(parsing.find_model())


def missing_parts() -> str:
    """What the full extraction lacks, what happens instead and how to get it; empty when all is there."""
    return parsing.missing_parts()


def extract_mentions(
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    model: str,
    known_names: Mapping[str, str],
    cooccurrence: bool,
    processes: int = 1,
    map_batches: MapBatches | None = None,
    memo: Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Extraction:
    """Mentions of entities and relations, with document offsets, in order of document and offset.

    model: "spacy" (ModelError where it is missing), "lite" (rules only), "auto" (spacy where installed).
    known_names: declared surface -> type or "unknown". cooccurrence: also pairs of names of one sentence.
    map_batches: where sentences are parsed instead of in `processes` of this machine.
    `advance` gets text units, in step with the share of their text that is parsed: parsing is what takes the time.
    """
    sentences = cut_sentences(documents, text_units)
    progress = UnitProgress(text_units.height, advance)
    parses = _parse(sentences, model, processes, map_batches, memo, progress)
    readings, lexicon = _read(sentences, parses, known_names)
    rows = Rows(cooccurrence)
    titles = dict(documents.select("id", "title").iter_rows())
    for document_id, its_readings in groupby(readings, key=lambda reading: reading.sentence.document_id):
        rows.append_document(list(its_readings), titles[document_id])
    settle_types(list(rows.mentions.values()), list(rows.relations.values()), rows.defined, rows.placed, lexicon)
    progress.finish()
    return Extraction(
        _as_frame(tables.ENTITY_MENTIONS, rows.mentions.values()),
        _as_frame(tables.RELATIONSHIP_MENTIONS, rows.relations.values()),
        tables.FAILURES.empty(),
    )


def _as_frame(table: tables.Table, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return table.conform(pl.DataFrame(sorted(rows, key=_row_order), schema=table.schema, orient="row"))


def _row_order(row: dict[str, Any]) -> tuple[str, int, int, str]:
    return row["document_id"], row["start_char"], row["end_char"], row["id"]


def _parse(
    sentences: Sequence[Sentence],
    model: str,
    processes: int,
    map_batches: MapBatches | None,
    memo: Memo | None,
    progress: UnitProgress,
) -> list[Parse | None]:
    if model not in {"spacy", "lite", "auto"}:
        raise ModelError(f'extraction.nlp is "{model}", must be one of spacy, lite, auto.')
    parses: list[Parse | None] = [None] * len(sentences)
    if model == "lite" or (model == "auto" and missing_parts()):
        return parses
    wanted = [i for i, s in enumerate(sentences) if s.is_english and _is_running_text(s)]
    texts = [sentences[i].clean.text for i in wanted]
    progress.n_characters = sum(map(len, set(texts)))
    found = parsing.parse_sentences(
        texts, processes=processes, map_batches=map_batches, memo=memo, advance=progress.advance
    )
    for i, parse in zip(wanted, found, strict=True):
        parses[i] = parse
    return parses


def _is_running_text(sentence: Sentence) -> bool:
    return sentence.kind in {"prose", "item"} or (sentence.kind == "cell" and sentence.clean.text.count(" ") >= 4)


def _read(
    sentences: Sequence[Sentence], parses: Sequence[Parse | None], known_names: Mapping[str, str]
) -> tuple[list[Reading], Lexicon]:
    """Two passes over the corpus: how it writes its words, then the names and relations of each sentence."""
    words = [find_words(s.clean.text, parse, s.clean.opens) for s, parse in zip(sentences, parses, strict=True)]
    lexicon = Lexicon()
    running = [i for i, s in enumerate(sentences) if _is_running_text(s)]
    for i in running:
        count_words(lexicon, sentences[i].clean, words[i], parses[i])
    for i in running:
        count_names(lexicon, sentences[i].clean, words[i])
    lexicon.headings.update(s.clean.text.casefold() for s in sentences if s.kind == "heading")
    lexicon.declare(known_names)
    readings = []
    for sentence, parse, its_words in zip(sentences, parses, words, strict=True):
        names = find_names(sentence.clean, its_words, parse, lexicon, sentence.kind)
        names = [name for name in names if sentence.locate(name.start, name.end)]
        text = sentence.clean.text
        relations = find_relations(text, parse, names) if parse else find_pattern_relations(text, names)
        readings.append(Reading(sentence, parse, names, relations, find_definitions(text, parse, names)))
    return readings, lexicon


class Rows:
    """The rows made so far; a place in a document gives one mention, a statement one relation."""

    def __init__(self, cooccurrence: bool) -> None:
        self.cooccurrence = cooccurrence
        self.mentions: dict[tuple[str, int, int], dict[str, Any]] = {}
        self.relations: dict[str, dict[str, Any]] = {}
        self.defined: dict[str, Counter[str]] = defaultdict(Counter)
        self.placed: Counter[str] = Counter()

    def append_document(self, readings: Sequence[Reading], title: str) -> None:
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
            self.mentions.setdefault((row["document_id"], row["start_char"], row["end_char"]), row)
            self.placed[row["surface"]] += stands_for_place(reading.sentence.clean.text, name)
            if definition := reading.definitions.get(name):
                self.defined[row["surface"]][definition.type] += 1

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
