"""Global search: what the community reports of one level say about a question, grouped by community.

The level is rolled up: each entity is covered by exactly one report, the deepest at the level or above it. Reports are
ranked by words and meaning, fused; without a model the best quotes of the best reports are the answer, and no call is
made. A question about the whole ("What are the main themes?") names nothing: reports then come by their rank.

A question about documents of a kind ("our incidents"), things of a type ("which technologies") or relationships between
types is answered from all of them instead, see broad_answer.py; "what depends on Redis" by the walk that finds it.

Reads communities, community_reports, documents, text_units, the inverted index and vectors. Does not: ask a model.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphrag.context import TokenCounter, pack
from graphrag.search.answer import EXTRACTIVE_LABEL, NOTHING, Answer, Usage, compose_answer
from graphrag.search.overviews.broad_answer import answer_broadly
from graphrag.search.overviews.documents_of_kind import KIND_STEMS, THEME_WORDS, find_documents_of_kind
from graphrag.search.ranking import (
    Question,
    is_relevant,
    prepare_question,
    rank_rows,
    stem_term,
)
from graphrag.search.reports.levels import Hierarchy, explain_missing, load_hierarchy, select_reports
from graphrag.search.reports.report_digest import (
    MAX_REPORTS,
    Quote,
    digest_reports,
    render_digest,
    resolve_digest,
)
from graphrag.search.reports.select_communities import add_ancestors, select_communities
from graphrag.search.rows import Report, load_passages, load_reports
from graphrag.search.sections import (
    check_budget,
    check_level,
    list_reports,
    list_sources,
    report_section,
    source_section,
)
from graphrag.search.seeds import NamedEntity, explain_unknown_name, find_named_entities
from graphrag.search.walks.leading import find_leading
from graphrag.search.walks.walk_answer import compose_walk
from graphrag.tokens import count_tokens

if TYPE_CHECKING:
    from graphrag.store import Index

MAX_RANKED, MAX_PASSAGES, MAX_READ_PASSAGES = 10_000, 200, 30
SOURCES_SHARE = 0.3


def search_global(
    index: Index,
    question: str,
    *,
    level: int = 1,
    budget_tokens: int = 4000,
    top: int = 10,
    model: str = "",
    dynamic: bool = False,
    count: TokenCounter = count_tokens,
) -> Answer:
    """The best quotes of the reports that bear on the question, cited; sources are the passages they quote.

    level: of the hierarchy, 0 the coarsest; where it is deeper than a community goes, its leaf stands in.
    model: `none` leaves vectors out. dynamic: only reports of communities that have to do with the question, found from
    level 0 down (select_communities.py). Raises UsageError for a budget below 1 or a negative level, SearchError when
    the index has no reports.
    """
    check_budget(budget_tokens)
    check_level(level)
    began = time.perf_counter()
    hierarchy = load_hierarchy(index)
    asked, notices = prepare_question(index, question, model=model)
    about, widened = _widen_to_whole(index, asked, drop_theme_words(asked))
    notices += widened
    if dynamic:
        relevant = find_relevant(index, hierarchy, about, load_reports(index, list(hierarchy.reports.values())))
        rated = select_communities(
            hierarchy, level=level, rate=lambda numbers: [5.0 * (n in relevant) for n in numbers]
        )
        selected, missing = rated.report_ids, 0
    else:
        selected, missing = select_reports(hierarchy, level=level)
    notices += explain_missing(missing, level=level)
    answer = Answer("global", question, NOTHING, False, notices=tuple(notices))
    knobs = {"top": top, "budget_tokens": budget_tokens}
    named = find_named_entities(index, asked.text)[0]
    if unknown := explain_unknown_name(index, asked.text, named):
        answer = replace(answer, notices=(*answer.notices, unknown))
    elif whole := answer_beyond_reports(
        index, answer, asked, named, reports=(every := load_reports(index, selected)), level=level, count=count, **knobs
    ):
        answer = whole
    elif reports := rank_reports(index, about, every):
        answer = replace(answer, reports=list_reports(reports[: max(top, MAX_REPORTS)]))
        quotes = digest_reports(about, reports)
        cited = _cited_units(quotes)
        units = list(dict.fromkeys([*cited, *_quoted_units(reports)]))[: max(top, MAX_PASSAGES)]
        passages = load_passages(index, units)
        ranked = {passage.id: 1 / rank for rank, passage in enumerate(passages, start=1)}
        answer = replace(answer, sources=list_sources(passages, ranked, top=top))
        shown = source_section(passages[: len(cited)], share=SOURCES_SHARE)
        sections = [report_section(reports, full=True, share=1 - SOURCES_SHARE), shown]
        packed = pack(sections, budget=budget_tokens, count=count)
        packed = replace(packed, ids=_with_ids_inside(packed.ids, reports))
        by_id = {report.id: report for report in reports}
        in_context = set(packed.ids.get("Reports", ()))
        inside = {key: shown for key, shown in quotes.items() if by_id[key].human_readable_id in in_context}
        quotes = inside or quotes
        lines, citations = render_digest(by_id, quotes), resolve_digest(index, by_id, quotes)
        if lines:
            label = _label(len(reports), len(selected), level)
            answer = compose_answer(answer, lines, citations, packed=packed, label=label)
    seconds = round(time.perf_counter() - began, 3)
    return replace(answer, usage=Usage(context_tokens=answer.usage.context_tokens, seconds=seconds))


def answer_beyond_reports(
    index: Index,
    draft: Answer,
    asked: Question,
    named: Sequence[NamedEntity],
    *,
    top: int,
    budget_tokens: int,
    count: TokenCounter,
    reports: Sequence[Report] = (),
    level: int = 0,
) -> Answer | None:
    """The draft answered from documents, things or relationships where a question is about many at once, or from a walk
    where that answers it; None for any other question. reports, of `level`: those that may be cited beside passages."""
    knobs = {"top": top, "budget_tokens": budget_tokens}
    if broad := answer_broadly(
        index, draft, asked, has_name=bool(named), narrowed=True, reports=reports, level=level, count=count, **knobs
    ):
        return broad
    walk = find_leading(index, asked.text, named)
    return compose_walk(index, draft, walk, count=count, **knobs) if walk.facts else None


def drop_theme_words(question: Question) -> Question:
    terms = tuple(term for term in question.terms if term not in THEME_WORDS)
    return replace(question, terms=terms, idf={stem: question.idf[stem] for stem in map(stem_term, terms)})


def _widen_to_whole(index: Index, asked: Question, about: Question) -> tuple[Question, tuple[str, ...]]:
    """A question for themes that names but a kind of documents, which the index does not tell apart, asks for all."""
    is_kind_alone = bool(about.idf) and len(about.terms) < len(asked.terms) and set(about.idf) <= KIND_STEMS
    if not is_kind_alone or find_documents_of_kind(index, about).documents:
        return about, ()
    named = " and ".join(f'"{term}"' for term in dict.fromkeys(about.terms))
    return replace(about, terms=(), idf={}), (
        f"No folder or type of documents is called {named}: these are the themes of all.",
    )


def find_relevant(index: Index, hierarchy: Hierarchy, question: Question, reports: Sequence[Report]) -> set[int]:
    """Communities whose report, of all `reports`, has to do with the question by words and meaning, and all above
    them."""
    found = rank_reports(index, question, reports)
    return add_ancestors(hierarchy, {report.community for report in found})


def rank_reports(index: Index, question: Question, reports: Sequence[Report]) -> list[Report]:
    """The reports that have to do with the question, best first; all by rank if it is about the whole.

    A report has to do with it by its own words and meaning, or by a passage it quotes. Ranked by the reciprocal ranks
    of both lists.
    """
    if not question.terms:
        return sorted(reports, key=lambda report: (-report.rank, -report.size, report.community))
    own = {hit.owner_id: hit for hit in rank_rows(index, question, "community_reports", top=MAX_RANKED)}
    units = {hit.owner_id: hit for hit in rank_rows(index, question, "text_units", top=MAX_PASSAGES)}
    texts = {p.id: p.text for p in load_passages(index, list(units)[:MAX_READ_PASSAGES])}
    relevant_units = {unit for unit, text in texts.items() if is_relevant(question, units[unit].cosine, text)}
    scored = []
    for report in reports:
        cited = {row["id"] for row in report.citations if row["kind"] == "text_units"}
        hit = own.get(report.id)
        is_own = is_relevant(question, hit.cosine if hit else 0.0, report.full_content)
        if not (is_own or cited & relevant_units):
            continue
        best = max((units[unit].score for unit in cited if unit in units), default=0.0)
        score = (hit.score if hit else 0.0) + best
        scored.append((-round(score, 9), -report.rank, report.community, report))
    return [report for *_, report in sorted(scored, key=lambda row: row[:3])]


def _with_ids_inside(ids: Mapping[str, Sequence[int]], reports: Sequence[Report]) -> dict[str, list[int]]:
    """Ids of the context: its rows, and the rows that the text of its reports cites."""
    known = {dataset: list(numbers) for dataset, numbers in ids.items()}
    inside = set(ids.get("Reports", ()))
    for report in reports:
        for row in report.citations if report.human_readable_id in inside else ():
            known.setdefault(row["ref"].partition(" (")[0], []).append(row["human_readable_id"])
    return known


def _label(n_relevant: int, n_selected: int, level: int) -> str:
    bear = "bears" if n_relevant == 1 else "bear"
    scope = f"{n_relevant} of {n_selected} community reports at level {level} {bear} on the question"
    return f"{EXTRACTIVE_LABEL.rstrip(':')}; {scope}:"


def _cited_units(quotes: Mapping[str, Sequence[Quote]]) -> list[str]:
    refs = [ref for shown in quotes.values() for quote in shown for ref in quote.refs]
    return list(dict.fromkeys(row_id for dataset, _, row_id in refs if dataset == "Sources"))


def _quoted_units(reports: Sequence[Report]) -> list[str]:
    units = [row["id"] for report in reports for row in report.citations if row["kind"] == "text_units"]
    return list(dict.fromkeys(units))
