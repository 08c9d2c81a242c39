"""Drift search without a model: local search, and what community reports lead to beyond it.

The reports that have to do with the question are about things that it does not name. Each of these is followed up:
local search around it, for the same question. What that adds to local search on the question alone stands behind it,
grouped by thing, no sentence twice. A question about many documents at once (broad_answer.py), or one that a walk along
relationships answers, is answered in full as local search does: nothing is followed up. The idea is Microsoft's DRIFT
search (2024): reports first, then follow-ups; here nothing is drawn at random, and rounds, follow-ups and tokens are
bounded.

Reads what local_search.py and global_search.py read. Does not: ask a model (drift_answer.py).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from graphrag.context import Packed, TokenCounter, pack
from graphrag.digest import is_near_duplicate
from graphrag.search.answer import NOTHING, Answer, Source, Usage, compose_answer
from graphrag.search.cues import points_elsewhere
from graphrag.search.entries.folded_entries import Fold
from graphrag.search.extract import Quote, choose_quotes, names_thing
from graphrag.search.local_search import Found, choose_relevant, find_around, search_local
from graphrag.search.overviews.broad_answer import answer_broadly
from graphrag.search.ranking import (
    COVERAGE_FLOOR,
    RRF_CONSTANT,
    Question,
    prepare_question,
    rank_rows,
    stem_term,
)
from graphrag.search.reports.global_search import drop_theme_words, rank_reports
from graphrag.search.reports.levels import explain_missing, load_hierarchy, select_reports
from graphrag.search.rows import Report, load_reports
from graphrag.search.sections import check_budget, check_level, list_reports, source_section
from graphrag.search.seeds import NamedEntity, explain_unknown_name, find_named_entities, list_names
from graphrag.search.walks.leading import find_leading
from graphrag.tokens import count_tokens, split_search_terms

if TYPE_CHECKING:
    from graphrag.store import Index

OWN_SHARE = 0.5  # of the budget, for local search on the question itself
MAX_LOOKED_AT, MAX_QUOTES = 4, 2  # sentences of a follow-up
# Nearness and coverage of the question from which a sentence about something else has to do with it. On six questions
# to data/sample it leaves out "Billing is written in Kotlin" and keeps what a reader of the corpus would.
ENOUGH_SAID = 0.7
MAX_RANKED_ENTITIES = 200
MAX_REPEATED = 500  # characters of the question in a follow-up
NOTHING_MORE = "Community reports lead to nothing more."
WHOLE = "Nothing was followed up: this is all that the index states of what was asked."
EMPTY = Packed("", {}, {}, 0)


@dataclass(frozen=True)
class DriftBounds:
    """How far a question is followed up, as settings [drift] describe it."""

    reports: int = 5
    rounds: int = 2
    follow_ups: int = 4
    max_tokens: int = 24_000


class FollowUp(NamedTuple):
    """The question once more, about a thing that it does not name."""

    text: str
    about: NamedEntity


class Followed(NamedTuple):
    """What a follow-up adds: sentences about its thing, and the sources it lists."""

    title: str
    quotes: list[Quote]
    sources: tuple[Source, ...]

    def keep(self, numbers: Collection[int]) -> Followed:
        """With the sentences of these passages only."""
        return self._replace(quotes=[q for q in self.quotes if q.passage.human_readable_id in numbers])

    def render(self) -> list[str]:
        return [f"{self.title}:", *(quote.render() for quote in self.quotes)]


def search_drift(
    index: Index,
    question: str,
    *,
    bounds: DriftBounds,
    level: int = 1,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    fold: Fold | None = None,
    count: TokenCounter = count_tokens,
) -> Answer:
    """Local search's answer, and behind it what follow-ups add, cited; sources are those of all, fused by rank.

    level: of the reports that lead. Raises UsageError for a budget below 1 or a negative level, SearchError when the
    index has no reports.
    """
    check_budget(budget_tokens)
    began = time.perf_counter()
    led = lead_question(index, question, level=level, bounds=bounds, model=model)
    draft = Answer("drift", question, NOTHING, False, notices=tuple(led.notices))
    own = answer_broadly(
        index, draft, led.asked, has_name=bool(led.named), narrowed=False, top=top, budget_tokens=budget_tokens,
        count=count,
    )  # fmt: skip
    is_whole = own is not None or bool(find_leading(index, led.asked.text, led.named).facts)
    if own is None:
        own_tokens = budget_tokens if is_whole else max(1, int(OWN_SHARE * budget_tokens))
        own = search_local(index, question, budget_tokens=own_tokens, top=top, model=model, fold=fold, count=count)
    own = replace(own, mode="drift", notices=(*own.notices, *led.missing, *([WHOLE] if is_whole else [])))
    if led.asked.terms and not led.unknown and not is_whole:
        follow_ups = derive_follow_ups(index, led.asked, led.reports, led.named)
        found = _follow(index, led.asked, follow_ups, own, bounds=bounds, top=top, model=model, fold=fold)
        own = _add_followed(own, found, budget=budget_tokens - own.usage.context_tokens, top=top, count=count)
        own = replace(own, reports=list_reports(led.reports))
    seconds = round(time.perf_counter() - began, 3)
    return replace(own, usage=Usage(context_tokens=own.usage.context_tokens, seconds=seconds))


class Led(NamedTuple):
    """A question and the reports that lead it. notices: of its vector; missing: on gaps of the level; named: entities
    that it names; unknown: says that it names one that the index does not hold, else empty."""

    asked: Question
    notices: list[str]
    reports: list[Report]
    missing: list[str]
    named: list[NamedEntity]
    unknown: str


def lead_question(index: Index, question: str, *, level: int, bounds: DriftBounds, model: str) -> Led:
    """How a drift search begins, with a model and without. Raises UsageError for a negative level."""
    asked, notices = prepare_question(index, question, model=model)
    reports, missing = choose_reports(index, asked, level=level, limit=bounds.reports)
    named, _ = find_named_entities(index, asked.text)
    return Led(asked, notices, reports, missing, named, explain_unknown_name(index, asked.text, named))


def choose_reports(index: Index, asked: Question, *, level: int, limit: int) -> tuple[list[Report], list[str]]:
    """The best reports of a level that have to do with the question, and a notice where the level has gaps."""
    check_level(level)
    selected, missing = select_reports(load_hierarchy(index), level=level)
    reports = rank_reports(index, drop_theme_words(asked), load_reports(index, selected))
    return reports[:limit], explain_missing(missing, level=level)


def derive_follow_ups(
    index: Index, asked: Question, reports: Sequence[Report], named: Sequence[NamedEntity]
) -> list[FollowUp]:
    """About the things in the reports that the question does not name: the most alike of each report in turn, then the
    second of each, and so on; hubs, which everything leads to, are left out."""
    hits = {hit.owner_id: hit.score for hit in rank_rows(index, asked, "entities", top=MAX_RANKED_ENTITIES)}
    rows = index.frame(
        "select c.community, e.id, e.title, e.pagerank from communities c, unnest(c.entity_ids) as m(entity_id) "
        "join entities e on e.id = m.entity_id "
        "where c.community in (select unnest(?::bigint[])) and not e.is_hub order by c.community, e.id",
        ([report.community for report in reports],),
    ).rows()
    inside: dict[int, list[tuple[float, float, str, str]]] = {report.community: [] for report in reports}
    for community, entity, title, pagerank in rows:
        inside[community].append((-hits.get(entity, 0.0), -(pagerank or 0.0), title, entity))
    in_turn = chain.from_iterable(zip_longest(*(sorted(members) for members in inside.values())))
    things = dict.fromkeys((entity, title) for _, _, title, entity in filter(None, in_turn))
    known, said = {entity.entity_id for entity in named}, set(asked.idf)
    return [
        FollowUp(f"{title}: {asked.text[:MAX_REPEATED]}", NamedEntity(entity, title, title, 0))
        for entity, title in things
        if entity not in known and not _stems(title) <= said
    ]


def _stems(text: str) -> set[str]:
    return {stem_term(term) for term in split_search_terms(text)}


def _follow(
    index: Index,
    asked: Question,
    follow_ups: Sequence[FollowUp],
    own: Answer,
    *,
    bounds: DriftBounds,
    top: int,
    model: str,
    fold: Fold | None,
) -> list[Followed]:
    """What the follow-ups add, round by round; a round that adds nothing is the last."""
    told = [set(split_search_terms(citation.quote)) for citation in own.citations]
    left = iter(follow_ups)
    found: list[Followed] = []
    for _ in range(bounds.rounds):
        added: list[Followed] = []
        for follow_up in islice(left, bounds.follow_ups):
            again, _ = prepare_question(index, follow_up.text, model=model)
            around = find_around(index, again, [follow_up.about], top=top, fold=fold)
            quotes = _choose_new(index, asked, again, follow_up.about, around, told)
            if quotes:
                sources = around.folded.list_sources(top=top)
                added.append(Followed(follow_up.about.title, quotes, sources))
                told += [set(split_search_terms(quote.text)) for quote in quotes]
        if not added:
            break
        found += added
    return found


def _choose_new(
    index: Index, asked: Question, again: Question, about: NamedEntity, around: Found, told: Sequence[set[str]]
) -> list[Quote]:
    """Of the sentences about a thing, those that have to do with the question itself and were not told."""
    mentions = "select unnest(text_unit_ids) as id from entities where id = ? order by id"
    mentioning = set(index.frame(mentions, (about.entity_id,))["id"])
    passages = [passage for passage in choose_relevant(again, around)[0] if passage.id in mentioning]
    names = list_names(index, [about.entity_id])
    quotes = choose_quotes(again, passages, around.quotable, limit=MAX_LOOKED_AT, names=[names])
    quotes = [
        quote
        for quote in quotes
        if names_thing(quote, names) and not points_elsewhere(quote.text) and not _is_told(quote.text, told)
    ]
    return [
        quote
        for quote, nearness in zip(quotes, _measure_nearness(asked, quotes), strict=True)
        if nearness + asked.coverage(quote.text) / COVERAGE_FLOOR >= ENOUGH_SAID
    ][:MAX_QUOTES]


def _measure_nearness(asked: Question, quotes: Sequence[Quote]) -> list[float]:
    if asked.embedder is None or asked.vector is None or not quotes:
        return [0.0] * len(quotes)
    cosines = asked.embedder.embed([quote.text for quote in quotes]) @ asked.vector
    return [round(asked.nearness(float(cosine)), 6) for cosine in cosines]


def _is_told(text: str, told: Sequence[set[str]]) -> bool:
    terms = set(split_search_terms(text))
    return any(is_near_duplicate(terms, others) for others in told)


def _add_followed(own: Answer, found: Sequence[Followed], *, budget: int, top: int, count: TokenCounter) -> Answer:
    """The answer with the groups whose passages fit what is left of the budget."""
    shown = set(own.context_ids.get("Sources", ()))
    passages = {quote.passage.id: quote.passage for each in found for quote in each.quotes}
    new = [passage for passage in passages.values() if passage.human_readable_id not in shown]
    more = pack([source_section(new)], budget=budget, count=count) if new and budget > 0 else EMPTY
    packed = join_contexts(own, more, count=count)
    held = set(packed.ids.get("Sources", ()))
    groups = [each.keep(held) for each in found]
    groups = [each for each in groups if each.quotes]
    if not groups:
        return replace(own, notices=(*own.notices, NOTHING_MORE))
    citations = [*own.citations, *(quote.to_citation() for each in groups for quote in each.quotes)]
    told = own.text.split("\n")[1:] if own.answered else []  # without the label of an extract
    lines = [*told, *(line for each in groups for line in each.render())]
    titles = ", ".join(each.title for each in groups)
    draft = replace(
        own,
        sources=fuse_sources([own.sources, *(each.sources for each in groups)], top=top),
        notices=(*own.notices, f"Followed up, from community reports: {titles}."),
    )
    return compose_answer(draft, lines, citations, packed=packed)


def join_contexts(own: Answer, more: Packed, *, count: TokenCounter) -> Packed:
    """One context of two."""
    ids = {dataset: list(numbers) for dataset, numbers in own.context_ids.items()}
    for dataset, numbers in more.ids.items():
        ids[dataset] = [*ids.get(dataset, ()), *numbers]
    text = "\n".join(filter(None, (own.context, more.text)))
    return Packed(text, ids, more.left_out, count(text))


def fuse_sources(lists: Sequence[Sequence[Source]], *, top: int) -> tuple[Source, ...]:
    """The sources of several searches by the sum of their reciprocal ranks; ties go to the earlier search."""
    scores: dict[str, float] = {}
    by_id: dict[str, Source] = {}
    for sources in lists:
        for place, source in enumerate(sources, start=1):
            scores[source.id] = scores.get(source.id, 0.0) + 1 / (RRF_CONSTANT + place)
            by_id.setdefault(source.id, source)
    order = sorted(scores, key=lambda unit: -round(scores[unit], 9))[:top]
    return tuple(
        replace(by_id[unit], rank=rank, score=round(scores[unit], 6)) for rank, unit in enumerate(order, start=1)
    )
