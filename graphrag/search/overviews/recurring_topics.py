"""Documents grouped by what recurs in them: the thing that most of them name.

A reader sees why a document is in a group: its sentence names the topic, or a second one that does is shown with it.

Reads entities, entity_mentions, documents, text_units. Does not: choose the first sentence (picked_sentences.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphrag.digest import rate_readability
from graphrag.search.overviews.picked_sentences import MAX_TEXT_UNITS, Pick, list_candidates
from graphrag.search.rows import list_text_units, load_passages

if TYPE_CHECKING:
    from graphrag.store import Index

# A thing that the title or the chosen sentence names says more about a document than one that another sentence names.
NAMED_ELSEWHERE = 0.3
MAX_SHARE = 0.3  # of all documents: what is named everywhere does not recur
# A group of documents needs a thing that recurs, not who wrote them or where.
_NO_TOPIC = ("person", "team", "organization", "location", "place", "date", "event", "customer", "company")


class Group(NamedTuple):
    """Documents that share a thing, by its title (empty for those that share none). naming: by document, the sentence
    that names it, where the pick's own does not. n_above: documents that name it too and stand in a group before."""

    topic: str
    picks: list[Pick]
    naming: dict[str, Pick]
    n_above: int = 0


class _Named(NamedTuple):
    """How much a document is about a topic, and the sentence that names it where the pick's own does not."""

    worth: float
    naming: Pick | None


def group_by_topic(index: Index, picks: Sequence[Pick], *, is_asked: bool) -> list[Group]:
    """Documents by the thing that most of them name, most first; each document once; the rest at the end.

    A topic joins two documents or more. is_asked: the question asks for one kind of answer, such as causes: then the
    title or the sentence of one of them must name the topic; a thing that is only told beside is no cause.
    """
    named = _find_topics(index, picks)
    left = list(picks)
    groups: list[Group] = []
    while left:
        scored = {}
        for title, by in named.items():
            held = [by[pick.passage.document].worth for pick in left if pick.passage.document in by]
            if len(held) > 1 and (max(held) == 1.0 or not is_asked):
                scored[title] = sum(held)
        if not scored:
            break
        topic = min(scored, key=lambda title: (-round(scored[title], 6), title))
        by = named[topic]
        inside = [pick for pick in left if pick.passage.document in by]
        inside.sort(key=lambda pick: (-by[pick.passage.document].worth, pick.passage.path))
        naming = {p.passage.document: n for p in inside if (n := by[p.passage.document].naming) is not None}
        groups.append(Group(topic, inside, naming, len(by) - len(inside)))
        left = [pick for pick in left if pick.passage.document not in by]
    return [*groups, *([Group("", sorted(left, key=lambda pick: pick.passage.path), {})] if left else [])]


def _find_topics(index: Index, picks: Sequence[Pick]) -> dict[str, dict[str, _Named]]:
    """By title of the topic and document. A document that names a topic only where no sentence reads alone, in a table
    or a heading, is not about it."""
    by_document = {pick.passage.document: pick for pick in picks}
    rows = index.frame(
        "select distinct e.title, m.document_id, m.surface "
        "from entity_mentions m join entities e on e.id = m.entity_id "
        "where m.document_id in (select unnest(?::varchar[])) and e.type not in (select unnest(?::varchar[])) "
        f"and e.n_documents <= {MAX_SHARE} * (select count(*) from documents) "
        "and e.title not in (select unnest(?::varchar[])) order by all",
        (list(by_document), list(_NO_TOPIC), [pick.passage.title for pick in picks]),
    ).rows()
    surfaces: dict[tuple[str, str], list[str]] = {}
    for title, document, surface in rows:
        surfaces.setdefault((title, document), []).append(surface)
    sentences = _list_sentences(index, list(by_document))
    found: dict[str, dict[str, _Named]] = {}
    for (title, document), names in surfaces.items():
        pick = by_document[document]
        said = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))
        if said.search(pick.text):
            found.setdefault(title, {})[document] = _Named(1.0, None)
            continue
        telling = [sentence for sentence in sentences.get(document, ()) if said.search(sentence.text)]
        if telling:
            naming = max(telling, key=lambda sentence: sentence.weight)
            worth = 1.0 if said.search(pick.passage.title) else NAMED_ELSEWHERE
            found.setdefault(title, {})[document] = _Named(worth, naming)
    return found


def _list_sentences(index: Index, documents: Sequence[str]) -> Mapping[str, list[Pick]]:
    """The sentences of documents that read alone, in order; their weight is how well."""
    found: dict[str, list[Pick]] = {}
    for passage in load_passages(index, list_text_units(index, documents, limit=MAX_TEXT_UNITS)):
        for start, end, _ in list_candidates(passage):
            text = passage.text[start:end]
            place = (passage.start + start, passage.start + end)
            found.setdefault(passage.document, []).append(Pick(passage, text, *place, rate_readability(text)))
    return found
