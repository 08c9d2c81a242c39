"""Search over linked documents: whole notes, found at an entry and by walking the links that people wrote.

specs/linked-documents.md, section 5. A question enters at up to three notes (note_entries.py), one that a walk along
relationships answers ("what depends on Redis") at the notes that state the nearest hops; `depth` follows the
links of the best one, `synthesis` those of all in turn, `hybrid` also leaves out linked notes that are unlike every
entry and adds orphans, near in meaning and not reached (note_walk.py). Notes stand whole between SOURCE tags while the
budget lasts, hubs as one line (note_text.py). Notes that people related are folded before the budget is filled
(folded_notes.py). Works without links (entries and orphans) and without vectors (all that is linked is kept).

Reads documents, links, text_units, relationships, the inverted index and vectors. Does not: ask a model for vectors of
notes, resolve links, or know settings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from graphrag.context import TokenCounter
from graphrag.search.answer import EXTRACTIVE_LABEL, NOTHING, Answer, Citation, Usage
from graphrag.search.basic_search import search_basic
from graphrag.search.entries.folded_entries import Fold, tell_refused
from graphrag.search.extract import choose_quotes, quote_facts
from graphrag.search.notes.document_answer import DATASET
from graphrag.search.notes.folded_notes import FoldedNotes, fold_notes
from graphrag.search.notes.linked_notes import LinkedNotes, load_note_vectors, load_notes
from graphrag.search.notes.note_entries import Entries, find_entries, resolve_note, speaks_of
from graphrag.search.notes.note_text import CUT, cut_note, render_stub, tag_note
from graphrag.search.notes.note_walk import (
    Filled,
    fill_budget,
    filter_by_anchor,
    find_orphans,
    measure_cosines,
    walk_links,
)
from graphrag.search.ranking import Question, prepare_question, rank_rows
from graphrag.search.rows import Passage, list_text_units, load_passages
from graphrag.search.sections import check_budget
from graphrag.search.seeds import explain_unknown_name, find_named_entities
from graphrag.search.walks.leading import Leading, find_leading
from graphrag.settings import RoutingMode
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_QUOTES, MAX_RANKED = 6, 60
MAX_STATING, MAX_STATED = 6, 12  # notes that state a walk and are entries; sentences of these that are quoted
UNSURE = "No note is clearly about this: searched the passages of all documents instead."


@dataclass(frozen=True)
class Routing:
    """How notes are chosen; see the settings [routing] for what each says. `note`: the entry, by name; empty: found."""

    mode: RoutingMode = "hybrid"
    max_depth: int = 2
    max_notes: int = 12
    max_tokens: int = 8000
    threshold: float = 0.65
    orphan_k: int = 5
    anchor_strategy: Literal["entry_note", "query"] = "entry_note"
    missing_vector: Literal["keep", "drop"] = "keep"
    hub_candidates: int = 3
    source_tags: bool = True
    latency_budget_ms: int = 10_000
    note: str = ""


class ChosenNotes(NamedTuple):
    """What is read: `texts` by id for notes that are shown in full or cut; `cut` and `unscored` are ids; `related`:
    lines on what hangs on the results."""

    folded: FoldedNotes
    filled: Filled
    texts: dict[str, str]
    cut: list[str]
    unscored: list[str]
    related: str = ""

    def is_whole(self, note: str) -> bool:
        return note in self.texts


def search_documents(
    index: Index,
    question: str,
    *,
    routing: Routing,
    top: int = 10,
    model: str = "",
    count: TokenCounter = count_tokens,
    fold: Fold | None = None,
) -> Answer:
    """The best sentences of the notes that were read, each with the name of its note; sources are these notes in the
    order of reading, or, where related ones are folded, the results.

    Raises UsageError for a budget below 1 or an ambiguous routing.note, NothingFound for an unknown one.
    """
    check_budget(routing.max_tokens)
    began = time.perf_counter()
    notes = load_notes(index)
    asked, notices = prepare_question(index, question, model=model)
    named = find_named_entities(index, asked.text)[0]
    if not routing.note and (unknown := explain_unknown_name(index, asked.text, named)):
        usage = Usage(seconds=round(time.perf_counter() - began, 3))
        return Answer("documents", question, NOTHING, False, usage=usage, notices=(*notices, unknown))
    walk = find_leading(index, asked.text, named)
    stating = list(dict.fromkeys(fact.document for fact in walk.facts))[:MAX_STATING]
    if routing.note:
        entry = resolve_note(notes, routing.note)
        entries = Entries([entry], {entry: 1.0}, True)
    elif stating:
        entries = Entries(stating, {note: 1 / rank for rank, note in enumerate(stating, start=1)}, True)
    else:
        entries = find_entries(index, notes, asked, hub_candidates=routing.hub_candidates)
    if not entries.ids or not entries.is_sure:
        fallback = search_basic(
            index, question, budget_tokens=routing.max_tokens, top=top, model=model, count=count, fold=fold
        )
        return replace(fallback, mode="documents", notices=(*fallback.notices, UNSURE))
    started = _choose_start(notes, entries.ids, is_single=routing.mode == "depth")
    chosen = choose_notes(index, notes, asked, started, routing=routing, count=count, fold=fold)
    answer = _answer(index, notes, asked, chosen, routing=routing, top=top, scores=entries.scores, walk=walk)
    told = tell_route(notes, started, chosen, routing=routing)
    seconds = round(time.perf_counter() - began, 3)
    if seconds * 1000 > routing.latency_budget_ms:
        told.append(f"Gathering notes took {seconds:.1f} s, more than routing.latency_budget_ms.")
    usage = Usage(context_tokens=count(answer.context), seconds=seconds)
    return replace(answer, question=question, usage=usage, notices=(*notices, *answer.notices, *told))


def _choose_start(notes: LinkedNotes, entries: Sequence[str], *, is_single: bool) -> list[str]:
    """The entries to walk from: all, or the best that is no hub, else the best."""
    if not is_single:
        return list(entries)
    best = [entry for entry in entries if not notes.is_hub(entry)]
    return [*best, *entries][:1]


def choose_notes(
    index: Index,
    notes: LinkedNotes,
    question: Question,
    entries: Sequence[str],
    *,
    routing: Routing,
    count: TokenCounter = count_tokens,
    fold: Fold | None = None,
) -> ChosenNotes:
    """The notes of a walk from these entries, filtered and with orphans in hybrid mode, folded, within the budget."""
    is_hub_only = all(notes.is_hub(entry) for entry in entries)
    reached = walk_links(
        notes.links, notes.degrees, entries,
        max_depth=routing.max_depth, hub_cutoff=notes.hub_cutoff, expand_entries=is_hub_only,
    )  # fmt: skip
    unscored: list[str] = []
    if routing.mode == "hybrid":
        cosines = _measure_nearness(index, question, entries, strategy=routing.anchor_strategy)
        keep = routing.missing_vector == "keep"
        reached, unscored = filter_by_anchor(reached, cosines, threshold=routing.threshold, keep_missing=keep)
        if not cosines:
            unscored = []  # without any vector there is nothing to say of one note
        reached += find_orphans(cosines, [note.id for note in reached], notes.paths, k=routing.orphan_k)
    folded = fold_notes(index, reached, notes.names, fold=fold)
    reached = folded.notes
    shown = [note.id for note in reached if note.hops == 0 and not note.is_stub]
    cut = _cut_entries(index, notes, shown, budget=routing.max_tokens, count=count)
    sizes = dict(notes.documents.select("id", "n_tokens").iter_rows())
    sizes |= {n.id: count(render_stub(notes.names[n.id], notes.degrees[n.id])) for n in reached if n.is_stub}
    sizes |= {note: count(text) for note, text in cut.items()}
    filled = fill_budget(reached, sizes, max_notes=routing.max_notes, max_tokens=routing.max_tokens)
    if not filled.taken and (start := next((note for note in filled.skipped if note.id in cut), None)):
        # A budget of a token or two: not even the shortest start of an entry with its mark fits, yet one is shown.
        filled = Filled([start], [note for note in filled.skipped if note is not start])
    whole = [note.id for note in filled.taken if not note.is_stub and note.id not in cut]
    left = routing.max_tokens - sum(sizes[note.id] for note in filled.taken)
    related = folded.tell_related(notes.names, budget=left, count=count)
    cut = {note.id: cut[note.id] for note in filled.taken if note.id in cut}
    return ChosenNotes(folded, filled, _load_texts(index, whole) | cut, list(cut), unscored, related)


def _measure_nearness(
    index: Index, question: Question, entries: Sequence[str], *, strategy: Literal["entry_note", "query"]
) -> dict[str, float]:
    """Cosine of every note with the entries, or with the question; none where these have no vector."""
    ids, matrix = load_note_vectors(index, with_imported=strategy == "entry_note")
    if strategy == "query":
        return {} if question.vector is None else measure_cosines(ids, matrix, question.vector[None, :])
    row_of = {note: row for row, note in enumerate(ids)}
    return measure_cosines(ids, matrix, matrix[[row_of[entry] for entry in entries if entry in row_of]])


def _cut_entries(
    index: Index, notes: LinkedNotes, entries: Sequence[str], *, budget: int, count: TokenCounter
) -> dict[str, str]:
    """Entries larger than the whole budget, cut to an equal share of it."""
    sizes = dict(notes.documents.select("id", "n_tokens").iter_rows())
    large = [entry for entry in entries if sizes[entry] > budget]
    share = max(1, budget // len(entries))
    return {note: cut_note(text, budget=share, count=count) for note, text in _load_texts(index, large).items()}


def _load_texts(index: Index, ids: Sequence[str]) -> dict[str, str]:
    sql = "select id, text from documents where id in (select unnest(?::varchar[])) order by path"
    return dict(index.frame(sql, (list(ids),)).iter_rows())


def _answer(
    index: Index,
    notes: LinkedNotes,
    question: Question,
    chosen: ChosenNotes,
    *,
    routing: Routing,
    top: int,
    scores: Mapping[str, float],
    walk: Leading,
) -> Answer:
    """The extractive answer: quotes of the notes that are shown, with the context and the sources."""
    context = render_context(notes, chosen, tags=routing.source_tags)
    taken = chosen.filled.taken
    quotes = _choose_quotes(index, notes, question, chosen, walk)
    numbers = dict(notes.documents.select("id", "human_readable_id").iter_rows())
    lines, citations = [EXTRACTIVE_LABEL, *([walk.heading] if walk.facts else [])], []
    for passage, start, end, text in quotes:
        ref = f"[[{notes.names[passage.document]}]]"
        number = numbers[passage.document]
        lines.append(f"- {' '.join(text.split())} {ref}")
        citations.append(
            Citation(ref, "documents", passage.document, number, passage.document, passage.path, start, end, text)
        )
    if not quotes:
        lines = ["Read these notes:", *(f"- [[{notes.names[n.id]}]] ({notes.paths[n.id]})" for n in taken[:top])]
    answer = Answer(
        "documents", question.text, "\n".join(lines) if taken else NOTHING, bool(taken), tuple(citations),
        chosen.folded.list_sources(taken, notes, scores, top=top), context=context,
        context_ids={DATASET: [numbers[note] for note in chosen.texts]},
    )  # fmt: skip
    return tell_refused(answer, chosen.folded.marks, notes.names)


def render_context(notes: LinkedNotes, chosen: ChosenNotes, *, tags: bool) -> str:
    """The notes in the order of reading; behind one that another corrects, supersedes or clarifies, what does."""
    marks, blocks = chosen.folded.marks, []
    for note in chosen.filled.taken:
        name, mark = notes.names[note.id], marks.get(note.id)
        is_whole = chosen.is_whole(note.id)
        text = chosen.texts[note.id] if is_whole else render_stub(name, notes.degrees[note.id])
        block = tag_note(name, text, tags=tags) if is_whole else text
        blocks.append(f"{block}\n({name} is {mark}.)" if mark else block)
    return "\n\n".join([*blocks, *([chosen.related] if chosen.related else [])])


def _choose_quotes(
    index: Index, notes: LinkedNotes, question: Question, chosen: ChosenNotes, walk: Leading
) -> list[tuple[Passage, int, int, str]]:
    """Sentences of the shown notes that answer best, those that state a walk first: (passage, start and end in the
    document, text)."""
    refused = chosen.folded.refused
    shown = [note.id for note in chosen.filled.taken if chosen.is_whole(note.id) and note.id not in refused]
    units = set(list_text_units(index, shown))
    hits = [hit for hit in rank_rows(index, question, "text_units", top=MAX_RANKED) if hit.owner_id in units]
    passages = {passage.id: passage for passage in load_passages(index, [hit.owner_id for hit in hits])}
    relevant = [passages[hit.owner_id] for hit in hits if speaks_of(question, hit.cosine, passages[hit.owner_id])]
    scores = {hit.owner_id: hit.score for hit in hits}
    stating = [fact.text_unit_id for fact in walk.facts if fact.text_unit_id in units]
    quotes = quote_facts(walk.facts, load_passages(index, stating), limit=MAX_STATED)
    quotes = quotes or choose_quotes(question, relevant, scores, limit=MAX_QUOTES)
    inside = [q for q in quotes if q.passage.document not in chosen.cut or q.text in chosen.texts[q.passage.document]]
    return [(quote.passage, quote.start, quote.end, quote.text) for quote in inside]


def tell_route(notes: LinkedNotes, entries: Sequence[str], chosen: ChosenNotes, *, routing: Routing) -> list[str]:
    """Lines for the reader: where the search entered, what was read, what was not."""
    taken = chosen.filled.taken
    names = ", ".join(f"[[{notes.names[entry]}]]" for entry in entries)
    hubs = sum(note.is_stub for note in taken)
    orphans = sum(note.hops < 0 for note in taken)
    linked = sum(note.hops > 0 and not note.is_stub for note in taken)
    parts = [
        f"{linked} linked",
        f"{orphans} by likeness" if orphans else "",
        f"{hubs} as a line (hubs)" if hubs else "",
    ]
    cut = f" {CUT} " + ", ".join(f"[[{notes.names[note]}]]" for note in chosen.cut) if chosen.cut else ""
    skipped = chosen.filled.skipped
    told = [
        f"Entered at {names} ({routing.mode}); read {len(taken)} note{'s' * (len(taken) != 1)}: "
        + ", ".join(p for p in parts if p)
        + "."
    ]
    if cut:
        told.append(f"Longer than the budget, shown in part:{cut}.")
    if skipped:
        told.append(f"{len(skipped)} more did not fit routing.max_notes or routing.max_tokens.")
    if chosen.unscored:
        told.append(f"{len(chosen.unscored)} linked notes have no vector and are kept unscored.")
    return told
