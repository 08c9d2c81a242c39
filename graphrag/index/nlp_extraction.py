"""Entity and relationship mentions without a language model: spaCy's parse where it is installed, plain rules else.

Reads documents and text_units; writes entity_mentions, relationship_mentions and failures (entity_id stays null until
disambiguation). The rooms beside it hold the rules: nlp_sentences (what is read), nlp_markup (Markdown to words),
nlp_names (names), nlp_relations (relations from a parse), nlp_lexicon (word lists); graphrag/nlp_parsing is the door
to spaCy. Two passes: the first counts how the corpus writes its words, the second decides.

Does not: decide which names mean one entity (disambiguation.py), or ask a language model (extraction.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from graphrag import nlp_parsing, tables
from graphrag.errors import ModelError
from graphrag.ids import row_id
from graphrag.index.nlp_names import Lexicon, Name, count_words, find_joined_names, find_names, find_words, head_type
from graphrag.index.nlp_patterns import find_pattern_relations
from graphrag.index.nlp_predicates import Relation
from graphrag.index.nlp_relations import find_relations
from graphrag.index.nlp_sentences import Sentence, cut_sentences
from graphrag.nlp_parsing import Parse

# A sentence with more names than this is a list; its pairs say nothing.
MAX_COOCCURRING = 8
CO_OCCURS = "co_occurs_with"


class Extraction(NamedTuple):
    entity_mentions: pl.DataFrame
    relationship_mentions: pl.DataFrame
    failures: pl.DataFrame


@dataclass
class Reading:
    """A sentence with its parse (none for the lite rules), the names that stand in it, and its relations."""

    sentence: Sentence
    parse: Parse | None
    names: list[Name]
    relations: list[Relation]


def missing_parts() -> str:
    """What the full extraction lacks and how to get it; empty when all is there."""
    return nlp_parsing.missing_parts()


def extract_mentions(
    text_units: pl.DataFrame,
    documents: pl.DataFrame,
    *,
    model: str,
    known_names: Mapping[str, str],
    cooccurrence: bool,
    processes: int = 1,
    memo: nlp_parsing.Memo | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Extraction:
    """Mentions of entities and relations, with document offsets, in order of document and offset.

    model: "spacy" (ModelError where it is missing), "lite" (rules only), "auto" (spacy where installed).
    known_names: declared surface -> type or "unknown". cooccurrence: also pairs of names of one sentence.
    `advance` gets characters parsed.
    """
    sentences = cut_sentences(documents, text_units)
    parses = _parse(sentences, model, processes, memo, advance)
    lexicon = _count_corpus(sentences, parses, known_names)
    readings = [_read(sentence, parse, lexicon) for sentence, parse in zip(sentences, parses, strict=True)]
    mentions: dict[tuple[str, int, int], dict[str, Any]] = {}
    relations: dict[str, dict[str, Any]] = {}
    for reading in readings:
        _append_rows(reading, mentions, relations, cooccurrence)
    entity_rows = sorted(mentions.values(), key=lambda row: (row["document_id"], row["start_char"], row["end_char"]))
    relation_rows = sorted(relations.values(), key=lambda row: (row["document_id"], row["start_char"], row["end_char"]))
    return Extraction(
        tables.ENTITY_MENTIONS.from_rows(entity_rows),
        tables.RELATIONSHIP_MENTIONS.from_rows(relation_rows),
        tables.FAILURES.empty(),
    )


def _parse(
    sentences: Sequence[Sentence],
    model: str,
    processes: int,
    memo: nlp_parsing.Memo | None,
    advance: Callable[[int], None],
) -> list[Parse | None]:
    if model not in {"spacy", "lite", "auto"}:
        raise ModelError(f'extraction.nlp is "{model}", must be one of spacy, lite, auto.')
    parses: list[Parse | None] = [None] * len(sentences)
    if model == "lite" or (model == "auto" and missing_parts()):
        return parses
    wanted = [i for i, s in enumerate(sentences) if s.is_english and s.kind in {"prose", "item"}]
    found = nlp_parsing.parse_sentences(
        [sentences[i].clean.text for i in wanted], processes=processes, memo=memo, advance=advance
    )
    for i, parse in zip(wanted, found, strict=True):
        parses[i] = parse
    return parses


def _count_corpus(
    sentences: Sequence[Sentence], parses: Sequence[Parse | None], known_names: Mapping[str, str]
) -> Lexicon:
    lexicon = Lexicon()
    joined: dict[str, str] = {}
    for sentence, parse in zip(sentences, parses, strict=True):
        words = find_words(sentence.clean.text, parse)
        count_words(lexicon, sentence.clean, words, parse, sentence.kind)
        joined |= {name: head_type(name) or "unknown" for name in find_joined_names(lexicon, sentence.clean, words)}
    lexicon.declare({**joined, **known_names})
    return lexicon


def _read(sentence: Sentence, parse: Parse | None, lexicon: Lexicon) -> Reading:
    words = find_words(sentence.clean.text, parse)
    names = find_names(sentence.clean, words, parse, lexicon, sentence.kind)
    names = [name for name in names if sentence.locate(name.start, name.end)]
    relations = find_relations(sentence.clean.text, parse, names) if parse else find_pattern_relations(sentence.clean.text, names)
    return Reading(sentence, parse, names, relations)


def _append_rows(
    reading: Reading,
    mentions: dict[tuple[str, int, int], dict[str, Any]],
    relations: dict[str, dict[str, Any]],
    cooccurrence: bool,
) -> None:
    ends = {end for relation in reading.relations for end in (relation.subject, relation.object) if end is not None}
    names = sorted({name for name in reading.names if name.is_sure} | ends, key=lambda name: (name.start, name.end))
    surfaces: dict[Name, str] = {}
    for name in names:
        row = _mention_row(reading, name)
        if row is not None:
            surfaces[name] = row["surface"]
            mentions.setdefault((row["document_id"], row["start_char"], row["end_char"]), row)
    typed: set[frozenset[str]] = set()
    for relation in reading.relations:
        if relation.subject not in surfaces or relation.object not in surfaces:
            continue
        subject, object_ = surfaces[relation.subject], surfaces[relation.object]
        if subject.casefold() == object_.casefold():
            continue
        start, end = relation.predicate_span
        phrase = reading.sentence.clean.text[start:end]
        typed.add(frozenset((subject, object_)))
        row = _relation_row(reading, subject, relation.predicate, object_, phrase, "extracted")
        relations.setdefault(row["id"], row)
    if cooccurrence and reading.sentence.kind in {"prose", "item"}:
        distinct = sorted(set(surfaces.values()))
        for a, b in combinations(distinct, 2) if len(distinct) <= MAX_COOCCURRING else ():
            if frozenset((a, b)) not in typed and a.casefold() != b.casefold():
                row = _relation_row(reading, a, CO_OCCURS, b, "", "cooccurrence")
                relations.setdefault(row["id"], row)


def _mention_row(reading: Reading, name: Name) -> dict[str, Any] | None:
    sentence = reading.sentence
    span = sentence.locate(name.start, name.end)
    if span is None:
        return None
    surface = " ".join(sentence.clean.raw[span[0] - sentence.start : span[1] - sentence.start].split())
    relative = str(span[0] - sentence.unit_start), str(span[1] - sentence.unit_start)
    method = {"known": "declared", "ner": "spacy"}.get(name.kind, "rule" if reading.parse else "lite")
    return {
        "id": row_id("entity_mention", sentence.text_unit_id, *relative, surface),
        "entity_id": None, "text_unit_id": sentence.text_unit_id, "document_id": sentence.document_id, "surface": surface,
        "type": name.type, "description": name.description, "start_char": span[0], "end_char": span[1], "method": method,
    }  # fmt: skip


def _relation_row(
    reading: Reading, subject: str, predicate: str, object_: str, phrase: str, origin: str
) -> dict[str, Any]:
    sentence = reading.sentence
    start, end = sentence.row
    relative = str(start - sentence.unit_start), str(end - sentence.unit_start)
    return {
        "id": row_id("relationship_mention", sentence.text_unit_id, *relative, subject, predicate, object_),
        "text_unit_id": sentence.text_unit_id, "document_id": sentence.document_id, "subject": subject,
        "predicate": predicate, "object": object_, "subject_surface": subject, "predicate_surface": phrase,
        "object_surface": object_, "description": "", "strength": None, "start_char": start, "end_char": end,
        "is_verified": True, "origin": origin, "method": "spacy" if reading.parse else "lite",
    }  # fmt: skip
