"""Where a search over linked documents enters: the notes that a question is about.

specs/linked-documents.md, rule 12. Notes are ranked by words (BM25 of the text with its headings and properties, and
BM25 of title and aliases, summed), by meaning (the best text unit), and by whether the question names them, fused by
rank. Of the hubs only those with most inbound links may be entries, and never they alone: a map of contents lists
everything.

Names have an idf of their own: a word that is common in texts may be rare in titles ("login"), and the other way round.
Words count in any form. On 47 questions over the sample and two public vaults the right note is among the first three
for 38; 33 where a name's words were counted four times among those of the text (docs/benchmarks.md).

Reads text_units, the inverted index, vectors. Does not: walk (note_walk.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson
import polars as pl

from graphrag.errors import NothingFound, UsageError
from graphrag.naming.declared_aliases import declared_aliases
from graphrag.search.notes.linked_notes import LinkedNotes
from graphrag.search.ranking import (
    COVERAGE_FLOOR,
    RRF_CONSTANT,
    Question,
    is_relevant,
    measure_likeness,
    rank_rows,
    stem_term,
)
from graphrag.search.rows import Passage, load_passages
from graphrag.search.seeds import find_named_documents
from graphrag.store.inverted_index import K1, B, weigh_rarity
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

N_ENTRIES, N_RANKED, N_LOOKED_AT = 3, 100, 8


class Entries(NamedTuple):
    """Ids of the entry notes, best first, and the scores that ranked them. `is_sure`: a text has to do with the
    question."""

    ids: list[str]
    scores: dict[str, float]
    is_sure: bool


def find_entries(index: Index, notes: LinkedNotes, question: Question, *, hub_candidates: int) -> Entries:
    """The notes to start from, at most three."""
    ranked = [
        rank_by_words(index, notes, question), _rank_by_meaning(index, question),
    ]  # fmt: skip
    fused: dict[str, float] = defaultdict(float)
    for order in ranked:
        for rank, note in enumerate(order[:N_RANKED], start=1):
            fused[note] += 1 / (RRF_CONSTANT + rank)
    named = [note for note in find_named_documents(index, question.text) if note in notes.paths]
    for note in named:
        fused[note] += 1 / (RRF_CONSTANT + 1)
    scores = {note: round(score, 9) for note, score in fused.items()}
    entries = choose_entries(scores, notes, hub_candidates=hub_candidates)
    is_sure = bool(named) or _is_named(index, notes, question, entries) or _is_sure(index, question)
    return Entries(entries, scores, is_sure)


def choose_entries(
    scores: Mapping[str, float], notes: LinkedNotes, *, hub_candidates: int, n: int = N_ENTRIES
) -> list[str]:
    """The n best notes, ties by path; hubs but the `hub_candidates` most linked are left out, and hubs alone are no
    entries where another note has a score."""
    hubs = {note for note in scores if notes.degrees.get(note, 0) > notes.hub_cutoff}
    most_linked = sorted(hubs, key=lambda note: (-notes.n_inbound.get(note, 0), notes.paths[note]))[:hub_candidates]
    order = sorted(scores, key=lambda note: (-scores[note], notes.paths[note]))
    allowed = [note for note in order if note not in hubs or note in most_linked]
    chosen = allowed[:n]
    others = [note for note in allowed if note not in hubs]
    if chosen and others and not set(chosen) - hubs:
        chosen = [*chosen[: n - 1], others[0]]
    return chosen


def resolve_note(notes: LinkedNotes, name: str) -> str:
    """The id of the note of a path (.md may be left out), title or alias, in any case.

    Raises NothingFound with the nearest names, UsageError when several notes have it.
    """
    from rapidfuzz import fuzz, process

    wanted = name.strip().casefold()
    named: dict[str, list[str]] = defaultdict(list)
    for note, path, title, metadata in notes.documents.select("id", "path", "title", "metadata").iter_rows():
        if wanted in (path.casefold(), path.casefold().removesuffix(".md")):
            return str(note)
        stem = path.rpartition("/")[2].removesuffix(".md")
        for other in dict.fromkeys(form.casefold() for form in (title, stem, *_read_aliases(metadata))):
            named[other].append(note)
    found = sorted(set(named.get(wanted, [])), key=lambda note: notes.paths[note])
    if len(found) > 1:
        paths = ", ".join(notes.paths[note] for note in found)
        raise UsageError(f'"{name}" is ambiguous: {paths}. Give the path.')
    if not found:
        titles = sorted(set(notes.documents["title"]))
        near = process.extract(wanted, titles, scorer=fuzz.ratio, processor=str.casefold, limit=2, score_cutoff=55)
        told = f" Nearest: {', '.join(title for title, _, _ in near)}." if near else ""
        raise NothingFound(f'No note "{name}".{told}')
    return found[0]


def rank_by_words(index: Index, notes: LinkedNotes, question: Question) -> list[str]:
    """The notes that hold a word of the question in any form, by BM25 of text and names, best first, ties by path."""
    stems = {stem_term(term) for term in question.terms}
    if not stems:
        return []
    texts, names = _count_in_texts(index, stems), _Counted({}, {})
    for note, title, metadata in notes.documents.select("id", "title", "metadata").iter_rows():
        fields = orjson.loads(metadata or "{}")
        names.add(note, "\n".join([title, *declared_aliases(fields)]), stems)
        texts.add(note, "\n".join(_list_texts(fields)), stems)
    scores: dict[str, float] = defaultdict(float)
    for counted in (texts, names):
        for note, score in counted.rate(notes.documents.height).items():
            scores[note] += score
    return sorted(scores, key=lambda note: (-round(scores[note], 9), notes.paths[note]))


class _Counted(NamedTuple):
    """One field of notes. held: stem -> note -> how often; n_terms: of each note."""

    held: dict[str, Counter[str]]
    n_terms: dict[str, int]

    def add(self, note: str, text: str, stems: Collection[str]) -> None:
        terms = split_search_terms(text)
        self.n_terms[note] = self.n_terms.get(note, 0) + len(terms)
        for stem in map(stem_term, terms):
            if stem in stems:
                self.held.setdefault(stem, Counter())[note] += 1

    def rate(self, n_notes: int) -> dict[str, float]:
        """BM25 of each note that holds a stem."""
        mean = sum(self.n_terms.values()) / max(1, n_notes) or 1.0
        scores: dict[str, float] = defaultdict(float)
        for stem in sorted(self.held):
            idf = weigh_rarity(n_notes, len(self.held[stem]))
            for note, n in self.held[stem].items():
                scores[note] += idf * n * (K1 + 1) / (n + K1 * (1 - B + B * self.n_terms.get(note, 0) / mean))
        return scores


def _count_in_texts(index: Index, stems: Collection[str]) -> _Counted:
    """From the inverted index: a stem begins all of its forms, so that they are ranges of terms."""
    n_terms = index.frame(
        "select u.document_id, sum(o.n_terms) from search_owners o join text_units u on u.id = o.owner_id "
        "where o.owner_table = 'text_units' group by all"
    )
    counted = _Counted({}, dict(n_terms.iter_rows()))
    ranges = " or ".join("p.term >= ? and p.term < ? || chr(1114111)" for _ in stems)
    rows = index.frame(
        "select p.term, u.document_id, sum(p.n) from search_postings p "
        "join search_owners o on o.owner_table = p.owner_table and o.position = p.position "
        "join text_units u on u.id = o.owner_id "
        f"where p.owner_table = 'text_units' and ({ranges}) group by all order by all",
        [stem for each in sorted(stems) for stem in (each, each)],
    ).iter_rows()
    for term, note, n in rows:
        if (stem := stem_term(term)) in stems:
            counted.held.setdefault(stem, Counter())[note] += n
    return counted


def _list_texts(value: object) -> list[str]:
    """The texts among the values of properties."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in _list_texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _list_texts(each)]
    return [value] if isinstance(value, str) else []


