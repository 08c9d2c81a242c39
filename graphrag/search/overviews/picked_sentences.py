"""The sentence of each document that says most of what was asked, and reads alone.

It holds the kind of answer (cues.py), speaks of what the title says, and stands near the beginning. Bylines and
sentences that only make sense with their neighbours are left out, or are joined to the sentence that they lean on.

Reads text_units. Does not: choose the documents (documents_of_kind.py), or group them (recurring_topics.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.digest import leans_on_others, rate_readability, trim_span
from graphrag.search.cues import Cue, holds_cue, is_aside, is_denied, points_elsewhere, rate_cue
from graphrag.search.ranking import Question, stem_term
from graphrag.search.rows import Passage, list_text_units, load_passages
from graphrag.sentences import sentence_spans
from graphrag.tokens import split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_TEXT_UNITS = 2_000
LEAD_DECAY = 0.5
LEAST_READABLE = 0.35
# What a sentence is worth: it holds the kind of answer, speaks of the title, of what else was asked, comes first.
CUE_WORTH, TITLE_WORTH, TERMS_WORTH, LEAD_WORTH = 0.8, 0.6, 0.8, 0.3
LEAD_WORTH_WITHOUT_CUE = 0.5  # what a document is about stands at its beginning
QUOTED_WORTH = 0.15  # decides among about equally good sentences: one that a report quotes can be cited twice


class Pick(NamedTuple):
    """The sentence of a document that is shown: text is documents.text[start:end]."""

    passage: Passage
    text: str
    start: int
    end: int
    weight: float


def pick_sentences(
    index: Index,
    question: Question,
    documents: Sequence[str],
    *,
    cue: Cue | None,
    must_hold: bool,
    terms: set[str],
    quoted: Mapping[str, Sequence[tuple[int, int]]],
) -> list[Pick]:
    """The best sentence of each document, in order of worth. must_hold: leave documents without a cued sentence out;
    quoted: spans that reports quote, by document."""
    best: dict[str, Pick] = {}
    units = list_text_units(index, documents, limit=MAX_TEXT_UNITS)
    position: dict[str, int] = {}
    for passage in load_passages(index, units):
        if must_hold and cue is not None and not holds_cue(cue, passage.text):
            continue
        title = {stem_term(term) for term in split_search_terms(passage.title.partition(":")[2] or passage.title)}
        for start, end, heading in list_candidates(passage):
            text = passage.text[start:end]
            nth = position[passage.document] = position.get(passage.document, -1) + 1
            cued = rate_cue(cue, text, heading)
            if is_denied(question.text, text) or (must_hold and cue is not None and not holds_cue(cue, text)):
                continue
            held = {stem_term(term) for term in split_search_terms(text)}
            lead = LEAD_WORTH / (1 + nth) if cue else LEAD_WORTH_WITHOUT_CUE / (1 + LEAD_DECAY * nth)
            worth = CUE_WORTH * cued + lead + 0.05
            worth += TITLE_WORTH * len(title & held) / max(len(title), 1)
            worth += TERMS_WORTH * len(terms & held) / max(len(terms), 1)
            span = (passage.start + start, passage.start + end)
            spans = quoted.get(passage.document, ())
            worth += QUOTED_WORTH * any(span[0] < other[1] and other[0] < span[1] for other in spans)
            weight = round(worth * rate_readability(re.sub(r"[`*]|\[\[|\]\]", "", text)), 6)
            if passage.document not in best or weight > best[passage.document].weight:
                best[passage.document] = Pick(passage, text, *span, weight)
    return sorted(best.values(), key=lambda pick: (-pick.weight, pick.passage.path))


def list_candidates(passage: Passage) -> list[tuple[int, int, str]]:
    """Spans of sentences that read alone, in order, with the heading they stand under; a sentence that leans on the
    one before it is joined to it, where the two stand in one paragraph."""
    text = passage.text
    found: list[tuple[int, int, str]] = []
    heading = " > ".join(passage.heading_path)
    last = -1  # end of the span before, whether it was taken or not
    for span in sentence_spans(text):
        start, end = trim_span(text, *span)
        if text.startswith("#", span[0]):
            heading = text[start:end]
            continue
        if start == end or text.startswith(("```", "~~~", "|", "---"), span[0]):
            continue
        if leans_on_others(text[start:end]):
            gap = text[last:start] if last >= 0 else "\n\n"
            if found and found[-1][1] == last and not gap.strip() and gap.count("\n") < 2:
                found.append((found[-1][0], end, heading))
            continue
        last = end
        words = text[start:end]
        if is_aside(words) or points_elsewhere(words) or rate_readability(words) < LEAST_READABLE:
            continue
        found.append((start, end, heading))
    return found
