"""The rows that answers are made of, loaded by id: passages, facts with their best evidence, reports.

Reads text_units, documents, relationships, evidence, community_reports; only the rows asked for, with bound parameters.
Does not: rank, or render.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrag.citations import check_citations
from graphrag.replies.fields import DEFAULT_PREDICATE
from graphrag.search.answer import Citation
from graphrag.search.lookups import one_of
from graphrag.search.support import LONGEST_QUOTE, list_statements, narrow_quote

if TYPE_CHECKING:
    from graphrag.store import Index


class Passage(NamedTuple):
    """A text unit and its document."""

    id: str
    human_readable_id: int
    text: str
    start: int
    document: str
    title: str
    path: str
    heading_path: list[str]


class Fact(NamedTuple):
    """A relationship and its best evidence; of evidence that is a whole text unit, the sentence nearest to it."""

    id: str
    human_readable_id: int
    source: str
    predicate: str
    target: str
    description: str
    weight: float
    source_id: str
    target_id: str
    origin: str
    text_unit_id: str
    document: str
    path: str
    start: int
    end: int
    quote: str

    def render(self) -> str:
        return f"{self.source} -{self.predicate}-> {self.target}"

    def to_citation(self) -> Citation:
        number = self.human_readable_id
        place = (self.document, self.path, self.start, self.end, self.quote)
        return Citation(f"Relationships ({number})", "relationships", self.id, number, *place)


class Report(NamedTuple):
    """A community report; `citations` are the rows its sentences quote, as index/reports.py wrote them."""

    id: str
    human_readable_id: int
    community: int
    level: int
    title: str
    summary: str
    full_content: str
    rank: float
    citations: list[dict[str, Any]]
    size: int
    method: str


def load_passages(index: Index, ids: Sequence[str]) -> list[Passage]:
    """In the order of the ids."""
    is_wanted, wanted = one_of("id", ids)
    units = index.rows(
        f"select id, human_readable_id, text, start_char, document_id, heading_path from text_units where {is_wanted}",
        wanted,
    )
    is_held, held = one_of("id", sorted({row[4] for row in units}))
    documents = {row[0]: row[1:] for row in index.rows(f"select id, title, path from documents where {is_held}", held)}
    found = {row[0]: Passage._make((*row[:5], *documents[row[4]], row[5])) for row in units if row[4] in documents}
    return [found[owner_id] for owner_id in ids if owner_id in found]


def list_text_units(index: Index, document_ids: Sequence[str], *, limit: int = 200) -> list[str]:
    """Ids of the text units of some documents, by path and place."""
    if not document_ids:
        return []
    return index.frame(
        "select u.id from text_units u join documents d on d.id = u.document_id "
        "where d.id in (select unnest(?::varchar[])) order by d.path, u.start_char limit ?",
        (list(document_ids), limit),
    )["id"].to_list()


def load_paths(index: Index, documents: Sequence[str]) -> dict[str, str]:
    """Paths of documents by id."""
    is_one, ids = one_of("id", documents)
    return dict(index.rows(f"select id, path from documents where {is_one}", ids))


def load_facts(index: Index, ids: Sequence[str]) -> list[Fact]:
    """In the order of the ids; each with its first verified evidence by document path and offset.

    An authored relationship without a quote in a document is left out: nothing could be shown for it.
    """
    return prove_facts(index, load_claims(index, ids))


def load_claims(index: Index, ids: Sequence[str]) -> list[Fact]:
    """Facts without evidence, in the order of the ids."""
    is_wanted, wanted = one_of("id", ids)
    rows = index.rows(
        "select id, human_readable_id, source, predicate, target, description, weight, source_id, target_id, origin "
        f"from relationships where {is_wanted}",
        wanted,
    )
    found = {row[0]: Fact._make((*row, "", "", "", 0, 0, "")) for row in rows}
    return [found[owner_id] for owner_id in ids if owner_id in found]


def prove_facts(index: Index, claims: Sequence[Fact]) -> list[Fact]:
    """Claims with their evidence, as load_facts describes it."""
    is_stated, stated = one_of("relationship_id", [claim.id for claim in claims])
    places = index.rows(
        "select relationship_id, is_verified, coalesce(text_unit_id, ''), document_id, start_char, end_char, quote "
        f"from evidence where {is_stated} and end_char > start_char",  # a note of an authored relation has no place
        stated,
    )
    paths = load_paths(index, sorted({row[3] for row in places}))
    best: dict[str, tuple[Any, ...]] = {}
    for fact, is_verified, unit, document, start, end, quote in places:
        if document in paths:
            place = (not is_verified, paths[document], start, end, unit, document, quote)
            best[fact] = min(best.get(fact, place), place)
    facts = []
    for claim in claims:
        if claim.id in best:
            _, path, start, end, unit, document, quote = best[claim.id]
            facts.append(_narrow(Fact._make((*claim[:10], unit, document, path, start, end, quote))))
    return facts


def prove_first(index: Index, claims: Sequence[Fact], *, top: int) -> list[Fact]:
    """The first `top` of the claims that have evidence; that of later ones is not read."""
    facts: list[Fact] = []
    for start in range(0, len(claims), top):
        if len(facts) < top:
            facts += prove_facts(index, claims[start : start + top])
    return facts[:top]


def describe_vague(fact: Fact) -> str:
    """The description of a relationship whose predicate says nothing, as in indexes of other tools; else empty."""
    is_vague = fact.predicate == DEFAULT_PREDICATE and len(fact.description) <= LONGEST_QUOTE
    return fact.description if is_vague else ""


def _narrow(fact: Fact) -> Fact:
    if fact.start == fact.end:  # the note of an authored relation stands in no document
        return fact
    claim = f"{fact.source} {fact.target} {fact.description}"
    quote, start, end = narrow_quote(fact.quote, fact.start, claim)
    return fact._replace(quote=quote, start=start, end=end)


def load_reports(index: Index, ids: Sequence[str]) -> list[Report]:
    """In the order of the ids. Where the index shows some documents only, a report of more than these is cut to the
    statements whose citations all lie in them."""
    is_whole = "is_whole" if index.restriction else "true"
    rows = index.rows(
        "select id, human_readable_id, community, level, title, summary, full_content, rank, citations, size, method, "
        f"{is_whole} from community_reports where id in (select unnest(?::varchar[]))",
        (list(ids),),
    )
    found = {row[0]: Report._make([*row[:8], json.loads(row[8] or "[]"), *row[9:-1]]) for row in rows}
    if partial := {row[0] for row in rows if not row[-1]}:
        documents = set(index.frame("select id from documents order by id")["id"])
        found |= {owner_id: cut_report(found[owner_id], documents) for owner_id in sorted(partial)}
    return [found[owner_id] for owner_id in ids if owner_id in found]


def cut_report(report: Report, documents: Collection[str]) -> Report:
    """The report with only the statements and citations that rest on these documents, by id."""
    inside = [row for row in report.citations if row["document_id"] in documents]
    outside = {row["ref"] for row in report.citations if row["document_id"] not in documents}
    known: dict[str, list[int]] = {}
    for ref in dict.fromkeys(row["ref"] for row in inside if row["ref"] not in outside):
        known.setdefault(ref.partition(" (")[0], []).append(int(ref.partition("(")[2].rstrip(")")))
    checked = [check_citations(statement.text, known) for statement in list_statements(report.full_content)]
    kept = list(dict.fromkeys(found.text for found in checked if found.cited and not found.n_removed))
    content = "\n\n".join([f"# {report.title}", *([" ".join(kept)] if kept else [])])
    return report._replace(summary=" ".join(kept[:1]), full_content=content, citations=inside)
