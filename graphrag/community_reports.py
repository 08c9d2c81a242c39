"""Communities as a tree, and one report with every citation resolved, from the published index.

A report is asked for by its community's number (which citations show: `Reports (7)`), `#7`, its id or its community's
id, or its title. A cited entity or claim that carries no sentence of its own is shown where it is first said.

Tables read: communities, community_reports, relationships, entities, entity_mentions, covariates, text_units,
documents. Does not: print (render/communities.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from graphrag.errors import NothingFound, did_you_mean
from graphrag.index.report_wording import say_fact
from graphrag.search.rows import load_reports
from graphrag.store import Index
from graphrag.tables import UNCONNECTED

MAX_NEAREST = 3


def list_communities(index: Index, *, max_level: int | None = None) -> list[dict[str, Any]]:
    """Communities in the order of the tree: each above its children, the highest rank first, `Unconnected entities`
    last. Keys: community, level, parent, children, title, size, rank, method, n_relationships, period.

    Raises NothingFound where no community lies at the level or above.
    """
    rows = index.frame(
        """
        select c.community, c.level, c.parent, c.children, coalesce(r.title, c.title) as title, c.size,
               coalesce(r.rank, 0) as rank, coalesce(r.method, '') as method,
               len(c.relationship_ids) as n_relationships, c.period, c.title as own_title
        from communities c left join community_reports r on r.community = c.community
        order by c.community
        """
    ).to_dicts()
    if not rows:
        raise NothingFound('No communities: the index has no entities. Add documents and run "graphrag index".')
    below: dict[int, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row.pop("own_title") == UNCONNECTED, -row["rank"], row["community"])):
        below.setdefault(row["parent"], []).append(row)
    ordered: list[dict[str, Any]] = []
    waiting = below.get(-1, [])[::-1]
    while waiting:
        row = waiting.pop()
        if max_level is None or row["level"] <= max_level:
            ordered.append(row)
            waiting += below.get(row["community"], [])[::-1]
    return ordered


def find_report(index: Index, asked: str) -> dict[str, Any]:
    """A report, its community's members and its citations with document path, offsets and quote.

    Raises NothingFound with the nearest numbers or titles.
    """
    known = index.frame(
        "select r.community, r.title, r.id, c.id as community_id from community_reports r "
        "join communities c on c.community = r.community order by r.community"
    ).rows()
    if not known:
        raise NothingFound('No community reports. Run "graphrag index".')
    number = _find_number(index, asked.strip(), known)
    report: dict[str, Any] = index.frame(
        "select r.*, c.entity_ids, c.id as community_id from community_reports r "
        "join communities c on c.community = r.community where r.community = ?",
        (number,),
    ).row(0, named=True)
    if not report.pop("is_whole", True):  # of documents beyond those that the index shows
        (cut,) = load_reports(index, [report["id"]])
        report |= {"summary": cut.summary, "full_content": cut.full_content, "citations": json.dumps(cut.citations)}
        report |= {"findings": [], "rating_explanation": ""}
    titles = {row[0]: row[1] for row in known}
    members = index.frame(
        "select title from entities where id in (select unnest(?::varchar[])) order by pagerank desc, title",
        (report.pop("entity_ids"),),
    )["title"].to_list()
    report["parent_title"] = titles.get(report["parent"], "")
    report["children"] = [{"community": child, "title": titles.get(child, "")} for child in report["children"]]
    report["members"] = members
    report["left_out"] = json.loads(report.get("left_out") or "{}")
    report["citations"] = _resolve_citations(index, json.loads(report["citations"] or "[]"))
    del report["full_content_json"]
    return report


def _find_number(index: Index, asked: str, known: Sequence[tuple[int, str, str, str]]) -> int:
    if digits := re.fullmatch(r"#?(\d{1,9})", asked):
        number = int(digits[1])
        numbers = [row[0] for row in known]
        if number in numbers:
            return number
        near = sorted(sorted(numbers, key=lambda other: abs(other - number))[:MAX_NEAREST])
        raise NothingFound(f"No community {number}. Nearest: {', '.join(map(str, near))}. {SEE}")
    for row in known:
        if asked in row[2:] or asked.casefold() == row[1].casefold():
            return row[0]
    homes = index.frame(
        "select c.community from communities c, entities e where lower(e.title) = lower(?) "
        "and list_contains(c.entity_ids, e.id) order by c.level, c.community",
        (asked,),
    )["community"].to_list()
    if homes:
        raise NothingFound(f'No report "{asked}". The entity {asked} is in community {", ".join(map(str, homes))}.')
    raise NothingFound(f'No report "{asked}".{did_you_mean(asked, [row[1] for row in known])} {SEE}')


SEE = 'See "graphrag communities" for all.'


def _resolve_citations(index: Index, citations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """With path, what the row is in words (`label`), and a place wherever there is one."""
    labels: dict[tuple[str, str], str] = {}
    for kind, words in LABELS.items():
        ids = sorted({cited["id"] for cited in citations if cited["kind"] == kind})
        found = index.frame(f"select id, {words} from {kind} where id in (select unnest(?::varchar[]))", (ids,)).rows()
        labels |= {(kind, row_id): label for row_id, label in found}
    facts = index.frame(
        "select id, source, predicate, target, origin from relationships where id in (select unnest(?::varchar[]))",
        ([cited["id"] for cited in citations if cited["kind"] == "relationships"],),
    ).to_dicts()
    labels |= {("relationships", fact["id"]): say_fact(fact) for fact in facts}
    bare = [cited["id"] for cited in citations if cited["document_id"] is None]
    places = _place_entities(index, bare) | _place_claims(index, bare)
    documents = {place[0] for place in places.values()}
    documents |= {cited["document_id"] for cited in citations if cited["document_id"] is not None}
    query = "select id, path from documents where id in (select unnest(?::varchar[]))"
    paths = dict(index.frame(query, (sorted(documents),)).rows())
    resolved = []
    for cited in citations:
        own = (cited["document_id"], cited["start"], cited["end"], cited["quote"])
        document, start, end, quote = own if own[0] is not None else places.get(cited["id"], own)
        resolved.append({
            "ref": cited["ref"], "kind": cited["kind"], "id": cited["id"],
            "human_readable_id": cited["human_readable_id"], "label": labels.get((cited["kind"], cited["id"]), ""),
            "document": document, "path": paths.get(document, ""), "start": start, "end": end, "quote": quote,
        })  # fmt: skip
    return resolved


LABELS = {
    "entities": "title",
    "covariates": "subject_id || ': ' || description",
    "community_reports": "title",
}
"""What a row is in words, as SQL."""

Place = tuple[str, int, int, str]


def _place_entities(index: Index, ids: Sequence[str]) -> dict[str, Place]:
    rows = index.frame(
        """
        select m.entity_id, m.document_id, m.start_char, m.end_char,
               substr(d.text, m.start_char + 1, m.end_char - m.start_char)
        from entity_mentions m join documents d on d.id = m.document_id
        where m.entity_id in (select unnest(?::varchar[]))
        qualify row_number() over (partition by m.entity_id order by d.path, m.start_char) = 1
        """,
        (list(ids),),
    ).rows()
    return {row[0]: row[1:] for row in rows}


def _place_claims(index: Index, ids: Sequence[str]) -> dict[str, Place]:
    """Where the sentences of a claim stand, if they stand together; else its text unit's start."""
    rows = index.frame(
        """
        select c.id, u.document_id, u.start_char, u.text, c.source_text
        from covariates c join text_units u on u.id = c.text_unit_id
        where c.id in (select unnest(?::varchar[]))
        """,
        (list(ids),),
    ).rows()
    places: dict[str, Place] = {}
    for claim, document, start, text, quote in rows:
        if quote and (at := text.find(quote)) >= 0:
            places[claim] = (document, start + at, start + at + len(quote), quote)
    return places