def _rank_by_meaning(index: Index, question: Question) -> list[str]:
    """Notes by their text unit that is most like the question."""
    best = measure_likeness(index, question, "text_units").best(2 * N_RANKED)
    return list(dict.fromkeys(passage.document for passage in load_passages(index, best)))


def _is_sure(index: Index, question: Question) -> bool:
    """Whether one of the best text units has to do with the question."""
    hits = rank_rows(index, question, "text_units", top=N_LOOKED_AT)
    cosines = {hit.owner_id: hit.cosine for hit in hits}
    return any(speaks_of(question, cosines[passage.id], passage) for passage in load_passages(index, list(cosines)))


def _is_named(index: Index, notes: LinkedNotes, question: Question, entries: Sequence[str]) -> bool:
    """Whether the names of an entry that is all properties, without a text to look at, hold most of the question."""
    silent = set(entries) - set(
        index.frame(
            "select distinct document_id from text_units where document_id in (select unnest(?::varchar[]))",
            (list(entries),),
        )["document_id"]
    )
    rows = notes.documents.filter(pl.col("id").is_in(sorted(silent))).select("title", "metadata").iter_rows()
    names = ["\n".join([title, *_read_aliases(metadata)]) for title, metadata in rows]
    return any(question.coverage(text) >= COVERAGE_FLOOR for text in names)


def speaks_of(question: Question, cosine: float, passage: Passage) -> bool:
    """Whether a text unit, read under the title of its note, has to do with the question."""
    return is_relevant(question, cosine, f"{passage.title}\n{passage.text}")


def _read_aliases(metadata: str) -> Sequence[str]:
    if '"alias' not in metadata:
        return ()
    fields = orjson.loads(metadata)
    return declared_aliases(fields)
