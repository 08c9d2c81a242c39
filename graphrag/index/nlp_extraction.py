"""Entity and relationship mentions without a language model: spaCy's parse where it is installed, plain rules else.

Reads documents and text_units; writes entity_mentions, relationship_mentions and failures (entity_id stays null until
disambiguation). graphrag/nlp holds the rules: sentences (what is read), markup (Markdown to words), names, relations
(from a parse), evidence (types), lexicon (word lists); parsing is the door to spaCy. The corpus is counted first, its
words, then its names; then names and relations are found, document by document (nlp_rows.py); types come last.

Read are documents that are new or others than last night, and those for which a word was looked up that the corpus
uses in another way now; of all others the rows are kept (kept_extraction.py).

Does not: decide which names mean one entity (disambiguation.py), or ask a language model (extraction.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import orjson
import polars as pl

from graphrag import tables
from graphrag.batches import MapBatches
from graphrag.errors import ModelError
from graphrag.index.kept_extraction import (
    SCHEMAS,
    Extracted,
    find_stale,
    keep_extraction,
    list_other_folds,
    list_other_names,
    recall_extraction,
    sum_counts,
)
from graphrag.index.nlp_rows import DocumentRows
from graphrag.memo import Memo, memo_key
from graphrag.nlp import parsing
from graphrag.nlp.corpus import HEADING, NAME_COUNTS, WORD_COUNTS, Counts, Lexicon, build_lexicon
from graphrag.nlp.evidence import settle_types
from graphrag.nlp.names import count_names, count_words, find_names
from graphrag.nlp.parsing import Parse
from graphrag.nlp.patterns import find_pattern_relations
from graphrag.nlp.references import Reading
from graphrag.nlp.relations import find_relations
from graphrag.nlp.sentences import Sentence, cut_sentences
from graphrag.nlp.types import find_definitions
from graphrag.nlp.words import Word, find_words

ROW_ORDER = ("document_id", "start_char", "end_char", "id")


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
    rules: str = "",
    advance: Callable[[int], None] = lambda _: None,
) -> Extraction:
    """Mentions of entities and relations, with document offsets, in order of document and offset.

    model: "spacy" (ModelError where it is missing), "lite" (rules only), "auto" (spacy where installed).
    known_names: declared surface -> type or "unknown". cooccurrence: also pairs of names of one sentence.
    map_batches: where sentences are parsed instead of in `processes` of this machine.
    memo: holds parses and, where `rules` says which version of our rules this is, what each document gave last night.
    `advance` gets text units, in step with the share of their text that is parsed: parsing is what takes the time.
    """
    if model not in {"spacy", "lite", "auto"}:
        raise ModelError(f'extraction.nlp is "{model}", must be one of spacy, lite, auto.')
    is_lite = model == "lite" or (model == "auto" and bool(missing_parts()))
    progress = UnitProgress(text_units.height, advance)
    texts = Texts(documents, text_units, None if is_lite else Parser(processes, map_batches, memo, progress))
    memo = memo if rules else None
    key = memo_key(rules, fingerprint_parts(model), str(cooccurrence))
    kept, declared = recall_extraction(memo, key)
    changed = _read_what_changed(texts, kept, declared, known_names)
    lexicon = changed.lexicon
    extracted = changed.kept.join(_extract(changed, texts.titles, cooccurrence=cooccurrence))
    keep_extraction(memo, key, extracted._replace(documents=texts.sha256), known_names)
    mentions = settle_types(extracted.mentions, extracted.relations, extracted.definitions, extracted.places, lexicon)
    progress.finish()
    return Extraction(
        tables.ENTITY_MENTIONS.conform(mentions.sort(ROW_ORDER)),
        tables.RELATIONSHIP_MENTIONS.conform(extracted.relations.sort(ROW_ORDER)),
        tables.FAILURES.empty(),
    )


class Changed(NamedTuple):
    """Documents that had to be read, and their counts; what was kept of all others; the lexicon of tonight."""

    read: list[ReadDocument]
    counts: pl.DataFrame
    kept: Extracted
    lexicon: Lexicon


def _read_what_changed(
    texts: Texts, kept: Extracted, declared: Mapping[str, str], known_names: Mapping[str, str]
) -> Changed:
    """What has to be read. `declared`: the known names of last night.

    Other documents give other counts of words. Where that changes the usage of a word, the names are counted anew of
    the documents that it was looked up for; where the usage of a word or name changed, they are read.
    """
    old = sum_counts(kept.counts)
    kept = kept.select(kept.documents.join(texts.sha256, on=["document_id", "sha256"], how="semi")["document_id"])
    read = texts.read(texts.sha256.join(kept.documents, on="document_id", how="anti")["document_id"])

    is_word = pl.col("what").is_in(WORD_COUNTS)
    counts = _frame_counts(read, WORD_COUNTS)
    old_words, words = old.filter(is_word), sum_counts(pl.concat([kept.counts.filter(is_word), counts]))
    written = build_lexicon(words.iter_rows())
    stale = find_stale(kept, build_lexicon(old_words.iter_rows()), written, list_other_folds(old_words, words))
    others, kept = texts.read(stale), kept.without(stale)
    for document in read + others:
        document.count_names(written)

    counts = pl.concat(
        [
            counts,
            _frame_counts(others, WORD_COUNTS),
            _frame_counts(read, NAME_COUNTS),
            _frame_counts(others, NAME_COUNTS),
        ]
    )
    new = sum_counts(pl.concat([kept.counts, counts]))
    before, now = build_lexicon(old.iter_rows(), declared), build_lexicon(new.iter_rows(), known_names)
    folds = list_other_folds(old, new) | list_other_names(
        before.joined | dict(declared), now.joined | dict(known_names)
    )
    stale = find_stale(kept, before, now, folds)
    again = texts.read(stale)
    for document in again:
        document.count_names(written)
    counts = pl.concat([counts, _frame_counts(again, WORD_COUNTS + NAME_COUNTS)])
    return Changed(read + others + again, counts, kept.without(stale), now)


def _extract(changed: Changed, titles: Mapping[str, str], *, cooccurrence: bool) -> Extracted:
    """What the read documents give; `documents` stays empty, as some have no sentence."""
    read = changed.read
    mentions: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    definitions: list[tuple[str, str, str, int]] = []
    places: list[tuple[str, str, int]] = []
    for document in read:
        rows = DocumentRows(document.find_readings(changed.lexicon), titles[document.id], cooccurrence=cooccurrence)
        mentions += rows.mentions.values()
        relations += rows.relations.values()
        definitions += ((document.id, *defined, n) for defined, n in rows.definitions.items())
        places += ((document.id, surface, n) for surface, n in rows.places.items())
    asked = {"document_id": [document.id for document in read], "asked": [list(document.asked) for document in read]}
    lists = pl.DataFrame(asked, schema={"document_id": pl.String, "asked": pl.List(pl.String)})
    return Extracted(
        pl.DataFrame(schema=SCHEMAS["documents"]),
        changed.counts,
        lists.explode("asked").drop_nulls(),
        *(
            pl.DataFrame(rows, schema=SCHEMAS[name], orient="row")
            for name, rows in (
                ("mentions", mentions), ("relations", relations), ("definitions", definitions), ("places", places)
            )
        ),
    )  # fmt: skip


def _frame_counts(read: Iterable[ReadDocument], whats: Collection[str]) -> pl.DataFrame:
    """What the documents count of these kinds."""
    rows = [(document.id, *key, n) for document in read for key, n in document.counts.items() if n and key[0] in whats]
    columns = zip(*rows, strict=True) if rows else [[]] * len(SCHEMAS["counts"])
    return pl.DataFrame(dict(zip(SCHEMAS["counts"], map(list, columns), strict=True)), schema=SCHEMAS["counts"])


@dataclass
class ReadDocument:
    """A document cut into sentences, with its counts, and what was looked up for it (Lexicon.asked)."""

    id: str
    sentences: list[Sentence]
    parses: list[Parse | None]
    words: list[list[Word]]
    counts: Counts = field(default_factory=lambda: defaultdict(int))
    asked: set[str] = field(default_factory=set)

    def count_words(self) -> None:
        for sentence, parse, words in zip(self.sentences, self.parses, self.words, strict=True):
            if sentence.kind == "heading":
                self.counts[HEADING, sentence.clean.text.casefold(), ""] += 1
            if _is_running_text(sentence):
                count_words(self.counts, sentence.clean, words, parse)

    def count_names(self, written: Lexicon) -> None:
        """`written` knows the words of the corpus, and no names yet."""
        written.asked = self.asked
        for sentence, words in zip(self.sentences, self.words, strict=True):
            if _is_running_text(sentence):
                count_names(self.counts, written, sentence.clean, words)

    def find_readings(self, lexicon: Lexicon) -> list[Reading]:
        lexicon.asked = self.asked
        readings = []
        for sentence, parse, words in zip(self.sentences, self.parses, self.words, strict=True):
            names = find_names(sentence.clean, words, parse, lexicon, sentence.kind)
            names = [name for name in names if sentence.locate(name.start, name.end)]
            text = sentence.clean.text
            relations = find_relations(text, parse, names) if parse else find_pattern_relations(text, names)
            readings.append(Reading(sentence, parse, names, relations, find_definitions(text, parse, names)))
        return readings


class Texts:
    """The documents of tonight. sha256: by document, of all that it has of its own: text, title, text units."""

    def __init__(self, documents: pl.DataFrame, text_units: pl.DataFrame, parser: Parser | None) -> None:
        self._documents, self._text_units, self._parser = documents, text_units, parser
        self.titles: dict[str, str] = dict(documents.select("id", "title").iter_rows())
        ordered = text_units.sort("document_id", "start_char", "end_char")
        places = ordered.select("document_id", "id", "start_char", "end_char").iter_rows()
        units = {document_id: list(rows) for document_id, rows in groupby(places, key=lambda row: row[0])}
        rows = [
            (document_id, memo_key(text, title, orjson.dumps(units.get(document_id, ())).decode()))
            for document_id, text, title in documents.select("id", "text", "title").iter_rows()
        ]
        self.sha256 = pl.DataFrame(rows, schema=SCHEMAS["documents"], orient="row")

    def read(self, document_ids: pl.Series) -> list[ReadDocument]:
        """Those that have a sentence, their words counted."""
        chosen = document_ids.implode()
        sentences = cut_sentences(
            self._documents.filter(pl.col("id").is_in(chosen)),
            self._text_units.filter(pl.col("document_id").is_in(chosen)),
        )
        parses = self._parser.parse(sentences) if self._parser else [None] * len(sentences)
        found = []
        parsed = zip(sentences, parses, strict=True)
        for document_id, pairs in groupby(parsed, key=lambda pair: pair[0].document_id):
            its = list(pairs)
            words = [find_words(sentence.clean.text, parse, sentence.clean.opens) for sentence, parse in its]
            document = ReadDocument(document_id, [sentence for sentence, _ in its], [parse for _, parse in its], words)
            document.count_words()
            found.append(document)
        return found


@dataclass(frozen=True)
class Parser:
    """Where sentences are parsed, and who is told."""

    processes: int
    map_batches: MapBatches | None
    memo: Memo | None
    progress: UnitProgress

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse | None]:
        """None for what is not English, or no running text."""
        parses: list[Parse | None] = [None] * len(sentences)
        wanted = [i for i, s in enumerate(sentences) if s.is_english and _is_running_text(s)]
        texts = [sentences[i].clean.text for i in wanted]
        self.progress.n_characters += sum(map(len, set(texts)))
        found = parsing.parse_sentences(
            texts,
            processes=self.processes,
            map_batches=self.map_batches,
            memo=self.memo,
            advance=self.progress.advance,
        )
        for i, parse in zip(wanted, found, strict=True):
            parses[i] = parse
        return parses


def _is_running_text(sentence: Sentence) -> bool:
    return sentence.kind in {"prose", "item"} or (sentence.kind == "cell" and sentence.clean.text.count(" ") >= 4)
